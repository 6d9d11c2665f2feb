package broker_test

import (
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/go-amqp"

	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/wire"
)

// durable is the source of a subscription that stays.
func durable(caps ...wire.Symbol) *wire.Source {
	return &wire.Source{Address: wire.Some("topic://t"), Durable: wire.DurableUnsettled, ExpiryPolicy: "never", Capabilities: caps}
}

// source is that of the broker's answer to the attach of a handle (the broker's), the last one.
func (r *talker) source(handle uint32) *wire.Source {
	synctest.Wait()
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, f := range slices.Backward(r.came) {
		if a, ok := f.p.(*wire.Attach); ok && a.Handle == handle {
			return a.Source
		}
	}
	return nil
}

// texts are the bodies that came on a handle, sorted.
func (r *talker) texts(handle uint32) []string {
	out := r.bodies(handle)
	for i := range out {
		out[i], _, _ = strings.Cut(out[i], " ")
	}
	slices.Sort(out)
	return out
}

func TestDurableSubscription(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s := w.sender("topic://t", nil)
		w.send(s, "before")
		first := w.talk(t, "me")
		first.receiver(0, "sub", durable())
		if got := first.source(0); got == nil || got.Durable == wire.DurableNone || got.ExpiryPolicy != "never" {
			t.Fatalf("answer %+v", got)
		}
		w.send(s, "unsettled")
		first.write(&wire.Detach{Handle: 0})
		_ = first.c.Close()
		w.send(s, "away")
		// Another container has no part in it.
		other := w.talk(t, "other")
		other.receiver(0, "sub", durable())
		if got := other.texts(0); len(got) != 0 {
			t.Errorf("another container got %q", got)
		}
		second := w.talk(t, "me")
		second.receiver(0, "sub", durable())
		if got := second.texts(0); !slices.Equal(got, []string{"away", "unsettled"}) {
			t.Errorf("after it has come back: %q", got)
		}
		busy := w.talk(t, "me")
		busy.receiver(0, "sub", durable())
		if got := busy.detached(0); got != "amqp:resource-locked" {
			t.Errorf("a second link: %q", got)
		}
		second.write(&wire.Detach{Handle: 0, Closed: true})
		if got := w.outcomes(); got[broker.Dropped] != 3 { // "before" had no subscription
			t.Errorf("%v", got)
		}
		third := w.talk(t, "me")
		third.receiver(0, "sub", nil)
		if got := third.detached(0); got != "amqp:not-found" {
			t.Errorf("an attach without source after the end: %q", got)
		}
	})
}

func TestSharedSubscription(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s := w.sender("topic://t", nil)
		a, b := w.talk(t, "a"), w.talk(t, "b")
		shared := &wire.Source{Address: wire.Some("topic://t"), Capabilities: []wire.Symbol{"shared", "global"}}
		a.receiver(0, "sub|global", shared)
		b.receiver(0, "sub|global2", shared)
		own := w.talk(t, "c")
		own.receiver(0, "sub", &wire.Source{Address: wire.Some("topic://t"), Capabilities: []wire.Symbol{"shared"}})
		w.send(s, "1", "2", "3", "4")
		got := append(a.texts(0), b.texts(0)...)
		if slices.Sort(got); !slices.Equal(got, []string{"1", "2", "3", "4"}) || len(a.texts(0)) != 2 {
			t.Errorf("shared by two: %q and %q", a.texts(0), b.texts(0))
		}
		if got := own.texts(0); len(got) != 4 {
			t.Errorf("one that is not global got %q", got)
		}
		if caps := a.source(0).Capabilities; !slices.Contains(caps, "shared") || !slices.Contains(caps, "global") {
			t.Errorf("answer %v", caps)
		}
		// What the one leaves is for the other; what the last leaves is gone.
		a.write(&wire.Detach{Handle: 0, Closed: true})
		if got := b.texts(0); len(got) != 4 {
			t.Errorf("after the other has left: %q", got)
		}
		b.write(&wire.Detach{Handle: 0})
		if got := w.outcomes(); got[broker.Dropped] != 4 {
			t.Errorf("%v", got)
		}
		// Another durability is another thing.
		a.receiver(1, "sub|global", durable("shared", "global"))
		other := w.talk(t, "d")
		other.receiver(0, "sub|global", shared)
		if got := other.detached(0); got != "amqp:precondition-failed" {
			t.Errorf("a link that is not durable: %q", got)
		}
		a.write(&wire.Detach{Handle: 1, Closed: true})
		queue := w.talk(t, "q")
		queue.receiver(0, "sub", &wire.Source{Address: wire.Some("q"), Capabilities: []wire.Symbol{"shared"}})
		if got := queue.detached(0); got != "amqp:invalid-field" {
			t.Errorf("a queue: %q", got)
		}
	})
}

// A shared durable subscription is found by its name, and ended with the last link.
func TestResume(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s := w.sender("topic://t", nil)
		a := w.talk(t, "a")
		a.receiver(0, "sub|global", durable("shared", "global"))
		a.write(&wire.Detach{Handle: 0})
		w.send(s, "1")
		b := w.talk(t, "b")
		b.write(&wire.Attach{Name: "sub|global", Role: wire.RoleReceiver, Target: &wire.Target{}, DesiredCapabilities: []wire.Symbol{"shared", "global"}})
		if got := b.source(0); got == nil || got.Address.Or("") != "topic://t" || got.Durable == wire.DurableNone {
			t.Fatalf("answer %+v", got)
		}
		b.write(&wire.Detach{Handle: 0, Closed: true})
		if got := w.outcomes(); got[broker.Dropped] != 1 {
			t.Errorf("%v", got)
		}
	})
}

func TestBrowser(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s := w.sender("q", nil)
		w.send(s, "1", "2", "3")
		r := w.talk(t, "b")
		r.write(&wire.Attach{Name: "b", Role: wire.RoleReceiver, Source: &wire.Source{Address: wire.Some("q"), DistributionMode: "copy"}, Target: &wire.Target{}})
		credit := func(count, n uint32) {
			r.write(&wire.Flow{NextIncomingID: wire.Some(uint32(0)), IncomingWindow: 100, Handle: wire.Some(uint32(0)), DeliveryCount: wire.Some(count), LinkCredit: wire.Some(n)})
		}
		credit(0, 2)
		if got := r.texts(0); !slices.Equal(got, []string{"1", "2"}) || r.source(0).DistributionMode != "copy" {
			t.Errorf("with credit 2: %q, %+v", got, r.source(0))
		}
		r.write(&wire.Disposition{Role: wire.RoleReceiver, First: 0, Last: wire.Some(uint32(1)), Settled: true, State: wire.StateOf(wire.CodeRejected)})
		credit(2, 10)
		w.send(s, "4")
		if got := r.texts(0); !slices.Equal(got, []string{"1", "2", "3", "4"}) {
			t.Errorf("each once: %q", got)
		}
		if got := w.outcomes(); len(got) != 0 {
			t.Errorf("browsing took something: %v", got)
		}
		c := w.receiver("q", &amqp.ReceiverOptions{Credit: 10})
		for range 4 {
			w.accept(c, w.receive(c))
		}
		w.send(s, "5")
		w.accept(c, w.receive(c))
		if got := w.outcomes(); got[broker.Accepted] != 5 || len(got) != 1 {
			t.Errorf("%v", got)
		}
		_ = r.c.Close()
	})
}

// What the broker does not have is refused, not ignored.
func TestFiltersRefused(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		r := w.talk(t, "c")
		r.receiver(0, "r", &wire.Source{Address: wire.Some("q"), Filter: wire.Map{{Key: wire.Symbol("x"), Value: wire.Described{Descriptor: uint64(0x468C00000004), Value: "a = 1"}}}})
		if got := r.detached(0); got != "amqp:not-implemented" {
			t.Errorf("%q", got)
		}
	})
}

// The cap counts the unsettled bytes of a connection, whatever links they are on; with a delay it makes the rate
// cap / round trip, exactly.
func TestCapAndDelay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const size, limit, delay = 1000, 4100, 5 * time.Millisecond
		w := start(t, broker.Config{MaxUnsettledBytes: limit, Delay: delay})
		defer w.close()
		s := w.sender("q", nil)
		for range 20 {
			w.send(s, strings.Repeat("x", size-8)) // and 8 bytes around it
		}
		session := w.session()
		var links []*amqp.Receiver
		for range 2 {
			r, err := session.NewReceiver(w.ctx, "q", &amqp.ReceiverOptions{Credit: 100})
			if err != nil {
				t.Fatal(err)
			}
			links = append(links, r)
		}
		done := make(chan struct{})
		for _, r := range links {
			go func() {
				for {
					m, err := r.Receive(w.ctx, nil)
					if err != nil {
						return
					}
					if err := r.AcceptMessage(w.ctx, m); err != nil {
						return
					}
					done <- struct{}{}
				}
			}()
		}
		for range 20 {
			<-done
		}
		time.Sleep(time.Second)
		records := w.log()
		var delivered []int64
		for _, r := range records {
			if r.Size != size {
				t.Fatalf("%d bytes", r.Size)
			}
			delivered = append(delivered, r.Delivered)
		}
		slices.Sort(delivered)
		for i, at := range delivered { // four fit; their answers come one round trip later
			if want := delivered[0] + int64(i/4)*int64(2*delay); at != want {
				t.Errorf("message %d was delivered %v after the first, want %v", i, time.Duration(at-delivered[0]), time.Duration(want-delivered[0]))
			}
		}
	})
}
