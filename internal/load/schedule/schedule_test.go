package schedule_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"amqpperf/internal/load/schedule"
)

func constant(t interface{ Fatal(...any) }, num, den, n int64) schedule.Constant {
	c, err := schedule.NewConstant(num, den, n)
	if err != nil {
		t.Fatal(err)
	}
	return c
}

// K18: no drift after an hour, nor after 10⁹ intervals.
func TestNoDrift(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ num, den, i, want int64 }{
		{300_000, 1, 300_000 * 3600, 3600 * 1e9},
		{3, 1, 1_000_000_000, 333_333_333_333_333_333},
		{1, 60, 3, 180 * 1e9},
		{1, 2, 5, 10 * 1e9},
		{1e9, 1, 1e18, 1e18},
		{7, 1, 1, 142_857_142},
		{1, 9e9, 2, math.MaxInt64},
	} {
		if got := constant(t, tt.num, tt.den, schedule.Unbounded).At(tt.i); got != tt.want {
			t.Errorf("%d/%d: message %d at %d ns, want %d", tt.num, tt.den, tt.i, got, tt.want)
		}
	}
}

func TestWithin(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ num, den, d, want int64 }{
		{100, 1, 5e9, 500},     // [0, 5 s)
		{100, 1, 5e9 + 1, 501}, // message 500 is at 5 s exactly
		{1, 60, 1, 1},          // shorter than one interval: the first message
		{1, 60, 60e9, 1},
		{3, 1, 1e9, 3},
		{1, 2, 0, 0},
		{1e9, 1, math.MaxInt64, math.MaxInt64},
	} {
		if got := constant(t, tt.num, tt.den, 0).Within(tt.d); got != tt.want {
			t.Errorf("%d/%d within %d ns: got %d, want %d", tt.num, tt.den, tt.d, got, tt.want)
		}
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for _, tt := range [][3]int64{{0, 1, 1}, {1, 0, 1}, {-1, 1, 1}, {1, 9e9 + 1, 1}, {1, 1, -1}} {
		if _, err := schedule.NewConstant(tt[0], tt[1], tt[2]); err == nil {
			t.Errorf("%v was accepted", tt)
		}
	}
}

// At is the exact floor, and Within and Due are its inverses.
func TestConstantProperties(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		num := rapid.Int64Range(1, 1e12).Draw(t, "num")
		den := rapid.Int64Range(max(1, num/1e9), 9e9).Draw(t, "den")
		i := rapid.Int64Range(0, 1e15).Draw(t, "i")
		c := constant(t, num, den, schedule.Unbounded)
		exact := new(big.Int).Mul(big.NewInt(i), big.NewInt(1e9))
		exact.Mul(exact, big.NewInt(den)).Quo(exact, big.NewInt(num))
		want := int64(math.MaxInt64)
		if exact.IsInt64() {
			want = exact.Int64()
		}
		if got := c.At(i); got != want {
			t.Fatalf("%d/%d: At(%d) = %d, want %d", num, den, i, got, want)
		}
		d := rapid.Int64Range(1, 1e18).Draw(t, "d")
		n := c.Within(d)
		if n == 0 || c.At(n-1) >= d || (n < 1e18 && c.At(n) < d) {
			t.Fatalf("%d/%d: %d messages within %d", num, den, n, d)
		}
		if got := schedule.Due(c, 0, d-1); got != n {
			t.Fatalf("%d due at %d, %d within %d", got, d-1, n, d)
		}
	})
}

// Stripes partition the schedule and their shares add up.
func TestStripesPartition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 2000).Draw(t, "n")
		by := rapid.Int64Range(1, 50).Draw(t, "by")
		whole := constant(t, rapid.Int64Range(1, 1e6).Draw(t, "num"), 1, n)
		seen := make([]bool, n)
		total := int64(0)
		for k := range by {
			s := schedule.Stripe{Of: whole, K: k, By: by}
			total += s.N()
			for j := range s.N() {
				i := s.Index(j)
				if seen[i] || s.At(j) != whole.At(i) {
					t.Fatalf("stripe %d: message %d is %d", k, j, i)
				}
				seen[i] = true
			}
		}
		if total != n {
			t.Fatalf("the shares add up to %d, want %d", total, n)
		}
	})
}

// Due without an inverse gallops to the same answer as a plain count.
func TestDueGallops(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.Int64Range(0, 500).Draw(t, "n")
		s := schedule.Stripe{Of: constant(t, rapid.Int64Range(1, 1000).Draw(t, "num"), 1, schedule.Unbounded), K: 1, By: 3}
		l := limited{s, n}
		elapsed := rapid.Int64Range(0, 10e9).Draw(t, "elapsed")
		want := int64(0)
		for want < n && s.At(want) <= elapsed {
			want++
		}
		from := rapid.Int64Range(0, want).Draw(t, "from")
		if got := schedule.Due(l, from, elapsed); got != want {
			t.Fatalf("from %d: got %d, want %d", from, got, want)
		}
	})
}

type limited struct {
	schedule.Schedule
	n int64
}

func (l limited) N() int64 { return l.n }

func BenchmarkAt(b *testing.B) {
	c, err := schedule.NewConstant(300_007, 1, schedule.Unbounded)
	if err != nil {
		b.Fatal(err)
	}
	for i := int64(0); b.Loop(); i++ {
		c.At(i)
	}
}
