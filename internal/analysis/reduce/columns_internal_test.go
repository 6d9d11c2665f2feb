package reduce

import (
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce/synth"
)

// mostlyPlain draws a log whose rows are mostly accepted messages with all their
// instants, and in which everything else turns up now and then.
func mostlyPlain(t *rapid.T) *synth.Log {
	l := &synth.Log{}
	at := synth.Start
	for i := range rapid.IntRange(1, 80).Draw(t, "rows") {
		at += rapid.Int64Range(0, 3*synth.Millisecond).Draw(t, "gap")
		r := synth.Message(int64(i), at, 0)
		r.Ready = at + rapid.Int64Range(0, 2*synth.Millisecond).Draw(t, "lag")
		r.Sent = r.Ready + rapid.Int64Range(-5, 3*synth.Millisecond).Draw(t, "blocked")
		r.Acked = r.Sent + rapid.Int64Range(-5, 40*synth.Millisecond).Draw(t, "service")
		r = r.Arrive(r.Sent + rapid.Int64Range(-5, 60*synth.Millisecond).Draw(t, "transit"))
		r.Started = r.Received + rapid.Int64Range(0, 1000).Draw(t, "queued")
		r.Settled = r.Started + rapid.Int64Range(0, 1000).Draw(t, "work")
		r.Producer, r.Consumer = rapid.Int32Range(0, 1).Draw(t, "producer"), rapid.Int32Range(0, 1).Draw(t, "consumer")
		r.Wait = rapid.SampledFrom([]string{format.WaitNone, format.WaitWindow, ""}).Draw(t, "wait")
		r.Bound = rapid.SampledFrom([]int64{0, 0, 7, synth.Null}).Draw(t, "bound")
		r.Size = rapid.SampledFrom([]int32{1024, 1024, 7}).Draw(t, "size")
		switch rapid.IntRange(0, 30).Draw(t, "odd") {
		case 0:
			r = r.Unanswered(format.Unsettled)
		case 1:
			r = r.Lose()
		case 2:
			r.Attempt = 1
		case 3:
			r.Copy, r.Secondary = 1, true
		case 4:
			r.Outcome = format.Rejected
		case 5:
			r.Started = synth.Null
		case 6:
			r.Reordered, r.DeliveryCount = true, 1
		}
		l.Rows = append(l.Rows, r)
	}
	return l
}

// Columns are added up to what single rows give, whatever is selected and
// however the rows are cut into chunks and batches.
func TestColumnsAreRows(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		l := mostlyPlain(t)
		warm := rapid.SampledFrom([]time.Duration{0, 5 * time.Millisecond, 40 * time.Millisecond}).Draw(t, "warm-up")
		opt := Options{Warmup: &warm, inOrder: rapid.SampledFrom([]int{0, 0, 0, 0, 0, 10}).Draw(t, "in order")}
		if rapid.Bool().Draw(t, "cut") {
			opt.From, opt.To = 20*time.Millisecond, 80*time.Millisecond
		}
		byRow := opt
		byRow.byRow = true
		opt.chunk = rapid.IntRange(1, 20).Draw(t, "chunk")
		want, err := Reduce(l.Reader(1000), byRow)
		if err != nil {
			t.Fatal(err)
		}
		got, err := Reduce(l.Reader(rapid.IntRange(1, 50).Draw(t, "batch")), opt)
		if err != nil {
			t.Fatal(err)
		}
		same := cmp.Comparer(synth.SameDistribution)
		if d := cmp.Diff(want, got, same, cmpopts.EquateNaNs(), cmp.Exporter(func(reflect.Type) bool { return true })); d != "" {
			t.Fatalf("-rows +columns:\n%.3000s", d)
		}
	})
}
