package link

import (
	"testing"
	"time"

	"amqpperf/internal/amqp/wire"
)

// TestReaderGoesOnWhileWritesBlock: every frame of the peer wants an answer, and the socket takes none: all is read and
// handed on all the same. Two ends that both wait until the other reads would wait for ever.
func TestReaderGoesOnWhileWritesBlock(t *testing.T) {
	t.Parallel()
	const n = 50
	tape := newTape(nil, 1<<10)
	socket := &stuck{Conn: tape, gone: make(chan struct{}), deaf: make(chan struct{}), written: make(chan struct{}, 1)}
	close(socket.deaf)
	c := &Conn{cfg: Config{URL: parsed(t, "amqp://tape"), Now: func() int64 { return time.Now().UnixNano() }}.withDefaults()}
	c.carry(socket)
	p := c.plane
	defer func() { _ = p.cut(); p.finished.Wait() }()

	session := &ownSession{over: make(chan struct{})}
	r := &ownReceiver{ownLink: newOwnLink(p, "", Address{}, "r"), cfg: ReceiverConfig{Credit: n}, closed: make(chan struct{})}
	p.mu.Lock()
	var err error
	if session.ep, err = p.ep.Begin(); err != nil {
		t.Fatal(err)
	}
	session.ep.Data = session
	if err := r.ask(session, r, wire.Attach{Role: wire.RoleReceiver}); err != nil {
		t.Fatal(err)
	}
	r.renew()
	p.mu.Unlock()

	in := append([]byte(wire.ProtocolAMQP), amqpFrame(&wire.Open{ContainerID: "p"})...)
	in = append(in, amqpFrame(&wire.Begin{RemoteChannel: wire.Some(uint16(0)), IncomingWindow: 100, OutgoingWindow: 100})...)
	in = append(in, amqpFrame(&wire.Attach{Name: "r", Role: wire.RoleSender, Source: &wire.Source{}, InitialDeliveryCount: wire.Some(uint32(0))})...)
	for id := range uint32(n) {
		in = append(in, amqpFrame(&wire.Flow{NextIncomingID: wire.Some(uint32(0)), IncomingWindow: 100, OutgoingWindow: 100, Echo: true})...)
		in = append(in, amqpFrame(&wire.Transfer{DeliveryID: wire.Some(id), DeliveryTag: []byte{1}, Payload: (&wire.Message{Data: [][]byte{{1}}}).Append(nil)})...)
	}
	tape.mu.Lock()
	tape.in, tape.step = in, 60 // about a frame
	tape.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = readAll(p) // until the end of the tape
	}()
	select {
	case <-done:
	case <-time.After(30 * time.Second):
		t.Fatal("the reader waits for the writer")
	}
	<-socket.written
	if waiting, _ := r.Queued(); waiting != n {
		t.Errorf("%d deliveries of %d", waiting, n)
	}
}
