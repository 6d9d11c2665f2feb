package link

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/wire"
)

// topic returns an address that no other test uses.
func topic(t *testing.T) string { return "topic://" + randomName("link-test") }

// exact is a config whose container id stays the same.
func exact(t *testing.T, u URL) Config {
	cfg := config(t, u)
	cfg.ContainerID, cfg.ContainerExact = randomName("container"), true
	return cfg
}

// publish sends n messages and waits until the broker has them.
func publish(t *testing.T, u URL, address string, first uint64, n int) {
	t.Helper()
	sink := newLedger(t)
	s, err := dial(t, config(t, u), 8).NewSender(limit(t), SenderConfig{Address: address, Body: numbered{}, Sink: sink, Durable: true})
	if err != nil {
		t.Fatal(err)
	}
	if err := submitAll(limit(t), s, messages(first, n, 100)); err != nil {
		t.Fatal(err)
	}
	if states := sink.await(limit(t), n); states[amqp.Accepted] != n {
		t.Fatalf("%d published: %v", n, states)
	}
	if err := s.Close(limit(t)); err != nil {
		t.Fatal(err)
	}
}

// subscribed attaches a receiver on a connection of its own.
func subscribed(t *testing.T, cfg Config, index int32, rc ReceiverConfig) (*Conn, *Receiver, error) {
	t.Helper()
	c := dial(t, cfg, index)
	if rc.Credit == 0 {
		rc.Credit = 100
	}
	r, err := c.NewReceiver(limit(t), rc)
	return c, r, err
}

func shutAll(t *testing.T, c *Conn, r *Receiver) {
	t.Helper()
	err := errors.Join(r.Close(limit(t)), c.Close(limit(t)))
	switch {
	case err == nil:
	case strings.Contains(err.Error(), "/nondurable' has been removed"): // Broker-J ends a shared one with its first link
		t.Log(err)
	default:
		t.Error(err)
	}
}

// TestDurableSubscription: what is sent while the subscriber is away is received, and nothing more after it has
// ended the subscription.
func TestDurableSubscription(t *testing.T) { bothClients(t, testDurableSubscription) }

func testDurableSubscription(t *testing.T) {
	t.Parallel()
	u, address := brokerURL(t), topic(t)
	cfg := exact(t, u)
	rc := ReceiverConfig{Address: address, Subscription: "sub", Durable: true}
	c, r, err := subscribed(t, cfg, 0, rc)
	if err != nil {
		if realBroker() {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	if want := cfg.ContainerID + "/sub"; r.Subscription() != want {
		t.Errorf("subscription %q, want %q", r.Subscription(), want)
	}
	shutAll(t, c, r)
	publish(t, u, address, 0, 10)

	rc.Unsubscribe = true
	if c, r, err = subscribed(t, cfg, 0, rc); err != nil {
		t.Fatal(err)
	}
	got := ids(t, r, 10)
	if !slices.Equal(got, series(0, 9)) {
		t.Errorf("received %v", got)
	}
	if _, err := r.Settle(0, 9, amqp.Accepted); err != nil {
		t.Error(err)
	}
	shutAll(t, c, r)

	publish(t, u, address, 100, 5)
	if c, r, err = subscribed(t, cfg, 0, rc); err != nil {
		t.Fatal(err)
	}
	publish(t, u, address, 200, 1)
	if got := ids(t, r, 1); got[0] != 200 {
		t.Errorf("after the end of the subscription %v was received: a queue, and browsed only?", got)
	}
	shutAll(t, c, r)
}

// TestUnsubscribe: a subscription is ended without receiving, once.
func TestUnsubscribe(t *testing.T) {
	t.Parallel()
	u, address := brokerURL(t), topic(t)
	for _, rc := range []ReceiverConfig{
		{Address: address, Subscription: "sub", Durable: true, Credit: 100},
		{Address: address, Subscription: randomName("shared"), Durable: true, Shared: true, Credit: 100},
	} {
		cfg := exact(t, u)
		c, r, err := subscribed(t, cfg, 0, rc)
		if err != nil {
			if realBroker() {
				t.Logf("shared: %v", err)
				continue
			}
			t.Fatal(err)
		}
		shutAll(t, c, r)
		publish(t, u, address, 0, 3)
		c = dial(t, cfg, 0)
		if err := c.Unsubscribe(limit(t), rc); err != nil {
			t.Fatal(err)
		}
		err = c.Unsubscribe(limit(t), rc)
		if e := (*Error)(nil); !errors.As(err, &e) || e.Condition != "amqp:not-found" {
			t.Errorf("second time: %v", err)
		}
		_ = c.Close(limit(t))
		if c, r, err = subscribed(t, cfg, 0, rc); err != nil {
			t.Fatal(err)
		}
		publish(t, u, address, 50, 1)
		if got := ids(t, r, 1); got[0] != 50 {
			t.Errorf("received %v", got)
		}
		rc.Unsubscribe = true
		shutAll(t, c, r)
		c = dial(t, cfg, 0)
		_ = c.Unsubscribe(limit(t), rc)
	}
}

// TestShared: links of two connections compete for the messages of one subscription.
func TestShared(t *testing.T) { bothClients(t, testShared) }

func testShared(t *testing.T) {
	t.Parallel()
	u, address, name := brokerURL(t), topic(t), randomName("shared")
	for _, durable := range []bool{false, true} {
		rc := ReceiverConfig{Address: address, Subscription: name, Shared: true, Durable: durable, Unsubscribe: durable, Credit: 5}
		c1, r1, err := subscribed(t, config(t, u), 0, rc)
		if err != nil {
			if realBroker() {
				t.Skip(err)
			}
			t.Fatal(err)
		}
		c2, r2, err := subscribed(t, config(t, u), 1, rc)
		if err != nil {
			t.Fatal(err)
		}
		if r1.Subscription() != r2.Subscription() || !strings.HasSuffix(r1.Subscription(), name) {
			t.Errorf("one subscription has the names %q and %q", r1.Subscription(), r2.Subscription())
		}
		publish(t, u, address, 0, 10) // five is the credit of each
		got := append(ids(t, r1, 5), ids(t, r2, 5)...)
		if slices.Sort(got); !slices.Equal(got, series(0, 9)) {
			t.Errorf("durable %v: received %v", durable, got)
		}
		for _, r := range []*Receiver{r1, r2} {
			if _, err := r.Settle(0, 4, amqp.Accepted); err != nil {
				t.Error(err)
			}
		}
		shutAll(t, c1, r1)
		shutAll(t, c2, r2)
	}
}

// TestBrowse: a browser gets a copy of everything and takes nothing away.
func TestBrowse(t *testing.T) {
	t.Parallel()
	u, address := brokerURL(t), queue(t)
	publish(t, u, address, 0, 10)
	c, r, err := subscribed(t, config(t, u), 0, ReceiverConfig{Address: address, Browse: true, DurableQueue: true})
	if err != nil {
		if realBroker() {
			t.Skip(err)
		}
		t.Fatal(err)
	}
	if got := ids(t, r, 10); !slices.Equal(got, series(0, 9)) {
		t.Errorf("browsed %v", got)
	}
	if _, err := r.Settle(0, 9, amqp.Accepted); err != nil {
		t.Error(err)
	}
	shutAll(t, c, r)
	c, r, err = subscribed(t, config(t, u), 0, ReceiverConfig{Address: address, DurableQueue: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(t, r, 10); !slices.Equal(got, series(0, 9)) {
		t.Errorf("left in the queue %v", got)
	}
	if _, err := r.Settle(0, 9, amqp.Accepted); err != nil {
		t.Error(err)
	}
	shutAll(t, c, r)
}

// TestDurableQueue: what a sender with Durable has made is received from with DurableQueue; on RabbitMQ not without.
func TestDurableQueue(t *testing.T) { bothClients(t, testDurableQueue) }

func testDurableQueue(t *testing.T) {
	t.Parallel()
	u, address := brokerURL(t), queue(t)
	publish(t, u, address, 0, 3)
	c, r, err := subscribed(t, config(t, u), 0, ReceiverConfig{Address: address, DurableQueue: true})
	if err != nil {
		t.Fatal(err)
	}
	if got := ids(t, r, 3); !slices.Equal(got, series(0, 2)) {
		t.Errorf("received %v", got)
	}
	if _, err := r.Settle(0, 2, amqp.Accepted); err != nil {
		t.Error(err)
	}
	shutAll(t, c, r)
	_, _, err = subscribed(t, config(t, u), 0, ReceiverConfig{Address: address})
	if c.Peer().Product == "RabbitMQ" && (err == nil || !strings.Contains(err.Error(), "inequivalent arg 'durable'")) {
		t.Errorf("the queue is not durable: %v", err)
	}
}

// coloured makes application properties: red for even IDs.
type coloured struct{}

func (coloured) AppendSections(dst []byte, m *amqp.Message) []byte {
	colour := "red"
	if m.ID%2 == 1 {
		colour = "blue"
	}
	return (&wire.Message{ApplicationProperties: wire.Map{{Key: "colour", Value: colour}}}).Append(dst)
}

// TestSelector: only what is selected is received, or the broker's refusal is an error.
func TestSelector(t *testing.T) { bothClients(t, testSelector) }

func testSelector(t *testing.T) {
	t.Parallel()
	u, address, sink := brokerURL(t), queue(t), newLedger(t)
	s, err := dial(t, config(t, u), 0).NewSender(limit(t), SenderConfig{Address: address, Body: numbered{}, Sink: sink, Sections: coloured{}})
	if err != nil {
		t.Fatal(err)
	}
	if err := submitAll(limit(t), s, messages(0, 10, 100)); err != nil {
		t.Fatal(err)
	}
	sink.await(limit(t), 10)
	c, r, err := subscribed(t, config(t, u), 1, ReceiverConfig{Address: address, Selector: "colour = 'blue'"})
	if !realBroker() {
		if err == nil || !strings.Contains(err.Error(), "amqp:not-implemented") {
			t.Errorf("perf-broker has no selectors, and its error is %v", err)
		}
		return
	}
	if err != nil {
		t.Skip(err)
	}
	if got := ids(t, r, 5); !slices.Equal(got, []uint64{1, 3, 5, 7, 9}) {
		t.Errorf("selected %v", got)
	}
	if _, err := r.Settle(0, 4, amqp.Accepted); err != nil {
		t.Error(err)
	}
	shutAll(t, c, r)
}

// TestSourceContradictions: what cannot be honoured is refused before anything is sent.
func TestSourceContradictions(t *testing.T) {
	t.Parallel()
	u := ownBroker(t, broker.Config{}).url
	for text, rc := range map[string]ReceiverConfig{
		"needs a name":                  {Address: "topic://t", Durable: true},
		"of use for a durable":          {Address: "topic://t", Subscription: "s"},
		"no durable subscription":       {Address: "topic://t", Unsubscribe: true},
		"cannot be browsed":             {Address: "topic://t", Browse: true},
		"needs topic://NAME":            {Address: "t", Subscription: "s", Shared: true},
		"other names are queues":        {Address: "queue://t", Subscription: "s", Shared: true},
		"belongs to a container id":     {Address: "topic://t", Subscription: "s", Durable: true},
		"control character":             {Address: "topic://t", Subscription: "s\n", Shared: true},
		"nothing would be acknowledged": {Address: "queue://t", Browse: true, Tx: 1},
		"nothing would be left":         {Address: "queue://t", Presettled: true, Tx: 1},
		"0 to 1":                        {Address: "queue://t", Tx: 1, TxRollback: 1.5},
		"but no transactions":           {Address: "queue://t", TxRollback: 0.5},
		"another connection":            {Address: "queue://t", Session: &Session{}},
	} {
		rc.Credit = 1
		_, err := dial(t, config(t, u), 0).NewReceiver(limit(t), rc)
		if err == nil || !strings.Contains(err.Error(), text) {
			t.Errorf("%s: %v", text, err)
		}
	}
	library := config(t, u)
	library.Client = ClientLibrary
	for _, rc := range []ReceiverConfig{{Address: "q", Browse: true}, {Address: "q", Tx: 1}} {
		rc.Credit = 1
		if _, err := dial(t, library, 0).NewReceiver(limit(t), rc); err == nil || !strings.Contains(err.Error(), "--client own") {
			t.Errorf("%+v: %v", rc, err)
		}
	}
}

// TestIgnored: a broker that answers without what was asked for is not believed.
func TestIgnored(t *testing.T) { bothClients(t, testIgnored) }

func testIgnored(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cfg    ReceiverConfig
		answer wire.Source
		text   string
	}{
		"selector": {ReceiverConfig{Address: "queue://q", Selector: "a = 1"}, wire.Source{}, "selector"},
		"durable":  {ReceiverConfig{Address: "topic://q", Subscription: "s", Durable: true}, wire.Source{}, "does not keep"},
		"queue": {ReceiverConfig{Address: "topic://q", Subscription: "s", Durable: true},
			wire.Source{Durable: 2, Capabilities: []wire.Symbol{"queue"}}, "for a queue"},
		"shared":      {ReceiverConfig{Address: "topic://q", Subscription: "s", Shared: true}, wire.Source{}, "does not share"},
		"not offered": {ReceiverConfig{Address: "topic://q", Subscription: "s", Shared: true}, wire.Source{Capabilities: []wire.Symbol{"shared"}}, "does not offer"},
		"browse":      {ReceiverConfig{Address: "queue://q", Browse: true}, wire.Source{DistributionMode: "move"}, "distribution mode move"},
	} {
		cfg := exact(t, URL{})
		if cfg.Client == ClientLibrary && c.cfg.Browse {
			continue
		}
		f := newFake(t, func(f *fake) {
			f.answer = &wire.Open{ContainerID: "fake"}
			if name != "not offered" {
				f.answer.OfferedCapabilities = []wire.Symbol{"SHARED-SUBS"}
			}
			if !f.begin() {
				return
			}
			a, ok := await[*wire.Attach](f)
			if !ok {
				return
			}
			c.answer.Address = wire.Some("q")
			f.write(&wire.Attach{Name: a.Name, Role: wire.RoleSender, Source: &c.answer, Target: a.Target, InitialDeliveryCount: wire.Some(uint32(0))})
			f.finish()
		})
		cfg.URL = f.url
		c.cfg.Credit = 10
		_, err := dial(t, cfg, 0).NewReceiver(context.Background(), c.cfg)
		if err == nil || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
