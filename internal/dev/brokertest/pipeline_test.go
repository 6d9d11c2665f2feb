package brokertest

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"amqpperf/format"
	"amqpperf/internal/dev/jsonpath"
)

// TestAccounting sends many messages through two producers and two consumers, over what an earlier run left in the queue.
func TestAccounting(t *testing.T) { bothClients(t, testAccounting) }

func testAccounting(b *bench) {
	const leftovers = 1000
	b.run("perf-send", "-q", "-o", "old.parquet", "-n", "1000", "--run", "old", b.address)

	recv := b.receiver("recv.parquet", "--consumers", "2", "--idle", "5s")
	b.run("perf-send", "-q", "-o", "send.parquet", "-n", strconv.Itoa(b.many), "--producers", "2", "--run", "new", b.address)
	recv.want(0)

	if got := b.rows("recv.parquet"); got != b.many+leftovers {
		b.Errorf("the receive log has %d rows, want those of both runs: %d", got, b.many+leftovers)
	}
	b.report("send.parquet", "recv.parquet").wantCounts(map[string]int{
		"intended": b.many, "sent": b.many, "acked": b.many, "accepted": b.many, "received": b.many,
		"lost": 0, "unknown": 0, "duplicate": 0, "foreign": 0,
	})
	// The earlier run's messages are accounted for too, by its own log.
	b.report("old.parquet", "recv.parquet").wantCounts(map[string]int{"intended": leftovers, "accepted": leftovers, "received": leftovers, "lost": 0, "duplicate": 0})

	// Merging first must not change anything, and -f log has one line for each delivery.
	b.run("perf-merge", "-o", "merged.parquet", "send.parquet", "recv.parquet")
	b.report("merged.parquet").wantCounts(map[string]int{"intended": b.many, "received": b.many, "lost": 0, "duplicate": 0})
	lines := b.run("perf-merge", "-q", "-f", "log", "send.parquet", "recv.parquet")
	if got := strings.Count("\n"+lines, "\nD "); got != b.many {
		b.Errorf("-f log has %d deliveries, want %d", got, b.many)
	}
}

// TestRunOnly tells a receiver which run it is for: what others left is taken and logged under its own run, and does not count.
func TestRunOnly(t *testing.T) { bothClients(t, testRunOnly) }

func testRunOnly(b *bench) {
	b.run("perf-send", "-q", "-o", "old.parquet", "-n", "500", "--run", "old", b.address)
	recv := b.receiver("recv.parquet", "-n", "1000", "--run", "new")
	b.run("perf-send", "-q", "-o", "send.parquet", "-n", "1000", "--run", "new", b.address)
	recv.want(0)
	if got := b.rows("recv.parquet"); got != 1500 {
		b.Errorf("the receive log has %d rows, want all 1500", got)
	}
	b.report("send.parquet", "recv.parquet").wantCounts(map[string]int{"intended": 1000, "received": 1000, "lost": 0, "duplicate": 0})
}

// TestTopic gives every subscriber a copy.
func TestTopic(t *testing.T) {
	if !simple() {
		bothClients(t, testTopic)
	}
}

func testTopic(b *bench) {
	b.address = strings.Replace(b.address, "queue://", "topic://", 1)
	recv := b.receiver("recv.parquet", "--consumers", "3", "--idle", "3s")
	b.run("perf-send", "-q", "-o", "send.parquet", "-n", "2000", "-r", "2k", b.address)
	recv.want(0)
	b.report("send.parquet", "recv.parquet").wantCounts(map[string]int{"intended": 2000, "accepted": 2000, "received": 6000, "lost": 0, "duplicate": 0})
}

// TestPaced checks that the times are those of this run on this machine: in order, and paced as asked.
func TestPaced(t *testing.T) { bothClients(t, testPaced) }

func testPaced(b *bench) {
	recv := b.receiver("recv.parquet", "--idle", "3s")
	before := time.Now()
	b.run("perf-send", "-q", "-o", "send.parquet", "-r", "1000", "-d", "3s", b.address)
	after := time.Now()
	recv.want(0)
	r := b.report("send.parquet", "recv.parquet")
	r.wantCounts(map[string]int{"intended": 3000, "accepted": 3000, "received": 3000, "lost": 0})
	for _, metric := range []string{"response", "service", "e2e", "transit"} {
		least, err := jsonpath.Number(r.text, "/0/metrics/"+metric+"/min_ns")
		if err != nil || least <= 0 {
			b.Errorf("%s: minimum %v, %v: on one machine it must be above 0", metric, least, err)
		}
		n, err := jsonpath.Number(r.text, "/0/metrics/"+metric+"/n")
		if err != nil || n != 3000 {
			b.Errorf("%s: n is %v, %v", metric, n, err)
		}
	}
	l, err := format.Open(b.path("send.parquet"))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	rows := &format.Send{}
	if err := l.Read(rows); err != nil {
		b.Fatal(err)
	}
	for i, at := range rows.Intended {
		if i > 0 && at-rows.Intended[i-1] != int64(time.Millisecond) {
			b.Fatalf("row %d was intended %v after the one before, want 1ms", i, time.Duration(at-rows.Intended[i-1]))
		}
		if at < before.UnixNano() || rows.Acked[i] > after.UnixNano() || rows.Acked[i] <= rows.Sent[i] {
			b.Fatalf("row %d: intended %d, sent %d, acked %d: not within [%d, %d]", i, at, rows.Sent[i], rows.Acked[i], before.UnixNano(), after.UnixNano())
		}
	}
}
