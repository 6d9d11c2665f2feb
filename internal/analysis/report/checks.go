package report

import (
	"slices"

	"amqpperf/internal/analysis/checks"
	"amqpperf/internal/analysis/reduce"
)

// checks computes the soundness checks and what the failed ones spoil.
func (b *builder) checks() {
	overloaded := b.r.Overload != nil
	b.r.Checks = append(b.r.Checks, checks.Run(checks.Input{
		Data: b.d, Overloaded: overloaded, HDR: b.o.HDR, Comparison: b.o.Comparison,
	})...)
	for _, c := range b.r.Checks {
		for _, what := range c.Spoils {
			b.r.Invalid[what] = append(b.r.Invalid[what], c.ID)
		}
	}
	b.r.observed = checks.Observe(b.d, overloaded && b.r.Overload.Side == "send")
	JudgeTogether([]*Report{b.r})
}

// JudgeTogether tells anew what held each run, knowing the others: a cap in the
// broker shows only over several round trips. The runs should be of one system.
func JudgeTogether(runs []*Report) {
	for _, r := range runs {
		r.Limits = []Limit{}
		for _, o := range r.observed {
			all := []checks.Observed{o}
			for _, other := range runs {
				if other == r {
					continue
				}
				for _, p := range other.observed {
					if p.Side == o.Side {
						all = append(all, p)
					}
				}
			}
			r.Limits = append(r.Limits, checks.Judge(all))
		}
	}
}

// Spoiled returns the failed checks that make a metric, or "rates", invalid;
// nil if none does.
func (r *Report) Spoiled(what string) []string { return slices.Clone(r.Invalid[what]) }

// blocked is the mean time blocked, all causes together.
func (t *Tail) blocked() (sum float64) {
	for _, w := range reduce.Waits() { // not over the map: the order of a sum of floats matters
		sum += t.Blocked[w.String()]
	}
	return sum
}
