package endpoint

import (
	"testing"

	"amqpperf/internal/amqp/wire"
)

// side is an endpoint with its events so far and the frames it sent.
type side struct {
	*Conn
	log    []Event
	frames []wire.Performative
}

// pair is two endpoints that talk to each other through bytes.
type pair struct {
	t      *testing.T
	client *side
	server *side
}

func newPair(t *testing.T, client, server Config, maxFrame uint32) *pair {
	t.Helper()
	server.AcceptSessions = true
	p := &pair{t: t, client: &side{Conn: New(client)}, server: &side{Conn: New(server)}}
	for _, s := range []*side{p.client, p.server} {
		s.SetPeer(&wire.Open{MaxFrameSize: wire.Some(maxFrame)})
	}
	return p
}

func (s *side) feed(t *testing.T, f wire.Frame) {
	t.Helper()
	if err := s.Frame(f); err != nil {
		t.Fatalf("connection error: %v", err)
	}
	for _, e := range s.Events() {
		e.Delivery.Payload = append([]byte(nil), e.Delivery.Payload...)
		e.Delivery.Tag = append([]byte(nil), e.Delivery.Tag...)
		s.log = append(s.log, e)
	}
}

// send feeds hand-made performatives.
func (s *side) send(t *testing.T, channel uint16, ps ...wire.Performative) {
	t.Helper()
	for _, p := range ps {
		s.feed(t, wire.Frame{Channel: channel, Body: p.Append(nil)})
	}
}

// take returns what the side wants to send, parsed.
func (s *side) take(t *testing.T) []wire.Performative {
	t.Helper()
	var out []wire.Performative
	for b := s.Swap(nil); len(b) > 0; {
		f, n, err := wire.Cut(b, max(s.maxFrame, 4096))
		if err != nil || n == 0 {
			t.Fatalf("own output cannot be cut: %v", err)
		}
		p, err := wire.Parse(f)
		if err != nil {
			t.Fatalf("own output cannot be parsed: %v", err)
		}
		out = append(out, p)
		b = b[n:]
	}
	return out
}

// move carries one side's output to the other and returns the number of frames.
func (p *pair) move(from, to *side) (frames int) {
	p.t.Helper()
	for b := from.Swap(nil); len(b) > 0; frames++ {
		f, n, err := wire.Cut(b, 1<<20)
		if err != nil || n == 0 {
			p.t.Fatalf("own output cannot be cut: %v", err)
		}
		if q, err := wire.Parse(f); err != nil {
			p.t.Fatalf("own output cannot be parsed: %v", err)
		} else {
			from.frames = append(from.frames, q)
		}
		to.feed(p.t, f)
		b = b[n:]
	}
	return frames
}

// settle moves frames both ways until nobody has anything to say.
func (p *pair) settle() {
	p.t.Helper()
	for i := 0; p.client.HasOutput() || p.server.HasOutput(); i++ {
		if i > 1000 {
			p.t.Fatal("the two ends never stop talking")
		}
		p.move(p.client, p.server)
		p.move(p.server, p.client)
	}
}

func (s *side) find(kind Kind) *Event {
	for i := range s.log {
		if s.log[i].Kind == kind {
			return &s.log[i]
		}
	}
	return nil
}

func (s *side) all(kind Kind) (out []Event) {
	for _, e := range s.log {
		if e.Kind == kind {
			out = append(out, e)
		}
	}
	return out
}

// sender attaches a link on which the client sends and the server receives.
func (p *pair) sender(name string, s *Session) (snd, rcv *Link) {
	p.t.Helper()
	snd, err := s.Attach(wire.Attach{Name: name, Role: wire.RoleSender, Source: &wire.Source{}, Target: &wire.Target{Address: wire.Some("q")}})
	if err != nil {
		p.t.Fatal(err)
	}
	p.settle()
	reqs := p.server.all(LinkRequested)
	rcv = reqs[len(reqs)-1].Link
	rcv.Accept(wire.Attach{Source: rcv.Peer().Source, Target: rcv.Peer().Target})
	p.settle()
	if !snd.Attached() || !rcv.Attached() {
		p.t.Fatal("link is not attached")
	}
	return snd, rcv
}

func (p *pair) session() *Session {
	p.t.Helper()
	s, err := p.client.Begin()
	if err != nil {
		p.t.Fatal(err)
	}
	p.settle()
	if !s.Begun() {
		p.t.Fatal("session is not begun")
	}
	return s
}

func (p *pair) mustSend(l *Link, m *Message) int64 {
	p.t.Helper()
	no, err := l.Send(m)
	if err != nil {
		p.t.Fatal(err)
	}
	return no
}
