package link

import (
	"context"
	"testing"
	"time"

	"amqpperf/internal/amqp/wire"
)

// FuzzPlane: whatever a peer sends after our attach of a sender and a receiver, nothing panics or hangs, every message
// has at most one fate, and how the bytes are cut does not matter for what the library sees.
func FuzzPlane(f *testing.F) {
	one := uint32(1)
	transfer := func(x wire.Transfer) []byte {
		x.Payload = (&wire.Message{Data: [][]byte{[]byte("abc")}}).Append(nil)
		return amqpFrame(&x)
	}
	tail := [][]byte{
		amqpFrame(&wire.Flow{Handle: wire.Some(uint32(0)), IncomingWindow: 5, LinkCredit: wire.Some(uint32(9)), Drain: true, Echo: true}),
		transfer(wire.Transfer{Handle: 1, DeliveryID: wire.Some(uint32(0)), DeliveryTag: []byte{1}}),
		transfer(wire.Transfer{Handle: 1, DeliveryID: wire.Some(one), DeliveryTag: []byte{1}, More: true}),
		amqpFrame(settled(0, 1, wire.StateOf(wire.CodeAccepted))),
		amqpFrame(&wire.Detach{Handle: 0, Closed: true}), amqpFrame(&wire.End{}), amqpFrame(&wire.Close{}), wire.AppendHeartbeat(nil),
	}
	var all []byte
	for _, b := range tail {
		f.Add(b, uint8(3))
		all = append(all, b...)
	}
	f.Add(all, uint8(1))
	f.Add(all, uint8(250))
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		whole, failed := playPlane(t, b, len(b)+1)
		cut, failedToo := playPlane(t, b, int(step)+1)
		if string(whole) != string(cut) || failed != failedToo {
			t.Errorf("whole: %x, %v; cut: %x, %v", whole, failed, cut, failedToo)
		}
	})
}

// playPlane plays bytes to a plane with two links and returns what the library sees of them.
func playPlane(t *testing.T, b []byte, step int) (seen []byte, failed bool) {
	head := append(amqpFrame(&wire.Open{ContainerID: "p"}), amqpFrame(&wire.Begin{RemoteChannel: wire.Some(uint16(0)), IncomingWindow: 5, OutgoingWindow: 5})...)
	p, socket := onTape(t, nil, len(head)+4096)
	session := &ownSession{over: make(chan struct{})}
	sink := newLedger(t)
	s := &ownSender{ownLink: newOwnLink(p, "", Address{}, "s"), cfg: SenderConfig{Body: numbered{}, Sink: sink},
		down: make(chan struct{}), idle: make(chan struct{}, 1)}
	r := &ownReceiver{ownLink: newOwnLink(p, "", Address{}, "r"), cfg: ReceiverConfig{Credit: 3}, closed: make(chan struct{})}
	p.mu.Lock()
	var err error
	if session.ep, err = p.ep.Begin(); err != nil {
		t.Fatal(err)
	}
	session.ep.Data = session
	if err := s.ask(session, s, wire.Attach{Role: wire.RoleSender}); err != nil {
		t.Fatal(err)
	}
	if err := r.ask(session, r, wire.Attach{Role: wire.RoleReceiver}); err != nil {
		t.Fatal(err)
	}
	r.renew()
	p.mu.Unlock()
	head = append(head, amqpFrame(&wire.Attach{Name: "s", Handle: 0, Role: wire.RoleReceiver, Target: &wire.Target{}})...)
	head = append(head, amqpFrame(&wire.Attach{Name: "r", Handle: 1, Role: wire.RoleSender, Source: &wire.Source{}, InitialDeliveryCount: wire.Some(uint32(0))})...)
	head = append(head, amqpFrame(&wire.Flow{Handle: wire.Some(uint32(0)), IncomingWindow: 5, LinkCredit: wire.Some(uint32(2))})...)
	head = append(head, wire.AppendHeartbeat(nil)...) // so that Read returns
	socket.mu.Lock()
	socket.in = head
	socket.mu.Unlock()
	buffer := make([]byte, 4096)
	for n := 0; n < len(amqpFrame(&wire.Open{ContainerID: "p"}))+wire.FrameHeaderSize; {
		k, err := p.Read(buffer)
		if err != nil {
			t.Fatal(err)
		}
		n += k
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if n, err := s.Submit(ctx, messages(0, 2, 20)); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	socket.mu.Lock()
	socket.in, socket.step = b, step
	socket.mu.Unlock()
	for {
		n, err := p.Read(buffer)
		seen = append(seen, buffer[:n]...)
		if err != nil {
			break
		}
	}
	for id, c := range sink.done {
		if id > 1 {
			t.Errorf("message %d, which was never sent: %+v", id, c)
		}
	}
	<-s.down // the end of the stream is the end of the link
	if len(sink.done) != 2 {
		t.Errorf("%d of 2 messages have a fate", len(sink.done))
	}
	return seen, p.failure.Error() != "EOF"
}
