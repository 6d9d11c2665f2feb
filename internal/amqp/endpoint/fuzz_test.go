package endpoint

import (
	"testing"

	"amqpperf/internal/amqp/wire"
)

// source makes small choices from fuzz input.
type source struct{ b []byte }

func (s *source) pick(n int) int {
	if len(s.b) == 0 {
		return 0
	}
	v := int(s.b[0]) % n
	s.b = s.b[1:]
	return v
}

func (s *source) opt() wire.Opt[uint32] {
	if v := s.pick(6); v > 0 {
		return wire.Some([]uint32{0, 1, 2, 1<<32 - 1, 5}[v-1])
	}
	return wire.Opt[uint32]{}
}

func (s *source) bool() bool { return s.pick(2) == 1 }

func (s *source) state() wire.State {
	switch s.pick(5) {
	case 1:
		return wire.StateOf(wire.CodeAccepted)
	case 2:
		return wire.State{Kind: wire.CodeModified, DeliveryFailed: true}
	case 3:
		return wire.State{Kind: wire.CodeReceived}
	case 4:
		return wire.State{Kind: wire.CodeTransactional, TxnID: []byte{1}}
	}
	return wire.State{}
}

func (s *source) frame() wire.Performative {
	h := uint32(s.pick(4))
	switch s.pick(8) {
	case 0:
		a := &wire.Attach{Name: string(rune('a' + s.pick(3))), Handle: h, Role: s.bool(), InitialDeliveryCount: s.opt()}
		if s.bool() {
			a.Source, a.Target = &wire.Source{}, &wire.Target{}
		}
		return a
	case 1:
		return &wire.Flow{NextIncomingID: s.opt(), IncomingWindow: s.opt().V, Handle: s.opt(), DeliveryCount: s.opt(), LinkCredit: s.opt(), Drain: s.bool(), Echo: s.bool()}
	case 2, 3:
		return &wire.Transfer{Handle: h, DeliveryID: s.opt(), DeliveryTag: []byte{1}, More: s.bool(), Aborted: s.pick(6) == 1, Settled: wire.Some(s.bool()),
			State: s.state(), Payload: make([]byte, 10*s.pick(30))}
	case 4:
		return &wire.Disposition{Role: s.bool(), First: s.opt().V, Last: s.opt(), Settled: s.bool(), State: s.state()}
	case 5:
		return &wire.Detach{Handle: h, Closed: s.bool()}
	case 6:
		b := &wire.Begin{IncomingWindow: s.opt().V, NextOutgoingID: s.opt().V}
		if s.bool() {
			b.RemoteChannel = wire.Some(uint16(s.pick(3)))
		}
		return b
	}
	return &wire.End{}
}

// act lets the owner of the endpoint do something.
func (s *source) act(c *Conn, links []*Link) {
	var l *Link
	if len(links) > 0 {
		l = links[s.pick(len(links))]
	}
	if l == nil {
		return
	}
	switch s.pick(8) {
	case 0:
		l.Grant(uint32(s.pick(5)))
	case 1, 2:
		if l.CanSend() == WaitNone {
			if _, err := l.Send(&Message{Tag: []byte{1}, Settled: s.bool(), State: s.state(), Body: make([]byte, 40*s.pick(60))}); err != nil {
				panic(err)
			}
		}
	case 3:
		l.Settle(int64(s.pick(5)), int64(s.pick(8)), s.state())
	case 4:
		l.Drained()
	case 5:
		l.Detach(s.bool(), nil)
	case 6:
		l.Drain()
	case 7:
		if s.pick(4) == 1 {
			l.Session().End(nil)
		}
	}
}

// FuzzConn feeds an endpoint of either role random sequences of frames and calls.
// It must not panic, must write frames that parse and fit, and must keep its books.
func FuzzConn(f *testing.F) {
	f.Add([]byte{1, 6, 0, 0, 0, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12})
	f.Add([]byte{0, 1, 2, 0, 1, 0, 1, 0, 2, 2, 1, 1, 1, 1, 4, 4, 4, 4, 3, 3, 5, 5})
	f.Fuzz(func(t *testing.T, in []byte) {
		src := &source{in}
		c := New(Config{AcceptSessions: true, IncomingWindow: 5, MaxMessageSize: 500, FirstDeliveryID: 1<<32 - 2, FirstTransferID: 1<<32 - 1})
		c.SetPeer(&wire.Open{MaxFrameSize: wire.Some(uint32(512)), ChannelMax: wire.Some(uint16(2))})
		var links []*Link
		if s, err := c.Begin(); err == nil && src.bool() {
			if l, err := s.Attach(wire.Attach{Name: "a", Role: src.bool()}); err == nil {
				links = append(links, l)
			}
		}
		for len(src.b) > 0 {
			if err := c.Frame(wire.Frame{Channel: uint16(src.pick(3)), Body: src.frame().Append(nil)}); err != nil {
				return
			}
			for _, e := range c.Events() {
				if e.Kind == LinkRequested {
					if src.pick(4) == 0 {
						e.Link.Refuse(&wire.Error{Condition: wire.CondNotFound})
					} else {
						e.Link.Accept(wire.Attach{Source: &wire.Source{}, Target: &wire.Target{}})
					}
					links = append(links, e.Link)
				}
				if e.Kind == Settled && e.Last < e.First {
					t.Fatalf("settled from %d to %d", e.First, e.Last)
				}
			}
			src.act(c, links)
			check(t, c)
		}
	})
}

func check(t *testing.T, c *Conn) {
	for b := c.Swap(nil); len(b) > 0; {
		f, n, err := wire.Cut(b, 1<<10)
		if err != nil || n == 0 {
			t.Fatalf("own output: %v", err)
		}
		p, err := wire.Parse(f)
		if err != nil {
			t.Fatalf("own output: %v", err)
		}
		if _, ok := p.(*wire.Transfer); ok && n > 512 {
			t.Fatalf("transfer of %d bytes to a peer that takes 512", n)
		}
		b = b[n:]
	}
	for _, s := range c.local {
		if s == nil || s.Over() {
			continue
		}
		n := 0
		for _, l := range s.links {
			if l != nil {
				n += l.ids.Len()
				if len(l.assembly.payload) > 500 {
					t.Fatalf("assembly of %d bytes", len(l.assembly.payload))
				}
			}
		}
		if n > s.incoming.Len() {
			t.Fatalf("links hold %d deliveries, the session %d", n, s.incoming.Len())
		}
	}
}
