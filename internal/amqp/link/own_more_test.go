package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"testing"
	"time"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/wire"
)

// TestSerialWrap: transfer-ids, delivery-ids and delivery-counts that pass 2³² in the middle of a run change nothing.
func TestSerialWrap(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	for _, start := range []uint32{math.MaxUint32 - 50, math.MaxInt32 - 50, math.MaxUint32} {
		cfg := config(t, ownBroker(t, broker.Config{Credit: 30}).url)
		cfg.serial = start
		c, sink, address := dial(t, cfg, 0), newLedger(t), queue(t)
		s, err := c.NewSender(ctx, SenderConfig{Address: address, Body: numbered{}, Sink: sink})
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.NewReceiver(ctx, ReceiverConfig{Address: address, Credit: 20})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			if err := submitAll(ctx, s, messages(0, 200, 100)); err != nil {
				t.Error(err)
			}
		}()
		if seen := receiveAll(ctx, t, r, 200); len(seen) != 200 {
			t.Errorf("start %d: %d different messages", start, len(seen))
		}
		if states := sink.await(ctx, 200); states[amqp.Accepted] != 200 {
			t.Errorf("start %d: %v", start, states)
		}
	}
}

// TestIncomingSerialWrap: the same for the peer's numbers.
func TestIncomingSerialWrap(t *testing.T) {
	t.Parallel()
	const start = uint32(math.MaxUint32 - 2)
	f := newFake(t, func(f *fake) {
		f.start.NextOutgoingID = start
		if !f.begin() {
			return
		}
		a, ok := await[*wire.Attach](f)
		if !ok {
			return
		}
		f.write(&wire.Attach{Name: a.Name, Role: wire.RoleSender, Source: a.Source, Target: a.Target, InitialDeliveryCount: wire.Some(start)})
		next := start
		for range 3 {
			flow, ok := await[*wire.Flow](f)
			if !ok {
				return
			}
			if flow.DeliveryCount.V != next || flow.LinkCredit.V != 4 || flow.NextIncomingID.V != next {
				t.Errorf("after %d: %+v", next, flow)
			}
			for range 4 {
				f.send(next, &wire.Message{Data: [][]byte{[]byte("x")}})
				next++
			}
			if d, ok := await[*wire.Disposition](f); ok && (d.First != next-4 || d.Last.V != next-1) {
				t.Errorf("after %d: %+v", next, d)
			}
		}
		f.finish()
	})
	r := fakeReceiver(t, f, 4)
	for range 3 {
		d := take(t, r, 4)
		if _, err := r.Settle(d[0].ID, d[3].ID, amqp.Accepted); err != nil {
			t.Fatal(err)
		}
	}
}

// TestSharedSession: several links on one session, in both directions, closed one after the other.
func TestSharedSession(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	c := dial(t, config(t, ownBroker(t, broker.Config{}).url), 0)
	first, err := c.NewReceiver(ctx, ReceiverConfig{Address: queue(t), Credit: 10})
	if err != nil {
		t.Fatal(err)
	}
	session := first.is.(*ownReceiver).session
	type pair struct {
		s    *Sender
		r    *Receiver
		sink *ledger
	}
	var pairs []pair
	for range 3 {
		p, address := pair{sink: newLedger(t)}, queue(t)
		if p.s, err = c.NewSender(ctx, SenderConfig{Address: address, Body: numbered{}, Sink: p.sink, session: session}); err != nil {
			t.Fatal(err)
		}
		if p.r, err = c.NewReceiver(ctx, ReceiverConfig{Address: address, Credit: 10, session: session}); err != nil {
			t.Fatal(err)
		}
		pairs = append(pairs, p)
	}
	for _, p := range pairs {
		go func() {
			if err := submitAll(ctx, p.s, messages(0, 100, 50)); err != nil {
				t.Error(err)
			}
		}()
	}
	for _, p := range pairs {
		if seen := receiveAll(ctx, t, p.r, 100); len(seen) != 100 {
			t.Errorf("%d different messages", len(seen))
		}
		p.sink.await(ctx, 100)
		if err := errors.Join(p.s.Close(ctx), p.r.Close(ctx)); err != nil {
			t.Error(err)
		}
	}
	if err := errors.Join(first.Close(ctx), c.Close(ctx)); err != nil {
		t.Error(err)
	}
}

// TestSettleSecond: with receiver settle mode second our state is not settled, and the sender settles; a peer that does
// not agree is refused.
func TestSettleSecond(t *testing.T) {
	t.Parallel()
	for _, agrees := range []bool{true, false} {
		t.Run(fmt.Sprint(agrees), func(t *testing.T) {
			t.Parallel()
			f := newFake(t, func(f *fake) {
				if !f.begin() {
					return
				}
				a, ok := await[*wire.Attach](f)
				if !ok {
					return
				}
				answer := &wire.Attach{Name: a.Name, Role: wire.RoleSender, Source: a.Source, InitialDeliveryCount: wire.Some(uint32(0))}
				if agrees {
					answer.RcvSettleMode = a.RcvSettleMode
				}
				f.write(answer)
				if !agrees {
					f.finish()
					return
				}
				await[*wire.Flow](f)
				f.send(0, &wire.Message{Data: [][]byte{[]byte("x")}})
				if d, ok := await[*wire.Disposition](f); ok && (d.Settled || d.State.Kind != wire.CodeAccepted) {
					t.Errorf("%+v", d)
				}
				f.write(&wire.Disposition{Role: wire.RoleSender, First: 0, Settled: true, State: wire.StateOf(wire.CodeAccepted)})
				f.finish()
			})
			r, err := dial(t, config(t, f.url), 0).NewReceiver(limit(t), ReceiverConfig{Address: "queue://q", Credit: 1, second: true})
			if !agrees {
				var e *Error
				if !errors.As(err, &e) || e.Op != "attach" {
					t.Errorf("%v", err)
				}
				return
			}
			if err != nil {
				t.Fatal(err)
			}
			d := take(t, r, 1)
			if _, err := r.Settle(d[0].ID, d[0].ID, amqp.Accepted); err != nil {
				t.Fatal(err)
			}
			if err := r.Close(limit(t)); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestPresettled: in both directions; a peer that will not send settled is refused.
func TestPresettledBothWays(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	c, sink, address := dial(t, config(t, ownBroker(t, broker.Config{Credit: 7}).url), 0), newLedger(t), queue(t)
	r, err := c.NewReceiver(ctx, ReceiverConfig{Address: address, Credit: 5, Presettled: true})
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.NewSender(ctx, SenderConfig{Address: address, Body: numbered{}, Sink: sink, Presettled: true})
	if err != nil {
		t.Fatal(err)
	}
	go func() {
		if err := submitAll(ctx, s, messages(0, 100, 50)); err != nil {
			t.Error(err)
		}
	}()
	dst := make([]amqp.Delivery, 100)
	for got := 0; got < 100; {
		k, err := r.Receive(ctx, dst)
		if err != nil {
			t.Fatal(err)
		}
		for i := range dst[:k] {
			if !dst[i].Settled || dst[i].ID != uint64(got+i) {
				t.Errorf("%+v", dst[i])
			}
		}
		got += k
	}
	if states := sink.await(ctx, 100); states[amqp.Presettled] != 100 || s.Pending() != 0 {
		t.Errorf("%v, %d pending", states, s.Pending())
	}
	f := newFake(t, func(f *fake) {
		if f.attach(0) {
			f.finish()
		}
	})
	var e *Error
	if _, err := dial(t, config(t, f.url), 0).NewReceiver(ctx, ReceiverConfig{Address: "queue://q", Credit: 5, Presettled: true}); !errors.As(err, &e) || e.Op != "attach" {
		t.Errorf("%v", err)
	}
}

// TestAssembly: messages that come in pieces, with those of another link in between, and one that is aborted.
func TestAssembly(t *testing.T) {
	t.Parallel()
	large := (&wire.Message{Data: [][]byte{make([]byte, 1000)}}).Append(nil)
	binary.BigEndian.PutUint64(large[len(large)-1000:], 7)
	f := newFake(t, func(f *fake) {
		if !f.attach(0) {
			return
		}
		await[*wire.Flow](f)
		piece := func(id uint32, first bool, from, to int, last, aborted bool) *wire.Transfer {
			x := &wire.Transfer{More: !last, Aborted: aborted, Payload: large[from:to]}
			if first {
				x.DeliveryID, x.DeliveryTag, x.MessageFormat = wire.Some(id), []byte{byte(id)}, wire.Some(uint32(0))
			}
			return x
		}
		f.write(piece(0, true, 0, 100, false, false), piece(0, false, 100, 101, false, false))
		f.write(piece(0, false, 101, len(large), true, false))
		f.write(piece(1, true, 0, 500, false, false), piece(1, false, 0, 0, true, true)) // aborted
		f.write(piece(2, true, 0, 500, false, false), piece(2, false, 500, len(large), true, false))
		if flow, ok := await[*wire.Flow](f); ok && flow.DeliveryCount.V != 3 {
			t.Errorf("%+v", flow)
		}
		f.finish()
	})
	r := fakeReceiver(t, f, 3)
	d := take(t, r, 1)
	if id := binary.BigEndian.Uint64(d[0].Body); id != 7 || len(d[0].Body) != 1000 || d[0].ID != 0 {
		t.Errorf("id %d, %d bytes", id, len(d[0].Body))
	}
	if d = take(t, r, 1); len(d[0].Body) != 1000 || d[0].ID != 1 {
		t.Errorf("%+v", d[0])
	}
	if _, err := r.Settle(0, 1, amqp.Accepted); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(limit(t)); err != nil {
		t.Error(err)
	}
}

// TestTooMuch: a peer that never stops sending beyond the credit is detached with the reason, which Receive returns
// without waiting for the peer's answer.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	told := make(chan struct{})
	f := newFake(t, func(f *fake) {
		if !f.attach(0) {
			return
		}
		await[*wire.Flow](f)
		for i := range uint32(30) {
			f.send(i, &wire.Message{Data: [][]byte{[]byte("x")}})
		}
		if d, ok := await[*wire.Detach](f); ok && (d.Error == nil || d.Error.Condition != wire.CondTransferLimit) {
			t.Errorf("%+v", d)
		}
		if f.wait(told) {
			f.write(&wire.Detach{Closed: true})
			f.finish()
		}
	})
	r := fakeReceiver(t, f, 10)
	defer close(told)
	dst := make([]amqp.Delivery, 1000)
	got := 0
	for {
		n, err := r.Receive(limit(t), dst)
		if err != nil {
			var e *Error
			if !errors.As(err, &e) || e.Condition != string(wire.CondTransferLimit) {
				t.Errorf("%v", err)
			}
			break
		}
		got += n
	}
	if got != 20 {
		t.Errorf("%d deliveries", got)
	}
}

// TestOneInstant: what one read brings shares an instant, and Settle returns one after it.
func TestOneInstant(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(f *fake) {
		if !f.attach(0) {
			return
		}
		await[*wire.Flow](f)
		var all []wire.Performative
		for i := range uint32(20) {
			m := wire.Message{Data: [][]byte{[]byte("x")}}
			all = append(all, &wire.Transfer{DeliveryID: wire.Some(i), DeliveryTag: []byte{byte(i)}, MessageFormat: wire.Some(uint32(0)), Payload: m.Append(nil)})
		}
		f.write(all...)
		if d, ok := await[*wire.Disposition](f); ok && (d.First != 0 || d.Last.V != 19) {
			t.Errorf("%+v", d)
		}
		f.finish()
	})
	r := fakeReceiver(t, f, 100)
	d := take(t, r, 20)
	for i := range d {
		if d[i].Received != d[0].Received {
			t.Errorf("delivery %d: %d, the first %d", i, d[i].Received, d[0].Received)
		}
	}
	at, err := r.Settle(0, 19, amqp.Accepted)
	if err != nil || at < d[19].Received {
		t.Errorf("settled at %d, received at %d, %v", at, d[19].Received, err)
	}
}

// TestPeerAttaches: a link that the peer wants is refused.
func TestPeerAttaches(t *testing.T) {
	t.Parallel()
	done := make(chan struct{})
	f := newFake(t, func(f *fake) {
		defer close(done)
		if !f.attach(0) {
			return
		}
		f.write(&wire.Attach{Name: "theirs", Handle: 5, Role: wire.RoleSender, Source: &wire.Source{}, Target: &wire.Target{}, InitialDeliveryCount: wire.Some(uint32(0))})
		if a, ok := await[*wire.Attach](f); ok && a.Target != nil {
			t.Errorf("%+v", a)
		}
		if d, ok := await[*wire.Detach](f); ok && (d.Error == nil || d.Error.Condition != wire.CondNotAllowed) {
			t.Errorf("%+v", d)
		}
	})
	_, s, _ := fakeSender(t, f)
	<-done
	<-s.Done()
}

// TestCloseDuringSubmit: Close ends a Submit that waits for credit, and is not delayed by it.
func TestCloseDuringSubmit(t *testing.T) {
	t.Parallel()
	for range 20 {
		f := newFake(t, func(f *fake) {
			if f.attach(0) {
				f.finish()
			}
		})
		_, s, _ := fakeSender(t, f)
		submitted := make(chan error, 1)
		go func() {
			_, err := s.Submit(limit(t), messages(0, 1, 50))
			submitted <- err
		}()
		began := time.Now()
		if err := s.Close(limit(t)); err != nil {
			t.Error(err)
		}
		if err := <-submitted; err == nil {
			t.Error("submitted without credit")
		}
		if took := time.Since(began); took >= 2*time.Second { // the wait for answers that cannot come
			t.Errorf("took %v", took)
		}
	}
}
