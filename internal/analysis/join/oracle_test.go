package join_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"amqpperf/format"
	"amqpperf/internal/analysis/join"
)

// key identifies a transmission in the oracle.
type key struct {
	sender, producer int32
	seq              int64
	attempt          int32
}

// count is what the oracle and the join must agree on.
type count struct {
	Intended, Received, Lost, Unknown, Duplicate, Reordered, Redelivered, Unlogged, OtherRuns int64
}

// The join must agree with a brute-force count on anything: losses,
// duplicates, orphans, other runs, several senders and receivers, rows of the
// send log in or out of order.
func TestAgainstOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		sends := drawSends(rt)
		recvs := drawRecvs(rt, sends)
		want := oracle(sends, recvs)
		l := &logs{t: t}
		for _, s := range splitSends(sends) {
			l.send(s...)
		}
		for _, r := range splitRecvs(recvs) {
			l.recv(r...)
		}
		if rapid.Bool().Draw(rt, "reversed") {
			for i, j := 0, len(l.names)-1; i < j; i, j = i+1, j-1 {
				l.names[i], l.names[j] = l.names[j], l.names[i]
			}
		}
		_, acc := l.join(join.Options{Run: testRun})
		got := count{acc.Intended, acc.Received, acc.Lost, acc.Unknown, acc.Duplicate, acc.Reordered, acc.Redelivered, acc.Unlogged, acc.OtherRuns.Received}
		if diff := cmp.Diff(want, got); diff != "" {
			rt.Fatalf("sends %+v\nreceives %+v\n(-want +got):\n%s", sends, recvs, diff)
		}
	})
}

func drawSends(rt *rapid.T) []sendRow {
	outcomes := []string{format.Accepted, format.Accepted, format.Presettled, format.Rejected, format.Unsettled, format.Failed}
	seen := map[key]bool{}
	var rows []sendRow
	for range rapid.IntRange(1, 12).Draw(rt, "sends") {
		r := sendRow{
			sender:   rapid.Int32Range(1, 2).Draw(rt, "sender"),
			producer: rapid.Int32Range(0, 1).Draw(rt, "producer"),
			seq:      rapid.Int64Range(0, 5).Draw(rt, "seq"),
			attempt:  rapid.Int32Range(0, 1).Draw(rt, "attempt"),
			outcome:  rapid.SampledFrom(outcomes).Draw(rt, "outcome"),
			acked:    null,
		}
		r.sent = 1000*r.seq + 1
		if k := (key{r.sender, r.producer, r.seq, r.attempt}); !seen[k] {
			seen[k] = true
			rows = append(rows, r)
		}
	}
	return rows
}

func drawRecvs(rt *rapid.T, sends []sendRow) []recvRow {
	var rows []recvRow
	for i := range rapid.IntRange(0, 20).Draw(rt, "receives") {
		s := rapid.SampledFrom(sends).Draw(rt, "of")
		r := recvRow{sender: s.sender, producer: s.producer, seq: s.seq, attempt: s.attempt,
			receiver:      rapid.Int32Range(8, 9).Draw(rt, "receiver"),
			consumer:      rapid.Int32Range(0, 1).Draw(rt, "consumer"),
			deliveryCount: rapid.Int32Range(0, 1).Draw(rt, "count"),
			received:      int64(10*i + 5),
		}
		switch rapid.IntRange(0, 9).Draw(rt, "odd") {
		case 0:
			r.seq += 100 // no send row
		case 1:
			r.run = "yesterday"
		}
		rows = append(rows, r)
	}
	return rows
}

func splitSends(rows []sendRow) (out [][]sendRow) {
	for sender := int32(1); sender <= 2; sender++ {
		var part []sendRow
		for _, r := range rows {
			if r.sender == sender {
				part = append(part, r)
			}
		}
		out = append(out, part)
	}
	return out
}

func splitRecvs(rows []recvRow) (out [][]recvRow) {
	for receiver := int32(8); receiver <= 9; receiver++ {
		var part []recvRow
		for _, r := range rows {
			if r.receiver == receiver {
				part = append(part, r)
			}
		}
		out = append(out, part)
	}
	return out
}

// oracle counts by looking at every pair of rows. Receipts have distinct
// instants in drawRecvs, in the order of the slice.
func oracle(sends []sendRow, recvs []recvRow) count {
	c := count{Intended: int64(len(sends))}
	sent := map[key]sendRow{}
	for _, s := range sends {
		sent[key{s.sender, s.producer, s.seq, s.attempt}] = s
	}
	arrived := map[key]int{}
	for i, r := range recvs {
		if r.run != "" {
			c.OtherRuns++
			continue
		}
		k := key{r.sender, r.producer, r.seq, r.attempt}
		if r.deliveryCount > 0 {
			c.Redelivered++
		}
		arrived[k]++
		if arrived[k] > 1 {
			c.Duplicate++
			continue
		}
		c.Received++
		if _, ok := sent[k]; !ok {
			c.Unlogged++
		}
		for _, e := range recvs[:i] {
			if e.run == "" && e.sender == r.sender && e.producer == r.producer && e.seq > r.seq {
				c.Reordered++
				break
			}
		}
	}
	for k, s := range sent {
		if arrived[k] > 0 {
			continue
		}
		switch s.outcome {
		case format.Accepted, format.Presettled:
			c.Lost++
		case format.Unsettled, format.Failed:
			c.Unknown++
		}
	}
	return c
}
