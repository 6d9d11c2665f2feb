package endpoint

import (
	"fmt"

	"amqpperf/internal/amqp/wire"
)

type linkState uint8

const (
	linkAttaching linkState = iota // our attach waits for its answer
	linkRequested                  // the peer's attach waits for the owner
	linkAttached
	linkRefused   // the peer's answer has a null terminus: its detach follows
	linkDetaching // we have sent detach
	linkGone
)

// Link is one end of a link.
type Link struct {
	// Data is the owner's.
	Data any

	s        *Session
	name     string
	role     bool // ours
	state    linkState
	handle   uint32 // ours
	remote   uint32 // the peer's
	answered bool   // remote is set

	attach *wire.Attach // the peer's
	why    *wire.Error  // of our detach
	told   bool         // LinkDetached was emitted
	second bool         // receiver settle mode second

	count   uint32 // delivery-count
	initial uint32 // the sender's initial delivery-count
	credit  uint32
	excess  uint32 // as a receiver: deliveries beyond the credit since it was granted
	most    uint32 // what excess may be
	drain   bool
	flowDue bool
	nextNo  int64

	assembly assembly           // as a receiver
	ids      Outstanding[int64] // as a receiver: number → widened delivery-id
}

// Name is the link's name.
func (l *Link) Name() string { return l.name }

// Session is the session the link belongs to.
func (l *Link) Session() *Session { return l.s }

// Receiver reports whether this end receives.
func (l *Link) Receiver() bool { return l.role == wire.RoleReceiver }

// Attached reports whether the link is usable.
func (l *Link) Attached() bool { return l.state == linkAttached }

// Credit is what is left of the link credit, as this end knows it.
func (l *Link) Credit() uint32 { return l.credit }

// Draining reports whether the peer waits for Drained, or we wait for the peer.
func (l *Link) Draining() bool { return l.drain }

// Assembling reports whether a delivery has begun to come in and is not complete.
func (l *Link) Assembling() bool { return l.assembly.active }

// Unsettled is, as a receiver, the number of deliveries that came unsettled and
// were not settled yet.
func (l *Link) Unsettled() int { return l.ids.Len() }

// Peer is the peer's attach; nil before it has come.
func (l *Link) Peer() *wire.Attach { return l.attach }

// live reports whether frames for the link still matter.
func (l *Link) live() bool {
	return l.state == linkAttached || l.state == linkAttaching || l.state == linkRequested
}

func (s *Session) newLink(name string, role bool) (*Link, error) {
	h := 0
	for h < len(s.links) && s.links[h] != nil {
		h++
	}
	if s.begun && uint64(h) > uint64(s.peerHandles) {
		return nil, fmt.Errorf("no free handle: the peer allows %d", uint64(s.peerHandles)+1)
	}
	if h == len(s.links) {
		s.links = append(s.links, nil)
	}
	l := &Link{s: s, name: name, role: role, handle: uint32(h)}
	if role == wire.RoleSender {
		l.initial = s.c.cfg.FirstDeliveryCount
		l.count = l.initial
	}
	s.links[h] = l
	return l, nil
}

// Attach asks the peer for a link. Handle and InitialDeliveryCount of a are set
// here. A receiver may be granted credit at once.
func (s *Session) Attach(a wire.Attach) (*Link, error) {
	if s.state != sessionOpen {
		return nil, fmt.Errorf("attach of link %q: the session is over", a.Name)
	}
	l, err := s.newLink(a.Name, a.Role)
	if err != nil {
		return nil, err
	}
	l.second = a.RcvSettleMode.Or(wire.ReceiverFirst) == wire.ReceiverSecond
	l.sendAttach(a)
	return l, nil
}

func (l *Link) sendAttach(a wire.Attach) {
	a.Name, a.Handle, a.Role = l.name, l.handle, l.role
	a.InitialDeliveryCount = wire.Opt[uint32]{}
	if l.role == wire.RoleSender {
		a.InitialDeliveryCount = wire.Some(l.initial)
	}
	l.s.c.frame(l.s.channel, &a)
}

func (s *Session) onAttach(a *wire.Attach) *wire.Error {
	if a.Handle > s.c.cfg.HandleMax {
		return &wire.Error{Condition: wire.CondFramingError, Description: fmt.Sprintf("handle %d is above handle-max %d", a.Handle, s.c.cfg.HandleMax)}
	}
	if s.remoteLinks[a.Handle] != nil {
		s.fail(wire.CondHandleInUse, "handle %d is in use", a.Handle)
		return nil
	}
	l := s.waiting(a)
	if l == nil {
		var err error
		if l, err = s.newLink(a.Name, !a.Role); err != nil {
			s.fail(wire.CondResourceLimit, "%v", err)
			return nil
		}
		l.state = linkRequested
	}
	l.attach, l.remote, l.answered = a, a.Handle, true
	if l.role == wire.RoleReceiver {
		l.initial = a.InitialDeliveryCount.Or(0)
		l.count = l.initial
	}
	s.remoteLinks[a.Handle] = l
	s.seenHandle = max(s.seenHandle, int64(a.Handle))
	switch {
	case l.state == linkRequested:
		s.c.emit(Event{Kind: LinkRequested, Session: s, Link: l, Attach: a})
	case l.state == linkDetaching:
	case l.role == wire.RoleSender && a.Target == nil && a.Coordinator == nil, l.role == wire.RoleReceiver && a.Source == nil:
		l.state = linkRefused
	default:
		l.state = linkAttached
		l.second = a.RcvSettleMode.Or(wire.ReceiverFirst) == wire.ReceiverSecond
		s.c.emit(Event{Kind: LinkAttached, Session: s, Link: l, Attach: a})
	}
	return nil
}

// waiting finds the link of ours that a answers.
func (s *Session) waiting(a *wire.Attach) *Link {
	for _, l := range s.links {
		if l != nil && !l.answered && l.name == a.Name && l.role != a.Role && l.state != linkGone {
			return l
		}
	}
	return nil
}

// Accept answers the peer's attach; name, handle, role and initial delivery-count
// of a are set here.
func (l *Link) Accept(a wire.Attach) {
	if l.state != linkRequested {
		return
	}
	l.state = linkAttached
	l.second = a.RcvSettleMode.Or(wire.ReceiverFirst) == wire.ReceiverSecond
	l.sendAttach(a)
}

// Refuse answers the peer's attach with a null terminus of our own and a detach
// that carries e (part 2, section 2.6.3).
func (l *Link) Refuse(e *wire.Error) {
	if l.state != linkRequested {
		return
	}
	a := wire.Attach{SndSettleMode: l.attach.SndSettleMode, RcvSettleMode: l.attach.RcvSettleMode}
	if l.role == wire.RoleReceiver {
		a.Source = l.attach.Source
	} else {
		a.Target = l.attach.Target
	}
	l.sendAttach(a)
	l.Detach(true, e)
}

// Detach detaches the link; closed ends it for good. LinkDetached comes with the
// peer's answer.
func (l *Link) Detach(closed bool, e *wire.Error) {
	if l.state == linkDetaching || l.state == linkGone || l.s.state != sessionOpen {
		return
	}
	l.s.disp.write(l.s)
	l.state, l.why = linkDetaching, e
	l.s.c.frame(l.s.channel, &wire.Detach{Handle: l.handle, Closed: closed, Error: e})
	l.forget()
}

// fail detaches the link because of what the peer did. Its owner hears at once:
// such a peer may never answer.
func (l *Link) fail(e *wire.Error) {
	l.Detach(true, e)
	l.tell(e, true)
}

// tell tells the owner, once, that the link is gone.
func (l *Link) tell(e *wire.Error, closed bool) {
	if !l.told {
		l.told = true
		l.s.c.emit(Event{Kind: LinkDetached, Session: l.s, Link: l, Err: e, Closed: closed})
	}
}

// forget drops what the session holds for the link.
func (l *Link) forget() {
	mine := func(_ int64, d sent) bool { return d.l == l }
	if l.role == wire.RoleSender {
		l.abandon()
		l.s.unsettled.TakeIf(mine)
	} else {
		l.s.incoming.TakeIf(mine)
	}
	if l.s.half.l == l {
		l.s.half = halfSent{}
	}
	l.ids, l.assembly, l.credit = Outstanding[int64]{}, assembly{}, 0
}

// abandon tells which deliveries get no disposition any more.
func (l *Link) abandon() {
	first, last := int64(-1), int64(-2)
	tell := func() {
		if first >= 0 {
			l.s.c.emit(Event{Kind: Abandoned, Session: l.s, Link: l, First: first, Last: last})
		}
	}
	l.s.unsettled.All(func(_ int64, d sent) {
		switch {
		case d.l != l:
		case d.no == last+1:
			last = d.no
		default:
			tell()
			first, last = d.no, d.no
		}
	})
	tell()
}

func (s *Session) onDetach(d *wire.Detach) {
	l := s.remoteLinks[d.Handle]
	if l == nil {
		if int64(d.Handle) > s.seenHandle {
			s.fail(wire.CondUnattachedHandle, "detach of handle %d, which was never attached", d.Handle)
		}
		return
	}
	blocked := s.half.l != nil
	switch l.state {
	case linkDetaching, linkGone:
	case linkRequested: // the owner has not answered; the peer must get an attach first
		l.sendAttach(wire.Attach{Source: l.attach.Source, Target: l.attach.Target})
		fallthrough
	default:
		s.disp.write(s)
		s.c.frame(s.channel, &wire.Detach{Handle: l.handle, Closed: d.Closed})
		l.forget()
	}
	l.state = linkGone
	delete(s.remoteLinks, d.Handle)
	s.links[l.handle] = nil
	why := d.Error
	if why == nil {
		why = l.why
	}
	l.tell(why, d.Closed)
	if blocked && s.half.l == nil && s.outWindow > 0 {
		s.c.emit(Event{Kind: Unblocked, Session: s})
	}
}
