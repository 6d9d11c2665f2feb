package stats_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"amqpperf/internal/analysis/stats"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v ± %v", what, got, want, tolerance)
	}
}

// Without ties, n = 4 ascending: S = 6, Var S = 4·3·13/18 = 8.667, z = 5/2.944.
func TestMannKendall(t *testing.T) {
	t.Parallel()
	got := stats.MannKendall([]float64{0, 1, 2, 3}, []float64{1, 2, 4, 7})
	near(t, "S", float64(got.S), 6, 0)
	near(t, "p", got.P, 0.0894, 5e-5)
	near(t, "Sen", got.Slope, 2, 1e-12) // slopes 1 1.5 2 2 2.5 3
	near(t, "change", got.Change, 2, 1e-12)
	// Ties: 1 1 2 3: S = 5, Var S = (156 − 2·1·9)/18 = 7.667.
	got = stats.MannKendall([]float64{0, 1, 2, 3}, []float64{1, 1, 2, 3})
	near(t, "S with ties", float64(got.S), 5, 0)
	near(t, "p with ties", got.P, math.Erfc(4/math.Sqrt(7+2.0/3)/math.Sqrt2), 1e-12)
	if got := stats.MannKendall([]float64{0, 1, 2, 3, 4}, []float64{5, 5, 5, 5, 5}); got.P != 1 || got.Slope != 0 {
		t.Errorf("constant: %+v", got)
	}
}

// Under no trend at most one in a hundred is found at p < 0.01.
func TestMannKendallLevel(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	rejected := 0
	x, y := make([]float64, 20), make([]float64, 20)
	for range 2000 {
		for i := range y {
			x[i], y[i] = float64(i), rng.NormFloat64()
		}
		if stats.MannKendall(x, y).P < 0.01 {
			rejected++
		}
	}
	if rejected < 5 || rejected > 35 {
		t.Errorf("%d of 2000 rejected at 1 %%", rejected)
	}
}

func batches(values []float64) []stats.BatchMean {
	var out []stats.BatchMean
	for i := 0; i+5 <= len(values); i += 5 {
		b := stats.BatchMean{N: 5}
		for _, v := range values[i : i+5] {
			b.Sum += v
		}
		out = append(out, b)
	}
	return out
}

func TestMSER5(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	noise := func(n int, level float64) (out []float64) {
		for range n {
			out = append(out, level+rng.NormFloat64())
		}
		return out
	}
	// 100 values of another level before 900: exactly 20 batches are cut.
	got := stats.MSER5(batches(append(noise(100, 50), noise(900, 10)...)))
	if got.Batches != 200 || got.Cut < 20 || got.Cut > 22 || !got.OK {
		t.Errorf("start-up of 20 batches: %+v", got)
	}
	if got := stats.MSER5(batches(make([]float64, 500))); got.Cut != 0 || !got.OK {
		t.Errorf("constant: %+v", got)
	}
	if got := stats.MSER5(batches(append(noise(700, 50), noise(300, 10)...))); got.OK {
		t.Errorf("a run that is mostly start-up was accepted: %+v", got)
	}
	if got := stats.MSER5(batches(noise(50, 1))); got.OK {
		t.Errorf("ten batches were enough: %+v", got)
	}
	// By hand: a spike alone in front costs exactly its own batch.
	spike := make([]float64, 500)
	spike[0] = 1
	if got := stats.MSER5(batches(spike)); got.Cut != 1 {
		t.Errorf("a spike: %+v", got)
	}
}

// A stall in mid-run is no warm-up, a start that is slow is one.
func TestWithoutStalls(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(9, 9))
	values := make([]float64, 10_000)
	for i := range values {
		values[i] = 10 + rng.Float64()
		if i < 60 || (i >= 6000 && i < 6100) {
			values[i] *= 20
		}
	}
	all := batches(values)
	if got := stats.MSER5(all); got.OK {
		t.Errorf("the stall did not mislead MSER-5: %+v", got)
	}
	if got := stats.MSER5(stats.WithoutStalls(all)); got.Cut < 12 || got.Cut > 20 || !got.OK {
		t.Errorf("a start of 12 batches: %+v", got)
	}
}

func TestBatches(t *testing.T) {
	t.Parallel()
	bins := []stats.BatchMean{{N: 2, Sum: 2}, {}, {N: 4, Sum: 8}, {N: 5, Sum: 5}, {N: 1, Sum: 9}}
	got, first := stats.Batches(func(yield func(int64, stats.BatchMean) bool) {
		for i, b := range bins {
			if !yield(int64(i), b) {
				return
			}
		}
	}, 100)
	if len(got) != 2 || got[0] != (stats.BatchMean{N: 6, Sum: 10}) || got[1].N != 5 || first[0] != 0 || first[1] != 3 {
		t.Errorf("%v at %v", got, first)
	}
}

func TestSteps(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	series := func(levels ...float64) (y []float64) {
		for _, l := range levels {
			for range 30 {
				y = append(y, l*(1+0.01*rng.NormFloat64()))
			}
		}
		return y
	}
	if got := stats.Steps(series(10, 10, 10)); len(got) != 0 {
		t.Errorf("no step: %+v", got)
	}
	got := stats.Steps(series(10, 12, 12, 9))
	if len(got) != 2 || got[0].At != 30 || got[1].At != 90 || got[0].P > 0.001 {
		t.Fatalf("two steps: %+v", got)
	}
	near(t, "first change", got[0].Change(), 0.2, 0.01)
	near(t, "second change", got[1].Change(), -0.25, 0.01)
	// A step of 3 % is clear beyond doubt, and too small to matter.
	if got := stats.Steps(series(10, 10.3)); len(got) != 0 {
		t.Errorf("a step of 3 %%: %+v", got)
	}
	if got := stats.Steps(make([]float64, 50)); len(got) != 0 {
		t.Errorf("zeros: %+v", got)
	}
}

// K19: the rule of 1 % holds for Poisson arrivals. Their dispersion is tested over a thousand windows (TestDispersion): 4096
// gaps of 1 ms are 40 windows of 100 ms, and the sampling error of a variance over these is √(2/40) = 22 %.
func TestK19Poisson(t *testing.T) {
	t.Parallel()
	good := 0
	for seed := range uint64(200) {
		rng := rand.New(rand.NewPCG(seed, 19))
		gaps := make([]float64, 4096)
		for i := range gaps {
			gaps[i] = rng.ExpFloat64() * 1e6
		}
		if stats.AndersonDarling(gaps) < 1.957 {
			good++
		}
	}
	if good < 195 {
		t.Errorf("%d of 200 seeds below the 1 %% value", good)
	}
	constant := make([]float64, 4096)
	for i := range constant {
		constant[i] = 1e6
	}
	if a := stats.AndersonDarling(constant); a < 100 {
		t.Errorf("constant gaps pass as exponential: %v", a)
	}
}

// The statistic of three quantile-spaced points by hand is checked with the
// definition, A² = −n − Σ(2i−1)/n·[ln F_i + ln(1−F_{n+1−i})].
func TestAndersonDarlingDefinition(t *testing.T) {
	t.Parallel()
	x := []float64{1, 2, 3, 4, 5, 6, 7, 20}
	mean := 6.0
	n := float64(len(x))
	var sum float64
	for i := range x {
		f, g := 1-math.Exp(-x[i]/mean), 1-math.Exp(-x[len(x)-1-i]/mean)
		sum += float64(2*i+1) / n * (math.Log(f) + math.Log(1-g))
	}
	near(t, "A*²", stats.AndersonDarling(x), (-n-sum)*(1+0.6/n), 1e-9)
}

// The dispersion of K19 over enough windows: Poisson 1 ± 0.2, constant 0.
func TestDispersion(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	counts := make([]int64, 1000)
	for at := 0.0; ; {
		at += rng.ExpFloat64() * 0.01
		if at >= 1000 {
			break
		}
		counts[int(at)]++
	}
	near(t, "Poisson", stats.Dispersion(counts), 1, 0.2)
	if d := stats.Dispersion([]int64{5, 5, 5}); d != 0 {
		t.Errorf("constant: %v", d)
	}
	if got := stats.Fold([]int64{1, 2, 3, 4, 5}, 2); len(got) != 2 || got[0] != 3 || got[1] != 7 {
		t.Errorf("folded: %v", got)
	}
}

// mmpp2 returns the mean rate of a Poisson process that switches between the rates
// l1 and l2, leaving the first at rate r1 and the second at r2, and the index of
// dispersion that its counts have over long windows.
func mmpp2(l1, l2, r1, r2 float64) (rate, dispersion float64) {
	rate = (l1*r2 + l2*r1) / (r1 + r2)
	return rate, 1 + 2*(l1-l2)*(l1-l2)*r1*r2/((r1+r2)*(r1+r2)*(l1*r2+l2*r1))
}

// K20: a process of rates 10 and 1, switching at 0.5 and 0.2, has the dispersion of
// its formula.
func TestK20MMPP2(t *testing.T) {
	t.Parallel()
	rate, dispersion := mmpp2(10, 1, 0.5, 0.2)
	near(t, "rate", rate, 3.5714, 1e-4)
	near(t, "dispersion", dispersion, 14.22, 0.005)
	const window, windows = 100.0, 20_000
	rng := rand.New(rand.NewPCG(20, 20))
	counts := make([]int64, windows)
	lambda, leave := 10.0, 0.5
	next := rng.ExpFloat64() / leave
	for at := 0.0; ; {
		at += rng.ExpFloat64() / lambda
		for at > next { // a Poisson process has no memory: draw again from the switch on
			if lambda == 10 {
				lambda, leave = 1, 0.2
			} else {
				lambda, leave = 10, 0.5
			}
			at = next + rng.ExpFloat64()/lambda
			next += rng.ExpFloat64() / leave
		}
		if at >= window*windows {
			break
		}
		counts[int(at/window)]++
	}
	var n int64
	for _, c := range counts {
		n += c
	}
	near(t, "simulated rate", float64(n)/(window*windows), rate, 0.01*rate)
	near(t, "simulated dispersion", stats.Dispersion(counts), dispersion, 0.1*dispersion)
}

func TestEpisodes(t *testing.T) {
	t.Parallel()
	const s = int64(1e9)
	all := []stats.Exceedance{{0, 5}, {s / 2, 5}, {s, 0}, {3 * s, 80}, {10 * s, 3}, {11 * s, 4}, {20 * s, 3}}
	if carrying, total := stats.Episodes(all, s, 0.8); carrying != 1 || total != 4 {
		t.Errorf("%d of %d", carrying, total)
	}
	if carrying, _ := stats.Episodes(all, s, 0.9); carrying != 2 {
		t.Errorf("90 %% in %d", carrying)
	}
	if carrying, total := stats.Episodes(nil, s, 0.8); carrying != 0 || total != 0 {
		t.Errorf("nothing: %d of %d", carrying, total)
	}
}
