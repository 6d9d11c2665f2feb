package clock

import (
	"math"
	"slices"
)

// line is θ(t) = a + b·(t − t0) with the margin it keeps from all limits, in
// ns around a base; b is a plain ratio.
type line struct {
	a, b, margin float64
	ok           bool // limits of both sides were there
}

type point struct{ x, y float64 }

// fitLine returns the line of slope at most rate (ppb) whose distance from the
// nearest limit above and below is largest, over limits, with t0 and base as
// origin. A negative margin means that no line fits.
//
// margin(b) = min(upper − b·x) − max(lower − b·x) is concave and linear between
// the slopes of the edges of the two hulls, so its maximum is at one of those
// or a plateau between two; of a plateau (one good exchange in mid-window) the
// middle is taken. The maximum is exact, and the same for any order of rows.
func fitLine(limits []limit, t0, base, rate int64) line {
	var up, low []point
	for _, l := range limits {
		p := point{float64(l.at - t0), float64(l.v - base)}
		if l.upper {
			up = append(up, p)
		} else {
			low = append(low, point{p.x, -p.y})
		}
	}
	if len(up) == 0 || len(low) == 0 {
		return line{}
	}
	up, low = hull(up), hull(low)
	most := float64(rate) / ppb
	slopes := []float64{-most, most}
	slopes = appendSlopes(slopes, up, 1, most)
	slopes = appendSlopes(slopes, low, -1, most)
	slices.Sort(slopes)
	margin := func(b float64) float64 { return lowest(up, b) + lowest(low, -b) }
	best := math.Inf(-1)
	for _, b := range slopes {
		best = max(best, margin(b))
	}
	const same = 1e-3 // ns: far below what a clock resolves, far above rounding
	from, to := math.NaN(), math.NaN()
	for _, b := range slopes {
		if margin(b) >= best-same {
			if math.IsNaN(from) {
				from = b
			}
			to = b
		}
	}
	b := (from + to) / 2
	return line{a: (lowest(up, b) - lowest(low, -b)) / 2, b: b, margin: margin(b), ok: true}
}

// appendSlopes adds the slopes of a hull's edges that are within ±most.
func appendSlopes(dst []float64, h []point, sign, most float64) []float64 {
	for i := 1; i < len(h); i++ {
		if s := sign * (h[i].y - h[i-1].y) / (h[i].x - h[i-1].x); math.Abs(s) < most {
			dst = append(dst, s)
		}
	}
	return dst
}

// lowest returns min(y − b·x) over a lower hull.
func lowest(h []point, b float64) float64 {
	least := math.Inf(1)
	for _, p := range h {
		least = min(least, p.y-b*p.x)
	}
	return least
}

// hull returns the lower convex hull of points in order of x (Andrew's
// monotone chain, 1979).
func hull(points []point) []point {
	h := points[:0:0]
	for _, p := range points {
		for len(h) > 0 && h[len(h)-1].x == p.x && h[len(h)-1].y >= p.y {
			h = h[:len(h)-1]
		}
		if len(h) > 0 && h[len(h)-1].x == p.x {
			continue
		}
		for len(h) >= 2 && !left(h[len(h)-2], h[len(h)-1], p) {
			h = h[:len(h)-1]
		}
		h = append(h, p)
	}
	return h
}

// left reports whether a, b, c turn to the left.
func left(a, b, c point) bool {
	return (b.x-a.x)*(c.y-a.y)-(b.y-a.y)*(c.x-a.x) > 0
}
