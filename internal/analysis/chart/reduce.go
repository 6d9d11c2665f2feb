package chart

import (
	"math"
	"slices"

	"gonum.org/v1/plot/vg"
)

// xy is a point in the coordinates of the axes.
type xy struct{ x, y float64 }

// omitted counts what cannot be drawn, by reason.
type omitted struct {
	infinite    int // infinite values, and undefined positions
	notPositive int // zero and below on a logarithmic axis
}

func (o *omitted) add(p omitted) {
	o.infinite += p.infinite
	o.notPositive += p.notPositive
}

// segments splits points over time into unbroken lines, in order of time. A
// value that is NaN breaks the line; values that cannot be drawn break it too
// and are counted.
func segments(points []Point, logY bool) ([][]xy, omitted) {
	var out [][]xy
	var left omitted
	var current []xy
	broken := func() {
		if len(current) > 0 {
			out = append(out, current)
			current = nil
		}
	}
	for _, p := range points {
		switch {
		case math.IsNaN(p.Value):
			broken()
		case math.IsInf(p.Value, 0) || math.IsNaN(p.Seconds) || math.IsInf(p.Seconds, 0):
			left.infinite++
			broken()
		case logY && p.Value <= 0:
			left.notPositive++
			broken()
		default:
			current = append(current, xy{p.Seconds, p.Value})
		}
	}
	broken()
	for _, s := range out {
		slices.SortStableFunc(s, func(a, b xy) int {
			switch {
			case a.x < b.x:
				return -1
			case a.x > b.x:
				return 1
			}
			return 0
		})
	}
	return out, left
}

// curveLine returns a percentile curve on the axis of 1/(1−p), ascending.
func curveLine(points []CurvePoint) ([]xy, omitted) {
	var line []xy
	var left omitted
	for _, p := range points {
		x := 1 / p.Tail
		switch {
		case math.IsNaN(p.Value) || math.IsInf(p.Value, 0) || !(p.Tail > 0 && p.Tail <= 1) || math.IsInf(x, 0):
			left.infinite++
		case p.Value <= 0:
			left.notPositive++
		default:
			line = append(line, xy{x, p.Value})
		}
	}
	slices.SortStableFunc(line, func(a, b xy) int {
		switch {
		case a.x < b.x:
			return -1
		case a.x > b.x:
			return 1
		}
		return 0
	})
	return line, left
}

// perColumn keeps of the points in each column of a width their first, lowest,
// highest and last, in order: the line looks the same as with all of them, and
// a spike of one point among a million stays. Points are in order of X.
//
// This is the M4 aggregation of Jugel et al. (VLDB 2014).
func perColumn(points []vg.Point, width vg.Length) []vg.Point {
	if width <= 0 || len(points) <= 4 {
		return points
	}
	column := func(p vg.Point) float64 { return math.Floor(float64(p.X / width)) }
	var kept []vg.Point
	for from := 0; from < len(points); {
		lo, hi, to := from, from, from+1
		for ; to < len(points) && column(points[to]) == column(points[from]); to++ {
			if points[to].Y < points[lo].Y {
				lo = to
			}
			if points[to].Y > points[hi].Y {
				hi = to
			}
		}
		keep := []int{from, min(lo, hi), max(lo, hi), to - 1}
		for i, k := range slices.Compact(keep) {
			if i == 0 || k != keep[0] {
				kept = append(kept, points[k])
			}
		}
		from = to
	}
	return kept
}
