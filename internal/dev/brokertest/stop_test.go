package brokertest

import (
	"os"
	"strings"
	"syscall"
	"testing"
	"time"

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
	b.eventually(send, "some seconds of the send log", func() bool { return b.rows("send.parquet") > 10_000 })
	killed := time.Now().UnixNano()
	send.signal(syscall.SIGKILL)
	send.want(-1)
	recv.want(0)

	last := b.lastIntended("send.parquet")
	if gap := time.Duration(killed - last); gap > 1200*time.Millisecond {
		t.Errorf("the spool ends %v before the kill, want at most a second", gap)
	}
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
	if missing := received - logged; missing > 6000 {
		t.Errorf("%d messages arrived that the spool does not have, more than a second", missing)
	}
	r.wantCounts(map[string]int{"lost": 0, "duplicate": 0})
}

// lastIntended returns the last instant of a send log.
func (b *bench) lastIntended(log string) (last int64) {
	b.Helper()
	l, err := format.Open(b.path(log))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for rows := (&format.Send{}); l.Read(rows) == nil; {
		for _, at := range rows.Intended {
			last = max(last, at)
		}
	}
	return last
}
