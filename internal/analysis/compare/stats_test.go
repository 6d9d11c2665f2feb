package compare

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func near(a, b, tol float64) bool { return math.Abs(a-b) <= tol }

// The exact distribution of U: tables of Mann and Whitney (1947), Annals of
// Mathematical Statistics 18, P(U ≤ u) for m, n up to 8.
func TestExactTails(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		m, n, u int
		p       float64
	}{
		{3, 3, 0, .050}, {3, 3, 1, .100}, {3, 3, 2, .200}, {3, 3, 4, .500},
		{4, 4, 0, .014}, {4, 4, 1, .029}, {4, 4, 2, .057}, {4, 4, 3, .100}, {4, 4, 7, .443},
		{5, 5, 0, .004}, {5, 5, 2, .016}, {5, 5, 4, .048}, {5, 5, 12, .500},
		{6, 4, 2, .019}, {6, 6, 5, .021}, {7, 7, 8, .019}, {8, 8, 13, .025}, {8, 5, 6, .023}, {3, 1, 0, .250},
	} {
		single := make([]int, c.m+c.n)
		for i := range single {
			single[i] = 1
		}
		ways, below, total := rankSums(c.n, single), 0.0, 0.0
		for s, w := range ways {
			total += w
			if s <= 2*c.u+c.n*(c.n+1) {
				below += w
			}
		}
		if total != binomial(c.m+c.n, c.n) || !near(below/total, c.p, .0006) {
			t.Errorf("m %d n %d: P(U <= %d) = %.4f of %v, want %.3f", c.m, c.n, c.u, below/total, total, c.p)
		}
	}
}

// Critical values of U, two-sided 5 %, of the usual tables; k is one more.
func TestCriticalRank(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ m, n, u int }{
		{4, 4, 0}, {5, 5, 2}, {6, 6, 5}, {7, 7, 8}, {8, 8, 13}, {9, 9, 17}, {10, 10, 23}, {15, 15, 64}, {20, 20, 127}, {5, 3, 0}, {10, 5, 8}, {20, 3, 8},
	} {
		if k, tail := criticalRank(c.m, c.n); k != c.u+1 || tail > .025 {
			t.Errorf("m %d n %d: rank %d (%.4f), want %d", c.m, c.n, k, tail, c.u+1)
		}
	}
	if k, _ := criticalRank(3, 3); k != 0 {
		t.Errorf("three runs a side have an interval: rank %d", k)
	}
}

func TestMannWhitney(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		x, y []float64
		u, p float64
	}{
		{[]float64{1, 2, 3}, []float64{4, 5, 6}, 9, .1},
		{[]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}, 16, 2. / 70},
		{[]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}, 25, 2. / 252},
		{[]float64{1, 3, 5}, []float64{2, 4, 6}, 6, .7},
		{[]float64{1, 1, 1}, []float64{1, 1, 1}, 4.5, 1},
		// Ties: of the 10 ways to choose 2 of 1 1 2 2 3, one has {2 3} sums above, two tie it.
		{[]float64{1, 1, 2}, []float64{2, 3}, 5.5, .4},
		{nil, []float64{1}, 0, 1},
	} {
		u, p := MannWhitney(c.x, c.y)
		if u != c.u || !near(p, c.p, 1e-12) {
			t.Errorf("%v %v: U %v p %v, want %v %v", c.x, c.y, u, p, c.u, c.p)
		}
	}
}

// The exact p-value is that of all ways to deal the values, ties or not, and is
// the same whichever side is first.
func TestMannWhitneyPermutes(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		x := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 3), func(i int) float64 { return float64(i) }), 1, 5).Draw(t, "x")
		y := rapid.SliceOfN(rapid.Map(rapid.IntRange(0, 3), func(i int) float64 { return float64(i) }), 1, 5).Draw(t, "y")
		u, p := MannWhitney(x, y)
		v, q := MannWhitney(y, x)
		if u+v != float64(len(x)*len(y)) || !near(p, q, 1e-12) {
			t.Fatalf("U %v and %v, p %v and %v", u, v, p, q)
		}
		all := append(append([]float64{}, x...), y...)
		var below, above, total float64
		for set := range 1 << len(all) {
			var a, b []float64
			for i, v := range all {
				if set>>i&1 == 1 {
					b = append(b, v)
				} else {
					a = append(a, v)
				}
			}
			if len(b) != len(y) {
				continue
			}
			w := 0.0
			for _, i := range a {
				for _, j := range b {
					if j > i {
						w++
					} else if j == i {
						w += .5
					}
				}
			}
			total++
			if w <= u {
				below++
			}
			if w >= u {
				above++
			}
		}
		if want := min(1, 2*min(below, above)/total); !near(p, want, 1e-12) {
			t.Fatalf("%v %v: p %v, want %v", x, y, p, want)
		}
	})
}

func TestNormalMeetsExact(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(1, 2))
	var x, y []float64
	for range 50 {
		x, y = append(x, r.NormFloat64()), append(y, r.NormFloat64()+.3)
	}
	u, p := MannWhitney(x, y)
	single := make([]int, 100)
	for i := range single {
		single[i] = 1
	}
	if q := normalP(u, 50, 50, single); !near(p, q, .002) {
		t.Errorf("exact %v, normal %v", p, q)
	}
}

func TestSmallestP(t *testing.T) {
	t.Parallel()
	for n, want := range map[int]float64{1: 1, 2: 1. / 3, 3: .1, 4: 2. / 70, 5: 2. / 252} {
		if p := SmallestP(n, n); !near(p, want, 1e-12) {
			t.Errorf("%d runs a side: %v, want %v", n, p, want)
		}
	}
	// Five runs a side and six numbers can just be significant, four and two not.
	if p := 6 * SmallestP(5, 5); p > Alpha || p < .047 {
		t.Errorf("5 runs, 6 numbers: %v", p)
	}
	if p := 2 * SmallestP(4, 4); p <= Alpha {
		t.Errorf("4 runs, 2 numbers: %v", p)
	}
}

func TestHolm(t *testing.T) {
	t.Parallel()
	// The example of R's p.adjust: .01 .02 .03 .005.
	got := Holm([]float64{.01, .02, .03, .005})
	for i, want := range []float64{.03, .04, .04, .02} {
		if !near(got[i], want, 1e-12) {
			t.Errorf("%v", got)
			break
		}
	}
	if got := Holm([]float64{.6, .5}); got[0] != 1 || got[1] != 1 {
		t.Errorf("%v", got)
	}
	if len(Holm(nil)) != 0 {
		t.Error("of nothing comes something")
	}
}

func TestHodgesLehmann(t *testing.T) {
	t.Parallel()
	// Hollander and Wolfe, example 4.1 (permeability of human chorioamnion):
	// estimate −0.305; U ≤ 15 of 10 and 5.
	term := []float64{.80, .83, 1.89, 1.04, 1.45, 1.38, 1.91, 1.64, .73, 1.46}
	early := []float64{1.15, .88, .90, .74, 1.21}
	s := ShiftOf(term, early)
	if !near(s.Estimate, -.305, 1e-9) || !near(s.P, .2544, .0005) || !near(s.Low, -.76, .0101) || !near(s.High, .15, .0101) {
		t.Errorf("%+v", s)
	}
	if s := ShiftOf([]float64{1, 2, 3}, []float64{4, 5, 6}); s.Estimate != 3 || !math.IsInf(s.Low, -1) || !math.IsInf(s.High, 1) {
		t.Errorf("three runs a side: %+v", s)
	}
}

// The interval holds zero exactly when the test does not reject, without ties.
func TestIntervalIsTest(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		m, n := rapid.IntRange(1, 9).Draw(t, "m"), rapid.IntRange(1, 9).Draw(t, "n")
		var x, y []float64
		for range m {
			x = append(x, r.NormFloat64())
		}
		for range n {
			y = append(y, r.NormFloat64()+1)
		}
		s := ShiftOf(x, y)
		if (s.P <= Alpha) != (s.Low > 0 || s.High < 0) {
			t.Fatalf("p %v with interval %v %v", s.P, s.Low, s.High)
		}
		if s.Estimate < s.Low || s.Estimate > s.High {
			t.Fatalf("%+v", s)
		}
	})
}

func TestDetectable(t *testing.T) {
	t.Parallel()
	// σ = 3 %: 2.8·σ·√(2/n), some 15 % more for t at n = 5.
	for n, want := range map[int]float64{5: .0606, 10: .0400, 20: .0273} {
		if got := Detectable(.03, n, n, Alpha); !near(got, want, .0003) {
			t.Errorf("n = %d: %.4f, want %.4f", n, got, want)
		}
	}
	for _, c := range []struct {
		p    float64
		df   int
		want float64
	}{{.975, 1, 12.706}, {.975, 2, 4.303}, {.975, 3, 3.182}, {.975, 8, 2.306}, {.8, 8, .889}, {.975, 30, 2.042}, {.995, 5, 4.032}, {.975, 1000, 1.962}} {
		if got := studentQuantile(c.p, c.df); !near(got, c.want, .0006) {
			t.Errorf("t(%v, %d) = %.4f, want %.3f", c.p, c.df, got, c.want)
		}
	}
}
