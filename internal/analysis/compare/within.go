package compare

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"
)

const (
	// resamples is how often a run is drawn anew.
	resamples = 1000
	// leastBlocks is how many blocks a run must have for an interval.
	leastBlocks = 10
)

// Within is the shift function of one run against one run: the relative change
// of every quantile, with an interval from a moving block bootstrap of both runs.
// It does not include that runs differ from one another.
type Within struct {
	Metric string `json:"metric"`
	Label  string `json:"label"`
	// Block is the length of a block of intended time, ns, for each side: at least
	// a second, and twice the time over which slow messages come in clusters.
	Block     [2]int64 `json:"block_ns"`
	Resamples int      `json:"resamples"`
	Points    []Point  `json:"points"`
	// Why says why there are no intervals.
	Why string `json:"why,omitempty"`
}

// WithinOnly is the label of every such comparison.
const WithinOnly = "within-run only: does not include the difference from run to run"

// Point is the change of one quantile.
type Point struct {
	P      string   `json:"p"`
	Change float64  `json:"change"`
	Low    *float64 `json:"low"` // 95 %
	High   *float64 `json:"high"`
}

// grid is the tails 1−p of the shift function: p = 1, 2, … 99 and 99.9.
func grid() (labels []string, fractions []float64) {
	for i := 1; i <= 99; i++ {
		labels, fractions = append(labels, strconv.Itoa(i)), append(fractions, float64(i)/100)
	}
	return append(labels, "99.9"), append(fractions, 0.999)
}

// ShiftFunction compares one run with one run. Quantiles are those of buckets of
// 1/512. seed makes the draws repeatable.
func ShiftFunction(metric string, base, other *Sampled, seed uint64) *Within {
	w := &Within{Metric: metric, Label: WithinOnly, Resamples: resamples}
	labels, fractions := grid()
	sides := [2]*Sampled{base, other}
	var observed [2][]float64
	for i, s := range sides {
		if s == nil || s.n == 0 {
			w.Why = "a run has no messages"
			return w
		}
		observed[i] = s.quantiles(fractions)
		w.Block[i] = int64(s.block()) * s.width
		if s.filled() < leastBlocks*s.block() {
			w.Why = fmt.Sprintf("a run of %s has fewer than %d independent stretches of %s",
				time.Duration(int64(s.filled())*s.width).Round(time.Millisecond), leastBlocks, time.Duration(w.Block[i]).Round(time.Millisecond))
		}
	}
	for p, label := range labels {
		if change := observed[1][p]/observed[0][p] - 1; finite(change) {
			w.Points = append(w.Points, Point{P: label, Change: change})
		}
	}
	if w.Why == "" {
		w.intervals(sides, labels, fractions, rand.New(rand.NewPCG(seed, 1)))
	}
	return w
}

func finite(f float64) bool { return !math.IsNaN(f) && !math.IsInf(f, 0) }

func (w *Within) intervals(sides [2]*Sampled, labels []string, fractions []float64, r *rand.Rand) {
	draws := make([][]float64, len(fractions))
	var scratch [2][]uint64
	for i := range scratch {
		scratch[i] = make([]uint64, buckets)
	}
	for range resamples {
		var q [2][]float64
		for i, s := range sides {
			q[i] = s.draw(r, scratch[i], fractions)
		}
		for p := range fractions {
			if change := q[1][p]/q[0][p] - 1; finite(change) {
				draws[p] = append(draws[p], change)
			}
		}
	}
	for i := range w.Points {
		d := draws[slices.Index(labels, w.Points[i].P)]
		if len(d) < resamples {
			continue // some draws were infinite: no limits
		}
		slices.Sort(d)
		low, high := d[resamples*25/1000], d[resamples*975/1000-1]
		w.Points[i].Low, w.Points[i].High = &low, &high
	}
}
