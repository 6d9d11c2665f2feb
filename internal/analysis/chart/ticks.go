package chart

import (
	"math"
	"strconv"

	"gonum.org/v1/plot"
)

// ticker is a list of ticks made beforehand.
type ticker []plot.Tick

// Ticks returns the list, whatever the range: the axis draws those inside it.
func (t ticker) Ticks(_, _ float64) []plot.Tick { return t }

// majors returns the values of the labelled ticks, where grid lines go.
func (t ticker) majors() []float64 {
	var vs []float64
	for _, m := range t {
		if !m.IsMinor() {
			vs = append(vs, m.Value)
		}
	}
	return vs
}

// percentileTicks label the axis of 1/(1−p) with percentages: 0, 50, 90, 99 …
func percentileTicks(limit float64) ticker {
	ticks := ticker{{Value: 1, Label: "0 %"}, {Value: 2, Label: "50 %"}}
	if limit < 30 {
		ticks = append(ticks, plot.Tick{Value: 4, Label: "75 %"})
	}
	for decade, nines := 10.0, 1; decade <= limit*1.0001; decade, nines = decade*10, nines+1 {
		label := "90 %"
		if nines > 1 {
			label = strconv.FormatFloat(100-100/decade, 'f', max(0, nines-2), 64) + " %"
		}
		ticks = append(ticks, plot.Tick{Value: decade, Label: label})
	}
	for decade := 10.0; decade <= limit; decade *= 10 {
		for _, m := range []float64{2, 5} {
			ticks = append(ticks, plot.Tick{Value: decade * m})
		}
	}
	return ticks
}

// latencyTicks label a logarithmic axis of ns: each tick with its own unit, at
// 1, 2, 5 of every decade while there is room, else at the decades.
func latencyTicks(lo, hi float64) ticker {
	decades := math.Log10(hi / lo)
	var ticks ticker
	for d := math.Pow(10, math.Floor(math.Log10(lo))); d <= hi*1.0001; d *= 10 {
		for m := 1; m <= 9; m++ {
			v := d * float64(m)
			if v < lo*0.9999 || v > hi*1.0001 {
				continue
			}
			v = min(max(v, lo), hi) // rounded past an end its label would not be drawn
			t := plot.Tick{Value: v}
			if m == 1 || (decades <= 4.2 && (m == 2 || m == 5)) {
				t.Label = duration(v)
			}
			ticks = append(ticks, t)
		}
	}
	return ticks
}

// latencyRange widens a range of positive ns to ticks of 1, 2, 5, so that no
// line lies on the edge.
func latencyRange(lo, hi float64) (float64, float64) {
	down := step125(lo*0.98, -1)
	up := step125(hi*1.02, +1)
	for up < down*5 { // at least a range that has two labels
		down, up = step125(down*0.99, -1), step125(up*1.01, +1)
	}
	return down, up
}

// step125 returns the next of 1, 2, 5 · 10^n at or below v (dir −1), or at or
// above it (+1). v is positive.
func step125(v float64, dir int) float64 {
	base := math.Pow(10, math.Floor(math.Log10(v)))
	if dir < 0 {
		for _, m := range []float64{5, 2, 1} {
			if base*m <= v {
				return base * m
			}
		}
		return base / 2
	}
	for _, m := range []float64{1, 2, 5, 10} {
		if base*m >= v {
			return base * m
		}
	}
	return base * 20
}

// secondTicks label an axis of seconds at steps that clocks have, some eight
// to twelve of them.
func secondTicks(lo, hi float64) ticker {
	step := step125((hi-lo)/12, +1)
	if hi-lo > 10 {
		for _, s := range []float64{1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14400, 21600, 43200, 86400} {
			if step = s; (hi-lo)/s <= 12 {
				break
			}
		}
		if (hi-lo)/step > 12 {
			step = 86400 * step125((hi-lo)/12/86400, +1)
		}
	}
	return linearTicks(lo, hi, step, func(v float64) string { return significant(v, 12) })
}

// countTicks label an axis of messages or messages per second from lo to hi.
func countTicks(lo, hi float64) ticker {
	return linearTicks(lo, hi, step125((hi-lo)/8, +1), count)
}

func linearTicks(lo, hi, step float64, label func(float64) string) ticker {
	var ticks ticker
	for i := math.Ceil(lo/step - 1e-9); i*step <= hi+step*1e-9; i++ {
		v := i * step
		if i == 0 {
			v = 0
		}
		v = min(max(v, lo), hi) // rounded past an end its label would not be drawn
		ticks = append(ticks, plot.Tick{Value: v, Label: label(v)})
		if len(ticks) > 200 {
			break
		}
	}
	return ticks
}
