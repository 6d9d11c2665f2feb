package stats

import (
	"math"
	"math/rand/v2"
	"slices"
)

// Step is a place where a series changed its level.
type Step struct {
	At     int     // index of the first value of the new level
	P      float64 // of the permutation test
	Before float64 // median from the step before to here
	After  float64 // median from here to the next step
}

// Change is After/Before − 1; +Inf from 0.
func (s Step) Change() float64 { return s.After/s.Before - 1 }

// What counts as a step, as in Hunter (Fleming et al., ICPE 2023).
const (
	stepP         = 0.001
	stepEffect    = 0.05
	permutations  = 999
	shortestLevel = 3
	maxStepPoints = 240
)

// Steps finds changes of level in a series of at most 240 values (a longer one
// is not looked at: join values first): E-divisive (Matteson and James 2014),
// that is the split with the largest energy distance, accepted when none of 999
// permutations of the values does better (p ≤ 0.001), then both sides in turn. A
// step of less than 5 % in the medians is dropped. The permutations are seeded:
// the same values give the same steps.
func Steps(y []float64) []Step {
	if len(y) > maxStepPoints || len(y) < 2*shortestLevel {
		return nil
	}
	rng := rand.New(rand.NewPCG(uint64(len(y)), 0x5eed))
	found := divide(y, 0, rng, nil)
	slices.SortFunc(found, func(a, b Step) int { return a.At - b.At })
	for { // a step that is dropped joins two levels
		dropped := false
		for i := range found {
			from, to := 0, len(y)
			if i > 0 {
				from = found[i-1].At
			}
			if i+1 < len(found) {
				to = found[i+1].At
			}
			s := &found[i]
			s.Before, s.After = Median(y[from:s.At]), Median(y[s.At:to])
			if !(math.Abs(s.After-s.Before) >= stepEffect*math.Abs(s.Before)) || s.After == s.Before {
				found, dropped = slices.Delete(found, i, i+1), true
				break
			}
		}
		if !dropped {
			return found
		}
	}
}

func divide(y []float64, offset int, rng *rand.Rand, found []Step) []Step {
	at, energy := split(y)
	if at == 0 {
		return found
	}
	better := 0
	shuffled := slices.Clone(y)
	for range permutations {
		rng.Shuffle(len(shuffled), func(i, j int) { shuffled[i], shuffled[j] = shuffled[j], shuffled[i] })
		if _, e := split(shuffled); e >= energy {
			better++
			if float64(better+1)/(permutations+1) > stepP {
				return found
			}
		}
	}
	found = append(found, Step{At: offset + at, P: float64(better+1) / (permutations + 1)})
	found = divide(y[:at], offset, rng, found)
	return divide(y[at:], offset+at, rng, found)
}

// split returns the place with the largest energy distance of the two sides,
//
//	nm/(n+m) · (2·E|X−Y| − E|X−X'| − E|Y−Y'|)
//
// and that distance; place 0 when the series is too short or constant.
func split(y []float64) (at int, energy float64) {
	n := len(y)
	if n < 2*shortestLevel {
		return 0, 0
	}
	var left, right, cross float64 // sums of |differences| over pairs
	for i := range y {
		for j := i + 1; j < n; j++ {
			right += math.Abs(y[i] - y[j])
		}
	}
	for k := 1; k <= n-shortestLevel; k++ { // value k−1 moves to the left
		moved := y[k-1]
		var toLeft, toRight float64
		for _, v := range y[:k-1] {
			toLeft += math.Abs(moved - v)
		}
		for _, v := range y[k:] {
			toRight += math.Abs(moved - v)
		}
		left += toLeft
		right -= toRight
		cross += toRight - toLeft
		if k < shortestLevel {
			continue
		}
		a, b := float64(k), float64(n-k)
		e := a * b / (a + b) * (2*cross/(a*b) - 2*left/(a*a) - 2*right/(b*b))
		if e > energy*(1+1e-12)+1e-300 {
			at, energy = k, e
		}
	}
	return at, energy
}
