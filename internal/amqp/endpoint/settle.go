package endpoint

import "amqpperf/internal/amqp/wire"

// pendingDisposition is a range of deliveries with one state that is still to be
// written.
type pendingDisposition struct {
	any         bool
	role        bool
	settled     bool
	first, last int64 // widened delivery-ids
	state       wire.State
}

// add joins a delivery to the range, or writes the range and starts a new one.
func (p *pendingDisposition) add(s *Session, role, settled bool, id int64, st *wire.State) {
	if p.any && p.role == role && p.settled == settled && id == p.last+1 && p.state.Same(st) {
		p.last = id
		return
	}
	p.write(s)
	*p = pendingDisposition{any: true, role: role, settled: settled, first: id, last: id, state: *st}
	if st.Same(st) {
		p.state.Own()
		s.touch()
	} else {
		p.write(s) // has fields, which may be views of the caller's bytes
	}
}

func (p *pendingDisposition) write(s *Session) {
	if !p.any {
		return
	}
	p.any = false
	d := wire.Disposition{Role: p.role, First: uint32(p.first), Settled: p.settled, State: p.state}
	if p.last != p.first {
		d.Last = wire.Some(uint32(p.last))
	}
	b, at := wire.BeginFrame(s.c.out, wire.FrameAMQP, s.channel)
	s.c.out = wire.EndFrame(d.Append(b), at)
}

// Settle gives the deliveries first to last (numbers on the link, both included)
// of a receiver's link their state. Numbers that are settled already, or were
// never delivered unsettled, are passed over. With receiver settle mode second the
// sender is told the state and settles later.
func (l *Link) Settle(first, last int64, st wire.State) {
	if l.role != wire.RoleReceiver || l.state != linkAttached || l.s.state != sessionOpen {
		return
	}
	s := l.s
	l.ids.TakeRange(first, last, func(_, id int64) {
		if !l.second {
			s.incoming.Take(id)
		}
		s.disp.add(s, wire.RoleReceiver, !l.second, id, &st)
	})
}

// NextUnsettled returns the first of the deliveries first to last of a receiver's
// link that came unsettled and was not settled yet; last+1 if there is none.
func (l *Link) NextUnsettled(first, last int64) int64 {
	for no := max(first, 0); no <= min(last, l.nextNo-1); no++ {
		if _, here := l.ids.Get(no); here {
			return no
		}
	}
	return last + 1
}

func (s *Session) onDisposition(d *wire.Disposition) {
	if !d.Settled && !d.State.Terminal() {
		return // progress only
	}
	if d.Role == wire.RoleReceiver {
		s.settleSent(d)
	} else if d.Settled {
		s.settleReceived(d)
	}
}

// bounds widens the range of a disposition. What lies outside of the deliveries
// outstanding is clipped by the lookup; a range that runs backwards is empty.
func bounds(near int64, d *wire.Disposition) (first, last int64) {
	first = widen(near, d.First)
	return first, first + int64(int32(d.Last.Or(d.First)-d.First))
}

// settleSent handles a receiver's disposition: the first terminal state of each
// delivery counts. One that is not settled yet is settled by us in turn.
func (s *Session) settleSent(d *wire.Disposition) {
	first, last := bounds(s.nextDelivery, d)
	r := run{s: s, d: d}
	s.unsettled.TakeRange(first, last, func(id int64, m sent) {
		r.add(m)
		if !d.Settled {
			s.disp.add(s, wire.RoleSender, true, id, &d.State)
		}
	})
	r.end()
}

// settleReceived handles a sender's disposition: it settles deliveries we have
// not settled, or confirms those of mode second.
func (s *Session) settleReceived(d *wire.Disposition) {
	first, last := bounds(s.inDelivery, d)
	r := run{s: s, d: d}
	s.incoming.TakeRange(first, last, func(_ int64, m sent) {
		if _, ours := m.l.ids.Take(m.no); ours {
			r.add(m)
		}
	})
	r.end()
}

// run gathers neighbouring deliveries of a link into one event.
type run struct {
	s     *Session
	d     *wire.Disposition
	l     *Link
	first int64
	last  int64
}

func (r *run) add(m sent) {
	if r.l == m.l && m.no == r.last+1 {
		r.last = m.no
		return
	}
	r.end()
	r.l, r.first, r.last = m.l, m.no, m.no
}

func (r *run) end() {
	if r.l != nil {
		r.s.c.emit(Event{Kind: Settled, Session: r.s, Link: r.l, First: r.first, Last: r.last, State: r.d.State})
		r.l = nil
	}
}
