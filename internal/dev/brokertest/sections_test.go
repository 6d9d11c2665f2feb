package brokertest

import (
	"context"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"amqpperf/format"
	"amqpperf/timestamp"
)

// taker receives with a client that is not ours.
type taker struct {
	b        *bench
	receiver *goamqp.Receiver
}

// session connects with a client that is not ours.
func (b *bench) session() *goamqp.Session {
	b.Helper()
	options := &goamqp.ConnOptions{}
	if !strings.Contains(url, "@") { // with a user, the library takes that
		options.SASLType = goamqp.SASLTypeAnonymous()
	}
	conn, err := goamqp.Dial(b.Context(), url, options)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = conn.Close() }) // nothing is lost with it
	session, err := conn.NewSession(b.Context(), nil)
	if err != nil {
		b.Fatal(err)
	}
	return session
}

// attachedAs is what a send log says its address was attached as.
func (b *bench) attachedAs(log string) string {
	b.Helper()
	address, err := lookup(b.report(log).text, "/0/config/attached/0")
	if err != nil {
		b.Fatal(err)
	}
	return address
}

// take attaches to where a send log's messages went.
func (b *bench) take(log string, durable goamqp.Durability) *taker {
	b.Helper()
	r, err := b.session().NewReceiver(b.Context(), b.attachedAs(log), &goamqp.ReceiverOptions{SourceDurability: durable})
	if err != nil {
		b.Fatal(err)
	}
	return &taker{b, r}
}

// next takes a message; nil if there is none for so long.
func (k *taker) next(patience time.Duration) *goamqp.Message {
	k.b.Helper()
	ctx, cancel := context.WithTimeout(k.b.Context(), patience)
	defer cancel()
	m, err := k.receiver.Receive(ctx, nil)
	if ctx.Err() != nil {
		return nil
	}
	if err == nil {
		err = k.receiver.AcceptMessage(k.b.Context(), m)
	}
	if err != nil {
		k.b.Fatal(err)
	}
	return m
}

// TestSections: another client finds in the messages what perf-send was told to write.
func TestSections(t *testing.T) { bothClients(t, testSections) }

func testSections(b *bench) {
	b.run("perf-send", "-q", "-o", "send.parquet", "-n", "3", "-s", "200", "--durable", "--ttl", "10m", "--priority", "7", "--group", "g{producer}",
		"--subject", "s-{seq}", "--message-id", "m-{seq}", "--content-type", "text/plain", "--property", "n:long={seq}", "--property", "t=x",
		"--annotation", "x-opt-a:int=7", b.address)
	in := b.take("send.parquet", goamqp.DurabilityConfiguration)
	for i := range 3 {
		m := in.next(patience)
		if m == nil {
			b.Fatalf("message %d did not come", i)
		}
		h, p := m.Header, m.Properties
		if h == nil || p == nil || p.GroupID == nil || p.Subject == nil || p.ContentType == nil {
			b.Fatalf("message %d: %+v, %+v", i, h, p)
		}
		if !h.Durable || h.Priority != 7 || h.TTL <= 0 || h.TTL > 10*time.Minute || *p.GroupID != "g0" || *p.Subject != "s-"+strconv.Itoa(i) ||
			p.MessageID != "m-"+strconv.Itoa(i) || *p.ContentType != "text/plain" {
			b.Errorf("message %d: %+v, %+v", i, h, p)
		}
		if m.ApplicationProperties["n"] != int64(i) || m.ApplicationProperties["t"] != "x" || m.Annotations["x-opt-a"] != int32(7) {
			b.Errorf("message %d: %v, %v", i, m.ApplicationProperties, m.Annotations)
		}
	}
}

// TestRolledBack: what is committed is there for another client, what is rolled back is not.
func TestRolledBack(t *testing.T) {
	ours(t)
	if !able("transactions") {
		return // TestFeatures sees whether that has changed
	}
	b := newBench(t, "own") // the library has none
	b.run("perf-send", "-q", "-o", "send.parquet", "-n", "100", "--tx", "10", "--tx-rollback", "0.5", b.address)
	outcomes := map[string]int{}
	accepted := map[int64]bool{}
	for _, r := range b.sent("send.parquet") {
		outcomes[r.outcome]++
		if r.outcome == format.Accepted {
			accepted[r.key[2]] = true
		}
	}
	if outcomes[format.Accepted] != 50 || outcomes[format.Released] != 50 {
		b.Errorf("outcomes %v", outcomes)
	}
	in := b.take("send.parquet", goamqp.DurabilityNone)
	for range 50 {
		m := in.next(patience)
		if m == nil {
			b.Fatalf("%d committed messages did not come", len(accepted))
		}
		s, err := timestamp.Parse(m.GetData())
		if err != nil {
			b.Fatal(err)
		}
		if !accepted[s.Seq] {
			b.Errorf("message %d came, and was not committed, or came before", s.Seq)
		}
		delete(accepted, s.Seq)
	}
	if in.next(time.Second) != nil {
		b.Error("more came than was committed")
	}
}

// TestReplayed: a recorded run is replayed with its arrivals, to the nanosecond.
func TestReplayed(t *testing.T) {
	b := newBench(t, "own")
	b.run("perf-send", "-q", "-o", "send.parquet", "-r", "500", "--arrivals", "poisson", "-d", "1s", b.address)
	b.run("perf-send", "-q", "-o", "again.parquet", "--replay", "send.parquet")
	want, got := b.sent("send.parquet"), b.sent("again.parquet")
	if len(want) == 0 || len(got) != len(want) {
		t.Fatalf("%d messages of %d", len(got), len(want))
	}
	for i := range want {
		if g, w := got[i].intended-got[0].intended, want[i].intended-want[0].intended; g != w {
			t.Fatalf("message %d after %d ns, recorded after %d ns", i, g, w)
		}
	}
	n := len(want)
	b.run("perf-recv", "-q", "-o", "recv.parquet", "-n", fmt.Sprint(2*n), "--wait", "60s", b.address)
	b.report("again.parquet", "recv.parquet").wantCounts(map[string]int{"intended": n, "accepted": n, "received": n, "lost": 0})
}
