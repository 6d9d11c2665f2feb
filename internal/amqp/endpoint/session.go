package endpoint

import (
	"fmt"

	"amqpperf/internal/amqp/wire"
)

type sessionState uint8

const (
	sessionOpen   sessionState = iota
	sessionEnding              // we have sent end
	sessionOver
)

// Session is one end of a session.
type Session struct {
	// Data is the owner's.
	Data any

	c       *Conn
	channel uint16 // ours
	remote  uint16 // the peer's, once begun
	begun   bool   // the peer's begin was seen
	state   sessionState
	failed  bool // SessionEnded was emitted already

	links       []*Link          // by our handle
	remoteLinks map[uint32]*Link // by the peer's handle
	seenHandle  int64            // highest handle the peer ever used
	peerHandles uint32           // highest handle we may use

	// As a sender. transfer-ids count frames, delivery-ids deliveries.
	nextOut      uint32 // transfer-id of the next transfer frame
	outWindow    int64  // transfer frames the peer will take
	nextDelivery int64  // widened delivery-id of the next delivery
	unsettled    Outstanding[sent]
	half         halfSent

	// As a receiver.
	nextIn     uint32
	inWindow   uint32 // transfer frames the peer may still send
	inDelivery int64  // widened delivery-id expected next
	inAny      bool   // inDelivery is set
	incoming   Outstanding[sent]

	dirty    bool // is in c.dirty
	flowDue  bool
	linkFlow []*Link // links that owe a flow
	disp     pendingDisposition
}

// sent is what a session remembers of an unsettled delivery, in either direction.
type sent struct {
	l  *Link
	no int64
}

// Begun reports whether the peer has answered or begun the session.
func (s *Session) Begun() bool { return s.begun }

// Over reports whether the session has ended or is about to.
func (s *Session) Over() bool { return s.state != sessionOpen }

// Unsettled is the number of deliveries sent and not settled.
func (s *Session) Unsettled() int { return s.unsettled.Len() }

func (s *Session) sendBegin(remote wire.Opt[uint16]) {
	s.c.frame(s.channel, &wire.Begin{
		RemoteChannel: remote, NextOutgoingID: s.nextOut, IncomingWindow: s.c.cfg.IncomingWindow,
		OutgoingWindow: defaultWindow, HandleMax: wire.Some(s.c.cfg.HandleMax),
	})
}

func (s *Session) onBegin(remote uint16, b *wire.Begin) {
	s.remote, s.begun = remote, true
	s.nextIn = b.NextOutgoingID
	s.outWindow = int64(b.IncomingWindow)
	s.peerHandles = b.HandleMax.Or(1<<32 - 1)
	if s.state == sessionOpen {
		s.c.emit(Event{Kind: SessionBegun, Session: s})
	}
}

// End ends the session, with an error or nil. SessionEnded comes with the peer's
// answer.
func (s *Session) End(e *wire.Error) {
	if s.state != sessionOpen {
		return
	}
	s.flush()
	s.state = sessionEnding
	s.c.frame(s.channel, &wire.End{Error: e})
}

// fail ends the session because of what the peer did. Its owner hears at once.
func (s *Session) fail(cond wire.Symbol, format string, args ...any) {
	e := &wire.Error{Condition: cond, Description: fmt.Sprintf(format, args...)}
	s.End(e)
	s.over(e)
}

// over tells the owner that links and session are gone.
func (s *Session) over(e *wire.Error) {
	if s.failed {
		return
	}
	s.failed = true
	for _, l := range s.links {
		if l != nil && l.state != linkGone {
			if l.state != linkDetaching && l.role == wire.RoleSender {
				l.abandon()
			}
			l.state = linkGone
			l.tell(e, false)
		}
	}
	s.c.emit(Event{Kind: SessionEnded, Session: s, Err: e})
}

func (s *Session) onEnd(e *wire.Error) {
	if s.state == sessionOpen {
		s.flush()
		s.c.frame(s.channel, &wire.End{})
	}
	s.state = sessionOver
	s.over(e)
	delete(s.c.remote, s.remote)
	s.c.local[s.channel] = nil
	s.links, s.remoteLinks = nil, nil
	s.unsettled, s.incoming = Outstanding[sent]{}, Outstanding[sent]{}
	s.half = halfSent{}
}

func (s *Session) touch() {
	if !s.dirty {
		s.dirty = true
		s.c.dirty = append(s.c.dirty, s)
	}
}

// flush encodes the pending disposition and flows.
func (s *Session) flush() {
	s.dirty = false
	if s.state != sessionOpen {
		return
	}
	s.disp.write(s)
	for _, l := range s.linkFlow {
		l.flowDue = false
		if l.state == linkAttached || l.state == linkAttaching {
			s.writeFlow(l)
		}
	}
	clear(s.linkFlow)
	s.linkFlow = s.linkFlow[:0]
	if s.flowDue {
		s.writeFlow(nil)
	}
}

// writeFlow writes a flow of the session, or of one of its links. Whatever
// window the peer has used is renewed: nothing waits inside this endpoint.
func (s *Session) writeFlow(l *Link) {
	s.flowDue = false
	s.inWindow = s.c.cfg.IncomingWindow
	f := wire.Flow{
		NextIncomingID: wire.Opt[uint32]{V: s.nextIn, OK: s.begun}, IncomingWindow: s.inWindow,
		NextOutgoingID: s.nextOut, OutgoingWindow: defaultWindow,
	}
	if l != nil {
		l.fillFlow(&f)
	}
	b, at := wire.BeginFrame(s.c.out, wire.FrameAMQP, s.channel)
	s.c.out = wire.EndFrame(f.Append(b), at)
}

func (s *Session) onFlow(f *wire.Flow) {
	// next-incoming-id is null as long as the peer has not seen our begin: nothing of
	// ours has arrived, so it counts from where we started.
	next := f.NextIncomingID.Or(s.c.cfg.FirstTransferID)
	closed := s.outWindow <= 0 || s.half.l != nil
	s.outWindow = int64(int32(next-s.nextOut)) + int64(f.IncomingWindow)
	s.continueHalf()
	if closed && s.outWindow > 0 && s.half.l == nil {
		s.c.emit(Event{Kind: Unblocked, Session: s})
	}
	if !f.Handle.OK {
		if f.Echo {
			s.flowDue = true
			s.touch()
		}
		return
	}
	l := s.remoteLinks[f.Handle.V]
	switch {
	case l == nil && int64(f.Handle.V) > s.seenHandle:
		s.fail(wire.CondUnattachedHandle, "flow for handle %d, which was never attached", f.Handle.V)
	case l != nil && l.live():
		l.onFlow(f)
	}
}

// widen gives the 64-bit number nearest to near whose low half is id.
func widen(near int64, id uint32) int64 { return near + int64(int32(id-uint32(near))) }
