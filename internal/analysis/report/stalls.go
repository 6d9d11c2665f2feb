package report

import (
	"fmt"
	"time"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/units"
)

// stalls lists the episodes with what else happened in the same seconds.
func (b *builder) stalls() {
	for _, s := range b.d.Stalls {
		b.r.Stalls = append(b.r.Stalls, Stall{
			Start: s.Start, Length: s.Length, Messages: s.Messages, Of: s.Of,
			ShareOfTop: s.ShareOfTop, CarriedBy: s.CarriedBy, Beside: b.beside(s),
		})
	}
}

// mostBeside is how many things stand beside a stall.
const mostBeside = 6

// beside collects hiccups, pauses and events of the seconds of a stall. Samples
// are about the second before them.
func (b *builder) beside(s reduce.Stall) []string {
	from := b.d.First + s.Start
	to := from + s.Length
	out := []string{}
	for _, q := range []struct{ what, name string }{
		{"tool.hiccup_max_ns", "hiccup of the tool's host"},
		{"tool.gc_pause_max_ns", "collection in the tool"},
	} {
		var longest int64
		for _, sample := range b.d.Side.Samples[q.what] {
			if sample.At >= from && sample.At-int64(time.Second) <= to {
				longest = max(longest, sample.Value)
			}
		}
		if longest >= int64(time.Millisecond) && longest >= s.Length/20 {
			out = append(out, fmt.Sprintf("%s of %s", q.name, units.Latency(longest)))
		}
	}
	var order []string
	n := map[string]int{}
	for _, e := range b.d.Side.Events {
		if e.At < from-int64(time.Second) || e.At > to+int64(time.Second) || e.Kind == "stop" || e.Kind == "recorder" {
			continue
		}
		text := e.Kind
		if e.Connection != format.Null32 {
			text += fmt.Sprintf(" of connection %d", e.Connection)
		}
		if e.Condition != "" {
			text += " (" + e.Condition + ")"
		}
		if n[text]++; n[text] == 1 {
			order = append(order, text)
		}
	}
	for _, text := range order {
		if len(out) == mostBeside {
			return append(out, fmt.Sprintf("%d other events", len(order)-mostBeside+1))
		}
		if n[text] > 1 {
			text = fmt.Sprintf("%d × %s", n[text], text)
		}
		out = append(out, text)
	}
	return out
}

// besideLines say what stands beside the stalls of the table.
func (r *Report) besideLines() []string {
	var out []string
	for _, s := range r.heaviestStalls() {
		for i, what := range s.Beside {
			if i == 0 {
				out = append(out, fmt.Sprintf("at %.3fs also: %s", float64(s.Start)/1e9, what))
			} else {
				out[len(out)-1] += ", " + what
			}
		}
	}
	return out
}
