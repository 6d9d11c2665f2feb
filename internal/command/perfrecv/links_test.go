package perfrecv_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"sync"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/cli"
)

// expect runs perf-recv with a log of its own and expects an exit status, so many
// rows, and the outcome of all of them.
func expect(t *testing.T, url, args string, code, n int, outcome string) *rows {
	t.Helper()
	s := newSession(t, url)
	if got := s.run(args); got != code {
		t.Errorf("%s: exit %d, want %d: %s", args, got, code, &s.stderr)
	}
	r := s.read(t)
	if r.b.Len() != n || r.count(outcome) != n {
		t.Errorf("%s: %d rows, %d %s, want %d: %s", args, r.b.Len(), r.count(outcome), outcome, n, &s.stderr)
	}
	return r
}

// What is browsed is still there.
func TestBrowse(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	send(t, url, "-n 20 queue://q")
	expect(t, url, "-n 20 --browse queue://q", 0, 20, format.Accepted)
	expect(t, url, "-n 20 --browse queue://q", 0, 20, format.Accepted)
	expect(t, url, "-n 20 queue://q", 0, 20, format.Accepted)
	expect(t, url, "-d 300ms queue://q", 0, 0, format.Accepted)
}

func TestPresettled(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	send(t, url, "-n 20 queue://q")
	r := expect(t, url, "-n 20 --presettled queue://q", 0, 20, format.Presettled)
	for i := range r.b.Len() {
		if r.b.Settled[i] != format.Null {
			t.Errorf("row %d was settled at %d", i, r.b.Settled[i])
		}
	}
	expect(t, url, "-d 300ms queue://q", 0, 0, format.Accepted)
	// What comes after the end is gone, and the SUMMARY says so.
	send(t, url, "-n 20 queue://q")
	s := newSession(t, url)
	if code := s.run("-n 5 --presettled --credit 20 queue://q"); code != 0 || strings.Contains(s.stderr.String(), "given back") {
		t.Errorf("exit %d: %s", code, &s.stderr)
	}
	if r := s.read(t); r.b.Len() > 5 && !strings.Contains(s.stderr.String(), "discarded") {
		t.Errorf("%d rows: %s", r.b.Len(), &s.stderr)
	}
}

// What a consumer modifies as undeliverable here comes to the other one, and to neither
// again; somebody else gets it.
func TestUndeliverableHere(t *testing.T) {
	t.Parallel()
	for _, client := range []string{"own", "library"} {
		_, url := startBroker(t, broker.Config{})
		send(t, url, "-n 20 queue://q")
		r := expect(t, url, "--client "+client+" -n 40 --consumers 2 --outcome modify --undeliverable-here queue://q", 0, 40, format.Modified)
		seen := map[[2]int64]bool{}
		for i := range r.b.Len() {
			seen[[2]int64{int64(r.b.Consumer[i]), r.b.Seq[i]}] = true
		}
		if len(seen) != 40 {
			t.Errorf("%s: %d of 40 messages of both consumers", client, len(seen))
		}
		r = expect(t, url, "-n 20 queue://q", 0, 20, format.Accepted)
		for i := range r.b.Len() {
			if r.b.DeliveryCount[i] != 2 {
				t.Errorf("%s: message %d has failed %d times", client, r.b.Seq[i], r.b.DeliveryCount[i])
			}
		}
	}
}

// What is sent while a durable subscription is away waits for it, unless it is ended.
func TestDurableSubscription(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	durable := " --container-id c --durable-subscription s topic://t"
	expect(t, url, "-d 100ms --keep-subscription"+durable, 0, 0, "")
	send(t, url, "-n 5 topic://t")
	r := expect(t, url, "-n 5 --keep-subscription"+durable, 0, 5, format.Accepted)
	if name, _ := r.b.Subscription.At(0); name != "c/s" {
		t.Errorf("subscription %q", name)
	}
	send(t, url, "-n 5 topic://t")
	expect(t, url, "-n 5"+durable, 0, 5, format.Accepted) // which ends it
	send(t, url, "-n 5 topic://t")
	expect(t, url, "-d 300ms --keep-subscription"+durable, 0, 0, "") // which begins another
	send(t, url, "-n 5 topic://t")
	var stderr bytes.Buffer
	s := newSession(t, url)
	s.env.Stderr = &stderr
	if code := s.without("--unsubscribe" + durable); code != 0 || !strings.Contains(stderr.String(), "ended the subscription s to topic://t") {
		t.Errorf("exit %d: %s", code, &stderr)
	}
	expect(t, url, "-d 300ms"+durable, 0, 0, "")
}

// Two consumers of a durable topic, each with a subscription of its own.
func TestDurableConsumers(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	for _, connections := range []string{"1", "2"} {
		durable := " --consumers 2 --connections " + connections + " --container-id c --durable-subscription s topic://t"
		expect(t, url, "-d 100ms --keep-subscription"+durable, 0, 0, "")
		send(t, url, "-n 5 topic://t")
		expect(t, url, "-n 10"+durable, 0, 10, format.Accepted)
	}
}

// Consumers of a shared subscription compete, also from other processes.
func TestShared(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t, url)
	ready := s.dir + "/ready"
	var wg sync.WaitGroup
	wg.Go(func() {
		awaitFile(ready)
		send(t, url, "-n 30 topic://t")
	})
	code := s.run("-n 30 --consumers 3 --shared s --ready-file " + ready + " topic://t")
	wg.Wait()
	r := s.read(t)
	subs, _, err := r.meta.Subscriptions()
	if code != 0 || r.count(format.Accepted) != 30 || err != nil || len(subs) != 1 || *subs[0].Name != "global/s" {
		t.Errorf("exit %d, %d accepted, subscriptions %+v, %v: %s", code, r.count(format.Accepted), subs, err, &s.stderr)
	}
	// Durable and shared: what is sent while nobody is there waits.
	both := " --shared d --durable-subscription d topic://t"
	expect(t, url, "-d 100ms --keep-subscription"+both, 0, 0, "")
	send(t, url, "-n 10 topic://t")
	expect(t, url, "-n 10 --consumers 2"+both, 0, 10, format.Accepted)
}

// Ten transactions of ten, of which every second is rolled back and comes again,
// until nothing is left; the settled instants of one are the same.
func TestTransactions(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	send(t, url, "-n 100 queue://q")
	s := newSession(t, url)
	if code := s.run("-n 100 --tx 10 --tx-rollback 0.5 --credit 40 queue://q"); code != 0 || !strings.Contains(s.stderr.String(), "commit     mean") {
		t.Errorf("exit %d: %s", code, &s.stderr)
	}
	r := s.read(t)
	instants := map[int64]int{}
	for i := range r.b.Len() {
		if r.b.Started[i] != format.Null {
			instants[r.b.Settled[i]]++
		}
	}
	var counters map[string]int64
	if err := json.Unmarshal([]byte(r.meta[format.KeyCounters]), &counters); err != nil {
		t.Fatal(err)
	}
	if counters["committed"] != 5 || counters["returned"] != 50 || counters["accepted"] != 50 || r.count(format.Accepted) != 50 {
		t.Errorf("counters %v", counters)
	}
	if n := s.samples(t); n["tx.commit_ns"] != 5 || n["tx.rollback_ns"] != 5 {
		t.Errorf("samples of %d commits and %d rollbacks", n["tx.commit_ns"], n["tx.rollback_ns"])
	}
	for at, n := range instants {
		if n%10 != 0 {
			t.Errorf("%d messages were settled at %d", n, at)
		}
	}
	// 50 are left, of which none was lost by the transactions.
	expect(t, url, "-n 50 --tx 7 queue://q", 0, 50, format.Accepted)
	expect(t, url, "-d 300ms queue://q", 0, 0, "")
}

// The broker of these tests has no filters, and says so instead of letting all through.
func TestSelectorRefused(t *testing.T) {
	t.Parallel()
	_, url := startBroker(t, broker.Config{})
	s := newSession(t, url)
	if code := s.run("-d 1s --selector x=1 queue://q"); code != cli.ExitFailure || !strings.Contains(s.stderr.String(), "selector") && !strings.Contains(s.stderr.String(), "filter") {
		t.Errorf("exit %d: %s", code, &s.stderr)
	}
}

func TestLinksRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ args, text string }{
		{"--presettled --ack-every 5 queue://a", "--presettled: "},
		{"--presettled --outcome reject queue://a", "--presettled: "},
		{"--browse --tx 5 queue://a", "--browse: "},
		{"--browse --durable queue://a", "--browse and --durable"},
		{"--browse topic://a", "--browse needs a queue"},
		{"--browse --client library queue://a", "--client library"},
		{"--tx 0 queue://a", "--tx 0: at least 1"},
		{"--tx 5 --ack-every 5 queue://a", "--tx and --ack-every"},
		{"--tx 11 --credit 10 queue://a", "--tx 11 is more than --credit 10"},
		{"--tx 5 --client library queue://a", "--client library"},
		{"--tx-rollback 0.5 queue://a", "no transactions without --tx"},
		{"--tx 5 --tx-rollback 1.5 queue://a", "1.5"},
		{"--tx 5 --tx-rollback 1 queue://a", "gives every message back"},
		{"--durable-subscription s topic://a", "name that with --container-id"},
		{"--durable-subscription s --container-id c queue://a", "need topic://NAME"},
		{"--shared s queue://a", "need topic://NAME"},
		{"--shared s --durable-subscription t topic://a", "a subscription has one name"},
		{"--keep-subscription topic://a", "name the subscription with --durable-subscription"},
		{"--unsubscribe topic://a", "name the subscription with --durable-subscription"},
		{"--durable-subscription s --container-id c --unsubscribe --keep-subscription topic://a", "contradict each other"},
		{"--durable-subscription s --container-id c --unsubscribe -n 5 topic://a", "leave --count out"},
		{"--durable-subscription s --container-id c --durable topic://a", "--durable is about a queue"},
		{"--reconnect=5 queue://a", "want a time above 0"},
	} {
		s := newSession(t, "amqp://127.0.0.1:1")
		if code := s.without(tt.args); code != cli.ExitUsage || !strings.Contains(s.stderr.String(), tt.text) {
			t.Errorf("%s: exit %d, want usage with %q: %s", tt.args, code, tt.text, &s.stderr)
		}
	}
}
