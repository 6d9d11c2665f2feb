package plan

import (
	"fmt"
	"math/rand/v2"
	"slices"

	"amqpperf/internal/experiment/scenario"
)

// Setting is a parameter with the value it has in a run.
type Setting struct {
	Name  string `json:"name"`
	Value string `json:"value"`
}

// Run is one run of an experiment.
type Run struct {
	N          int       `json:"n"` // from 1, in the order in which they are made
	Variant    string    `json:"variant,omitempty"`
	Params     []Setting `json:"params,omitempty"`
	Repetition int       `json:"repetition"` // from 1; 0 is a warm-up run, which does not count
	// Attempt counts the attempts before this one that did not end: they may have left
	// messages that must not be taken for those of this one.
	Attempt int `json:"attempt,omitempty"`
}

// Value returns the value of a parameter, "" if there is none.
func (r Run) Value(name string) string {
	for _, p := range r.Params {
		if p.Name == name {
			return p.Value
		}
	}
	return ""
}

// Counts reports whether the run is one that conclusions are drawn from.
func (r Run) Counts() bool { return r.Repetition > 0 }

// Turn names the repetition for people.
func (r Run) Turn() string {
	if !r.Counts() {
		return "warm-up"
	}
	return fmt.Sprintf("repetition %d", r.Repetition)
}

// combinations returns all combinations of the parameters' values, the last
// parameter varying fastest; one without settings if there are no parameters.
func combinations(parameters []scenario.Parameter) [][]Setting {
	all := [][]Setting{nil}
	for _, p := range parameters {
		var next [][]Setting
		for _, before := range all {
			for _, v := range p.Values {
				next = append(next, append(slices.Clone(before), Setting{p.Name, v}))
			}
		}
		all = next
	}
	return all
}

// Order returns the runs in the order in which they are made. The same seed gives
// the same order. Interleaved: in each odd repetition the combinations are
// shuffled, and in each of those the variants; the repetition after it is the same
// backwards. So two variants run as AB BA or BA AB, and what drifts evenly over
// such a pair is the same for both. Warm-up runs come first, as listed.
func Order(s *scenario.Scenario, seed uint64) []Run {
	random := rand.New(rand.NewPCG(seed, 0))
	var all, round []Run
	for range s.WarmUpRuns {
		for _, r := range roundOf(s, nil) {
			r.N = len(all) + 1
			all = append(all, r)
		}
	}
	for rep := range s.Repetitions {
		switch {
		case s.Order == scenario.Given:
			round = roundOf(s, nil)
		case rep%2 == 0:
			round = roundOf(s, random)
		default:
			round = slices.Clone(round)
			slices.Reverse(round)
		}
		for _, r := range round {
			r.N, r.Repetition = len(all)+1, rep+1
			all = append(all, r)
		}
	}
	return all
}

// roundOf returns each combination with each variant once.
func roundOf(s *scenario.Scenario, random *rand.Rand) (round []Run) {
	cells := combinations(s.Parameters)
	if random != nil {
		random.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	}
	for _, params := range cells {
		variants := slices.Clone(s.Variants)
		if random != nil {
			random.Shuffle(len(variants), func(i, j int) { variants[i], variants[j] = variants[j], variants[i] })
		}
		for _, v := range variants {
			round = append(round, Run{Variant: v.Label, Params: params})
		}
	}
	return round
}
