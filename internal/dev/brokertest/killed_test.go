package brokertest

import (
	"errors"
	"io"
	"math"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"amqpperf/format"
)

// TestRedelivery kills a consumer that holds messages which it has logged and not settled: another gets each of them again,
// and the report counts each as one duplicate.
func TestRedelivery(t *testing.T) {
	if !simple() {
		bothClients(t, testRedelivery)
	}
}

func testRedelivery(b *bench) {
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
	b := newBench(t, "own")
	many := b.many
	victim := b.receiver("victim.parquet", "--credit", "200")
	heir := b.receiver("heir.parquet", "--credit", "200", "--idle", "5s")
	send := b.start("perf-send", "-q", "-o", "send.parquet", "-n", strconv.Itoa(many), "--producers", "2", "--run", "new", b.address)
	b.eventually(victim, "the victim to have logged enough", func() bool { return b.rows("victim.parquet") > 20_000 })
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
	rows := b.merged("merged.parquet")
	wantExplained(t, rows)
	if missing := count(rows, func(r mergedRow) bool { return r.lost }); missing != lost {
		t.Errorf("the merged log has %d rows that are lost, the report says %d", missing, lost)
	}
	if lost > 0 && !strings.Contains(string(r.text), "complete") {
		t.Error("the report does not say that a receive log is incomplete")
	}
	duplicates := count(rows, func(r mergedRow) bool { return r.copy > 0 })
	if d := r.count("duplicate"); d != duplicates {
		t.Errorf("the merged log has %d duplicates, the report says %d", duplicates, d)
	}
	t.Logf("missing in the victim's log: %d, duplicates: %d", lost, duplicates)
}

// mergedRow is what matters here of a row of merged/1.
type mergedRow struct {
	key            [4]int64 // sender, producer, seq, attempt
	receiver, copy int32
	sent, received int64
	lost           bool
}

func count(rows []mergedRow, is func(mergedRow) bool) (n int) {
	for _, r := range rows {
		if is(r) {
			n++
		}
	}
	return n
}

// wantExplained checks that only what the victim had not logged yet is missing, which is later in the queue than all that it
// has logged; and that a message arrived twice only because the victim had logged it and the heir got it again.
func wantExplained(t *testing.T, rows []mergedRow) {
	t.Helper()
	first := map[[4]int64]int32{}
	last := map[int32]int64{} // by receiver: when it logged its last arrival
	for _, r := range rows {
		if r.copy == 0 && !r.lost {
			first[r.key] = r.receiver
			last[r.receiver] = max(last[r.receiver], r.received)
		}
	}
	victim := earliest(last)
	logged := map[int64]int64{} // by producer: the last message in the victim's log
	for _, r := range rows {
		if r.copy == 0 && !r.lost && r.receiver == victim {
			logged[r.key[1]] = max(logged[r.key[1]], r.key[2])
		}
	}
	for _, r := range rows {
		switch {
		case r.lost && r.key[2] <= logged[r.key[1]]:
			t.Errorf("message %v is in no log, but the victim logged %d of that producer", r.key, logged[r.key[1]])
		case r.copy > 0 && (r.copy > 1 || first[r.key] != victim || r.receiver == victim):
			t.Errorf("copy %d of message %v is not explained by the kill", r.copy, r.key)
		default:
			continue
		}
		return // one is enough
	}
}

// earliest returns the receiver whose log ends first.
func earliest(last map[int32]int64) (receiver int32) {
	least := int64(math.MaxInt64)
	for r, at := range last {
		if at < least {
			receiver, least = r, at
		}
	}
	return receiver
}

// merged reads a merged log.
func (b *bench) merged(log string) (rows []mergedRow) {
	b.Helper()
	l, err := format.Open(b.path(log))
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for m := (&format.Merged{}); ; {
		if err := l.Read(m); errors.Is(err, io.EOF) {
			return rows
		} else if err != nil {
			b.Fatal(err)
		}
		for i := range m.Seq {
			outcome, _ := m.RecvOutcome.At(i)
			rows = append(rows, mergedRow{
				key:      [4]int64{int64(m.Sender[i]), int64(m.Producer[i]), m.Seq[i], int64(m.Attempt[i])},
				receiver: m.Receiver[i], copy: m.Copy[i], sent: m.Sent[i], received: m.Received[i], lost: outcome == format.Lost,
			})
		}
	}
}
