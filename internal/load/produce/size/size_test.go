package size_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"amqpperf/internal/load/produce/size"
)

func parse(t *testing.T, s string) size.Dist {
	t.Helper()
	d, err := size.Parse(s)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

func TestBounds(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]struct {
		low, high int64
		fixed     bool
	}{
		"1KiB": {1024, 1024, true}, "0": {0, 0, true}, "100..4k": {100, 4000, false}, "5..5": {5, 5, true},
		"lognormal(1k,2)": {16, 64_000, false}, "lognormal(1k, 1)": {1000, 1000, true}, "lognormal( 4k , 1.5 )": {351, 45_563, false},
	} {
		d := parse(t, s)
		if d.Min() != want.low || d.Max() != want.high || d.Fixed() != want.fixed || d.String() != s {
			t.Errorf("%s: %d to %d, fixed %t, printed as %s", s, d.Min(), d.Max(), d.Fixed(), d.String())
		}
		for seq := range int64(1000) {
			if n := int64(d.Of(1, 0, seq)); n < want.low || n > want.high {
				t.Fatalf("%s: a size of %d", s, n)
			}
		}
	}
}

func draws(d size.Dist, seed uint64, producer int32, n int64) []float64 {
	out := make([]float64, n)
	for seq := range n {
		out[seq] = float64(d.Of(seed, producer, seq))
	}
	return out
}

// All sizes of a range are equally likely: a χ² of 99 degrees of freedom beyond 160
// has a probability of 1e-4, and the seed is fixed.
func TestUniform(t *testing.T) {
	t.Parallel()
	d := parse(t, "100..199")
	counts := make([]float64, 100)
	for _, n := range draws(d, 7, 3, 100_000) {
		counts[int(n)-100]++
	}
	chi := 0.0
	for _, c := range counts {
		chi += (c - 1000) * (c - 1000) / 1000
	}
	if chi > 160 || chi < 50 {
		t.Errorf("χ² %.1f", chi)
	}
}

// The logarithm of a log-normal size has the mean and deviation that were asked for.
func TestLogNormal(t *testing.T) {
	t.Parallel()
	d := parse(t, "lognormal(10k,3)")
	sizes := draws(d, 1, 0, 100_000)
	var sum, square float64
	for _, n := range sizes {
		x := math.Log(n / 10_000)
		sum += x
		square += x * x
	}
	n := float64(len(sizes))
	mean, deviation := sum/n, math.Sqrt(square/n-sum/n*sum/n)
	// The standard error of the mean is 0.0035.
	if math.Abs(mean) > 0.015 || math.Abs(deviation-math.Log(3)) > 0.015 {
		t.Errorf("mean %.4f, deviation %.4f; want 0 and %.4f", mean, deviation, math.Log(3))
	}
	slices.Sort(sizes)
	inside := 0.0
	for _, x := range sizes {
		if x >= 10_000/3.0 && x <= 30_000 {
			inside++
		}
	}
	if share := inside / n; share < 0.675 || share > 0.69 { // 0.6827
		t.Errorf("%.4f within a factor of 3", share)
	}
}

// Sizes depend on seed, producer and seq, and on nothing else.
func TestSeeded(t *testing.T) {
	t.Parallel()
	d := parse(t, "1..1M")
	a := draws(d, 1, 1, 100)
	if !slices.Equal(a, draws(d, 1, 1, 100)) || slices.Equal(a, draws(d, 2, 1, 100)) || slices.Equal(a, draws(d, 1, 2, 100)) {
		t.Error("not a function of seed and producer")
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"": "not a number", "x": "not a number", "1..": "not a number", "4k..100": "above the largest", "lognormal(1k)": "MEDIAN,FACTOR",
		"lognormal(1k,2": "MEDIAN,FACTOR", "lognormal(1k,0.5)": "from 1 to 100", "lognormal(1k,NaN)": "from 1 to 100", "lognormal(0,2)": "above 0",
		"lognormal(1G,2)": "the largest would", "lognormal(x,2)": "not a number",
	} {
		if _, err := size.Parse(s); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", s, err, want)
		}
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{"1KiB", "100..4k", "lognormal(1k,2)", "lognormal(1,100)", "..", "0..0"} {
		f.Add(s, uint64(1), int64(2))
	}
	f.Fuzz(func(t *testing.T, s string, seed uint64, seq int64) {
		d, err := size.Parse(s)
		if err != nil {
			return
		}
		if n := int64(d.Of(seed, 0, seq)); n < d.Min() || n > d.Max() || d.Min() < 0 || d.Max() > math.MaxInt32 {
			t.Fatalf("%q: a size of %d out of %d to %d", s, n, d.Min(), d.Max())
		}
	})
}
