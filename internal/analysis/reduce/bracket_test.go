package reduce_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/reduce/synth"
)

// lateQueue is an M/M/1 queue at half its capacity whose generator is late for
// some messages; ideal are the responses of a punctual one.
func lateQueue(n int, seed uint64) (l *synth.Log, ideal []int64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	l = &synth.Log{}
	var at float64
	var last, free, idealFree int64
	for i := range int64(n) {
		at += rng.ExpFloat64() * 2e6
		service := int64(rng.ExpFloat64() * 1e6)
		intended := synth.Start + int64(at)
		ready := intended
		if rng.IntN(50) == 0 {
			ready += int64(rng.ExpFloat64() * 3e6)
		}
		ready = max(ready, last)
		last = ready
		free = max(free, ready) + service
		idealFree = max(idealFree, intended) + service
		r := synth.Message(i, intended, 0)
		r.Ready, r.Sent, r.Acked = ready, ready, free
		l.Rows = append(l.Rows, r)
		ideal = append(ideal, idealFree-intended)
	}
	return l, ideal
}

func bracketOf(t *testing.T, l *synth.Log) reduce.Bracket {
	t.Helper()
	d, err := reduce.Reduce(l.Reader(1000), reduce.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return d.Bracket
}

// K11 on quantiles: the true ones lie between, and the lower ends are exact.
func TestK11Quantiles(t *testing.T) {
	t.Parallel()
	l, ideal := lateQueue(40_000, 3)
	d, err := reduce.Reduce(l.Shuffle(4).Reader(1000), reduce.Options{})
	if err != nil {
		t.Fatal(err)
	}
	b := d.Bracket
	if !b.Valid || !b.Bound || len(b.Reasons) > 0 || b.BinWidth != 0 {
		t.Fatalf("%+v", b)
	}
	slices.Sort(ideal)
	for i, q := range d.Metrics[reduce.Response].Quantiles {
		truth := ideal[q.Percentile.Rank(int64(len(ideal)))-1]
		if b.Lower[i].Infinite || truth < b.Lower[i].Value || truth > q.Observed {
			t.Errorf("p%s: %d is not in [%d, %d]", q.Percentile, truth, b.Lower[i].Value, q.Observed)
		}
		if b.Lower[i].Value == q.Observed && q.Percentile.String() == "99.9" {
			t.Errorf("p%s: the lateness changed nothing", q.Percentile)
		}
	}
	if got := b.Dist.N(); got != 40_000 {
		t.Errorf("%d lower ends", got)
	}
}

// A generator on time has a bracket without width.
func TestBracketOnTime(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 5000, Interval: 1e6, Service: 500_000, Serial: true, Transit: -1}.Run()
	d, err := reduce.Reduce(l.Reader(1000), reduce.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range d.Metrics[reduce.Response].Quantiles {
		if d.Bracket.Lower[i].Value != q.Observed {
			t.Errorf("p%s: %d and %d", q.Percentile, d.Bracket.Lower[i].Value, q.Observed)
		}
	}
	if !d.Bracket.Bound {
		t.Error(d.Bracket.Reasons)
	}
}

func estimate(t *testing.T, b reduce.Bracket, why string) {
	t.Helper()
	if b.Bound || !strings.Contains(strings.Join(b.Reasons, "\n"), why) {
		t.Errorf("bound %v, reasons %q, want %q", b.Bound, b.Reasons, why)
	}
}

// K11: the counterexamples are flagged.
func TestK11Counterexamples(t *testing.T) {
	t.Parallel()
	stall := func(late int64) *synth.Log {
		l := &synth.Log{}
		free := int64(0)
		for i := range int64(2000) {
			r := synth.Message(i, synth.Start+i*ms, 0)
			if i == 500 {
				r.Ready += late
			}
			begin := max(r.Ready, free)
			if from := synth.Start + 500*ms + ms*6/10; begin >= from && begin < from+100*ms {
				begin = from + 100*ms
			}
			free = begin + ms/2
			r.Sent, r.Acked = r.Ready, free
			l.Rows = append(l.Rows, r)
		}
		return l
	}
	estimate(t, bracketOf(t, stall(700_000)), "a pause began while a message was late, the longest listed at 0.501 s")
	if b := bracketOf(t, stall(0)); !b.Bound {
		t.Errorf("nobody was late: %q", b.Reasons)
	}
	l, _ := lateQueue(2000, 1)
	var free int64
	for i := range l.Rows { // the second producer lags
		r := &l.Rows[i]
		r.Producer, r.Seq = int32(i%2), int64(i/2)
		r.Ready = r.Intended + int64(i%2)*20*ms
	}
	order := make([]*synth.Row, len(l.Rows))
	for i := range l.Rows {
		order[i] = &l.Rows[i]
	}
	slices.SortStableFunc(order, func(a, b *synth.Row) int { return int(min(max(a.Ready-b.Ready, -1), 1)) })
	for _, r := range order {
		free = max(free, r.Ready) + ms/10
		r.Sent, r.Acked = r.Ready, free
	}
	b := bracketOf(t, l)
	estimate(t, b, "overtaken in intended order")
	if share := float64(b.Overtaken) / float64(b.Of); share < 0.45 || share > 0.55 {
		t.Errorf("%v overtaken", share)
	}
}

// Anything that the theorem does not speak about makes an estimate.
func TestBracketAssumptions(t *testing.T) {
	t.Parallel()
	change := func(f func(l *synth.Log)) *synth.Log {
		l := synth.Queue{N: 1000, Interval: 1e6, Service: 100_000, Serial: true, Transit: -1}.Run()
		f(l)
		return l
	}
	estimate(t, bracketOf(t, change(func(l *synth.Log) { l.Rows[5].Ready = synth.Null })), "1 messages have no ready")
	estimate(t, bracketOf(t, change(func(l *synth.Log) { l.Rows[5].Ready -= 10 })), "ready before they were intended")
	estimate(t, bracketOf(t, change(func(l *synth.Log) {
		again := l.Rows[5]
		again.Attempt = 1
		l.Rows = append(l.Rows, again)
	})), "1 re-sent")
	closed := change(func(l *synth.Log) { l.Meta = synth.Config(map[string]any{"rate": "max"}, nil, "") })
	if b := bracketOf(t, closed); b.Valid {
		t.Error("a closed loop has a bracket")
	}
	if b := bracketOf(t, change(func(l *synth.Log) {
		for i := range l.Rows {
			l.Rows[i].Ready = synth.Null
		}
	})); b.Valid {
		t.Error("without ready there is a bracket")
	}
}

// --warmup auto finds the start that is slower, and says what it did.
func TestWarmupAuto(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	log := func(slow int) *synth.Log {
		l := &synth.Log{}
		for i := range int64(20_000) {
			service := ms + rng.Int64N(ms/10)
			if i < int64(slow) {
				service *= 5
			}
			l.Rows = append(l.Rows, synth.Message(i, synth.Start+i*ms, service))
		}
		l.Meta = synth.Config(map[string]any{"rate": "1k", "warmup": "1s"}, nil, "")
		return l
	}
	auto := reduce.Options{WarmupAuto: true}
	for slow, want := range map[int]time.Duration{3000: 3 * time.Second, 0: 0} {
		d, err := reduce.Reduce(log(slow).Shuffle(1).Reader(999), auto)
		if err != nil {
			t.Fatal(err)
		}
		if d.Auto == nil || !d.Auto.Used || (d.Warmed()-want).Abs() > 200*time.Millisecond {
			t.Errorf("%d slow: %+v, %s", slow, d.Auto, d.Warmed())
		}
		if d.Warmth.Share > 0.1 {
			t.Errorf("%d slow: still %v warm-up", slow, d.Warmth.Share)
		}
	}
	d, err := reduce.Reduce(log(14_000).Reader(999), auto)
	if err != nil {
		t.Fatal(err)
	}
	if d.Auto.Used || d.Warmed() != time.Second || !strings.Contains(strings.Join(d.Warnings, "\n"), "no warm-up was found") {
		t.Errorf("%+v, %s, %q", d.Auto, d.Warmed(), d.Warnings)
	}
}

// The arrival process: punctual, and one that hands over in bursts.
func TestArrivals(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 20_000, Interval: 1e6, Service: 100_000, Transit: -1}.Run()
	d, err := reduce.Reduce(l.Reader(999), reduce.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if w := d.Arrivals.Windows; len(w) != 2 || w[0].Intended != 0 || w[0].Ready != 0 || w[0].N != 19_999 {
		t.Errorf("%+v", d.Arrivals)
	}
	for i := range l.Rows {
		r := &l.Rows[i]
		r.Ready = synth.Start + (r.Ready-synth.Start)/(50*ms)*50*ms // 50 at once
		r.Sent = max(r.Sent, r.Ready)
	}
	if d, err = reduce.Reduce(l.Reader(999), reduce.Options{}); err != nil {
		t.Fatal(err)
	}
	if w := d.Arrivals.Windows[0]; w.Ready < 40 { // 50·(1 − 1/50)
		t.Errorf("%+v", w)
	}
}
