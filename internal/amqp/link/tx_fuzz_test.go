package link

import (
	"context"
	"testing"
	"time"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/wire"
)

// FuzzTx: whatever a peer answers to two messages of a transaction and to its discharge, nothing panics or hangs,
// each message has exactly one fate, and each transaction at most one end.
func FuzzTx(f *testing.F) {
	accepted := wire.StateOf(wire.CodeAccepted)
	rejected := wire.State{Kind: wire.CodeRejected, Error: &wire.Error{Condition: "amqp:transaction:rollback", Description: "no"}}
	inside := func(o *wire.State) wire.State {
		return wire.State{Kind: wire.CodeTransactional, TxnID: []byte{7}, Outcome: o}
	}
	credit := amqpFrame(&wire.Flow{Handle: wire.Some(uint32(0)), IncomingWindow: 5, DeliveryCount: wire.Some(uint32(1)), LinkCredit: wire.Some(uint32(9))})
	// Delivery-ids: 0 the declare, 1 the next one, then the messages, then the discharge.
	tail := [][]byte{
		credit,
		amqpFrame(settled(0, 9, wire.State{Kind: wire.CodeDeclared, TxnID: []byte{8}})),
		amqpFrame(settled(1, 1, rejected)),
		amqpFrame(settled(2, 3, inside(&accepted))), amqpFrame(settled(2, 2, inside(&rejected))), amqpFrame(settled(3, 3, inside(nil))),
		amqpFrame(settled(4, 4, accepted)), amqpFrame(settled(4, 4, rejected)), amqpFrame(settled(0, 9, accepted)),
		amqpFrame(&wire.Detach{Handle: 0, Closed: true}), amqpFrame(&wire.Detach{Handle: 1}), amqpFrame(&wire.End{}), amqpFrame(&wire.Close{}),
		wire.AppendHeartbeat(nil),
	}
	var all []byte
	for _, b := range tail {
		f.Add(append(append([]byte(nil), credit...), b...), uint8(200))
		all = append(all, b...)
	}
	f.Add(all, uint8(7))
	f.Fuzz(playTx)
}

// playTx plays bytes to a plane with a coordinator and a sender.
func playTx(t *testing.T, b []byte, step uint8) {
	open := amqpFrame(&wire.Open{ContainerID: "p"})
	p, socket := onTape(t, nil, 4096)
	session, sink, ended := &ownSession{over: make(chan struct{})}, newLedger(t), map[uint64]int{}
	s := &ownSender{ownLink: newOwnLink(p, "", Address{}, "s"), down: make(chan struct{}), idle: make(chan struct{}, 1),
		cfg: SenderConfig{Body: numbered{}, Sink: sink, Tx: 2, OnTx: func(x amqp.Tx) { ended[x.First]++ }}}
	s.tx = &sendTx{s: s, ahead: 1}
	c := &coordinator{ownLink: newOwnLink(p, "", Address{}, "c"), user: s.tx, sent: map[int64]txRequest{}}
	c.unblocked = c.push
	s.tx.c = c
	p.mu.Lock()
	var err error
	if session.ep, err = p.ep.Begin(); err != nil {
		t.Fatal(err)
	}
	session.ep.Data = session
	if err := c.ask(session, c, wire.Attach{Role: wire.RoleSender, Coordinator: &wire.Coordinator{}}); err != nil {
		t.Fatal(err)
	}
	if err := s.ask(session, s, wire.Attach{Role: wire.RoleSender}); err != nil {
		t.Fatal(err)
	}
	s.tx.ask()
	p.mu.Unlock()
	head := append(open, amqpFrame(&wire.Begin{RemoteChannel: wire.Some(uint16(0)), IncomingWindow: 50, OutgoingWindow: 5})...)
	head = append(head, amqpFrame(&wire.Attach{Name: "c", Role: wire.RoleReceiver, Coordinator: &wire.Coordinator{}})...)
	head = append(head, amqpFrame(&wire.Attach{Name: "s", Handle: 1, Role: wire.RoleReceiver, Target: &wire.Target{}})...)
	for handle, credit := range []uint32{2, 9} { // enough for two declares, and not for the discharge
		head = append(head, amqpFrame(&wire.Flow{Handle: wire.Some(uint32(handle)), IncomingWindow: 50, LinkCredit: wire.Some(credit)})...)
	}
	head = append(head, amqpFrame(settled(0, 0, wire.State{Kind: wire.CodeDeclared, TxnID: []byte{7}}))...)
	play := func(in []byte, step, want int) {
		socket.mu.Lock()
		socket.in, socket.step = in, step
		socket.mu.Unlock()
		buffer := make([]byte, 4096)
		for n := 0; n < want; {
			k, err := p.Read(buffer)
			if err != nil {
				return
			}
			n += k
		}
	}
	play(append(head, wire.AppendHeartbeat(nil)...), 4096, len(open)+wire.FrameHeaderSize)
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if n, err := s.Submit(ctx, messages(0, 2, 20)); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	play(b, int(step)+1, 1<<30)
	<-s.down // the end of the stream is the end of the link
	for id, c := range sink.done {
		if id > 1 {
			t.Errorf("message %d, which was never sent: %+v", id, c)
		}
	}
	if len(sink.done) != 2 || s.Pending() != 0 {
		t.Errorf("%d of 2 messages have a fate, %d pending", len(sink.done), s.Pending())
	}
	if len(ended) != 1 || ended[0] != 1 {
		t.Errorf("ends of transactions: %v", ended)
	}
}
