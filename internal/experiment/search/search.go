// Package search looks for the highest rate at which a condition holds: it says
// which rate to try next, given what became of those tried, and what is known at
// the end. It is pure; package execute makes the runs.
//
// A rate is decided by the majority of its runs. From a first rate on, rates are
// doubled until one fails (or halved until one holds), then the gap is halved
// geometrically until it is within the tolerance; at last the answer gets all its
// runs, so that it does not rest on fewer than asked for.
package search

import (
	"fmt"
	"math"
	"strings"
)

// Search is one search. It is used by one goroutine.
type Search struct {
	from, tolerance float64
	runs            int
	tried           map[float64]*tally
	order           []float64
}

type tally struct{ passed, failed int }

// limits of the search in messages a second, and of the number of different rates.
const (
	lowest  = 0.01
	highest = 1e8
	most    = 64
)

// New returns a search that begins at a rate in messages per second, ends when the
// highest rate that holds and the lowest that does not are within the tolerance (a
// share), and decides each rate by the majority of so many runs.
func New(from, tolerance float64, runs int) *Search {
	return &Search{from: neat(from), tolerance: tolerance, runs: runs, tried: map[float64]*tally{}}
}

// neat rounds to three significant digits, so that rates can be typed.
func neat(rate float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(rate))-2)
	if unit < 1 { // powers below one are not exact, their inverses are
		inverse := math.Round(1 / unit)
		return math.Round(rate*inverse) / inverse
	}
	return math.Round(rate/unit) * unit
}

// Add counts a run at a rate. A run whose number was withheld has not passed.
func (s *Search) Add(rate float64, passed bool) {
	rate = neat(rate)
	t := s.tried[rate]
	if t == nil {
		t = &tally{}
		s.tried[rate] = t
		s.order = append(s.order, rate)
	}
	if passed {
		t.passed++
	} else {
		t.failed++
	}
}

// verdict is 1 for held, -1 for not, 0 for not decided yet.
func (s *Search) verdict(rate float64) int {
	t := s.tried[rate]
	switch {
	case t == nil:
		return 0
	case 2*t.passed > s.runs:
		return 1
	case 2*t.failed >= s.runs:
		return -1
	}
	return 0
}

// bounds are the lowest rate that failed and the highest below it that held, 0 and
// +Inf where there is none. A rate that held above one that failed is luck.
func (s *Search) bounds() (low, high float64) {
	high = math.Inf(1)
	for rate := range s.tried {
		if s.verdict(rate) < 0 {
			high = math.Min(high, rate)
		}
	}
	for rate := range s.tried {
		if s.verdict(rate) > 0 && rate < high {
			low = math.Max(low, rate)
		}
	}
	return low, high
}

// Next returns the rate of the next run; false when nothing more is to be learnt.
func (s *Search) Next() (rate float64, more bool) {
	if len(s.order) > 0 {
		last := s.order[len(s.order)-1]
		if s.verdict(last) == 0 {
			return last, true
		}
	}
	low, high := s.bounds()
	switch {
	case len(s.tried) == 0:
		return s.from, true
	case len(s.tried) >= most:
		return 0, false
	case math.IsInf(high, 1):
		rate = neat(low * 2)
		return rate, rate <= highest
	case low == 0:
		rate = neat(high / 2)
		return rate, rate >= lowest
	}
	middle := neat(math.Sqrt(low * high))
	if high/low > 1+s.tolerance && middle > low && middle < high {
		return middle, true
	}
	t := s.tried[low]
	return low, t.passed+t.failed < s.runs
}

// Answer is what is known at the end. Rates are in messages per second, 0 for none.
type Answer struct {
	Held, Failed                         float64
	HeldPassed, HeldRuns                 int
	FailedPassed, FailedRuns, Runs, Rate int
}

// Answer returns what is known.
func (s *Search) Answer() Answer {
	low, high := s.bounds()
	var a Answer
	for _, t := range s.tried {
		a.Runs += t.passed + t.failed
	}
	a.Rate = len(s.tried)
	if t := s.tried[low]; t != nil {
		a.Held, a.HeldPassed, a.HeldRuns = low, t.passed, t.passed+t.failed
	}
	if t := s.tried[high]; t != nil {
		a.Failed, a.FailedPassed, a.FailedRuns = high, t.passed, t.passed+t.failed
	}
	return a
}

// String is the answer as a sentence.
func (a Answer) String() string {
	var b strings.Builder
	switch {
	case a.Held > 0:
		fmt.Fprintf(&b, "%s/s held in %d of %d runs", Rate(a.Held), a.HeldPassed, a.HeldRuns)
	default:
		b.WriteString("no rate held")
	}
	if a.Failed > 0 {
		fmt.Fprintf(&b, ", %s/s in %d of %d", Rate(a.Failed), a.FailedPassed, a.FailedRuns)
	} else if a.Held > 0 {
		b.WriteString(", and no higher one was found to fail")
	}
	fmt.Fprintf(&b, " (%d runs at %d rates%s)", a.Runs, a.Rate, a.confidence())
	return b.String()
}

// confidence says what so few runs prove: each side on its own, with 95 %.
func (a Answer) confidence() string {
	var sides []string
	if a.Held > 0 {
		sides = append(sides, fmt.Sprintf("at least %.0f %% of runs at %s/s pass", 100*atLeast(a.HeldPassed, a.HeldRuns), Rate(a.Held)))
	}
	if a.Failed > 0 {
		sides = append(sides, fmt.Sprintf("at most %.0f %% of those at %s/s", 100*(1-atLeast(a.FailedRuns-a.FailedPassed, a.FailedRuns)), Rate(a.Failed)))
	}
	if len(sides) == 0 {
		return ""
	}
	if a.Held == 0 {
		sides[0] = strings.Replace(sides[0], "those", "runs", 1) + " pass"
	}
	return "; with 95 % confidence " + strings.Join(sides, ", ")
}

// atLeast is the lower end of the exact one-sided 95 % interval of a probability of which so many of all trials came true
// (Clopper and Pearson 1934): the probability at which as many or more would come true in 5 % of all cases.
func atLeast(hits, trials int) float64 {
	if hits == 0 {
		return 0
	}
	low, high := 0.0, 1.0
	for range 60 {
		p := (low + high) / 2
		if tail(hits, trials, p) < 0.05 {
			low = p
		} else {
			high = p
		}
	}
	return low
}

// tail is the probability of so many hits or more in trials of probability p.
func tail(hits, trials int, p float64) float64 {
	sum := 0.0
	for k := hits; k <= trials; k++ {
		sum += choose(trials, k) * math.Pow(p, float64(k)) * math.Pow(1-p, float64(trials-k))
	}
	return sum
}

func choose(n, k int) float64 {
	c := 1.0
	for i := range k {
		c = c * float64(n-i) / float64(i+1)
	}
	return c
}

// Rate prints a rate as --rate reads it.
func Rate(perSecond float64) string {
	if perSecond >= 1000 && perSecond == math.Trunc(perSecond) && math.Mod(perSecond, 10) == 0 {
		return fmt.Sprintf("%gk", perSecond/1000)
	}
	return fmt.Sprintf("%g", perSecond)
}
