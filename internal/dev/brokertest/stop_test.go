package brokertest

import (
	"os"
	"strings"
	"syscall"
	"testing"

	"amqpperf/format"
)

// TestStopped asks both sides to stop in mid-run: what was sent is drained, the logs are whole and say why they ended.
func TestStopped(t *testing.T) { bothClients(t, testStopped) }

func testStopped(b *bench) {
	recv := b.receiver("recv.parquet")
	send := b.start("perf-send", "-q", "-o", "send.parquet", "-r", "5k", "-d", "60s", b.address)
	b.eventually(send, "the first second of the send log", func() bool { return b.rows("send.parquet") > 5000 })
	send.signal(syscall.SIGINT)
	send.want(3) // before -d was reached
	b.eventually(recv, "the receiver to have everything", func() bool { return b.rows("recv.parquet") >= b.rows("send.parquet") })
	recv.signal(syscall.SIGTERM)
	recv.want(0) // nothing was promised
	for _, log := range []string{"send.parquet", "recv.parquet"} {
		l, err := format.Open(b.path(log))
		if err != nil {
			b.Fatal(err)
		}
		if l.Kind() != format.Parquet || l.Meta()["perf.stop"] != "signal" || l.Meta()["perf.complete"] != "true" {
			b.Errorf("%s: %v, perf.stop %q, perf.complete %q", log, l.Kind(), l.Meta()["perf.stop"], l.Meta()["perf.complete"])
		}
		if err := l.Close(); err != nil {
			b.Error(err)
		}
		if _, err := os.Stat(b.path(log + ".spool")); err == nil {
			b.Errorf("%s.spool is still there", log)
		}
	}
	n := b.rows("send.parquet")
	b.report("send.parquet", "recv.parquet").wantCounts(map[string]int{"intended": n, "accepted": n, "received": n, "lost": 0, "duplicate": 0})
}

// TestSenderKilled kills the sender: its spool has all but the last second, and every tool reads it like a log.
func TestSenderKilled(t *testing.T) {
	b := newBench(t, "own")
	recv := b.receiver("recv.parquet", "--idle", "3s")
	send := b.start("perf-send", "-q", "-o", "send.parquet", "-r", "5k", "-d", "60s", b.address)
	seen := 0
	b.eventually(send, "some seconds of the send log", func() bool { seen = b.rows("send.parquet"); return seen > 10_000 })
	send.signal(syscall.SIGKILL)
	send.want(-1)
	recv.want(0)

	merge := b.start("perf-merge", "-o", "merged.parquet", "send.parquet", "recv.parquet")
	merge.want(0)
	if !strings.Contains(merge.stderr.String(), "spool") {
		t.Errorf("no warning that a spool was read:\n%s", merge.stderr.String())
	}
	r := b.report("merged.parquet")
	logged, received := b.rows("send.parquet"), b.rows("recv.parquet")
	if got := r.count("intended"); got != logged {
		t.Errorf("intended %d, but the spool has %d rows", got, logged)
	}
	if logged < seen {
		t.Errorf("the spool has %d rows, %d were there before the kill", logged, seen)
	}
	// Only the last messages are not in the log, and those that had no answer yet, which are no more than --max-pending.
	highest := int64(-1)
	for _, m := range b.sent("send.parquet") {
		highest = max(highest, m.key[2])
	}
	if holes := int(highest) + 1 - logged; holes < 0 || holes > 1000 {
		t.Errorf("%d rows up to message %d", logged, highest)
	}
	if received < r.count("received") {
		t.Errorf("%d arrivals were logged, %d are in the report", received, r.count("received"))
	}
	r.wantCounts(map[string]int{"lost": 0, "duplicate": 0})
}
