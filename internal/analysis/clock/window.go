package clock

import "math"

// estimate gives every knot its estimate. Windows of ten seconds lie side by
// side; each has its line, or several where none fits. Lines are least certain
// at the ends of a window, so a second row of windows, moved by half a length,
// is blended in, each line weighing most in the middle of its window.
func (f *fit) estimate(limits []limit, parts []part) {
	for i := range f.knots {
		f.knots[i].est = middle(f.knots[i])
	}
	begin := limits[0].at
	for i := 0; i < len(limits); {
		start := begin + (limits[i].at-begin)/windowLength*windowLength
		end := windowEnd(limits, i, start)
		l, w := f.window(limits[i:end], start)
		f.windows = append(f.windows, w)
		if l.ok && l.margin >= 0 {
			f.draw(limits[i:end], l, start, limits[i].v)
		} else {
			f.bisect(limits, parts, i, end)
		}
		i = end
	}
	for k := range f.knots {
		f.knots[k].narrow()
	}
	f.blend(limits)
}

// windowEnd returns where the window that starts at limits[i] ends: after ten
// seconds, or with the last limit if less than half a window would remain.
func windowEnd(limits []limit, i int, start int64) int {
	if span(limits[len(limits)-1].at, start) < windowLength+windowLength/2 {
		return len(limits)
	}
	for i < len(limits) && limits[i].at-start < windowLength {
		i++
	}
	return i
}

func (f *fit) window(limits []limit, start int64) (line, Window) {
	last := limits[len(limits)-1].at
	base := limits[0].v
	l := fitLine(limits, start, base, f.rho.largest(start, last))
	return l, Window{
		Start: start, End: max(start+windowLength, last+1), Limits: len(limits),
		Offset: clamp(base + int64(l.a)), Slope: l.b, Margin: l.margin,
	}
}

// blend mixes in the lines of the windows that lie between two others.
func (f *fit) blend(limits []limit) {
	const half = windowLength / 2
	last := limits[len(limits)-1].at
	i := 0
	for w := 0; w+1 < len(f.windows); w++ {
		start := f.windows[w].Start + half
		if f.windows[w+1].Start != f.windows[w].Start+windowLength || last-start < windowLength {
			continue
		}
		for i < len(limits) && limits[i].at < start {
			i++
		}
		end := i
		for end < len(limits) && limits[end].at-start < windowLength {
			end++
		}
		if i == end {
			continue
		}
		l, _ := f.window(limits[i:end], start)
		if !l.ok || l.margin < 0 {
			continue
		}
		for k := f.firstFrom(limits[i].at); k < len(f.knots) && f.knots[k].t <= limits[end-1].at; k++ {
			n := &f.knots[k]
			x := float64(n.t - start)
			weight := 1 - math.Abs(x-half)/half
			est := clamp(limits[i].v + int64(l.a+l.b*x))
			n.est += int64(weight * float64(clamp(est-n.est)))
			n.narrow()
		}
	}
}

// narrow moves the estimate into the envelope.
func (k *knot) narrow() { k.est = max(min(k.est, k.up), min(k.low, k.up)) }

// bisect draws lines in limits[from:to), which no single one fits: first cut at
// the steps, then in halves until a line fits.
func (f *fit) bisect(limits []limit, parts []part, from, to int) {
	for _, p := range parts {
		first, last := max(p.first, from), min(p.last+1, to)
		if first < last {
			f.halve(limits[first:last])
		}
	}
}

func (f *fit) halve(limits []limit) {
	t0, base := limits[0].at, limits[0].v
	l := fitLine(limits, t0, base, f.rho.largest(t0, limits[len(limits)-1].at))
	switch {
	case l.ok && l.margin >= -readCost:
		f.draw(limits, l, t0, base)
	case l.ok && len(limits) >= 2*leastBisect:
		f.halve(limits[:len(limits)/2])
		f.halve(limits[len(limits)/2:])
	}
}

// draw sets the estimate of the knots from the first of limits to the last.
func (f *fit) draw(limits []limit, l line, t0, base int64) {
	for i := f.firstFrom(limits[0].at); i < len(f.knots) && f.knots[i].t <= limits[len(limits)-1].at; i++ {
		k := &f.knots[i]
		k.est = clamp(base + int64(l.a+l.b*float64(k.t-t0)))
	}
}

// firstFrom returns the first knot at or after t.
func (f *fit) firstFrom(t int64) int {
	lo, hi := 0, len(f.knots)
	for lo < hi {
		if m := (lo + hi) / 2; f.knots[m].t < t {
			lo = m + 1
		} else {
			hi = m
		}
	}
	return lo
}

// middle returns the middle of the envelope, or the one side that is known.
func middle(k knot) int64 {
	switch {
	case k.upOK && k.lowOK:
		return midpoint(k.up, k.low)
	case k.upOK:
		return k.up
	default:
		return k.low
	}
}
