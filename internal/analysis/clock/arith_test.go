package clock

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"
)

func TestDrift(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		rate := rapid.Int64Range(0, 2*maxRate).Draw(rt, "rate")
		d := rapid.OneOf(rapid.Int64(), rapid.Int64Range(0, math.MaxInt64)).Draw(rt, "d")
		want := big.NewInt(max(d, 0))
		want.Mul(want, big.NewInt(rate)).Add(want, big.NewInt(ppb-1)).Div(want, big.NewInt(ppb))
		if limit := big.NewInt(far); want.Cmp(limit) > 0 {
			want = limit
		}
		if got := drift(rate, d); got != want.Int64() {
			rt.Fatalf("drift(%d, %d) = %d, want %s", rate, d, got, want)
		}
	})
}

func TestDifferences(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		a, b, d int64
		ok      bool
	}{
		{5, 7, -2, true},
		{far, 0, far, true},
		{far, -1, far + 1, false},
		{math.MaxInt64, math.MinInt64, -1, false},
		{math.MinInt64, 1, math.MaxInt64, false},
	} {
		if d, ok := diff(tt.a, tt.b); d != tt.d || ok != tt.ok {
			t.Errorf("diff(%d, %d) = %d, %v", tt.a, tt.b, d, ok)
		}
	}
	if got := add(math.MaxInt64, 1); got != math.MaxInt64 {
		t.Errorf("add beyond the largest: %d", got)
	}
	if got := add(math.MinInt64, 0); got != math.MinInt64+1 {
		t.Errorf("add gives the number that means NULL: %d", got)
	}
	if got := add(-far*2, -far*2-1); got != math.MinInt64+1 {
		t.Errorf("add beyond the smallest: %d", got)
	}
}
