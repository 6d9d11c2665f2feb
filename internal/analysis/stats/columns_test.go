package stats

import (
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"
)

// anyColumns draws instants whose differences are of all sizes.
func anyColumns(t *rapid.T) (to, from []int64) {
	n := rapid.IntRange(0, 200).Draw(t, "n")
	for range n {
		f := rapid.Int64().Draw(t, "from")
		v := rapid.OneOf(rapid.Int64Range(-3, 3000), rapid.Int64Range(0, 1<<40), rapid.Int64()).Draw(t, "difference")
		to, from = append(to, f+v), append(from, f)
	}
	return to, from
}

// Columns and single values give the same distribution and the same second pass.
func TestColumnsAreValues(t *testing.T) {
	t.Parallel()
	lists := []string{"50", "0,50,99.9,100", "0,50,50.1,90,99,99.9,100"} // packed, packed, and too many for it
	rapid.Check(t, func(t *rapid.T) {
		ps := MustPercentiles(rapid.SampledFrom(lists).Draw(t, "percentiles"))
		to, from := anyColumns(t)
		a, b := NewDistribution(), NewDistribution()
		for i := range to {
			a.Add(to[i] - from[i])
		}
		cut := rapid.IntRange(0, len(to)).Draw(t, "cut")
		b.AddDifferences(to[:cut], from[:cut])
		b.AddDifferences(to[cut:], from[cut:])
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("%+v\n%+v", a.Moments, b.Moments)
		}
		negative := int64(0)
		for i := range to {
			if to[i]-from[i] < 0 {
				negative++
			}
		}
		if got := a.Histogram().Negative(); got != negative {
			t.Fatalf("%d of %d negative", got, negative)
		}
		if len(to) == 0 {
			return
		}
		const bins = 7
		x, y := a.NewSelector(ps, bins), b.NewSelector(ps, bins)
		inBin := make([]uint32, len(to))
		run := rapid.SampledFrom([]int{1, 30, 300}).Draw(t, "run")
		for i := range to {
			if i%run == 0 {
				inBin[i] = uint32(rapid.IntRange(0, bins-1).Draw(t, "bin"))
			} else {
				inBin[i] = inBin[i-1]
			}
			x.Add(int(inBin[i]), to[i]-from[i])
		}
		y.AddColumns(inBin[:cut], to[:cut], from[:cut])
		y.AddColumns(inBin[cut:], to[cut:], from[cut:])
		qx, err1 := x.Quantiles()
		qy, err2 := y.Quantiles()
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if d := cmp.Diff(qx, qy, cmp.AllowUnexported(Percentile{}), cmpopts.EquateNaNs()); d != "" {
			t.Fatal(d)
		}
	})
}

func TestMomentsOfEqualValues(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v, n := rapid.Int64().Draw(t, "value"), rapid.Int64Range(0, 40).Draw(t, "times")
		var a, b Moments
		a.Add(5)
		b.Add(5)
		for range n {
			a.Add(v)
		}
		b.AddN(v, n)
		if a != b {
			t.Fatalf("%d times %d: %+v, %+v", n, v, a, b)
		}
	})
}

// More rows of one bin than are counted at once, in a histogram and a register.
func TestManyColumns(t *testing.T) {
	t.Parallel()
	ps := MustPercentiles("50,90,99,99.9,99.99")
	rng := rand.New(rand.NewPCG(3, 4))
	to, from, sorted := make([]int64, 20_000), make([]int64, 20_000), make([]int64, 20_000)
	for i := range to {
		from[i] = rng.Int64N(1 << 60)
		sorted[i] = 200_000 + int64(rng.ExpFloat64()*3e6)
		to[i] = from[i] + sorted[i]
	}
	slices.Sort(sorted)
	d := NewDistribution()
	d.AddDifferences(to, from)
	s := d.NewSelector(ps, 2)
	s.AddColumns(make([]uint32, len(to)), to, from)
	qs, err := s.Quantiles()
	if err != nil {
		t.Fatal(err)
	}
	for i, q := range qs {
		rank := ps[i].Rank(int64(len(to)))
		if q.Observed != sorted[rank-1] || q.Exceed != int64(len(to))-rank {
			t.Errorf("%v: %d, %d above, want %d, %d", ps[i], q.Observed, q.Exceed, sorted[rank-1], int64(len(to))-rank)
		}
	}
	s = d.NewSelector(ps, 1)
	s.AddColumns(make([]uint32, len(to)-1), to[1:], from[1:])
	if _, err := s.Quantiles(); err == nil {
		t.Error("a row less is not noticed")
	}
}

func TestHistogramBeyond32Bits(t *testing.T) {
	t.Parallel()
	h := NewHistogram(DefaultPrecision)
	to, from := []int64{7, 5_000_000, 7}, []int64{0, 0, 10}
	h.AddN(7, 1<<33)
	h.AddDifferences(to, from)
	h.AddN(-3, 1<<32-2)
	h.AddDifferences(to, from)
	h.AddN(-9, 1)
	want := []Bucket{{-9, -9, 1, 0}, {-3, -3, 1 << 32, 1}, {7, 7, 1<<33 + 2, 1<<32 + 1}, {4997120, 5001215, 2, 3<<32 + 3}}
	if got := slices.Collect(h.Buckets); !slices.Equal(got, want) || h.N() != 3<<32+5 || h.Negative() != 1<<32+1 {
		t.Errorf("%+v, %d values, %d negative", got, h.N(), h.Negative())
	}
}
