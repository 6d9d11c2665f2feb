package endpoint

import (
	"errors"

	"amqpperf/internal/amqp/wire"
)

// ErrFrameTooSmall: the peer's max-frame-size leaves no room for a payload beside
// tag and state.
var ErrFrameTooSmall = errors.New("peer's max-frame-size leaves no room for a payload")

// Message is a delivery to send. Head and Body are the encoded message in two
// parts, so that a changed header needs no copy of the rest; both are copied.
type Message struct {
	Tag        []byte // 1 to 32 bytes
	Format     uint32
	Settled    bool
	Batchable  bool
	State      wire.State // a transactional state, or none
	Head, Body []byte
}

// halfSent is the rest of a delivery that did not fit the peer's session window.
type halfSent struct {
	l       *Link // nil: none
	rest    []byte
	settled bool
	state   wire.State
}

// CanSend tells what the next delivery on a sender's link would have to wait for.
func (l *Link) CanSend() Wait {
	switch {
	case l.state != linkAttached || l.s.state != sessionOpen || l.role != wire.RoleSender:
		return WaitLink
	case l.credit == 0:
		return WaitCredit
	case l.s.outWindow <= 0 || l.s.half.l != nil:
		return WaitSession
	}
	return WaitNone
}

// Send encodes one delivery, in as many frames as the peer's max-frame-size
// needs, and returns its number on the link. It must be possible: CanSend is
// WaitNone, else the error says what is missing. If the peer's session window
// ends in the middle, the rest follows by itself as the window opens.
func (l *Link) Send(m *Message) (no int64, err error) {
	switch l.CanSend() {
	case WaitLink:
		return 0, errors.New("send: the link is not attached")
	case WaitCredit:
		return 0, errors.New("send: no link credit")
	case WaitSession:
		return 0, errors.New("send: the session window is full")
	}
	s, c := l.s, l.s.c
	t := &c.tr
	*t = wire.Transfer{
		Handle: l.handle, DeliveryID: wire.Some(uint32(s.nextDelivery)), DeliveryTag: m.Tag, MessageFormat: wire.Some(m.Format),
		Settled: wire.Some(m.Settled), Batchable: m.Batchable, State: m.State,
	}
	head, body, err := c.appendTransfer(s, t, m.Head, m.Body)
	if err != nil {
		return 0, err
	}
	no = l.nextNo
	l.nextNo++
	l.count++
	l.credit--
	if !m.Settled {
		s.unsettled.Put(s.nextDelivery, sent{l, no})
	}
	s.nextDelivery++
	*t = wire.Transfer{Handle: l.handle, Settled: t.Settled, State: contState(m.State)}
	for len(head)+len(body) > 0 && s.outWindow > 0 {
		if head, body, err = c.appendTransfer(s, t, head, body); err != nil {
			return 0, err
		}
	}
	if len(head)+len(body) > 0 {
		s.half = halfSent{l: l, rest: append(append([]byte(nil), head...), body...), settled: m.Settled, state: t.State}
	}
	return no, nil
}

// contState is the state that continuation frames repeat: only a transaction's.
func contState(s wire.State) wire.State {
	if s.Kind == wire.CodeTransactional {
		return s
	}
	return wire.State{}
}

// appendTransfer writes one transfer frame with as much of head and body as fits
// and returns the rest of both. Whether more follows is known only once the room
// beside the performative is: the performative is encoded as if nothing did, and
// again when something does.
func (c *Conn) appendTransfer(s *Session, t *wire.Transfer, head, body []byte) (h, b []byte, err error) {
	start := len(c.out)
	total := len(head) + len(body)
	t.More = false
	out, at := wire.BeginFrame(c.out, wire.FrameAMQP, s.channel)
	out = t.AppendHead(out)
	room := int(c.maxFrame) - (len(out) - at)
	if total > room {
		t.More = true
		out = t.AppendHead(out[:at+wire.FrameHeaderSize])
		room = int(c.maxFrame) - (len(out) - at)
		if room <= 0 {
			c.out = out[:start]
			return nil, nil, ErrFrameTooSmall
		}
	}
	n := min(room, len(head))
	out = append(out, head[:n]...)
	head = head[n:]
	n = min(room-n, len(body))
	out = append(out, body[:n]...)
	c.out = wire.EndFrame(out, at)
	s.nextOut++
	s.outWindow--
	return head, body[n:], nil
}

// continueHalf sends more of the delivery that the session window has cut.
func (s *Session) continueHalf() {
	if s.half.l == nil {
		return
	}
	t := &s.c.tr
	*t = wire.Transfer{Handle: s.half.l.handle, Settled: wire.Some(s.half.settled), State: s.half.state}
	for len(s.half.rest) > 0 && s.outWindow > 0 {
		_, rest, err := s.c.appendTransfer(s, t, nil, s.half.rest)
		if err != nil {
			s.fail(wire.CondInternalError, "%v", err)
			return
		}
		s.half.rest = rest
	}
	if len(s.half.rest) == 0 {
		s.half = halfSent{}
	}
}
