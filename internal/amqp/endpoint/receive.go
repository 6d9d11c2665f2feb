package endpoint

import (
	"amqpperf/internal/amqp/wire"
)

// assembly collects a delivery that comes in several frames.
type assembly struct {
	active  bool
	id      int64
	tag     []byte
	format  uint32
	settled bool
	state   wire.State
	payload []byte
}

// maxSpare is the largest buffer, in bytes, that is kept for deliveries to come.
const maxSpare = 4 << 20

func (s *Session) onTransferFrame(body []byte) error {
	t := &s.c.tr
	if err := t.Decode(body); err != nil {
		return err
	}
	if s.inWindow == 0 {
		s.fail(wire.CondWindowViolation, "more transfer frames than the window of %d", s.c.cfg.IncomingWindow)
		return nil
	}
	s.nextIn++
	s.inWindow--
	if s.inWindow <= s.c.cfg.IncomingWindow/2 {
		s.flowDue = true
		s.touch()
	}
	l := s.remoteLinks[t.Handle]
	switch {
	case l == nil && int64(t.Handle) > s.seenHandle:
		s.fail(wire.CondUnattachedHandle, "transfer for handle %d, which was never attached", t.Handle)
	case l == nil || l.state != linkAttached:
		s.skipID(t) // late, for a link that is gone or going
	case l.role != wire.RoleReceiver:
		s.fail(wire.CondNotAllowed, "transfer on handle %d, where this end is the sender", t.Handle)
	default:
		l.onTransfer(t)
	}
	return nil
}

// skipID keeps the delivery-id in step with a delivery that nobody wants.
func (s *Session) skipID(t *wire.Transfer) {
	if t.DeliveryID.OK {
		s.takeID(t.DeliveryID.V)
	}
}

// takeID widens the id of a new delivery; false if it does not follow the ones
// before. Gaps are allowed: delivery-ids of links that we do not know may be there.
func (s *Session) takeID(id uint32) (int64, bool) {
	wide := int64(id)
	if s.inAny {
		if wide = widen(s.inDelivery, id); wide < s.inDelivery {
			return wide, false
		}
	}
	s.inAny = true
	s.inDelivery = wide + 1
	return wide, true
}

func (l *Link) onTransfer(t *wire.Transfer) {
	s, a := l.s, &l.assembly
	first := !a.active
	if first && !l.startDelivery(t) {
		return
	}
	if !first && t.DeliveryID.OK && widen(s.inDelivery, t.DeliveryID.V) != a.id {
		s.fail(wire.CondInvalidField, "delivery %d begins before delivery %d of the same link is complete", t.DeliveryID.V, uint32(a.id))
		return
	}
	if t.Aborted {
		s.incoming.Take(a.id)
		*a = assembly{}
		s.c.emit(Event{Kind: LinkFlow, Session: s, Link: l})
		return
	}
	if uint64(len(a.payload))+uint64(len(t.Payload)) > s.c.cfg.MaxMessageSize {
		l.fail(&wire.Error{Condition: wire.CondMessageSizeExceeded, Description: "message is larger than allowed"})
		return
	}
	a.settled = a.settled || t.Settled.V
	if t.State.Kind != 0 {
		a.state = t.State
		a.state.TxnID = append([]byte(nil), t.State.TxnID...)
	}
	if t.More || !first {
		a.payload = append(a.payload, t.Payload...)
		if t.More {
			if first {
				a.tag = append([]byte(nil), a.tag...) // a view of this frame until now
			}
			return
		}
	}
	l.deliver(t, !first)
}

// startDelivery checks and counts a delivery at its first frame.
func (l *Link) startDelivery(t *wire.Transfer) bool {
	s := l.s
	if !t.DeliveryID.OK {
		s.fail(wire.CondInvalidField, "first transfer of a delivery without delivery-id")
		return false
	}
	id, ok := s.takeID(t.DeliveryID.V)
	if !ok {
		s.fail(wire.CondInvalidField, "delivery-id %d comes again", t.DeliveryID.V)
		return false
	}
	if l.credit > 0 {
		l.credit--
	} else if l.excess++; l.excess > l.most {
		l.fail(&wire.Error{Condition: wire.CondTransferLimit, Description: "transfer without link credit"})
		return false
	}
	l.count++
	l.assembly = assembly{active: true, id: id, tag: t.DeliveryTag, format: t.MessageFormat.V}
	if s.c.cfg.Reuse && t.More {
		l.assembly.payload, s.c.spare = s.c.spare[:0], nil
	}
	// Noted now: deliveries of other links may be complete before this one, and ids
	// must go in in order.
	s.incoming.Put(id, sent{l, l.nextNo})
	return true
}

func (l *Link) deliver(t *wire.Transfer, assembled bool) {
	a := &l.assembly
	no := l.nextNo
	l.nextNo++
	if a.settled {
		l.s.incoming.Take(a.id)
	} else {
		l.ids.Put(no, a.id)
	}
	d := Delivery{No: no, Tag: a.tag, Format: a.format, Settled: a.settled, Owned: assembled && !l.s.c.cfg.Reuse, State: a.state, Payload: a.payload}
	if !assembled {
		d.Payload = t.Payload
	}
	if assembled && l.s.c.cfg.Reuse && cap(a.payload) <= maxSpare {
		l.s.c.spare = a.payload
	}
	*a = assembly{}
	l.s.c.emit(Event{Kind: Received, Session: l.s, Link: l, Delivery: d})
}
