package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestBinomialQuantile(t *testing.T) {
	t.Parallel()
	// Against sums of the mass function.
	for _, n := range []int64{1, 2, 7, 30, 365, 1000} {
		for _, p := range []float64{0.5, 0.1, 0.01, 0.001} {
			for _, alpha := range []float64{0.025, 0.975} {
				want, sum := int64(0), math.Pow(1-p, float64(n))
				for mass := sum; sum < alpha; want++ {
					mass *= float64(n-want) / float64(want+1) * p / (1 - p)
					sum += mass
				}
				if got := binomialQuantile(n, p, alpha); got != want {
					t.Errorf("n=%d p=%g alpha=%g: %d, want %d", n, p, alpha, got, want)
				}
			}
		}
	}
	// One and ten expected events in a large sample: [0,3] and [4,17].
	for _, c := range []struct {
		n      int64
		lo, hi int64
	}{{1_000_000, 0, 3}, {10_000_000, 4, 17}} {
		lo, hi := binomialQuantile(c.n, 1e-6, lowerAlpha), binomialQuantile(c.n, 1e-6, upperAlpha)
		if lo != c.lo || hi != c.hi {
			t.Errorf("n=%d: [%d,%d], want [%d,%d]", c.n, lo, hi, c.lo, c.hi)
		}
	}
	// Large and central: within a count of the normal approximation.
	n := int64(100_000_000)
	want := 0.5*float64(n) - 1.959964*math.Sqrt(float64(n))/2
	if got := binomialQuantile(n, 0.5, lowerAlpha); math.Abs(float64(got)-want) > 2 {
		t.Errorf("n=%d: %d, want about %.0f", n, got, want)
	}
}

// The least n for a finite upper limit is ln(0.025)/ln(p).
func TestLeastRunForAnUpperLimit(t *testing.T) {
	t.Parallel()
	for p, n := range map[string]int64{"99": 368, "99.9": 3_688, "99.99": 36_887, "99.999": 368_887} {
		pc := MustPercentiles(p)[0]
		if iv := QuantileInterval(pc, n, 1); iv.HighRank != n {
			t.Errorf("p%s of %d: upper rank %d, want the maximum", p, n, iv.HighRank)
		}
		if iv := QuantileInterval(pc, n-1, 1); iv.HighRank != n {
			t.Errorf("p%s of %d: upper rank %d, want none", p, n-1, iv.HighRank)
		}
		// Autocorrelation multiplies it.
		if iv := QuantileInterval(pc, 4*n, 4); iv.HighRank != 4*n {
			t.Errorf("p%s of %d at VIF 4: upper rank %d, want the maximum", p, 4*n, iv.HighRank)
		}
	}
}

func TestPrintRule(t *testing.T) {
	t.Parallel()
	p := MustPercentiles("99.9")[0]
	for _, c := range []struct {
		n      int64
		vif    float64
		status Status
		needed float64
	}{
		{10_000, 1, OK, 1},
		{9_999, 1, Low, 10 / 9.999},
		{5_000, 1, Low, 2},
		{4_999, 1, Uncertain, 10 / 4.999},
		{60_000, 20, Uncertain, 10.0 / 3},
	} {
		iv := QuantileInterval(p, c.n, c.vif)
		if iv.Status() != c.status || math.Abs(iv.Needed()-c.needed) > 1e-9 {
			t.Errorf("n=%d VIF=%g: %s, needs %g times the run; want %s, %g", c.n, c.vif, iv.Status(), iv.Needed(), c.status, c.needed)
		}
	}
}

// The ratio form equals b·Var(batch means)/(m(1−m)) where batches are equal.
func TestVIFIsTheBatchMeansFormula(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(5, 6))
	const n = 1 << 12
	counts, exceed := make([]uint32, n), make([]uint32, n)
	state, total := 0, 0
	for i := range counts {
		if rng.IntN(20) == 0 {
			state = 1 - state
		}
		counts[i], exceed[i] = 1, uint32(state)
		total += state
	}
	m := float64(total) / n
	want := 1.0
	for b := 1; n/b >= minBatches; b *= 2 {
		var sum float64
		for j := 0; j < n/b; j++ {
			mean := 0.0
			for _, e := range exceed[j*b : (j+1)*b] {
				mean += float64(e) / float64(b)
			}
			sum += (mean - m) * (mean - m)
		}
		want = max(want, float64(b)*sum/float64(n/b-1)/(m*(1-m)))
	}
	if got := VIF(counts, exceed); math.Abs(got-want) > 1e-9*want {
		t.Errorf("VIF %g, want %g", got, want)
	}
	if want < 5 {
		t.Errorf("the example is not correlated: VIF %g", want)
	}
}

func TestVIFEdges(t *testing.T) {
	t.Parallel()
	ones, none := make([]uint32, 100), make([]uint32, 100)
	for i := range ones {
		ones[i] = 1
	}
	for name, got := range map[string]float64{
		"nothing": VIF(nil, nil), "no exceedance": VIF(ones, none), "all exceed": VIF(ones, ones), "empty bins": VIF(none, none),
	} {
		if got != 1 {
			t.Errorf("%s: VIF %g, want 1", name, got)
		}
	}
	// Empty bins between the rows are no batches: 20 rows are too few.
	counts, exceed := make([]uint32, 2000), make([]uint32, 2000)
	for i := 0; i < 20; i++ {
		counts[i*100] = 1
		exceed[i*100] = uint32(i / 10)
	}
	if got := VIF(counts, exceed); got != 1 {
		t.Errorf("VIF %g of 20 rows, want 1", got)
	}
}

// K7: 0.2 % lost. p99 finite, p99.9 infinite.
func TestLostMessagesAreInfinite(t *testing.T) {
	t.Parallel()
	rows := make([]Row, 100_000)
	for i := range rows {
		rows[i] = Row{Value: int64(i%997) + 1_000_000, Infinite: i%500 == 3}
	}
	qs := Quantiles(rows, MustPercentiles("99,99.9"))
	if qs[0].Status != OK || qs[0].Observed < 1_000_000 || !qs[0].HasHigh {
		t.Errorf("p99 %+v", qs[0])
	}
	if qs[1].Status != Infinite || qs[1].HasHigh {
		t.Errorf("p99.9 %+v", qs[1])
	}
	if qs[1].Observed != 1_000_995 && qs[1].Observed != 1_000_996 {
		t.Errorf("observed p99.9 over the finite rows %d", qs[1].Observed)
	}
}

// K6: the server dies 5 s before the end of 60 s: 8.3 % never answered. p90 is
// finite, p99 is not, and they are one cluster: the interval says so.
func TestServerDiesBeforeTheEnd(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(7, 8))
	rows := make([]Row, 60_000)
	for i := range rows {
		rows[i] = Row{Value: int64(rng.ExpFloat64() * 1e6), Infinite: i >= 55_000}
	}
	qs := Quantiles(rows, MustPercentiles("90,99"))
	if qs[0].Status == Infinite || qs[0].Exceed != 6_000 {
		t.Errorf("p90 %+v", qs[0])
	}
	if qs[1].Status != Infinite {
		t.Errorf("p99 %+v", qs[1])
	}
	if qs[0].VIF < 100 || qs[0].HasHigh {
		t.Errorf("p90 with 5000 infinite values in one stretch: VIF %g, upper limit %v", qs[0].VIF, qs[0].HasHigh)
	}
}
