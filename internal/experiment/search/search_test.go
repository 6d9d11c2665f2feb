package search

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"amqpperf/internal/units"
)

// TestKnown follows a search for a limit of 5,300/s by single runs.
func TestKnown(t *testing.T) {
	t.Parallel()
	s := New(1000, 0.05, 1)
	var rates []float64
	for rate, more := s.Next(); more; rate, more = s.Next() {
		rates = append(rates, rate)
		s.Add(rate, rate <= 5300)
	}
	if d := cmp.Diff([]float64{1000, 2000, 4000, 8000, 5660, 4760, 5190, 5420}, rates); d != "" {
		t.Error(d)
	}
	if got, want := s.Answer().String(), "5.19k/s held in 1 of 1 runs, 5.42k/s in 0 of 1 (8 runs at 8 rates; with 95 % confidence at least 5 % of runs at 5.19k/s pass, at most 95 % of those at 5.42k/s)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestMajority decides each rate by two of three runs and gives the answer all three.
func TestMajority(t *testing.T) {
	t.Parallel()
	s := New(100, 1, 3)
	var rates []float64
	verdicts := []bool{true, false, true /* 100 holds */, false, false /* 200 fails */}
	for rate, more := s.Next(); more; rate, more = s.Next() {
		s.Add(rate, verdicts[len(rates)])
		rates = append(rates, rate)
	}
	if d := cmp.Diff([]float64{100, 100, 100, 200, 200}, rates); d != "" {
		t.Error(d)
	}
	if got, want := s.Answer().String(), "100/s held in 2 of 3 runs, 200/s in 0 of 2 (5 runs at 2 rates; with 95 % confidence at least 14 % of runs at 100/s pass, at most 78 % of those at 200/s)"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestAnswerHasAllItsRuns: two passes decide, the third run is made all the same.
func TestAnswerHasAllItsRuns(t *testing.T) {
	t.Parallel()
	s := New(100, 1, 3)
	for rate, more := s.Next(); more; rate, more = s.Next() {
		s.Add(rate, rate < 150)
	}
	if a := s.Answer(); a.Held != 100 || a.HeldRuns != 3 || a.FailedRuns != 2 {
		t.Errorf("got %+v", a)
	}
}

func TestNothingHolds(t *testing.T) {
	t.Parallel()
	s := New(1, 0.05, 1)
	n := 0
	for rate, more := s.Next(); more; rate, more = s.Next() {
		if n++; n > 100 {
			t.Fatal("it does not end")
		}
		s.Add(rate, false)
	}
	if a := s.Answer(); a.Held != 0 || a.Failed == 0 {
		t.Errorf("got %+v", a)
	}
}

// TestFinds: without noise the answer is below the limit by no more than tolerance
// and rounding; with noise the search ends.
func TestFinds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limit := math.Exp(rapid.Float64Range(0, 15).Draw(t, "limit"))
		from := math.Exp(rapid.Float64Range(0, 15).Draw(t, "from"))
		runs := rapid.IntRange(1, 5).Draw(t, "runs")
		noise := rapid.SampledFrom([]float64{0, 0, 0.2}).Draw(t, "noise")
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
		s := New(from, 0.05, runs)
		n := 0
		for rate, more := s.Next(); more; rate, more = s.Next() {
			if n++; n > most*runs {
				t.Fatalf("%d runs", n)
			}
			s.Add(rate, (rate <= limit) != (random.Float64() < noise))
			if r, err := units.ParseRate(Rate(rate)); err != nil || math.Abs(r.PerSecond()/rate-1) > 1e-9 {
				t.Fatalf("rate %v is printed as %s: %v", rate, Rate(rate), err)
			}
		}
		a := s.Answer()
		if noise == 0 && (a.Held > limit || a.Failed <= limit || a.Failed/a.Held > 1.06) {
			t.Fatalf("limit %v: %v, tried %v", limit, a, slices.Sorted(slices.Values(s.order)))
		}
	})
}

// TestAtLeast has values that follow from 0.05 = p^n, and one from the tables of the binomial distribution: P(X >= 9 of 10) is 5 % at p = 0.6058.
func TestAtLeast(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		hits, trials int
		want         float64
	}{{1, 1, 0.05}, {3, 3, math.Cbrt(0.05)}, {5, 5, math.Pow(0.05, 0.2)}, {0, 3, 0}, {9, 10, 0.6058}, {1, 3, 1 - math.Cbrt(0.95)}} {
		if got := atLeast(test.hits, test.trials); math.Abs(got-test.want) > 1e-4 {
			t.Errorf("%d of %d: got %v, want %v", test.hits, test.trials, got, test.want)
		}
	}
}

func TestAnswerSaysItsConfidence(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		answer Answer
		want   string
	}{
		{Answer{Held: 5000, HeldPassed: 3, HeldRuns: 3, Failed: 5250, FailedRuns: 2, Runs: 20, Rate: 8},
			"5k/s held in 3 of 3 runs, 5.25k/s in 0 of 2 (20 runs at 8 rates; with 95 % confidence at least 37 % of runs at 5k/s pass, at most 78 % of those at 5.25k/s)"},
		{Answer{Failed: 10, FailedRuns: 3, Runs: 3, Rate: 1}, "no rate held, 10/s in 0 of 3 (3 runs at 1 rates; with 95 % confidence at most 63 % of runs at 10/s pass)"},
		{Answer{Held: 10, HeldPassed: 2, HeldRuns: 3, Runs: 3, Rate: 1},
			"10/s held in 2 of 3 runs, and no higher one was found to fail (3 runs at 1 rates; with 95 % confidence at least 14 % of runs at 10/s pass)"},
	} {
		if got := test.answer.String(); got != test.want {
			t.Errorf("got %s\nwant %s", got, test.want)
		}
	}
}
