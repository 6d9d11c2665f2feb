package stats

import (
	"reflect"
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
	ps := MustPercentiles("0,50,50.1,90,99,99.9,100")
	rapid.Check(t, func(t *rapid.T) {
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
		for i := range to {
			inBin[i] = uint32(rapid.IntRange(0, bins-1).Draw(t, "bin"))
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
