package brokertest

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	goamqp "github.com/Azure/go-amqp"

	"amqpperf/internal/amqp/wire"
)

// TestWindow: no more messages are without an answer than --max-pending says, as somebody between sender and broker counts them.
func TestWindow(t *testing.T) { bothClients(t, testWindow) }

func testWindow(b *bench) {
	const window = 7
	in := tapped(b)
	b.park(500, "--max-pending", fmt.Sprint(window))
	pending, most := 0, 0
	for _, f := range in.seen() {
		switch p := f.body.(type) {
		case *wire.Transfer:
			pending++
			most = max(most, pending)
		case *wire.Disposition:
			if !f.outgoing {
				pending -= int(p.Last.Or(p.First)-p.First) + 1
			}
		}
	}
	if most > window || most < 2 || pending != 0 {
		b.Errorf("%d messages were pending at most, at the end %d", most, pending)
	}
}

// TestPresettled: what is settled from the start has no disposition in either direction, and is in the queue only once.
func TestPresettled(t *testing.T) {
	if !simple() {
		bothClients(t, testPresettled)
	}
}

func testPresettled(b *bench) {
	in := tapped(b)
	b.park(20, "--presettled")
	for _, p := range seenOf[*wire.Transfer](in, true) {
		if !p.Settled.Or(false) {
			b.Fatal("a message of perf-send --presettled is not settled")
		}
	}
	if rows := b.fetch(20, "--presettled"); len(rows) != 20 {
		b.Errorf("%d deliveries", len(rows))
	}
	for _, p := range seenOf[*wire.Transfer](in, false) {
		if !p.Settled.Or(false) {
			b.Fatal("the broker sent a message to perf-recv --presettled that is not settled")
		}
	}
	if n := len(seenOf[*wire.Disposition](in, true)) + len(seenOf[*wire.Disposition](in, false)); n != 0 {
		b.Errorf("%d dispositions", n)
	}
	if rest := b.left(); len(rest) != 0 {
		b.Errorf("%d messages were left", len(rest))
	}
}

// TestSizes: bodies arrive with the sizes that were asked for.
func TestSizes(t *testing.T) {
	b := newBench(t, "own")
	for size, limits := range map[string][2]int32{"300": {300, 300}, "100..400": {100, 400}, "lognormal(1k,2)": {64, 1 << 20}} {
		b.park(200, "--size", size)
		sizes := map[int32]bool{}
		for _, d := range b.fetch(200) {
			sizes[d.size] = true
			if d.size < limits[0] || d.size > limits[1] {
				t.Errorf("--size %s: a body of %d bytes arrived", size, d.size)
			}
		}
		if fixed := limits[0] == limits[1]; fixed != (len(sizes) == 1) || !fixed && len(sizes) < 50 {
			t.Errorf("--size %s: %d different sizes", size, len(sizes))
		}
	}
}

// TestContent: another client finds the bodies that perf-send was given, in the section that was asked for.
func TestContent(t *testing.T) { bothClients(t, testContent) }

func testContent(b *bench) {
	for name, text := range map[string]string{"one.json": `{"order":1}`, "two.txt": "second\nthird\n"} {
		if err := os.WriteFile(b.path(name), []byte(text), 0o600); err != nil {
			b.Fatal(err)
		}
	}
	b.run("perf-send", "-q", "-o", "files.parquet", "-n", "3", "--stamp", "properties", "--content", "one.json", "--content", "two.txt", "--persistent", b.address)
	b.run("perf-send", "-q", "-o", "lines.parquet", "-n", "2", "--stamp", "properties", "--content", "two.txt", "--content-lines", "--body", "value", "--durable", b.address)
	b.run("perf-send", "-q", "-o", "stamped.parquet", "-n", "1", "--content", "one.json", "--group", "g{random:x|y}", "--durable", b.address)
	in := b.take("files.parquet", goamqp.DurabilityConfiguration)
	var got []string
	for i := range 6 {
		m := in.next(patience)
		if m == nil {
			b.Fatalf("message %d did not come", i)
		}
		if m.Header == nil || !m.Header.Durable {
			b.Errorf("message %d is not durable", i)
		}
		text := string(m.GetData())
		if value, ok := m.Value.([]byte); ok {
			text = "value:" + string(value)
		}
		if i == 5 {
			if m.Properties == nil || m.Properties.GroupID == nil || *m.Properties.GroupID != "gx" && *m.Properties.GroupID != "gy" {
				b.Errorf("the group of the last is none of two: %+v", m.Properties)
			}
			if !bytes.HasSuffix(m.GetData(), []byte(`{"order":1}`)) || text == `{"order":1}` {
				b.Errorf("the last body is not the content behind a stamp: %q", text)
			}
			continue
		}
		if len(m.ApplicationProperties) == 0 {
			b.Errorf("message %d has no stamp in its properties", i)
		}
		got = append(got, text)
	}
	want := []string{`{"order":1}`, "second\nthird\n", `{"order":1}`, "value:second", "value:third"}
	if !slices.Equal(got, want) {
		b.Errorf("bodies %q, want %q", got, want)
	}
}

// TestTLSInsecure: a broker that nobody vouches for is taken when that is asked for.
func TestTLSInsecure(t *testing.T) {
	ours(t)
	if !able("tls") {
		return
	}
	bothClients(t, func(b *bench) {
		_, b.url = b.tlsURL()
		b.refused(b.url, []string{"--tls-ca", filepath.Join(bin, "other-ca.pem")}, "certificate")
		b.run("perf-send", "-q", "-o", "send.parquet", "-n", "5", "--tls-insecure", b.address)
		if rows := b.fetch(5, "--tls-insecure"); len(rows) != 5 {
			b.Errorf("%d deliveries", len(rows))
		}
	})
}

// TestReceiverRolledBack: what was answered in a transaction that was rolled back comes again.
func TestReceiverRolledBack(t *testing.T) {
	ours(t)
	if !able("transactions") {
		return
	}
	b := newBench(t, "own")
	b.park(40)
	// With more credit, more is under way at the end, and what Broker-J gets released in a transaction that is rolled back is stuck.
	how := outcomes(b.fetch(40, "--tx", "5", "--tx-rollback", "0.5", "--credit", "5"))
	if rest := b.left("--tx", "5"); how["accepted"] != 20 || len(rest) != 20 {
		b.Errorf("the first 40 deliveries were answered %v, then %d came again", how, len(rest))
	}
	if rest := b.left(); len(rest) != 0 {
		b.Errorf("%d messages came after all was committed", len(rest))
	}
}

// TestSubscriptions: a subscription is kept, goes on collecting, and ends with what is in it.
func TestSubscriptions(t *testing.T) {
	ours(t)
	if !able("durable subscriptions") {
		return
	}
	b := newBench(t, "own")
	b.address = strings.Replace(b.address, "queue://", "topic://", 1)
	subscription := []string{"--container-id", "perf-sub", "--durable-subscription", "sub"}
	keep := append(subscription[:len(subscription):len(subscription)], "--keep-subscription")
	b.left(keep...) // subscribes
	b.park(10)
	if rows := b.left(keep...); len(rows) != 10 {
		b.Errorf("%d of 10 messages were kept", len(rows))
	}
	b.park(10)
	b.run("perf-recv", append([]string{"-q", "--unsubscribe", b.address}, subscription...)...)
	if rows := b.left(subscription...); len(rows) != 0 {
		b.Errorf("%d messages were left of a subscription that was ended", len(rows))
	}
	// The last one was not kept either.
	b.park(10)
	if rows := b.left(subscription...); len(rows) != 0 {
		b.Errorf("%d messages were kept after a run without --keep-subscription", len(rows))
	}
}
