package chart

import (
	"slices"

	"gonum.org/v1/plot"
	"gonum.org/v1/plot/vg"
	"gonum.org/v1/plot/vg/draw"
)

// thinLabels drops labels of ticks that would lie on one another in a data area
// of that size.
func thinLabels(p *plot.Plot, data draw.Canvas) {
	trX, trY := p.Transforms(&data)
	for _, a := range []struct {
		axis *plot.Axis
		at   func(float64) vg.Length
		size func(string) vg.Length
	}{
		{&p.X, trX, func(s string) vg.Length { return p.X.Tick.Label.Width(s) + vg.Points(6) }},
		{&p.Y, trY, func(string) vg.Length { return lineHeight(p.Y.Tick.Label) + vg.Points(1) }},
	} {
		ticks, ok := a.axis.Tick.Marker.(ticker)
		if !ok {
			continue
		}
		_, log := a.axis.Scale.(plot.LogScale)
		a.axis.Tick.Marker = ticks.thinned(log, a.at, a.size)
	}
}

// labelled is a label on an axis.
type labelled struct {
	i        int // of its tick
	from, to vg.Length
}

// thinned returns the ticks with fewer labels. On a linear axis labels stay at
// equal steps; on a logarithmic one powers of ten go before others.
func (t ticker) thinned(log bool, at func(float64) vg.Length, size func(string) vg.Length) ticker {
	var all []labelled
	for i, m := range t {
		if m.Label != "" {
			half := size(m.Label) / 2
			all = append(all, labelled{i, at(m.Value) - half, at(m.Value) + half})
		}
	}
	var kept []labelled
	if log {
		kept = greedy(all, func(l labelled) bool { return isDecade(t[l.i].Value) })
	} else {
		for step := 1; ; step++ {
			kept = everyNth(all, step)
			if len(kept) < 2 || !overlapping(kept) {
				break
			}
		}
	}
	out := slices.Clone(t)
	for _, l := range all {
		if !slices.ContainsFunc(kept, func(k labelled) bool { return k.i == l.i }) {
			out[l.i].Label = ""
		}
	}
	return out
}

// greedy keeps labels that have room, the preferred ones first.
func greedy(all []labelled, preferred func(labelled) bool) (kept []labelled) {
	for _, first := range []bool{true, false} {
		for _, l := range all {
			if preferred(l) == first && !slices.ContainsFunc(kept, func(k labelled) bool { return l.from < k.to && k.from < l.to }) {
				kept = append(kept, l)
			}
		}
	}
	return kept
}

func everyNth(all []labelled, n int) (out []labelled) {
	for i := 0; i < len(all); i += n {
		out = append(out, all[i])
	}
	return out
}

func overlapping(l []labelled) bool {
	for i := 1; i < len(l); i++ {
		if l[i].from < l[i-1].to {
			return true
		}
	}
	return false
}
