package report

import (
	"fmt"
	"slices"
	"strings"

	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/stats"
)

// Transactions is how long transactions took to end, from the writing of the
// discharge to the broker's answer, ns. Quantiles are of nearest rank.
type Transactions struct {
	Kind string  `json:"kind"` // commit or rollback
	N    int64   `json:"n"`
	Min  int64   `json:"min_ns"`
	Mean float64 `json:"mean_ns"`
	P50  int64   `json:"p50_ns"`
	P99  int64   `json:"p99_ns"`
	Max  int64   `json:"max_ns"`
}

// transactions sums up what the recorders sampled while the selected messages
// were under way; without transactions there is nothing.
func (b *builder) transactions() {
	for _, k := range []struct{ kind, what string }{{"commit", "tx.commit_ns"}, {"rollback", "tx.rollback_ns"}} {
		var took []int64
		for _, s := range b.d.Side.Samples[k.what] {
			if b.selected(s) {
				took = append(took, s.Value)
			}
		}
		if len(took) == 0 {
			continue
		}
		slices.Sort(took)
		var m stats.Moments
		for _, v := range took {
			m.Add(v)
		}
		at := func(p string) int64 { return took[stats.MustPercentiles(p)[0].Rank(int64(len(took)))-1] }
		b.r.Transactions = append(b.r.Transactions, Transactions{
			Kind: k.kind, N: int64(len(took)), Min: m.Min(), Mean: m.Mean(), P50: at("50"), P99: at("99"), Max: m.Max(),
		})
	}
}

// selected reports whether something was sampled between the first selected
// message and the last instant of what is looked at.
func (b *builder) selected(s reduce.Sample) bool {
	last := b.d.Integrity.LastInstant
	if b.d.Window.To > 0 {
		last = min(last, b.d.First+b.d.Window.To)
	}
	return s.At >= b.d.Window.First && s.At <= last
}

// transactionLine is one line on all transactions, "" without any.
func (r *Report) transactionLine() string {
	var parts []string
	for _, t := range r.Transactions {
		parts = append(parts, fmt.Sprintf("%s %s: mean %s, p50 %s, p99 %s, max %s", count(t.N), plural(t.N, t.Kind),
			latency(t.Mean), latency(float64(t.P50)), latency(float64(t.P99)), latency(float64(t.Max))))
	}
	return strings.Join(parts, "; ")
}

func plural(n int64, noun string) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

func (r *Report) csvTransactions(lines *csvLines) {
	for _, t := range r.Transactions {
		for _, v := range []struct {
			name  string
			value string
		}{
			{"min", fmt.Sprint(t.Min)}, {"mean", float(t.Mean)}, {"p50", fmt.Sprint(t.P50)}, {"p99", fmt.Sprint(t.P99)}, {"max", fmt.Sprint(t.Max)},
		} {
			lines.add(t.Kind, v.name, v.value, "ns", "", "", fmt.Sprint(t.N), "")
		}
	}
}
