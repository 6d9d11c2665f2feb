package join_test

import (
	"cmp"
	"fmt"
	"os"
	"slices"
	"strconv"
	"testing"

	gocmp "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"amqpperf/format"
	"amqpperf/internal/analysis/join"
)

// world is a set of logs before they are written, and what is known of them.
type world struct {
	sends []sendRow
	recvs []recvRow // in the order of the logs
	subs  []format.Subscription
	topic bool
}

// Every row of the join must be the one that a brute-force search finds,
// whatever was lost, duplicated, redelivered, overtaken, fanned out, sent again
// or left over, however the logs are divided, in whatever order their rows
// stand, and however little memory there is.
func TestRowsAgainstOracle(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		w := drawWorld(rt, rapid.IntRange(1, 40).Draw(rt, "size"))
		checkWorld(t, rt, w)
	})
}

// The same with as many rows as a run of some seconds has.
func TestManyRowsAgainstOracle(t *testing.T) {
	t.Parallel()
	sizes := []int{100, 1_000}
	if os.Getenv("SOAK") != "" {
		sizes = []int{10_000, 100_000, 1_000_000}
	}
	for _, size := range sizes {
		t.Run(strconv.Itoa(size), func(t *testing.T) {
			t.Parallel()
			checkWorld(t, nil, randomWorld(size))
		})
	}
}

type drawn struct {
	chunk    int
	memory   int64
	streams  bool
	shuffled bool
	reversed bool
}

func checkWorld(t *testing.T, rt *rapid.T, w *world) {
	o := drawn{chunk: 700, memory: 1}
	if rt != nil {
		o = drawn{rapid.IntRange(1, 9).Draw(rt, "chunk"), rapid.SampledFrom([]int64{0, 1}).Draw(rt, "memory"),
			rapid.IntRange(0, 9).Draw(rt, "streams") == 0, rapid.IntRange(0, 4).Draw(rt, "shuffled") == 0, rapid.Bool().Draw(rt, "reversed")}
	}
	l := w.write(t, o)
	got, acc := l.join(join.WithChunk(join.Options{Run: testRun, Memory: o.memory}, o.chunk))
	want := w.rows()
	sortRows(want)
	sortRows(got)
	if !slices.Equal(want, got) { // quick for a million rows, where the other is not
		diff := gocmp.Diff(want, got)
		text := fmt.Sprintf("%+v\nsubs %+v\noptions %+v\n(-want +got):\n%s", w, w.subs, o, diff)
		if rt != nil {
			rt.Fatal(text)
		}
		t.Fatal(diff)
	}
	var lost, received, duplicate, reordered int64
	for _, r := range want {
		switch {
		case r.RecvOutcome == format.Lost:
			lost++
		case r.Received != null && r.Copy > 0:
			duplicate++
		case r.Received != null:
			received++
		}
		if r.Reordered {
			reordered++
		}
	}
	if acc.Lost != lost || acc.Received != received || acc.Duplicate != duplicate || acc.Reordered != reordered {
		t.Errorf("lost, received, duplicate, reordered = %d %d %d %d, the rows say %d %d %d %d",
			acc.Lost, acc.Received, acc.Duplicate, acc.Reordered, lost, received, duplicate, reordered)
	}
}

func sortRows(rows []merged) {
	slices.SortFunc(rows, func(x, y merged) int {
		return cmp.Or(cmp.Compare(x.Sender, y.Sender), cmp.Compare(x.Producer, y.Producer), cmp.Compare(x.Seq, y.Seq),
			cmp.Compare(x.Attempt, y.Attempt), cmp.Compare(x.Subscription, y.Subscription), cmp.Compare(x.Copy, y.Copy))
	})
}

// write writes one log per sender and receiver.
func (w *world) write(t *testing.T, o drawn) *logs {
	l := &logs{t: t, streams: o.streams}
	for sender := int32(1); sender <= 2; sender++ {
		part := filter(w.sends, func(r sendRow) bool { return r.sender == sender })
		if o.shuffled {
			slices.Reverse(part)
		}
		l.send(part...)
	}
	meta := format.Meta{}
	if w.topic {
		if err := meta.SetJSON(format.KeySubscriptions, w.subs); err != nil {
			t.Fatal(err)
		}
	}
	for receiver := int32(8); receiver <= 9; receiver++ {
		part := filter(w.recvs, func(r recvRow) bool { return r.receiver == receiver })
		l.write("recv.parquet", recvBatch(part), later(), meta)
	}
	if o.reversed {
		slices.Reverse(l.names)
	}
	return l
}

func filter[T any](rows []T, keep func(T) bool) (out []T) {
	for _, r := range rows {
		if keep(r) {
			out = append(out, r)
		}
	}
	return out
}

// rows are the merged rows, by looking everything up.
func (w *world) rows() (out []merged) {
	index := map[key]map[string][]int{}
	lanes := map[lane][]int{}
	for i, r := range w.recvs {
		if r.run != "" || r.outcome == format.Released {
			continue
		}
		k := key{r.sender, r.producer, r.seq, r.attempt}
		if index[k] == nil {
			index[k] = map[string][]int{}
		}
		index[k][r.subscription] = append(index[k][r.subscription], i)
		at := lane{r.sender, r.producer, r.subscription}
		lanes[at] = append(lanes[at], i)
	}
	late := w.late(lanes)
	sent := map[key]bool{}
	for _, s := range w.sends {
		k := key{s.sender, s.producer, s.seq, s.attempt}
		sent[k] = true
		out = append(out, w.transmission(s, index[k], late)...)
	}
	for k, found := range index {
		if !sent[k] {
			outcome := merged{Sender: k.sender, Producer: k.producer, Seq: k.seq, Attempt: k.attempt, Outcome: format.Unlogged}
			out = append(out, w.copies(outcome, found, late)...)
		}
	}
	return out
}

// key identifies a transmission.
type key struct {
	sender, producer int32
	seq              int64
	attempt          int32
}

type lane struct {
	sender, producer int32
	subscription     string
}

// late finds what was overtaken. For every arrival those of later messages are
// looked through; where there are many, a running maximum does the same.
func (w *world) late(lanes map[lane][]int) map[int]bool {
	late := map[int]bool{}
	for _, rows := range lanes {
		byTime := slices.Clone(rows)
		slices.SortStableFunc(byTime, func(x, y int) int { return cmp.Compare(w.recvs[x].received, w.recvs[y].received) })
		if len(rows) > 500 {
			w.lateByMaximum(byTime, late)
			continue
		}
		for _, x := range rows {
			for _, y := range byTime {
				a, b := w.recvs[x], w.recvs[y]
				if b.received > a.received {
					break
				}
				if b.seq > a.seq && (b.received < a.received || b.receiver == a.receiver && b.consumer == a.consumer && y < x) {
					late[x] = true
					break
				}
			}
		}
	}
	return late
}

// lateByMaximum walks arrivals by instant and remembers the highest seq so far.
func (w *world) lateByMaximum(byTime []int, late map[int]bool) {
	before := int64(-1 << 62)
	for i := 0; i < len(byTime); {
		n := i
		for n < len(byTime) && w.recvs[byTime[n]].received == w.recvs[byTime[i]].received {
			n++
		}
		here := map[[2]int32]int64{}
		highest := before
		for _, x := range byTime[i:n] { // of one consumer in the order of its rows
			r := w.recvs[x]
			c := [2]int32{r.receiver, r.consumer}
			seen, known := here[c]
			late[x] = r.seq < before || known && r.seq < seen
			here[c] = r.seq
			if known {
				here[c] = max(seen, r.seq)
			}
			highest = max(highest, r.seq)
		}
		before = highest
		i = n
	}
}

func (w *world) transmission(s sendRow, found map[string][]int, late map[int]bool) []merged {
	row := merged{Sender: s.sender, Producer: s.producer, Seq: s.seq, Attempt: s.attempt, Outcome: or(s.outcome, format.Accepted)}
	out := w.copies(row, found, late)
	fate := ""
	switch row.Outcome {
	case format.Accepted, format.Presettled:
		fate = format.Lost
	case format.Unsettled, format.Failed:
		fate = format.Unknown
	}
	missing := func(name string, fate string) {
		m := row
		m.Subscription, m.Received, m.RecvOutcome = name, null, fate
		out = append(out, m)
	}
	if !w.topic {
		if len(out) == 0 && s.sent == null {
			missing("", "")
		} else if len(out) == 0 {
			missing("", fate)
		}
	}
	for _, sub := range w.subs {
		if w.topic && len(found[*sub.Name]) == 0 && s.sent != null && s.sent >= sub.Attached && (sub.Detached == 0 || s.sent < sub.Detached) {
			missing(*sub.Name, fate)
		}
	}
	if len(out) == 0 {
		missing("", "")
	}
	// The primary row is that of the first subscription.
	slices.SortStableFunc(out, func(x, y merged) int {
		return cmp.Or(cmp.Compare(x.Subscription, y.Subscription), cmp.Compare(x.Copy, y.Copy))
	})
	for i := range out {
		out[i].Primary = i == 0
	}
	return out
}

func (w *world) copies(row merged, found map[string][]int, late map[int]bool) (out []merged) {
	for name, rows := range found {
		slices.SortStableFunc(rows, func(x, y int) int {
			a, b := w.recvs[x], w.recvs[y]
			return cmp.Or(cmp.Compare(a.received, b.received), cmp.Compare(a.receiver, b.receiver), cmp.Compare(a.consumer, b.consumer), cmp.Compare(x, y))
		})
		for n, i := range rows {
			m, r := row, w.recvs[i]
			m.Subscription, m.Received, m.RecvOutcome = name, r.received, or(r.outcome, format.Accepted)
			m.Copy, m.Reordered, m.Bound = int32(n), n == 0 && late[i], 60
			out = append(out, m)
		}
	}
	slices.SortStableFunc(out, func(x, y merged) int {
		return cmp.Or(cmp.Compare(x.Subscription, y.Subscription), cmp.Compare(x.Copy, y.Copy))
	})
	for i := range out {
		out[i].Primary = i == 0
	}
	return out
}
