package reduce_test

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/reduce/synth"
	"amqpperf/internal/analysis/stats"
)

// anyLog draws a log of a few dozen rows in which every outcome, fate, copy and
// attempt turns up, with instants that need not make sense.
func anyLog(t *rapid.T) *synth.Log {
	instant := func(label string, from int64) int64 {
		if rapid.IntRange(0, 9).Draw(t, label+" null") == 0 {
			return synth.Null
		}
		return from + rapid.Int64Range(-2*ms, 50*ms).Draw(t, label)
	}
	outcomes := []string{
		format.Accepted, format.Accepted, format.Accepted, format.Rejected, format.Released, format.Modified,
		format.Presettled, format.Unsettled, format.Failed, format.Unsent, format.Unlogged, "odd",
	}
	waits := []string{format.WaitNone, format.WaitWindow, format.WaitCredit, format.WaitConnection}
	l := &synth.Log{}
	for i := range rapid.IntRange(0, 60).Draw(t, "rows") {
		at := synth.Start + int64(i)*rapid.Int64Range(0, 3*ms).Draw(t, "gap")
		r := synth.Message(int64(i/2), at, ms)
		r.Producer = rapid.Int32Range(0, 2).Draw(t, "producer")
		r.Attempt = rapid.SampledFrom([]int32{0, 0, 0, 1, 2}).Draw(t, "attempt")
		r.Copy = rapid.SampledFrom([]int32{0, 0, 0, 1}).Draw(t, "copy")
		r.Secondary = r.Copy > 0
		r.Subscription = rapid.SampledFrom([]string{"", "", "a", "b"}).Draw(t, "subscription")
		r.Outcome = rapid.SampledFrom(outcomes).Draw(t, "outcome")
		r.Wait = rapid.SampledFrom(waits).Draw(t, "wait")
		r.Ready, r.Sent, r.Acked = instant("ready", at), instant("sent", at), instant("acked", at)
		switch rapid.IntRange(0, 3).Draw(t, "fate") {
		case 0:
			r.RecvOutcome = rapid.SampledFrom([]string{"", format.Lost, format.Unknown}).Draw(t, "missing")
		default:
			r = r.Arrive(at + rapid.Int64Range(-ms, 90*ms).Draw(t, "received"))
			r.Started, r.Settled, r.Bound = instant("started", at), instant("settled", at), rapid.SampledFrom([]int64{0, 1000, synth.Null}).Draw(t, "bound")
		}
		l.Rows = append(l.Rows, r)
	}
	return l
}

// Whatever the rows hold, there is no panic, the passes agree, and the order of
// rows and the size of batches do not matter.
func TestPropertyOrder(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyLog(t)
		opt := reduce.Options{Warmup: span(rapid.SampledFrom([]time.Duration{0, 5 * time.Millisecond, 40 * time.Millisecond}).Draw(t, "warm-up")), Negative: rapid.Bool().Draw(t, "negative")}
		want, err := reduce.Reduce(l.Reader(1000), opt)
		if err != nil {
			t.Fatal(err)
		}
		for i, q := range want.Metrics[reduce.Response].Quantiles {
			if b := want.Bracket; b.Valid && !b.Lower[i].Infinite && q.Status != stats.Infinite && b.Lower[i].Value > q.Observed {
				t.Fatalf("p%s: the bracket begins at %d, above %d", q.Percentile, b.Lower[i].Value, q.Observed)
			}
		}
		got, err := reduce.Reduce(l.Shuffle(rapid.Uint64().Draw(t, "seed")).Reader(rapid.IntRange(1, 20).Draw(t, "batch")), opt)
		if err != nil {
			t.Fatal(err)
		}
		same := cmp.Comparer(synth.SameDistribution)
		if d := cmp.Diff(want, got, same, cmpopts.EquateNaNs(), cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
			t.Fatalf("-want +got:\n%.3000s", d)
		}
	})
}

// Ten times slower in all instants is ten times longer in all latencies.
func TestPropertyScale(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := anyLog(t)
		slow := &synth.Log{Rows: append([]synth.Row(nil), l.Rows...)}
		scale := func(at *int64) {
			if *at != synth.Null {
				*at = synth.Start + 10*(*at-synth.Start)
			}
		}
		for i := range slow.Rows {
			r := &slow.Rows[i]
			for _, at := range []*int64{&r.Intended, &r.Ready, &r.Sent, &r.Acked, &r.Received, &r.Started, &r.Settled} {
				scale(at)
			}
		}
		a, err := reduce.Reduce(l.Reader(1000), reduce.Options{})
		if err != nil {
			t.Fatal(err)
		}
		b, err := reduce.Reduce(slow.Reader(1000), reduce.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if a.Empty() {
			return
		}
		for _, m := range reduce.Metrics() {
			x, y := a.Metrics[m], b.Metrics[m]
			if x.N() != y.N() || x.Infinite() != y.Infinite() || x.Negative != y.Negative || 10*x.Min() != y.Min() || 10*x.Max() != y.Max() {
				t.Fatalf("%s: %d values, %d infinite, %d…%d and %d, %d, %d…%d", m, x.N(), x.Infinite(), x.Min(), x.Max(), y.N(), y.Infinite(), y.Min(), y.Max())
			}
			for i := range x.Quantiles {
				if 10*x.Quantiles[i].Observed != y.Quantiles[i].Observed {
					t.Fatalf("%s p%s: %d and %d", m, x.Quantiles[i].Percentile, x.Quantiles[i].Observed, y.Quantiles[i].Observed)
				}
			}
		}
	})
}
