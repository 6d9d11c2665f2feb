package link

import (
	"testing"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/wire"
)

// TestEchoAndDrain: both are answered, also by a sender and by a receiver that have nothing else to say.
func TestEchoAndDrain(t *testing.T) {
	t.Parallel()
	answered := make(chan struct{})
	f := newFake(t, func(f *fake) {
		if !f.attach(3) {
			return
		}
		flow := func(x *wire.Flow) *wire.Flow {
			x.NextIncomingID, x.IncomingWindow, x.OutgoingWindow = wire.Some(uint32(0)), 1<<20, 1<<20
			f.write(x)
			answer, _ := await[*wire.Flow](f)
			return answer
		}
		if x := flow(&wire.Flow{Echo: true}); x == nil || x.Handle.OK {
			t.Errorf("echo of the session: %+v", x)
		}
		if x := flow(&wire.Flow{Handle: wire.Some(uint32(0)), DeliveryCount: wire.Some(uint32(0)), LinkCredit: wire.Some(uint32(3)), Echo: true}); x == nil || x.LinkCredit.V != 3 {
			t.Errorf("echo of the link: %+v", x)
		}
		x := flow(&wire.Flow{Handle: wire.Some(uint32(0)), DeliveryCount: wire.Some(uint32(0)), LinkCredit: wire.Some(uint32(3)), Drain: true})
		if x == nil || !x.Drain || x.LinkCredit.V != 0 || x.DeliveryCount.V != 3 {
			t.Errorf("drain: %+v", x)
		}
		f.grant(3, 2)
		close(answered)
		await[*wire.Transfer](f)
		f.write(settled(0, 0, wire.StateOf(wire.CodeAccepted)))
		f.finish()
	})
	_, s, sink := fakeSender(t, f)
	<-answered
	if err := submitAll(limit(t), s, messages(0, 1, 50)); err != nil {
		t.Fatal(err)
	}
	sink.await(limit(t), 1)
}

// TestDrainWhileWaiting: a Submit that waits for credit uses what comes with the drain, and gives back the rest.
func TestDrainWhileWaiting(t *testing.T) {
	t.Parallel()
	waits := make(chan struct{})
	f := newFake(t, func(f *fake) {
		if !f.attach(0) || !f.wait(waits) {
			return
		}
		f.write(&wire.Flow{NextIncomingID: wire.Some(uint32(0)), IncomingWindow: 1 << 20, OutgoingWindow: 1 << 20,
			Handle: wire.Some(uint32(0)), DeliveryCount: wire.Some(uint32(0)), LinkCredit: wire.Some(uint32(5)), Drain: true})
		n := 0
		for {
			switch x := f.read().(type) {
			case *wire.Transfer:
				n++
				continue
			case *wire.Flow:
				if x.LinkCredit.V != 0 || !x.Drain || x.DeliveryCount.V != 5 {
					t.Errorf("after %d transfers: %+v", n, x)
				}
			default:
				t.Errorf("%+v", x)
			}
			break
		}
		f.write(settled(0, 1, wire.StateOf(wire.CodeAccepted)))
		f.finish()
	})
	cfg, sink := config(t, f.url), newLedger(t)
	cfg.OnEvent = func(e amqp.Event) {
		if e.Kind == amqp.EventCredit0 {
			close(waits)
		}
	}
	s, err := dial(t, cfg, 0).NewSender(limit(t), SenderConfig{Address: "queue://q", Body: numbered{}, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	if err := submitAll(limit(t), s, messages(0, 2, 50)); err != nil {
		t.Fatal(err)
	}
	sink.await(limit(t), 2)
}

// TestSessionWindow: the peer's window counts frames, is waited for with its name, and lets a message be cut.
func TestSessionWindow(t *testing.T) {
	t.Parallel()
	open := make(chan struct{})
	f := newFake(t, func(f *fake) {
		f.answer, f.window = &wire.Open{ContainerID: "fake", MaxFrameSize: wire.Some(uint32(512))}, 3
		if !f.attach(100) {
			return
		}
		next := 0
		for range 3 { // two frames of the first message, one of the second
			if x, ok := await[*wire.Transfer](f); ok {
				next++
				if x.More != (next != 2) {
					t.Errorf("frame %d: more %v", next, x.More)
				}
			}
		}
		if !f.wait(open) {
			return
		}
		for deliveries := 1; deliveries < 3; {
			f.write(&wire.Flow{NextIncomingID: wire.Some(uint32(next)), IncomingWindow: 1, OutgoingWindow: 1})
			x, ok := await[*wire.Transfer](f)
			if !ok {
				return
			}
			if next++; !x.More {
				deliveries++
			}
		}
		if next != 6 {
			t.Errorf("%d frames", next)
		}
		f.write(settled(0, 2, wire.StateOf(wire.CodeAccepted)))
		f.finish()
	})
	cfg, sink := config(t, f.url), newLedger(t)
	var opened int64
	cfg.OnEvent = func(e amqp.Event) {
		if e.Kind == amqp.EventSession0 { // once, since a second has not passed
			opened = cfg.Now()
			close(open)
		}
	}
	s, err := dial(t, cfg, 0).NewSender(limit(t), SenderConfig{Address: "queue://q", Body: numbered{}, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	batch := messages(0, 3, 600)
	if n, err := s.Submit(limit(t), batch); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	if err := submitAll(limit(t), s, batch[2:]); err != nil {
		t.Fatal(err)
	}
	<-open
	if batch[2].Wait != amqp.WaitSession || batch[2].Sent < opened {
		t.Errorf("%+v, window opened at %d", batch[2], opened)
	}
	sink.await(limit(t), 3)
}

// TestFlowNulls: a flow without delivery-count counts from the start, one without credit changes none.
func TestFlowNulls(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(f *fake) {
		if !f.attach(0) {
			return
		}
		f.write(&wire.Flow{IncomingWindow: 100, OutgoingWindow: 1, Handle: wire.Some(uint32(0)), LinkCredit: wire.Some(uint32(2))})
		f.write(&wire.Flow{IncomingWindow: 100, OutgoingWindow: 1, Handle: wire.Some(uint32(0))})
		await[*wire.Transfer](f)
		await[*wire.Transfer](f)
		f.write(settled(0, 1, wire.StateOf(wire.CodeAccepted)))
		f.finish()
	})
	_, s, sink := fakeSender(t, f)
	awaitCredit(t, s)
	if n, err := s.Submit(limit(t), messages(0, 3, 50)); n != 2 || err != nil {
		t.Fatal(n, err)
	}
	sink.await(limit(t), 2)
}
