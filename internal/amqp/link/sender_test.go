package link

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/wire"
)

// fakeSender attaches a sender to a fake.
func fakeSender(t *testing.T, f *fake) (*Conn, *Sender, *ledger) {
	t.Helper()
	c, sink := dial(t, config(t, f.url), 0), newLedger(t)
	s, err := c.NewSender(limit(t), SenderConfig{Address: "queue://q", Body: numbered{}, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	return c, s, sink
}

// TestOutOfOrder: the second message is settled long before the first, and its time says so.
func TestOutOfOrder(t *testing.T) { bothClients(t, testOutOfOrder) }

func testOutOfOrder(t *testing.T) {
	t.Parallel()
	settleFirst := make(chan struct{})
	f := newFake(t, func(f *fake) {
		if !f.attach(10) {
			return
		}
		await[*wire.Transfer](f)
		await[*wire.Transfer](f)
		f.write(settled(1, 1, wire.StateOf(wire.CodeAccepted)))
		if !f.wait(settleFirst) {
			return
		}
		f.write(settled(0, 0, wire.StateOf(wire.CodeReleased)))
		f.finish()
	})
	c, s, sink := fakeSender(t, f)
	ctx := limit(t)
	if err := submitAll(ctx, s, messages(7, 2, 50)); err != nil {
		t.Fatal(err)
	}
	sink.await(ctx, 1)
	between := c.cfg.Now()
	close(settleFirst)
	sink.await(ctx, 2)
	if got := sink.done[8]; got.State != amqp.Accepted || got.At > between {
		t.Errorf("second message: %+v, seen before %d", got, between)
	}
	if got := sink.done[7]; got.State != amqp.Released || got.At < between {
		t.Errorf("first message: %+v, seen after %d", got, between)
	}
	if s.Pending() != 0 {
		t.Errorf("%d pending", s.Pending())
	}
}

// TestOutcomes: every outcome arrives, with the peer's words for a rejection.
func TestOutcomes(t *testing.T) { bothClients(t, testOutcomes) }

func testOutcomes(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(f *fake) {
		if !f.attach(10) {
			return
		}
		for range 4 {
			await[*wire.Transfer](f)
		}
		rejected := wire.StateOf(wire.CodeRejected)
		rejected.Error = &wire.Error{Condition: "x:full", Description: "no \x1b room"}
		f.write(settled(0, 0, rejected), settled(1, 1, wire.StateOf(wire.CodeReleased)),
			settled(2, 2, wire.StateOf(wire.CodeModified)), settled(3, 3, wire.StateOf(wire.CodeAccepted)))
		f.finish()
	})
	_, s, sink := fakeSender(t, f)
	ctx := limit(t)
	if err := submitAll(ctx, s, messages(0, 4, 50)); err != nil {
		t.Fatal(err)
	}
	sink.await(ctx, 4)
	for id, want := range []amqp.State{amqp.Rejected, amqp.Released, amqp.Modified, amqp.Accepted} {
		if got := sink.done[uint64(id)]; got.State != want {
			t.Errorf("message %d: %+v, want state %d", id, got, want)
		}
	}
	if got := sink.done[0].Error; got != "x:full: no ? room" {
		t.Errorf("rejection: %q", got)
	}
}

// TestCredit: Submit waits for credit, says so, and reads the sent instant after the wait.
func TestCredit(t *testing.T) { bothClients(t, testCredit) }

func testCredit(t *testing.T) {
	t.Parallel()
	came, grant := make(chan struct{}), make(chan struct{})
	f := newFake(t, func(f *fake) {
		if !f.attach(1) {
			return
		}
		await[*wire.Transfer](f)
		close(came)
		if !f.wait(grant) {
			return
		}
		f.grant(1, 5)
		f.write(settled(0, 0, wire.StateOf(wire.CodeAccepted)))
		await[*wire.Transfer](f)
		f.write(settled(1, 1, wire.StateOf(wire.CodeAccepted)))
		f.finish()
	})
	c, s, sink := fakeSender(t, f)
	ctx := limit(t)
	batch := messages(0, 2, 50)
	awaitCredit(t, s)
	if n, err := s.Submit(ctx, batch[:1]); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	if batch[0].Wait != amqp.WaitNone || s.Credit() != 0 {
		t.Errorf("first message: wait %d, then credit %d", batch[0].Wait, s.Credit())
	}
	var granted int64
	time.AfterFunc(20*time.Millisecond, func() { granted = c.cfg.Now(); close(grant) })
	if n, err := s.Submit(ctx, batch[1:]); n != 1 || err != nil {
		t.Fatal(n, err)
	}
	<-grant
	if batch[1].Wait != amqp.WaitCredit || batch[1].Sent < granted {
		t.Errorf("second message: %+v, credit granted after %d", batch[1], granted)
	}
	sink.await(ctx, 2)
}

// TestCancelWithoutCredit: a cancelled Submit tells what was sent, and the link lives on.
func TestCancelWithoutCredit(t *testing.T) { bothClients(t, testCancelWithoutCredit) }

func testCancelWithoutCredit(t *testing.T) {
	t.Parallel()
	came, grant := make(chan struct{}), make(chan struct{})
	f := newFake(t, func(f *fake) {
		if !f.attach(1) {
			return
		}
		await[*wire.Transfer](f)
		close(came)
		if !f.wait(grant) {
			return
		}
		f.grant(1, 5)
		await[*wire.Transfer](f)
		f.write(settled(0, 1, wire.StateOf(wire.CodeAccepted)))
		f.finish()
	})
	_, s, sink := fakeSender(t, f)
	ctx, cancel := context.WithCancel(limit(t))
	go func() {
		<-came
		cancel()
	}()
	batch := messages(0, 3, 50)
	if n, err := s.Submit(ctx, batch); n != 1 || err != nil {
		t.Fatalf("took %d: %v", n, err)
	}
	if n, err := s.Submit(ctx, batch[1:]); n != 0 || !errors.Is(err, context.Canceled) {
		t.Fatalf("took %d: %v", n, err)
	}
	close(grant)
	if err := submitAll(limit(t), s, batch[1:2]); err != nil {
		t.Fatal(err)
	}
	if states := sink.await(limit(t), 2); states[amqp.Accepted] != 2 {
		t.Errorf("states %v", states)
	}
}

// ends are the ways in which a peer ends a link, and what must be known afterwards.
func TestPeerEnds(t *testing.T) { bothClients(t, testPeerEnds) }

func testPeerEnds(t *testing.T) {
	t.Parallel()
	gone := &wire.Error{Condition: wire.CondResourceDeleted, Description: "queue q was deleted"}
	for name, c := range map[string]struct {
		end  wire.Performative
		want string
	}{
		"detach":           {&wire.Detach{Closed: true, Error: gone}, "amqp:resource-deleted: queue q was deleted"},
		"detach not close": {&wire.Detach{Error: gone}, "amqp:resource-deleted: queue q was deleted"},
		"detach no reason": {&wire.Detach{Closed: true}, "detached without a reason"},
		"end":              {&wire.End{Error: gone}, "amqp:resource-deleted: queue q was deleted"},
		"close":            {&wire.Close{Error: gone}, "amqp:resource-deleted: queue q was deleted"},
		"cut":              {nil, "closed the connection without a reason"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			// Without the wait the library may drop the settlement for the end that follows it.
			seen := make(chan struct{})
			f := newFake(t, func(f *fake) {
				if !f.attach(10) {
					return
				}
				await[*wire.Transfer](f)
				await[*wire.Transfer](f)
				f.write(settled(0, 0, wire.StateOf(wire.CodeAccepted)))
				if !f.wait(seen) || c.end == nil {
					return
				}
				f.write(c.end)
				f.finish()
			})
			_, s, sink := fakeSender(t, f)
			ctx := limit(t)
			if err := submitAll(ctx, s, messages(0, 2, 50)); err != nil {
				t.Fatal(err)
			}
			sink.await(ctx, 1)
			close(seen)
			sink.await(ctx, 2)
			if got := sink.done[0]; got.State != amqp.Accepted {
				t.Errorf("first message: %+v", got)
			}
			if got := sink.done[1]; got.State != amqp.Failed || !strings.Contains(got.Error, c.want) {
				t.Errorf("second message: %+v, want %q", got, c.want)
			}
			<-s.Done()
			if sink.downs != 1 || sink.downErr == nil || !strings.Contains(sink.downErr.Error(), c.want) {
				t.Errorf("down %d times: %v, want %q", sink.downs, sink.downErr, c.want)
			}
			n, err := s.Submit(ctx, messages(2, 1, 50))
			if n != 0 || err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("submit afterwards took %d: %v", n, err)
			}
			_ = s.Close(ctx) // must not hang
		})
	}
}

// TestCloseWithMessagesInFlight: our own close is no failure, and nothing is made up for what has no answer.
func TestCloseWithMessagesInFlight(t *testing.T) { bothClients(t, testCloseWithMessagesInFlight) }

func testCloseWithMessagesInFlight(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(f *fake) {
		if f.attach(10) {
			f.finish()
		}
	})
	_, s, sink := fakeSender(t, f)
	ctx := limit(t)
	if err := submitAll(ctx, s, messages(0, 3, 50)); err != nil {
		t.Fatal(err)
	}
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	if len(sink.done) != 0 || sink.downs != 0 {
		t.Errorf("%v, down %d times", sink.done, sink.downs)
	}
	if _, err := s.Submit(ctx, messages(3, 1, 50)); err == nil {
		t.Error("a closed link takes messages")
	}
}

// TestDeafPeer: a peer that answers nothing delays the end by seconds, not for ever.
func TestDeafPeer(t *testing.T) { bothClients(t, testDeafPeer) }

func testDeafPeer(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(f *fake) {
		if f.attach(10) {
			<-f.over
		}
	})
	c, s, sink := fakeSender(t, f)
	ctx := limit(t)
	if err := submitAll(ctx, s, messages(0, 3, 50)); err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	_, _ = s.Close(ctx), c.Close(ctx)
	if took := time.Since(began); took > 8*time.Second {
		t.Errorf("closing took %v", took)
	}
	if len(sink.done) != 0 {
		t.Errorf("completions were made up: %v", sink.done)
	}
}

// TestBlockedPeer: a peer that reads nothing does not hold a cancelled Submit for more than seconds.
func TestBlockedPeer(t *testing.T) { bothClients(t, testBlockedPeer) }

func testBlockedPeer(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(f *fake) {
		if f.attach(1 << 20) {
			<-f.over
		}
	})
	_, s, sink := fakeSender(t, f)
	ctx, cancel := context.WithCancel(limit(t))
	defer cancel()
	blocked := time.AfterFunc(time.Minute, cancel)
	taken := 0
	var err error
	for err == nil {
		var n int
		blocked.Reset(time.Second) // from the last message that the socket took
		n, err = s.Submit(ctx, messages(uint64(taken), 1, 60_000))
		taken += n
	}
	if ctx.Err() == nil {
		t.Fatalf("after %d messages: %v", taken, err)
	}
	<-s.Done()
	states := sink.await(limit(t), taken)
	if states[amqp.Failed] != taken || taken == 0 {
		t.Errorf("%d taken, %v", taken, states)
	}
}

// TestTooLarge: one error with the limit, and the link still works (B-041).
func TestTooLarge(t *testing.T) { bothClients(t, testTooLarge) }

func testTooLarge(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	c := dial(t, config(t, ownBroker(t, broker.Config{MaxMessageSize: 10_000}).url), 0)
	sink := newLedger(t)
	s, err := c.NewSender(ctx, SenderConfig{Address: queue(t), Body: numbered{}, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	n, err := s.Submit(ctx, messages(0, 1, 20_000))
	var e *Error
	if n != 0 || !errors.As(err, &e) || e.Condition != CondTooLarge || !strings.Contains(e.Description, "10000") {
		t.Errorf("took %d: %v", n, err)
	}
	if err := submitAll(ctx, s, messages(1, 1, 5_000)); err != nil {
		t.Fatal(err)
	}
	if states := sink.await(ctx, 1); states[amqp.Accepted] != 1 {
		t.Errorf("states %v", states)
	}
}

// TestBrokerCloses: a broker that goes in mid-run leaves every message with one fate.
func TestBrokerCloses(t *testing.T) { bothClients(t, testBrokerCloses) }

func testBrokerCloses(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	b := ownBroker(t, broker.Config{Service: broker.Service{Mean: 100 * time.Microsecond}})
	c, sink := dial(t, config(t, b.url), 0), newLedger(t)
	s, err := c.NewSender(ctx, SenderConfig{Address: queue(t), Body: numbered{}, Sink: sink, MaxPending: 1000})
	if err != nil {
		t.Fatal(err)
	}
	taken := make(chan int)
	go func() {
		n := 0
		for {
			k, err := s.Submit(ctx, messages(uint64(n), 10, 100))
			n += k
			if err != nil {
				taken <- n
				return
			}
		}
	}()
	sink.await(ctx, 200)
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	n := <-taken
	<-s.Done()
	states := sink.await(ctx, n)
	if states[amqp.Accepted]+states[amqp.Failed] != n || len(sink.done) != n {
		t.Errorf("%d taken, %d completed: %v", n, len(sink.done), states)
	}
	var e *Error
	if !errors.As(sink.downErr, &e) || e.Condition != "amqp:connection:forced" {
		t.Errorf("down: %v", sink.downErr)
	}
}
