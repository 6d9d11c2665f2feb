package endpoint

import (
	"testing"

	"amqpperf/internal/amqp/wire"
)

// A refused attach is an answer with a null terminus and then a detach; the owner
// hears one LinkDetached with the condition, in both roles and on both ends.
func TestRefusedAttach(t *testing.T) {
	t.Parallel()
	for _, role := range []bool{wire.RoleSender, wire.RoleReceiver} {
		p := newPair(t, Config{}, Config{}, 4096)
		s := p.session()
		l, err := s.Attach(wire.Attach{Name: "l", Role: role, Source: &wire.Source{Address: wire.Some("a")}, Target: &wire.Target{Address: wire.Some("a")}})
		if err != nil {
			t.Fatal(err)
		}
		l.Data = "mine"
		p.settle()
		req := p.server.find(LinkRequested)
		req.Link.Refuse(&wire.Error{Condition: wire.CondNotFound, Description: "no such address"})
		p.settle()
		reply := p.server.frames[1].(*wire.Attach)
		if role == wire.RoleSender && reply.Target != nil || role == wire.RoleReceiver && reply.Source != nil {
			t.Errorf("role %v: refusal with a terminus: %+v", role, reply)
		}
		e := p.client.find(LinkDetached)
		if p.client.find(LinkAttached) != nil || e == nil || !e.Closed || e.Err == nil || e.Err.Condition != wire.CondNotFound || e.Link.Data != "mine" {
			t.Errorf("role %v: client saw %+v", role, e)
		}
		// The peer gave no error to our detach: its own is what the owner hears.
		if e := p.server.find(LinkDetached); e == nil || e.Err == nil || e.Err.Condition != wire.CondNotFound {
			t.Errorf("role %v: server saw %+v", role, e)
		}
		if len(s.remoteLinks) != 0 || s.links[0] != nil {
			t.Errorf("role %v: the handle stays in use", role)
		}
		if _, err := s.Attach(wire.Attach{Name: "l", Role: role}); err != nil || s.Over() {
			t.Errorf("role %v: the session is not usable afterwards: %v", role, err)
		}
	}
}

// A broker may also end the whole session instead of answering the attach.
func TestSessionEndedInsteadOfAttach(t *testing.T) {
	t.Parallel()
	c, s := began(t, Config{})
	l, _ := s.Attach(wire.Attach{Name: "l"})
	c.send(t, 0, &wire.End{Error: &wire.Error{Condition: wire.CondInvalidField, Description: "Attach rejected"}})
	d, e := c.find(LinkDetached), c.find(SessionEnded)
	if d == nil || d.Link != l || d.Err == nil || e == nil || e.Err.Description != "Attach rejected" {
		t.Fatalf("detached %+v, ended %+v", d, e)
	}
	out := c.take(t)
	if _, ok := out[len(out)-1].(*wire.End); !ok {
		t.Errorf("the peer's end is not answered: %v", out)
	}
	c.send(t, 0, transferTo(0, 1), &wire.Disposition{First: 1}, &wire.Detach{}) // late: swallowed
	if _, err := c.Begin(); err != nil {
		t.Error(err)
	}
}

func TestLateFramesAreSwallowed(t *testing.T) {
	t.Parallel()
	c, s := began(t, Config{})
	l := attached(t, c, s, wire.RoleReceiver)
	l.Grant(10)
	l.Detach(true, &wire.Error{Condition: wire.CondDetachForced})
	c.send(t, 0, transferTo(7, 1), &wire.Flow{Handle: wire.Some(uint32(7))}) // crossed our detach
	c.send(t, 0, &wire.Detach{Handle: 7, Closed: true})
	c.send(t, 0, transferTo(7, 2), &wire.Flow{Handle: wire.Some(uint32(7))}, &wire.Detach{Handle: 7}) // after both
	if n := len(c.all(Received)); n != 0 || s.Over() || len(c.all(LinkDetached)) != 1 {
		t.Errorf("%d deliveries, session over %v, %d detached", n, s.Over(), len(c.all(LinkDetached)))
	}
	if s.nextIn != 2 {
		t.Errorf("late transfers are not counted in the session window: %d of 2", s.nextIn)
	}
	c.send(t, 0, transferTo(9, 3))
	if e := c.find(SessionEnded); e == nil || e.Err.Condition != wire.CondUnattachedHandle {
		t.Errorf("transfer for a handle never attached: %+v", e)
	}
}

func TestViolations(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		frames []wire.Performative
		end    wire.Symbol // of the session
		detach wire.Symbol // sent by us
	}{
		"no credit":           {frames: []wire.Performative{transferTo(7, 1), transferTo(7, 2), transferTo(7, 3)}, detach: wire.CondTransferLimit},
		"too large":           {frames: []wire.Performative{&wire.Transfer{Handle: 7, DeliveryID: wire.Some(uint32(1)), More: true, Payload: make([]byte, 60)}, &wire.Transfer{Handle: 7, Payload: make([]byte, 60)}}, detach: wire.CondMessageSizeExceeded},
		"window":              {frames: []wire.Performative{transferTo(6, 1), transferTo(6, 2), transferTo(6, 3), transferTo(6, 4), transferTo(6, 5)}, end: wire.CondWindowViolation},
		"id comes again":      {frames: []wire.Performative{transferTo(7, 5), transferTo(7, 5)}, end: wire.CondInvalidField},
		"no id":               {frames: []wire.Performative{&wire.Transfer{Handle: 7}}, end: wire.CondInvalidField},
		"new before complete": {frames: []wire.Performative{&wire.Transfer{Handle: 7, DeliveryID: wire.Some(uint32(1)), More: true}, transferTo(7, 2)}, end: wire.CondInvalidField},
		"handle in use":       {frames: []wire.Performative{&wire.Attach{Name: "m", Handle: 7}}, end: wire.CondHandleInUse},
		"flow for nothing":    {frames: []wire.Performative{&wire.Flow{Handle: wire.Some(uint32(99))}}, end: wire.CondUnattachedHandle},
	} {
		side, s := began(t, Config{MaxMessageSize: 100, IncomingWindow: 4})
		l := attached(t, side, s, wire.RoleReceiver)
		l.Grant(2)
		for _, p := range c.frames {
			side.send(t, 0, p)
			if name != "window" {
				side.Flush()
			}
		}
		var detach, end wire.Symbol
		for _, p := range side.take(t) {
			switch p := p.(type) {
			case *wire.Detach:
				detach = p.Error.Condition
			case *wire.End:
				end = p.Error.Condition
			}
		}
		if e := side.find(SessionEnded); end != c.end || detach != c.detach || (e != nil) != (c.end != "") {
			t.Errorf("%s: end %q, detach %q, event %+v", name, end, detach, e)
		}
		// The owner hears at once and once, whether the peer answers or not.
		told := side.all(LinkDetached)
		if c.detach != "" {
			side.send(t, 0, &wire.Detach{Handle: 7, Closed: true})
		}
		want := c.end + c.detach
		if len(told) != 1 || told[0].Err == nil || told[0].Err.Condition != want || len(side.all(LinkDetached)) != 1 {
			t.Errorf("%s: told %+v, then %d in all; want one with %q", name, told, len(side.all(LinkDetached)), want)
		}
	}
}

func TestConnectionErrors(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]struct {
		channel uint16
		p       wire.Performative
	}{
		"begin from the peer":      {1, &wire.Begin{}},
		"answer to nothing":        {1, &wire.Begin{RemoteChannel: wire.Some(uint16(9))}},
		"second answer":            {1, &wire.Begin{RemoteChannel: wire.Some(uint16(0))}},
		"channel in use":           {0, &wire.Begin{RemoteChannel: wire.Some(uint16(0))}},
		"no session":               {5, &wire.Flow{}},
		"open inside":              {0, &wire.Open{}},
		"handle above handle-max":  {0, &wire.Attach{Name: "x", Handle: 1 << 20}},
		"channel above the limits": {300, &wire.Begin{RemoteChannel: wire.Some(uint16(0))}},
	} {
		c, _ := began(t, Config{})
		if err := c.Frame(wire.Frame{Channel: f.channel, Body: f.p.Append(nil)}); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	c, _ := began(t, Config{})
	if err := c.Frame(wire.Frame{Body: []byte{0, 0x53, 0x13, 0xc0, 200, 4}}); err == nil || err.Condition != wire.CondDecodeError {
		t.Errorf("malformed flow: %v", err)
	}
}

// Conditions of detach and end reach the owner, and both are answered.
func TestDetachAndEndFromThePeer(t *testing.T) {
	t.Parallel()
	p := newPair(t, Config{}, Config{}, 4096)
	s := p.session()
	snd, rcv := p.sender("l", s)
	rcv.Grant(5)
	p.settle()
	p.mustSend(snd, &Message{Tag: []byte{1}})
	rcv.Detach(true, &wire.Error{Condition: wire.CondResourceDeleted, Description: "gone"})
	p.settle()
	if e := p.client.find(LinkDetached); e == nil || e.Err.Description != "gone" || snd.CanSend() != WaitLink || s.Unsettled() != 0 {
		t.Errorf("client saw %+v", e)
	}
	if e := p.server.find(LinkDetached); e == nil || e.Link != rcv {
		t.Errorf("server saw %+v", e)
	}
	s.End(&wire.Error{Condition: wire.CondInternalError, Description: "enough"})
	p.settle()
	if e := p.server.find(SessionEnded); e == nil || e.Err.Description != "enough" {
		t.Errorf("server saw %+v", e)
	}
	if p.client.find(SessionEnded) == nil || len(p.client.remote) != 0 || p.client.local[0] != nil {
		t.Error("the session is not gone")
	}
	if _, err := s.Attach(wire.Attach{Name: "x"}); err == nil {
		t.Error("attach on a session that is over")
	}
}
