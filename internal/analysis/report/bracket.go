package report

import (
	"encoding/json"
	"strings"

	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/units"
)

// Bracket bounds, for every quantile of a metric, what a generator that is
// never late would have seen. In JSON it is an object by percentile.
type Bracket []BracketRow

// BracketRow is the bracket of one quantile.
type BracketRow struct {
	P            string
	Lower, Upper *int64 // nil: infinite
	// Kind is bound where the assumptions of the proof were checked to hold, else estimate.
	Kind string
	// Overtaken is the share of the messages that one intended later was ahead of.
	Overtaken float64
	Reasons   []string // why it is an estimate
}

// The kinds of a bracket.
const (
	Bound    = "bound"
	Estimate = "estimate"
)

// MarshalJSON writes an object by percentile, in the order that was asked for.
func (b Bracket) MarshalJSON() ([]byte, error) {
	return object(len(b), func(i int) (string, any) {
		r := b[i]
		return r.P, struct {
			Lower     *int64   `json:"lower_ns"`
			Upper     *int64   `json:"upper_ns"`
			Kind      string   `json:"kind"`
			Overtaken float64  `json:"overtaken_share"`
			Reasons   []string `json:"reasons,omitempty"`
		}{r.Lower, r.Upper, r.Kind, r.Overtaken, r.Reasons}
	})
}

// UnmarshalJSON reads what MarshalJSON wrote; the order of the percentiles is lost.
func (b *Bracket) UnmarshalJSON(data []byte) error {
	var rows map[string]struct {
		Lower     *int64   `json:"lower_ns"`
		Upper     *int64   `json:"upper_ns"`
		Kind      string   `json:"kind"`
		Overtaken float64  `json:"overtaken_share"`
		Reasons   []string `json:"reasons"`
	}
	if err := json.Unmarshal(data, &rows); err != nil {
		return err
	}
	for p, r := range rows {
		*b = append(*b, BracketRow{p, r.Lower, r.Upper, r.Kind, r.Overtaken, r.Reasons})
	}
	return nil
}

func (b *builder) bracket() {
	in := b.d.Bracket
	if !in.Valid {
		return
	}
	kind := Estimate
	if in.Bound {
		kind = Bound
	}
	var out Bracket
	for i, q := range b.d.Metrics[reduce.Response].Quantiles {
		row := BracketRow{P: q.Percentile.String(), Kind: kind, Overtaken: float64(in.Overtaken) / float64(max(in.Of, 1)), Reasons: in.Reasons}
		if lower := in.Lower[i]; !lower.Infinite && q.Rank <= b.d.Metrics[reduce.Response].Finite() {
			row.Lower, row.Upper = &lower.Value, &q.Observed
		}
		out = append(out, row)
	}
	b.r.Bracket["response"] = out
}

// bracketCells are the bracket in the table of latencies; nil when it has no
// width that can be seen.
func (r *Report) bracketCells(m Metric) []string {
	bracket := r.Bracket[m.Name]
	if bracket == nil || r.Loop == Closed {
		return nil
	}
	var cells []string
	for i, row := range bracket {
		cell := ""
		if q := m.Quantiles[i]; row.Lower != nil && q.Value != nil {
			low, high := units.Latency(*row.Lower), units.Latency(*row.Upper)
			if low != high {
				cell = low + ".." + high
			}
		}
		cells = append(cells, cell)
	}
	if strings.Join(cells, "") == "" {
		return nil
	}
	return cells
}

// bracketLine says what the bracket is.
func (r *Report) bracketLine() string {
	bracket := r.Bracket["response"]
	if len(bracket) == 0 || r.Loop == Closed {
		return ""
	}
	if bracket[0].Kind == Bound {
		if r.bracketCells(r.Metrics.Get("response")) == nil {
			return ""
		}
		return "if punctual: between these a generator that is never late would have seen the response, a proven bound"
	}
	return "if punctual: between these a generator that is never late would have seen the response, an estimate: " + strings.Join(bracket[0].Reasons, "; ")
}
