package stats

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// value draws int64s of every size and sign, with many ties.
var value = rapid.OneOf(
	rapid.Int64(),
	rapid.Int64Range(-3000, 3000),
	rapid.Int64Range(1_000_000, 1_010_000),
	rapid.SampledFrom([]int64{0, -1, 1, 1023, 1024, 2047, 2048, math.MinInt64, math.MaxInt64}),
)

func rowsOf(t *rapid.T) []Row {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Row {
		if rapid.IntRange(0, 19).Draw(t, "infinite") == 0 {
			return Row{Infinite: true}
		}
		return Row{Value: value.Draw(t, "v")}
	}), 0, 300).Draw(t, "rows")
}

func finiteOf(rows []Row) []int64 {
	var vs []int64
	for _, r := range rows {
		if !r.Infinite {
			vs = append(vs, r.Value)
		}
	}
	slices.Sort(vs)
	return vs
}

// The two passes give what sorting gives.
func TestQuantilesAgainstSort(t *testing.T) {
	t.Parallel()
	ps := MustPercentiles("99.9,0,25,50,90,99,100")
	rapid.Check(t, func(t *rapid.T) {
		rows := rowsOf(t)
		finite := finiteOf(rows)
		for i, q := range Quantiles(rows, ps) {
			rank := ps[i].Rank(int64(len(rows)))
			if q.Rank != rank || q.N != int64(len(rows)) {
				t.Fatalf("p%s: rank %d of %d", ps[i], q.Rank, q.N)
			}
			var want int64
			if rank > int64(len(finite)) {
				want, _ = ps[i].ofSorted(finite)
				if q.Status != Infinite && len(rows) > 0 {
					t.Fatalf("p%s: rank %d of %d finite is %s", ps[i], rank, len(finite), q.Status)
				}
			} else if rank > 0 {
				want = finite[rank-1]
				if q.Status == Infinite {
					t.Fatalf("p%s: rank %d of %d finite is infinite", ps[i], rank, len(finite))
				}
			}
			if q.Observed != want {
				t.Fatalf("p%s = %d, want %d", ps[i], q.Observed, want)
			}
			var above int64
			for _, r := range rows {
				if r.Infinite || r.Value > want {
					above++
				}
			}
			if q.Exceed != above && len(rows) > 0 {
				t.Fatalf("p%s: %d exceed, want %d", ps[i], q.Exceed, above)
			}
		}
	})
}

// The order of rows changes no digit, in either pass.
func TestOrderDoesNotMatter(t *testing.T) {
	t.Parallel()
	ps := DefaultPercentiles()
	const bins = 40
	rapid.Check(t, func(t *rapid.T) {
		rows := rowsOf(t)
		binOf := make([]int, len(rows))
		for i := range binOf {
			binOf[i] = i * bins / len(rows)
		}
		run := func(perm []int) ([]Quantile, [3]float64) {
			d := NewDistribution()
			for _, i := range perm {
				if rows[i].Infinite {
					d.AddInfinite(1)
				} else {
					d.Add(rows[i].Value)
				}
			}
			s := d.NewSelector(ps, bins)
			for _, i := range perm {
				if rows[i].Infinite {
					s.AddInfinite(binOf[i])
				} else {
					s.Add(binOf[i], rows[i].Value)
				}
			}
			qs, err := s.Quantiles()
			if err != nil {
				t.Fatal(err)
			}
			return qs, [3]float64{float64(d.Min()), d.Mean(), d.StdDev()}
		}
		perm := make([]int, len(rows))
		for i := range perm {
			perm[i] = i
		}
		want, wantMoments := run(perm)
		shuffled := rapid.Permutation(perm).Draw(t, "order")
		got, gotMoments := run(shuffled)
		opts := []cmp.Option{cmp.AllowUnexported(Percentile{})}
		if d := cmp.Diff(want, got, opts...); d != "" {
			t.Fatal(d)
		}
		for i := range wantMoments {
			if wantMoments[i] != gotMoments[i] && !math.IsNaN(wantMoments[i]) {
				t.Fatalf("moment %d: %v and %v", i, wantMoments[i], gotMoments[i])
			}
		}
	})
}

// Buckets partition int64: each value is in exactly the bucket that AtRank gives.
func TestHistogramBuckets(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		h := NewHistogram(rapid.IntRange(1, 12).Draw(t, "bits"))
		vs := rapid.SliceOfN(value, 1, 60).Draw(t, "values")
		for _, v := range vs {
			h.Add(v)
		}
		slices.Sort(vs)
		for i, v := range vs {
			b, ok := h.AtRank(int64(i + 1))
			if !ok || v < b.Low || v > b.High {
				t.Fatalf("rank %d: %d is not in %+v", i+1, v, b)
			}
		}
		last := Bucket{Low: math.MinInt64, High: math.MinInt64}
		for b := range h.Buckets {
			if b.Low <= last.High && last.Count > 0 {
				t.Fatalf("%+v after %+v", b, last)
			}
			if width := float64(b.High) - float64(b.Low); width > math.Max(math.Abs(float64(b.High)), math.Abs(float64(b.Low)))/float64(int(1)<<h.precision) {
				t.Fatalf("%+v is too wide", b)
			}
			last = b
		}
	})
}

// What is kept does not grow with rows of one value, and little with those of a
// few: rows in the fine bucket of a rank only.
func TestTiesDoNotTakeMemory(t *testing.T) {
	t.Parallel()
	const n, bins, base = 100_000, 64, 1_000_000
	for _, spread := range []int64{1, 1000, 20_000} {
		d := NewDistribution()
		for i := range int64(n) {
			d.Add(base + i%spread)
		}
		s := d.NewSelector(DefaultPercentiles(), bins)
		for i := range int64(n) {
			s.Add(int(i)%bins, base+i%spread)
		}
		kept := 0
		for _, p := range s.spots {
			kept += 8*cap(p.rows) + 4*cap(p.counts)
		}
		if spread == 1 && kept > 0 || kept > 4*32*bins*len(s.spots) {
			t.Errorf("%d bytes kept of %d rows with %d values", kept, n, spread)
		}
		qs, err := s.Quantiles()
		if err != nil {
			t.Fatal(err)
		}
		for _, q := range qs {
			rank := q.Percentile.Rank(n)
			want := base + (rank-1)/(n/spread)
			if exceed := n - (want-base+1)*(n/spread); q.Observed != want || q.Exceed != exceed {
				t.Errorf("%d values: p%s: %+v, want %d, %d above", spread, q.Percentile, q, want, exceed)
			}
		}
	}
}

// The widest buckets that there are leave room for a row's bin.
func TestSelectorAtTheEnds(t *testing.T) {
	t.Parallel()
	var rows []Row
	for i := range int64(MaxSelectorBins) {
		rows = append(rows, Row{Value: math.MaxInt64 - i}, Row{Value: math.MinInt64 + i}, Row{Value: math.MaxInt64 - i<<40})
	}
	vs := finiteOf(rows)
	for _, q := range Quantiles(rows, MustPercentiles("1,33,34,70,99,99.99,100")) {
		want := vs[q.Rank-1]
		at, _ := slices.BinarySearch(vs, want+1)
		if want == math.MaxInt64 {
			at = len(vs)
		}
		if q.Observed != want || q.Exceed != int64(len(vs)-at) {
			t.Errorf("p%s: %d, want %d; %d above, want %d", q.Percentile, q.Observed, want, q.Exceed, len(vs)-at)
		}
	}
}

func TestPassesMustAgree(t *testing.T) {
	t.Parallel()
	d := NewDistribution()
	for v := range int64(3) {
		d.Add(v + 1)
	}
	s := d.NewSelector(DefaultPercentiles(), 1)
	s.Add(0, 1)
	if _, err := s.Quantiles(); err == nil {
		t.Error("a second pass over fewer rows is accepted")
	}
	s.Add(0, 2)
	s.Add(0, 3_000_000) // in no bucket of the first pass
	if _, err := s.Quantiles(); err == nil {
		t.Error("a second pass over other rows is accepted")
	}
}

func TestMoments(t *testing.T) {
	t.Parallel()
	var m Moments
	if !math.IsNaN(m.Mean()) || !math.IsNaN(m.StdDev()) {
		t.Error("mean of nothing is a number")
	}
	for _, v := range []int64{2, 4, 4, 4, 5, 5, 7, 9} {
		m.Add(v)
	}
	if m.Mean() != 5 || math.Abs(m.StdDev()-math.Sqrt(32.0/7)) > 1e-15 {
		t.Errorf("mean %v sd %v", m.Mean(), m.StdDev())
	}
	// Sums beyond 64 bits and cancellation that floats do not survive.
	var big Moments
	for range 1000 {
		big.Add(math.MaxInt64)
		big.Add(math.MaxInt64 - 2)
	}
	if got, want := big.StdDev(), math.Sqrt(2000.0/1999); math.Abs(got-want) > 1e-12 {
		t.Errorf("sd of two neighbours at the top of int64: %v, want %v", got, want)
	}
	if big.Mean() != float64(math.MaxInt64) {
		t.Errorf("mean %v", big.Mean())
	}
	var low Moments
	low.Add(math.MinInt64)
	low.Add(math.MinInt64)
	if low.Mean() != math.MinInt64 || low.StdDev() != 0 {
		t.Errorf("mean %v sd %v at the bottom of int64", low.Mean(), low.StdDev())
	}
}

func TestCurve(t *testing.T) {
	t.Parallel()
	d := NewDistribution()
	rng := rand.New(rand.NewPCG(1, 2))
	vs := make([]int64, 10_000)
	for i := range vs {
		vs[i] = int64(rng.ExpFloat64() * 1e6)
		d.Add(vs[i])
	}
	slices.Sort(vs)
	points := d.Curve(10)
	last := points[len(points)-1]
	if last.Tail != 0.5/10_000 || last.Value != vs[len(vs)-1] {
		t.Errorf("last point %+v, max %d", last, vs[len(vs)-1])
	}
	for _, p := range points[:len(points)-1] {
		exact := vs[len(vs)-1-int(math.Round(p.Tail*10_000))]
		if p.Value < exact || float64(p.Value) > float64(exact)*(1+1.0/1024)+1 {
			t.Errorf("tail %g: %d, exact %d", p.Tail, p.Value, exact)
		}
	}
	d.AddInfinite(1000)
	points = d.Curve(10)
	if last := points[len(points)-1]; last.Tail < 1000.0/11_000 {
		t.Errorf("the curve goes on to 1-p = %g, 9 %% are infinite", last.Tail)
	}
	if NewDistribution().Curve(10) != nil {
		t.Error("a curve of nothing")
	}
}

func BenchmarkPass1(b *testing.B) {
	vs := exponential(1 << 16)
	zeros := make([]int64, len(vs))
	for b.Loop() {
		NewDistribution().AddDifferences(vs, zeros)
	}
	b.ReportMetric(float64(b.N)*float64(len(vs))/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkPass2(b *testing.B) {
	vs := exponential(1 << 20)
	d := NewDistribution()
	bins := make([]uint32, len(vs))
	for i, v := range vs {
		d.Add(v)
		bins[i] = uint32(i * MaxSelectorBins / len(vs))
	}
	zeros := make([]int64, len(vs))
	for b.Loop() {
		d.NewSelector(DefaultPercentiles(), MaxSelectorBins).AddColumns(bins, vs, zeros)
	}
	b.ReportMetric(float64(b.N)*float64(len(vs))/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func exponential(n int) []int64 {
	rng := rand.New(rand.NewPCG(3, 4))
	vs := make([]int64, n)
	for i := range vs {
		vs[i] = 200_000 + int64(rng.ExpFloat64()*1e6)
	}
	return vs
}
