package brokertest

import (
	"errors"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"amqpperf/format"
)

// TestRedelivery kills a consumer that holds messages which it has logged and not settled: another gets each of them again,
// and the report counts each as one duplicate.
func TestRedelivery(t *testing.T) {
	b := newBench(t)
	const held = 300
	// Acknowledging every 1000 means: not one of these.
	victim := b.receiver("victim.parquet", "--credit", "1000", "--ack-every", "1000")
	b.run("perf-send", "-q", "-o", "send.parquet", "-n", "300", "--run", "new", b.address)
	b.eventually(victim, "300 rows in the spool", func() bool { return b.rows("victim.parquet") == held })
	victim.signal(syscall.SIGKILL)
	victim.want(-1)

	b.run("perf-recv", "-q", "-o", "heir.parquet", "-n", "300", "--wait", "60s", b.address)
	r := b.report("send.parquet", "victim.parquet", "heir.parquet")
	r.wantCounts(map[string]int{"intended": held, "accepted": held, "received": held, "duplicate": held, "lost": 0, "unknown": 0})
}

// TestConsumerKilled kills one of two consumers in the middle of a run of many messages.
func TestConsumerKilled(t *testing.T) {
	b := newBench(t)
	const rate = 20_000
	victim := b.receiver("victim.parquet", "--credit", "200")
	heir := b.receiver("heir.parquet", "--credit", "200", "--idle", "5s")
	send := b.start("perf-send", "-q", "-o", "send.parquet", "-n", "200k", "-r", "20k", "--producers", "2", "--run", "new", b.address)
	b.eventually(victim, "the victim to have logged enough", func() bool { return b.rows("victim.parquet") > 20_000 })
	killed := time.Now().UnixNano()
	victim.signal(syscall.SIGKILL)
	victim.want(-1)
	send.want(0)
	heir.want(0)

	r := b.report("send.parquet", "victim.parquet", "heir.parquet")
	r.wantCounts(map[string]int{"intended": many, "accepted": many, "unknown": 0})
	// What the victim settled in its last second is in no log. It is all that may be missing, and the report must say why.
	lost := r.count("lost")
	if r.count("received")+lost != many {
		t.Errorf("received %d and lost %d are not the %d that were sent", r.count("received"), lost, many)
	}
	b.run("perf-merge", "-o", "merged.parquet", "send.parquet", "victim.parquet", "heir.parquet")
	first, missing := b.missing("merged.parquet")
	if missing != lost {
		t.Errorf("the merged log has %d rows that are lost, the report says %d", missing, lost)
	}
	if missing > 0 && first < killed-int64(1500*time.Millisecond) {
		t.Errorf("a message that was sent %v before the kill is in no log; only the last second may be missing", time.Duration(killed-first))
	}
	if missing > 0 && !strings.Contains(string(r.text), "complete") {
		t.Error("the report does not say that a receive log is incomplete")
	}
	// Duplicates are the redelivered messages that the victim had logged: at most its credit, and one second of rows of which
	// the settlement was under way.
	if d := r.count("duplicate"); d > 200+rate {
		t.Errorf("%d duplicates cannot be explained by a credit of 200", d)
	}
	t.Logf("lost from the victim's log: %d, duplicates: %d", lost, r.count("duplicate"))
}

// missing returns when the first lost message of a merged log was sent, and how many are lost.
func (b *bench) missing(log string) (first int64, n int) {
	b.Helper()
	l, err := format.Open(b.path(log))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	var sent []int64
	for m := (&format.Merged{}); ; {
		if err := l.Read(m); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			b.Fatal(err)
		}
		for i := range m.Seq {
			if outcome, _ := m.RecvOutcome.At(i); outcome == format.Lost {
				sent = append(sent, m.Sent[i])
			}
		}
	}
	if len(sent) == 0 {
		return 0, 0
	}
	return slices.Min(sent), len(sent)
}
