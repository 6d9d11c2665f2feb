package endpoint

import (
	"testing"

	"amqpperf/internal/amqp/wire"
)

// TestAbandoned: the deliveries that get no disposition any more are told, in runs, before the link's end.
func TestAbandoned(t *testing.T) {
	t.Parallel()
	for name, end := range map[string]func(p *pair, rcv, snd *Link){
		"detach":       func(_ *pair, rcv, _ *Link) { rcv.Detach(true, nil) },
		"end":          func(_ *pair, rcv, _ *Link) { rcv.Session().End(nil) },
		"down":         func(p *pair, _, _ *Link) { p.client.Down(nil) },
		"our mistake":  func(_ *pair, _, snd *Link) { snd.s.fail(wire.CondInternalError, "x") },
		"connection's": func(p *pair, _, _ *Link) { p.client.Down(&wire.Error{Condition: wire.CondConnectionForced}) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := newPair(t, Config{}, Config{}, 4096)
			snd, rcv := p.sender("l", p.session())
			other, otherRcv := p.sender("other", snd.Session())
			rcv.Grant(10)
			otherRcv.Grant(10)
			p.settle()
			for i := range byte(6) {
				p.mustSend(snd, &Message{Tag: []byte{i}, Settled: i == 3, Body: []byte("x")})
				if i == 4 {
					p.mustSend(other, &Message{Tag: []byte{100}, Body: []byte("x")})
				}
			}
			p.settle()
			rcv.Settle(1, 1, wire.StateOf(wire.CodeAccepted))
			p.settle()
			end(p, rcv, snd)
			p.settle()
			p.client.log = append(p.client.log, p.client.Events()...)
			var got [][2]int64
			over := false
			for _, e := range p.client.log {
				switch {
				case e.Link != snd:
				case e.Kind == LinkDetached:
					over = true
				case e.Kind == Abandoned:
					if over {
						t.Error("told after the end of the link")
					}
					got = append(got, [2]int64{e.First, e.Last})
				}
			}
			if want := [][2]int64{{0, 0}, {2, 2}, {4, 5}}; len(got) != 3 || got[0] != want[0] || got[1] != want[1] || got[2] != want[2] || !over {
				t.Errorf("abandoned %v, want %v; over %v", got, want, over)
			}
		})
	}
}

// TestTolerate: so many deliveries beyond the credit are taken, counted anew from each grant, and no more.
func TestTolerate(t *testing.T) {
	t.Parallel()
	p := newPair(t, Config{}, Config{}, 4096)
	_, rcv := p.sender("l", p.session())
	rcv.Tolerate(2)
	transfer := func(id uint32) {
		p.server.send(t, 0, &wire.Transfer{DeliveryID: wire.Some(id), DeliveryTag: []byte{byte(id)}, Payload: []byte("x")})
	}
	rcv.Grant(1)
	for id := range uint32(3) {
		transfer(id)
	}
	rcv.Grant(1)
	for id := range uint32(3) {
		transfer(3 + id)
	}
	if !rcv.Attached() || len(p.server.all(Received)) != 6 {
		t.Fatalf("attached %v, %d deliveries", rcv.Attached(), len(p.server.all(Received)))
	}
	transfer(6)
	if rcv.Attached() || len(p.server.all(Received)) != 6 {
		t.Errorf("attached %v, %d deliveries", rcv.Attached(), len(p.server.all(Received)))
	}
}

// TestReuse: deliveries of several frames are whole although their buffers are used again.
func TestReuse(t *testing.T) {
	t.Parallel()
	p := newPair(t, Config{}, Config{Reuse: true}, 512)
	snd, rcv := p.sender("l", p.session())
	rcv.Grant(10)
	p.settle()
	for i := range byte(5) {
		body := make([]byte, 2000+int(i)*100)
		for k := range body {
			body[k] = i
		}
		p.mustSend(snd, &Message{Tag: []byte{i}, Body: body})
	}
	p.settle()
	for i, e := range p.server.all(Received) {
		if d := e.Delivery; d.Owned || len(d.Payload) != 2000+i*100 || d.Payload[0] != byte(i) || d.Payload[len(d.Payload)-1] != byte(i) {
			t.Errorf("delivery %d: owned %v, %d bytes", i, d.Owned, len(d.Payload))
		}
	}
	if len(p.server.all(Received)) != 5 || cap(p.server.spare) == 0 {
		t.Errorf("%d deliveries, spare %d", len(p.server.all(Received)), cap(p.server.spare))
	}
}
