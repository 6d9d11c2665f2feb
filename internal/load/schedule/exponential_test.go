package schedule

import (
	"math"
	"math/rand/v2"
	"testing"
)

// −ln U to one or two units in the last place of a float64, and its extremes.
func TestExponential(t *testing.T) {
	t.Parallel()
	check := func(random uint64) {
		u := float64(random>>11+1) / (1 << 53)
		got, want := float64(exponential(random))/(1<<fraction), -math.Log(u)
		if math.Abs(got-want) > 1e-15*want+1.0/(1<<fraction) {
			t.Fatalf("of %x: %v, want %v", random, got, want)
		}
	}
	r := rand.New(rand.NewPCG(1, 2))
	for range 100_000 {
		v := r.Uint64()
		check(v)
		check(v >> r.IntN(64))
		check(^(v >> r.IntN(64)))
	}
	for _, v := range []uint64{0, 1 << 11, math.MaxUint64, 1 << 63, 1<<63 - 1} {
		check(v)
	}
	if got := exponential(math.MaxUint64); got != 0 {
		t.Errorf("of U = 1: %d", got)
	}
}

func TestDivide(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(3, 4))
	for range 100_000 {
		u := u128{r.Uint64() >> (1 + r.IntN(63)), r.Uint64()}
		v := u128{r.Uint64() >> r.IntN(64), r.Uint64()}
		if r.IntN(2) == 0 {
			v.hi = 0
		}
		if v == (u128{}) {
			continue
		}
		want := u.big()
		want.Quo(want, v.big())
		got, ok := u.div(v)
		if ok != want.IsUint64() || (ok && got != want.Uint64()) {
			t.Fatalf("%v / %v = %d, %t; want %v", u, v, got, ok, want)
		}
	}
}
