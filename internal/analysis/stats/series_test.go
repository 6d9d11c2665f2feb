package stats

import (
	"math"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func TestBacklog(t *testing.T) {
	t.Parallel()
	got := Backlog([]int64{10, 10, 10}, []int64{4, 10, 10, 6, 1})
	if d := cmp.Diff([]int64{6, 6, 6, 0, -1}, got); d != "" {
		t.Error(d)
	}
}

func TestRate(t *testing.T) {
	t.Parallel()
	if got := Rate(501, 0, 5e9); got != 100 {
		t.Errorf("501 events in 5 s: %g/s", got)
	}
	if !math.IsNaN(Rate(1, 0, 5)) || !math.IsNaN(Rate(5, 3, 3)) {
		t.Error("a rate without a span")
	}
}

func TestAxis(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		first, last := rapid.Int64().Draw(t, "first"), rapid.Int64().Draw(t, "last")
		if first > last {
			first, last = last, first
		}
		a := NewAxis(first, last, rapid.Int64Range(0, 1<<40).Draw(t, "n"), rapid.IntRange(0, 1<<21).Draw(t, "limit"))
		if a.Bins < 1 || a.Bins > MaxBins || a.Bin(first) != 0 || a.Bin(last) != a.Bins-1 {
			t.Fatalf("%+v over %d..%d: bins %d..%d", a, first, last, a.Bin(first), a.Bin(last))
		}
		at := rapid.Int64Range(first, last).Draw(t, "at")
		if b := a.Bin(at); b > 0 && a.Bin(at-1) > b {
			t.Fatalf("not monotone at %d", at)
		}
	})
	// A constant rate has one row in each of its first bins.
	a := NewAxis(0, 999_000_000, 1000, 0)
	if a.Bins > 1024 || a.Bins < 1000 {
		t.Errorf("%+v for 1000 rows", a)
	}
}
