package live_test

import (
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"amqpperf/internal/load/live"
)

// Quantiles are within a bucket above the exact one, and merging is the same
// as recording everything in one place.
func TestQuantiles(t *testing.T) {
	t.Parallel()
	value := rapid.OneOf(rapid.Int64Range(0, 100), rapid.Int64Range(0, 1e6), rapid.Int64Range(-1000, math.MaxInt64))
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(value, 1, 300).Draw(t, "values")
		p := rapid.Float64Range(0, 1).Draw(t, "p")
		var h, a, b live.Histogram
		for i, v := range values {
			h.Record(v)
			if i%3 == 0 {
				a.Record(v)
			} else {
				b.Record(v)
			}
		}
		a.Merge(&b)
		sorted := slices.Sorted(slices.Values(values))
		exact := sorted[max(0, int(math.Ceil(p*float64(len(values))))-1)]
		got := h.Quantile(p)
		if got < exact || (exact >= 0 && float64(got) > float64(exact)*(1+1.0/31)) || (exact < 0 && got > 0) {
			t.Fatalf("p%g = %d, exact %d", p*100, got, exact)
		}
		if a.Quantile(p) != got || a.N() != h.N() || a.Min() != sorted[0] || a.Max() != sorted[len(sorted)-1] {
			t.Fatal("merged differs")
		}
		h.Reset()
		h.Record(7)
		if h.N() != 1 || h.Quantile(0.5) != 7 || h.Mean() != 7 || h.Min() != 7 || h.Max() != 7 {
			t.Fatal("something is left after Reset")
		}
	})
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	var h, o live.Histogram
	h.Merge(&o)
	if h.Quantile(0.99) != 0 || h.Mean() != 0 || h.Max() != 0 || h.N() != 0 {
		t.Error("an empty histogram has values")
	}
}

func TestNoAllocation(t *testing.T) {
	var h live.Histogram
	h.Record(1000)
	if n := testing.AllocsPerRun(100, func() { h.Record(1001) }); n != 0 {
		t.Errorf("%g allocations per value", n)
	}
}
