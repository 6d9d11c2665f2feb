//go:build !race

package stats

import (
	"math"
	"math/rand/v2"
	"testing"
)

// md1 returns waiting times of n customers of an M/D/1 queue with a service of
// 1 ms and utilisation rho, in ns, after a start that is left out.
func md1(seed uint64, rho float64, n int) []Row {
	const service, start = 1e-3, 5000
	rng := rand.New(rand.NewPCG(seed, 0x6d6431))
	rows := make([]Row, n)
	wait := 0.0
	for i := -start; i < n; i++ {
		if i >= 0 {
			rows[i].Value = int64(wait * 1e9)
		}
		wait = max(0, wait+service-rng.ExpFloat64()*service/rho)
	}
	return rows
}

// K9: the waiting times of an M/D/1 queue in units of the service: their mean is
// ρ/(2(1−ρ)), and the quantiles are those of the exact distribution (method,
// section 6), inside of the intervals as often as those of K8.
func TestK9MD1(t *testing.T) {
	t.Parallel()
	const runs, n = 40, 20_000
	for _, c := range []struct {
		rho, mean float64
		quantiles map[string]float64
	}{
		// Half of the customers of ρ = 0.5 do not wait: their p50 is 0, whatever the interval.
		{0.5, 0.5, map[string]float64{"90": 1.5157, "99": 3.3363, "99.9": 5.1684}},
		{0.8, 2, map[string]float64{"50": 1.2759, "90": 5.0115, "99": 10.3559, "99.9": 15.7003}},
	} {
		covered, counted := map[string]int{}, map[string]int{}
		var sum, squares float64
		for seed := range uint64(runs) {
			rows := md1(seed, c.rho, n)
			var m Moments
			for _, r := range rows {
				m.Add(r.Value)
			}
			mean := m.Mean() / 1e6
			sum, squares = sum+mean, squares+mean*mean
			for _, q := range Quantiles(rows, MustPercentiles("50,90,99,99.9")) {
				p := q.Percentile.String()
				want, ok := c.quantiles[p]
				if !ok || q.KEff < fewEvents {
					continue
				}
				truth := int64(want * 1e6)
				counted[p]++
				if (!q.HasLow || q.LowValue <= truth+50) && (!q.HasHigh || truth-50 <= q.HighValue) { // the table has four decimals
					covered[p]++
				}
			}
		}
		mean := sum / runs
		spread := math.Sqrt((squares/runs - mean*mean) / (runs - 1)) // of the mean over the runs: it has the autocorrelation in it
		if math.Abs(mean-c.mean) > 3*spread {
			t.Errorf("rho %.1f: mean %.4f ± %.4f, want %.4f", c.rho, mean, spread, c.mean)
		}
		for p := range c.quantiles {
			t.Logf("rho %.1f p%s: covered in %d of %d runs", c.rho, p, covered[p], counted[p])
			// 88 % less twice the binomial error that so many runs have.
			if limit := 0.88 - 2*math.Sqrt(0.88*0.12/float64(max(1, counted[p]))); counted[p] >= 30 && float64(covered[p]) < limit*float64(counted[p]) {
				t.Errorf("rho %.1f p%s: covered in %d of %d runs", c.rho, p, covered[p], counted[p])
			}
		}
	}
}
