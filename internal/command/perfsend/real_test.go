package perfsend_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"amqpperf/format"
	"amqpperf/internal/cli"
)

// The tests in this file run against the broker at PERF_TEST_AMQP_URL, and see at
// the other end, by another client, what the options do there.

// realBroker returns the URL of the broker.
func realBroker(t *testing.T) string {
	t.Helper()
	url := os.Getenv("PERF_TEST_AMQP_URL")
	if url == "" {
		t.Skip("no broker: set PERF_TEST_AMQP_URL (make broker-test)")
	}
	return url
}

// queue is one of its own for a test.
func queue() string { return fmt.Sprintf("queue://perf-send-%08x", rand.Uint32()) }

// attached returns the address as it was attached, and the broker's product.
func (r *rows) attached(t *testing.T) (address, product string) {
	t.Helper()
	var c config
	if _, err := r.meta.JSON(format.KeyConfig, &c); err != nil {
		t.Fatal(err)
	}
	return c.Attached[0], c.Peer
}

// taker receives with a client that is not ours.
type taker struct {
	t        *testing.T
	receiver *goamqp.Receiver
}

func take(t *testing.T, url, address string, durable goamqp.Durability) *taker {
	t.Helper()
	conn, err := goamqp.Dial(t.Context(), url, nil)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = conn.Close() }) // nothing is lost with it
	session, err := conn.NewSession(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	r, err := session.NewReceiver(t.Context(), address, &goamqp.ReceiverOptions{SourceDurability: durable})
	if err != nil {
		t.Fatal(err)
	}
	return &taker{t, r}
}

// next takes a message; nil if there is none for so long.
func (k *taker) next(patience time.Duration) *goamqp.Message {
	k.t.Helper()
	ctx, cancel := context.WithTimeout(k.t.Context(), patience)
	defer cancel()
	m, err := k.receiver.Receive(ctx, nil)
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		err = k.receiver.AcceptMessage(k.t.Context(), m)
	}
	if err != nil {
		k.t.Fatal(err)
	}
	return m
}

const patience = 30 * time.Second

// sent runs perf-send on a queue and returns what it logged.
func sent(t *testing.T, url, queue, args string) *rows {
	t.Helper()
	s := newSession(t)
	if code := s.run("-u " + url + " " + args + " -q -o " + s.log + " " + queue); code != 0 {
		t.Fatalf("%s: exit %d: %s", args, code, &s.stderr)
	}
	return s.read(t)
}

func TestRealSections(t *testing.T) {
	url := realBroker(t)
	for _, client := range []string{"own", "library"} {
		r := sent(t, url, queue(), "--client "+client+" -n 3 -s 200 --durable --ttl 10m --priority 7 --group g{producer} --subject s-{seq} --message-id m-{seq}"+
			" --content-type text/plain --property n:long={seq} --property t=x --annotation x-opt-a:int=7")
		address, _ := r.attached(t)
		in := take(t, url, address, goamqp.DurabilityConfiguration)
		for i := range 3 {
			m := in.next(patience)
			if m == nil {
				t.Fatalf("%s: message %d did not come", client, i)
			}
			h, p := m.Header, m.Properties
			if !h.Durable || h.Priority != 7 || h.TTL <= 9*time.Minute || h.TTL > 10*time.Minute || *p.GroupID != "g0" || *p.Subject != "s-"+strconv.Itoa(i) ||
				p.MessageID != "m-"+strconv.Itoa(i) || *p.ContentType != "text/plain" {
				t.Errorf("%s: message %d: %+v, %+v", client, i, h, p)
			}
			if m.ApplicationProperties["n"] != int64(i) || m.ApplicationProperties["t"] != "x" || m.Annotations["x-opt-a"] != int32(7) {
				t.Errorf("%s: message %d: %v, %v", client, i, m.ApplicationProperties, m.Annotations)
			}
		}
	}
}

// What has outlived its time is not delivered any more: the next message is the
// first that comes.
func TestRealTTL(t *testing.T) {
	url, name := realBroker(t), queue()
	sent(t, url, name, "-n 10 --ttl 100ms")
	time.Sleep(500 * time.Millisecond) // that is what is tested
	address, _ := sent(t, url, name, "-n 1 --subject marker").attached(t)
	in := take(t, url, address, goamqp.DurabilityNone)
	if m := in.next(patience); m == nil || m.Properties == nil || *m.Properties.Subject != "marker" {
		t.Errorf("got %+v", m)
	}
}

// Messages of a higher priority overtake those of a lower one.
func TestRealPriority(t *testing.T) {
	url, name := realBroker(t), queue()
	sent(t, url, name, "-n 5 --priority 1")
	address, product := sent(t, url, name, "-n 5 --priority 9").attached(t)
	if !strings.Contains(product, "artemis") {
		t.Skipf("%s delivers by priority only if a queue is made so", product)
	}
	in := take(t, url, address, goamqp.DurabilityNone)
	for i := range 10 {
		want := uint8(9)
		if i >= 5 {
			want = 1
		}
		if m := in.next(patience); m == nil || m.Header.Priority != want {
			t.Errorf("message %d: %+v", i, m)
		}
	}
}

// A group goes to one of two consumers.
func TestRealGroup(t *testing.T) {
	url, name := realBroker(t), queue()
	address, product := sent(t, url, name, "-n 1").attached(t)
	if !strings.Contains(product, "artemis") {
		t.Skipf("%s has no groups unless a queue is made so", product)
	}
	takers := [2]*taker{take(t, url, address, goamqp.DurabilityNone), take(t, url, address, goamqp.DurabilityNone)}
	sent(t, url, name, "-n 40 --group g{random:1|2} --seed 3")
	of := map[string]map[int]int{}
	for total := 0; total < 41; {
		before := total
		for i, in := range takers {
			for m := in.next(time.Second); m != nil; m = in.next(time.Second) {
				if total++; m.Properties == nil || m.Properties.GroupID == nil {
					continue // the first
				}
				group := *m.Properties.GroupID
				if of[group] == nil {
					of[group] = map[int]int{}
				}
				of[group][i]++
			}
		}
		if total == before {
			t.Fatalf("%d messages came", total)
		}
	}
	if len(of) != 2 || len(of["g1"]) != 1 || len(of["g2"]) != 1 {
		t.Errorf("groups went to %v", of)
	}
}

// What is committed is there, what is rolled back is not; a broker without
// transactions is quoted with its reason.
func TestRealTransactions(t *testing.T) {
	url, name := realBroker(t), queue()
	s := newSession(t)
	code := s.run("-u " + url + " -n 100 --tx 10 --tx-rollback 0.5 -o " + s.log + " " + name)
	if code == cli.ExitFailure && strings.Contains(s.stderr.String(), "amqp:not-implemented") {
		t.Skipf("no transactions: %s", &s.stderr)
	}
	if code != 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	r := s.read(t)
	address, _ := r.attached(t)
	in := take(t, url, address, goamqp.DurabilityNone)
	seen := map[int64]bool{}
	for range r.count(format.Accepted) {
		m := in.next(patience)
		if m == nil {
			t.Fatalf("%d messages came", len(seen))
		}
		seen[stampOf(t, m).Seq] = true
	}
	if in.next(time.Second) != nil {
		t.Error("more came than was committed")
	}
	for i := range r.b.Len() {
		if seen[r.b.Seq[i]] != (r.outcome(i) == format.Accepted) {
			t.Errorf("message %d: %s, arrived %t", r.b.Seq[i], r.outcome(i), seen[r.b.Seq[i]])
		}
	}
	if r.b.Len() != 100 || r.count(format.Accepted) != 50 || r.count(format.Released) != 50 || len(s.samples(t)["tx.commit_ns"]) != 5 {
		t.Errorf("%d rows, %d accepted, %d released", r.b.Len(), r.count(format.Accepted), r.count(format.Released))
	}
}

// A recorded run is replayed with its arrivals, to the nanosecond.
func TestRealReplay(t *testing.T) {
	url, name := realBroker(t), queue()
	s := newSession(t)
	if code := s.run("-u " + url + " -r 500 --arrivals poisson -d 1s -q -o " + s.log + " " + name); code != 0 {
		t.Fatalf("exit %d: %s", code, &s.stderr)
	}
	again := newSession(t)
	if code := again.run("-u " + url + " --replay " + s.log + " -q -o " + again.log); code != 0 {
		t.Fatalf("exit %d: %s", code, &again.stderr)
	}
	want, _ := s.read(t).arrivals(t)
	got, _ := again.read(t).arrivals(t)
	if len(got) != len(want) {
		t.Fatalf("%d messages of %d", len(got), len(want))
	}
	for i := range want {
		if got[i].offset != want[i].offset-want[0].offset || got[i].destination != name {
			t.Fatalf("message %d at %d, recorded at %d", i, got[i].offset, want[i].offset-want[0].offset)
		}
	}
}
