package schedule_test

import (
	"math"
	"slices"
	"sync"
	"testing"

	"pgregory.net/rapid"

	"amqpperf/internal/load/schedule"
)

func poisson(t interface{ Fatal(...any) }, s *schedule.Shape, r schedule.Random) *schedule.Poisson {
	p, err := schedule.NewPoisson(s, r)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// andersonDarling returns A*² = A²(1+0.6/n) of the gaps against the exponential
// distribution with their own mean (D'Agostino and Stephens 1986, table 4.14).
func andersonDarling(gaps []float64) float64 {
	x := slices.Clone(gaps)
	slices.Sort(x)
	mean := 0.0
	for _, g := range x {
		mean += g / float64(len(x))
	}
	n, sum := float64(len(x)), 0.0
	for i, g := range x {
		// ln F(x_i) and ln(1 − F(x_{n−1−i})).
		sum += (2*float64(i) + 1) * (math.Log(-math.Expm1(-g/mean)) - x[len(x)-1-i]/mean)
	}
	return (-n - sum/n) * (1 + 0.6/n)
}

// The statistic itself: gaps of equal length and of another distribution are rejected.
func TestAndersonDarlingRejects(t *testing.T) {
	t.Parallel()
	gaps := make([]float64, 1000)
	for i := range gaps {
		gaps[i] = math.Sqrt(float64(i) + 0.5)
	}
	if got := andersonDarling(gaps); got < 10 {
		t.Errorf("A*² = %v", got)
	}
	for i := range gaps { // the quantiles of the exponential distribution: as good as it gets
		gaps[i] = -math.Log(1 - (float64(i)+0.5)/1000)
	}
	if got := andersonDarling(gaps); got > 0.1 {
		t.Errorf("A*² = %v", got)
	}
}

// dispersion returns Var/Mean of the numbers in windows of w ns.
func dispersion(s schedule.Schedule, w int64, windows int) float64 {
	sum, squares, done := 0.0, 0.0, int64(0)
	for k := range windows {
		due := schedule.Due(s, done, int64(k+1)*w-1)
		n := float64(due - done)
		done = due
		sum, squares = sum+n, squares+n*n
	}
	m := float64(windows)
	return (squares - sum*sum/m) / (m - 1) / (sum / m)
}

// K19: the gaps are exponential, the numbers dispersed like Poisson's.
func TestPoissonConforms(t *testing.T) {
	t.Parallel()
	good, idc := 0, 0.0
	const seeds = 200
	for seed := range uint64(seeds) {
		p := poisson(t, shape(t, schedule.Forever, step(1000, 1, sec)), schedule.Random{Seed: seed})
		gaps, last := make([]float64, 4096), int64(0)
		for i := range gaps {
			at := p.At(int64(i))
			gaps[i], last = float64(at-last), at
		}
		if andersonDarling(gaps) < 1.957 {
			good++
		}
		idc += dispersion(p, 100*ms, 200) / seeds
	}
	if good < 195 {
		t.Errorf("A*² is below the 1 %% point for %d of %d seeds", good, seeds)
	}
	if math.Abs(idc-1) > 0.02 { // 200 × 200 windows: the mean is known to 0.7 %
		t.Errorf("index of dispersion %v", idc)
	}
}

// The first arrivals of a seed, for ever: logs name the seed only.
func TestPoissonIsPinned(t *testing.T) {
	t.Parallel()
	p := poisson(t, shape(t, schedule.Forever, step(1000, 1, sec)), schedule.Random{Seed: 1})
	got := offsets(p, 4)
	want := []int64{416_490, 569_493, 3_133_265, 4_303_089}
	if !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

// The same seed at twice the rate is the same schedule in half the time.
func TestPoissonScales(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		slow := poisson(t, shape(t, schedule.Forever, step(500, 1, sec)), schedule.Random{Seed: seed})
		fast := poisson(t, shape(t, schedule.Forever, step(1000, 1, sec)), schedule.Random{Seed: seed})
		for i := range int64(100) {
			if got := fast.At(i); got != slow.At(i)/2 {
				t.Fatalf("message %d at %d, and at %d at half the rate", i, got, slow.At(i))
			}
		}
	})
}

// With a shape nothing arrives in pauses, and as much as its rate says elsewhere.
func TestPoissonOfShape(t *testing.T) {
	t.Parallel()
	s := shape(t, 20, step(10_000, 1, sec), step(0, 1, sec), ramp(0, 10_000, 1, 2*sec))
	p := poisson(t, s, schedule.Random{Seed: 3})
	mean := float64(s.N())
	if d := math.Abs(float64(p.N()) - mean); d > 5*math.Sqrt(mean) {
		t.Errorf("%d messages, expected %.0f", p.N(), mean)
	}
	for i := range p.N() {
		if at := p.At(i) % (4 * sec); at >= sec && at < 2*sec {
			t.Fatalf("message %d at %d ns of its cycle", i, at)
		}
	}
}

// Random access, reading on, and several readers see the same.
func TestSequenceAccess(t *testing.T) {
	t.Parallel()
	s := shape(t, schedule.Forever, step(1_000_000, 1, sec))
	want := offsets(poisson(t, s, schedule.Random{Seed: 9}), 600_000)
	if !slices.IsSorted(want) {
		t.Fatal("offsets decrease")
	}
	p := poisson(t, s, schedule.Random{Seed: 9})
	var wg sync.WaitGroup
	for k := range int64(4) {
		wg.Go(func() {
			for j := range int64(500) {
				i := (j*7919*(k+1) + k) % int64(len(want))
				if got := p.At(i); got != want[i] {
					t.Errorf("message %d at %d, want %d", i, got, want[i])
					return
				}
			}
		})
	}
	wg.Wait()
}

// Five shares are exactly the whole, whatever limits it, and each is random.
func TestRandomSharesPartition(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		r := schedule.Random{Seed: rapid.Uint64().Draw(t, "seed")}
		if rapid.Bool().Draw(t, "count") {
			r.N = rapid.Int64Range(1, 5000).Draw(t, "n")
		}
		if r.N == 0 || rapid.Bool().Draw(t, "time") {
			r.Within = rapid.Int64Range(1, 5*sec).Draw(t, "within")
		}
		build := func(part schedule.Part) schedule.Schedule {
			r := r
			r.Part = part
			return poisson(t, shape(t, schedule.Forever, step(1000, 1, sec)), r)
		}
		if rapid.Bool().Draw(t, "bursts") {
			build = func(part schedule.Part) schedule.Schedule {
				r := r
				r.Part = part
				m, err := schedule.NewMMPP2(burst(), r)
				if err != nil {
					t.Fatal(err)
				}
				return m
			}
		}
		whole := build(schedule.Part{})
		of := rapid.Int64Range(1, 7).Draw(t, "of")
		var union []int64
		for k := range of {
			s := build(schedule.Part{K: k + 1, Of: of})
			union = append(union, offsets(s, s.N())...)
			if got := s.At(s.N()); got != math.MaxInt64 {
				t.Fatalf("after the end at %d", got)
			}
		}
		slices.Sort(union)
		want := offsets(whole, whole.N())
		if !slices.Equal(union, want) {
			t.Fatalf("%d messages of the shares are not the %d of the whole", len(union), len(want))
		}
		if r.Within > 0 && len(want) > 0 && want[len(want)-1] >= r.Within {
			t.Fatalf("message at %d, not within %d", want[len(want)-1], r.Within)
		}
		if r.N > 0 && whole.N() > r.N {
			t.Fatalf("%d messages, at most %d", whole.N(), r.N)
		}
	})
}

// A fifth of a Poisson process is one of a fifth of the rate.
func TestThinnedIsPoisson(t *testing.T) {
	t.Parallel()
	good := 0
	for seed := range uint64(50) {
		p := poisson(t, shape(t, schedule.Forever, step(5000, 1, sec)), schedule.Random{Seed: seed, Part: schedule.Part{K: 2, Of: 5}})
		gaps, last := make([]float64, 4096), int64(0)
		for i := range gaps {
			at := p.At(int64(i))
			gaps[i], last = float64(at-last), at
		}
		if andersonDarling(gaps) < 1.957 {
			good++
		}
		if rate := 4096 / (float64(last) / 1e9); math.Abs(rate-1000) > 80 {
			t.Errorf("seed %d: %v/s", seed, rate)
		}
	}
	if good < 47 {
		t.Errorf("A*² is below the 1 %% point for %d of 50 seeds", good)
	}
}

func burst() schedule.Burst {
	r := func(num, den int64) schedule.Ratio { return schedule.Ratio{Num: num, Den: den} }
	return schedule.Burst{Rate1: r(10, 1), Rate2: r(1, 1), Leave1: r(1, 2), Leave2: r(1, 5)}
}

// K20: λ = 10 and 1, r = 0.5 and 0.2.
func TestBursts(t *testing.T) {
	t.Parallel()
	b := burst()
	if m, d := b.Mean(), b.Dispersion(); math.Abs(m-3.571) > 1e-3 || math.Abs(d-14.22) > 5e-3 {
		t.Errorf("mean %v, dispersion %v", m, d)
	}
	const length = 500_000
	m, err := schedule.NewMMPP2(b, schedule.Random{Seed: 5, Within: length * sec})
	if err != nil {
		t.Fatal(err)
	}
	if rate := float64(m.N()) / length; math.Abs(rate/3.571-1) > 0.01 {
		t.Errorf("%v/s", rate)
	}
	if got := dispersion(m, 200*sec, length/200); math.Abs(got/14.22-1) > 0.1 {
		t.Errorf("index of dispersion %v", got)
	}
}

func TestRandomRefused(t *testing.T) {
	t.Parallel()
	s := shape(t, schedule.Forever, step(1_000_000_000, 1, sec))
	for name, r := range map[string]schedule.Random{
		"negative":      {N: -1},
		"too many":      {Within: 3600 * sec},
		"too many of 5": {N: 1 << 40, Part: schedule.Part{K: 1, Of: 5}},
		"share":         {Part: schedule.Part{K: 6, Of: 5}},
		"share 0":       {Part: schedule.Part{K: 0, Of: 5}},
	} {
		if _, err := schedule.NewPoisson(s, r); err == nil {
			t.Errorf("%s: Poisson accepted", name)
		}
		b := burst()
		b.Rate1, b.Rate2 = schedule.Ratio{Num: 1e9, Den: 1}, schedule.Ratio{Num: 1e9, Den: 1}
		if _, err := schedule.NewMMPP2(b, r); err == nil {
			t.Errorf("%s: bursts accepted", name)
		}
	}
	b := burst()
	b.Leave2.Num = 0
	if _, err := schedule.NewMMPP2(b, schedule.Random{}); err == nil {
		t.Error("a phase without an end was accepted")
	}
	b = burst()
	b.Rate1.Num, b.Rate2.Num = 0, 0
	if _, err := schedule.NewMMPP2(b, schedule.Random{}); err == nil {
		t.Error("bursts of nothing were accepted")
	}
}

func BenchmarkPoissonAt(b *testing.B) {
	p := poisson(b, shape(b, schedule.Forever, step(300_000, 1, sec)), schedule.Random{Seed: 1})
	for i := int64(0); b.Loop(); i++ {
		p.At(i)
	}
}

func BenchmarkPoissonCount(b *testing.B) {
	s := shape(b, schedule.Forever, step(1_000_000, 1, sec))
	for b.Loop() {
		poisson(b, s, schedule.Random{Seed: 1, Within: sec})
	}
}
