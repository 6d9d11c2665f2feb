package link

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"time"

	"amqpperf/internal/amqp"
)

// The tests in this file run against a real broker too, the one at PERF_TEST_AMQP_URL.

func TestBrokerRoundTrip(t *testing.T) { bothClients(t, testBrokerRoundTrip) }

func testBrokerRoundTrip(t *testing.T) {
	t.Parallel()
	roundTrip(t, brokerURL(t), 5000, 256)
}

func TestBrokerLarge(t *testing.T) { bothClients(t, testBrokerLarge) }

func testBrokerLarge(t *testing.T) {
	t.Parallel()
	roundTrip(t, brokerURL(t), 10, 1<<20)
}

func TestBrokerFrameSizes(t *testing.T) { bothClients(t, testBrokerFrameSizes) }

func testBrokerFrameSizes(t *testing.T) {
	t.Parallel()
	for _, size := range []int32{8, 65535, 65536, 65537, 131072} {
		t.Run(fmt.Sprint(size), func(t *testing.T) { roundTrip(t, brokerURL(t), 3, size) })
	}
}

// roundTrip sends n messages over one connection and receives them over another.
func roundTrip(t *testing.T, u URL, n int, size int32) {
	t.Helper()
	ctx := limit(t)
	a, b := dial(t, config(t, u), 0), dial(t, config(t, u), 1)
	t.Logf("peer: %+v", a.Peer())
	if size > DefaultMaxFrameSize && a.Peer().Product == "" {
		t.Skip("the example broker of Proton C damages messages that come in several reads")
	}
	address, sink := queue(t), newLedger(t)
	r, err := b.NewReceiver(ctx, ReceiverConfig{Address: address, Credit: 100})
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.NewSender(ctx, SenderConfig{Address: address, Body: numbered{}, Sink: sink, MaxPending: n})
	if err != nil {
		t.Fatal(err)
	}
	batch := messages(0, n, size)
	go func() {
		if err := submitAll(ctx, s, batch); err != nil {
			t.Error(err)
		}
	}()
	seen := receiveAll(ctx, t, r, n)
	states := sink.await(ctx, n)
	if states[amqp.Accepted] != n || len(seen) != n {
		t.Errorf("accepted %v, received %d different of %d", states, len(seen), n)
	}
	for i, m := range batch {
		if c := sink.done[m.ID]; c.At < m.Sent {
			t.Errorf("message %d was settled at %d, before it was sent at %d", i, c.At, m.Sent)
		}
	}
	for i, shut := range []func(context.Context) error{s.Close, r.Close, a.Close, b.Close} {
		began := time.Now()
		if err := shut(ctx); err != nil {
			t.Error(err)
		}
		t.Logf("close %d took %v", i, time.Since(began))
	}
	if sink.downs != 0 {
		t.Errorf("we closed the link, but it is reported as down: %v", sink.downErr)
	}
}

func TestBrokerTopic(t *testing.T) { bothClients(t, testBrokerTopic) }

func testBrokerTopic(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	c := dial(t, config(t, brokerURL(t)), 0)
	if c.Peer().Product == "" {
		t.Skip("a broker that does not tell its name may have no topics (Proton's example)")
	}
	address, sink := "topic://"+randomName("link-topic"), newLedger(t)
	var receivers []*Receiver
	for range 2 {
		r, err := c.NewReceiver(ctx, ReceiverConfig{Address: address, Credit: 10})
		if err != nil {
			t.Fatal(err)
		}
		receivers = append(receivers, r)
	}
	if a, b := receivers[0].Subscription(), receivers[1].Subscription(); a == b || a == "" {
		t.Errorf("subscriptions %q and %q", a, b)
	}
	s, err := c.NewSender(ctx, SenderConfig{Address: address, Body: numbered{}, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	if err := submitAll(ctx, s, messages(0, 50, 64)); err != nil {
		t.Fatal(err)
	}
	for _, r := range receivers {
		if seen := receiveAll(ctx, t, r, 50); len(seen) != 50 {
			t.Errorf("%d different messages of 50", len(seen))
		}
	}
}

func TestBrokerPresettled(t *testing.T) { bothClients(t, testBrokerPresettled) }

func testBrokerPresettled(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	c := dial(t, config(t, brokerURL(t)), 0)
	address, sink := queue(t), newLedger(t)
	r, err := c.NewReceiver(ctx, ReceiverConfig{Address: address, Credit: 10})
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.NewSender(ctx, SenderConfig{Address: address, Body: numbered{}, Sink: sink, Presettled: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := submitAll(ctx, s, messages(0, 50, 64)); err != nil {
		t.Fatal(err)
	}
	if seen := receiveAll(ctx, t, r, 50); len(seen) != 50 {
		t.Errorf("%d different messages of 50", len(seen))
	}
	if states := sink.await(ctx, 50); states[amqp.Presettled] != 50 {
		t.Errorf("states %v", states)
	}
}

// TestBrokerLeftovers: what a stopped receiver did not settle comes to the next one.
func TestBrokerLeftovers(t *testing.T) { bothClients(t, testBrokerLeftovers) }

func testBrokerLeftovers(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	c := dial(t, config(t, brokerURL(t)), 0)
	address, sink := queue(t), newLedger(t)
	s, err := c.NewSender(ctx, SenderConfig{Address: address, Body: numbered{}, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	if err := submitAll(ctx, s, messages(0, 500, 64)); err != nil {
		t.Fatal(err)
	}
	sink.await(ctx, 500)
	if c.Peer().Product == "" {
		t.Skip("a broker that does not tell its name may forget what it delivered once (Proton's example)")
	}
	first, err := c.NewReceiver(ctx, ReceiverConfig{Address: address, Credit: 200})
	if err != nil {
		t.Fatal(err)
	}
	seen := receiveAll(ctx, t, first, 100)
	taken := 0
	for _, n := range seen {
		taken += n
	}
	if err := first.Stop(ctx); err != nil {
		t.Fatal(err)
	}
	released := releaseRest(ctx, t, first)
	if err := first.Close(ctx); err != nil {
		t.Fatal(err)
	}
	second, err := c.NewReceiver(ctx, ReceiverConfig{Address: address, Credit: 200})
	if err != nil {
		t.Fatal(err)
	}
	for id, n := range receiveAll(ctx, t, second, 500-taken) {
		seen[id] += n
	}
	if len(seen) != 500 {
		t.Errorf("%d different messages of 500; %d taken, %d released", len(seen), taken, released)
	}
}

func TestBrokerRefusesCredentials(t *testing.T) { bothClients(t, testBrokerRefusesCredentials) }

func testBrokerRefusesCredentials(t *testing.T) {
	t.Parallel()
	u := brokerURL(t).WithUser("nobody", "s3cr3t#word")
	c, err := Dial(limit(t), config(t, u), 0)
	if err == nil {
		defer func() { _ = c.Close(limit(t)) }()
		t.Skip("this broker accepts any user")
	}
	if strings.Contains(fmt.Sprintf("%v %+v %#v", err, err, err), "s3cr3t") {
		t.Errorf("the error shows the password: %#v", err)
	}
	var e *Error
	if !errors.As(err, &e) || e.Condition != CondUnauthorized {
		t.Errorf("%#v", err)
	}
	t.Log(err)
}

func TestBrokerRefusesLink(t *testing.T) { bothClients(t, testBrokerRefusesLink) }

func testBrokerRefusesLink(t *testing.T) {
	t.Parallel()
	ctx := limit(t)
	c := dial(t, config(t, brokerURL(t)), 0)
	if c.Peer().Product != "RabbitMQ" {
		t.Skipf("%s makes every address; see TestRefusedLinks", c.Peer().Product)
	}
	_, err := c.NewSender(ctx, SenderConfig{Address: "/exchange/nope-nope/x", Body: numbered{}, Sink: newLedger(t)})
	var e *Error
	if !errors.As(err, &e) || e.Condition == "" || e.Op != "attach" {
		t.Errorf("sender: %#v", err)
	}
	t.Log(err)
	_, err = c.NewReceiver(ctx, ReceiverConfig{Address: "/exchange/nope-nope/x", Credit: 1})
	if !errors.As(err, &e) || e.Condition == "" || e.Op != "attach" {
		t.Errorf("receiver: %#v", err)
	}
	t.Log(err)
}
