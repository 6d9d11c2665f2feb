package compare

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"amqpperf/internal/analysis/report"
)

// Run is one run: the unit of a comparison.
type Run struct {
	Name   string // shown; the id if there is no name
	Labels map[string]string
	// Config is the effective configuration, by tool and flag.
	Config  map[string]string
	Values  []Value
	Failed  []string // checks whose failure spoils what is compared
	Senders []Client
	Receive []Client // the receivers
}

// Client is a producer or a consumer with its rate.
type Client struct {
	Name string  `json:"name"`
	PerS float64 `json:"per_s"`
}

// Value is one number of a run.
type Value struct {
	Metric string  // "service p99", "acked rate"
	V      float64 // above 0: only then it has a logarithm
	// Missing says why there is no number.
	Missing string
	// Tool is by what share the tool itself can have made it wrong.
	Tool   float64
	Unit   string // ns or per_s
	Higher bool   // better when higher
}

// Side is the runs of one side.
type Side struct {
	Name string
	Runs []Run
}

// perRun lists what tells runs apart and is no setting.
func perRun() []string { return []string{"start_ns", "start-at", "start_at", "run", "output", "timer"} }

// FromReport takes from a report what is compared: in a closed loop the rates
// and service, else response and e2e, each at p50, p99 and p99.9 where they were
// asked for; under overload the rates too, which then are the capacity.
func FromReport(r *report.Report) Run {
	run := Run{Name: r.Title(), Labels: maps.Clone(r.Labels), Config: map[string]string{}}
	for tool, configs := range r.Configs {
		for key, value := range flatten(configs) {
			if !slices.Contains(perRun(), key) {
				run.Config[tool+" "+key] = value
			}
		}
	}
	for _, c := range r.Rates.Clients {
		if c.PerS == nil {
			continue
		}
		if c.Kind == "sender" {
			run.Senders = append(run.Senders, Client{c.Name, *c.PerS})
		} else {
			run.Receive = append(run.Receive, Client{c.Name, *c.PerS})
		}
	}
	run.values(r)
	for _, v := range run.Values {
		what, _, _ := strings.Cut(v.Metric, " ")
		if v.Unit == "per_s" {
			what = "rates"
		}
		for _, id := range r.Invalid[what] {
			if !slices.Contains(run.Failed, id) {
				run.Failed = append(run.Failed, id)
			}
		}
	}
	return run
}

// flatten joins what several processes of a tool were given, in their order.
func flatten(configs []json.RawMessage) map[string]string {
	out := map[string]string{}
	for i, raw := range configs {
		var flags map[string]json.RawMessage
		if json.Unmarshal(raw, &flags) != nil {
			out[fmt.Sprintf("configuration %d", i+1)] = string(raw)
			continue
		}
		for k, v := range flags {
			text := strings.Trim(string(v), `"`)
			switch old, ok := out[k]; {
			case !ok:
				out[k] = text
			case old != text:
				out[k] = old + ", " + text
			}
		}
	}
	return out
}

func (run *Run) values(r *report.Report) {
	metrics := []string{"response", "e2e"}
	if r.Loop == report.Closed {
		metrics = []string{"service"}
		if r.Metrics.Get("service").N == 0 {
			metrics = []string{"transit"}
		}
	}
	if r.Loop == report.Closed || r.Overload != nil {
		run.rate("acked rate", r.Rates.Acked)
		run.rate("received rate", r.Rates.Received)
	}
	for _, name := range metrics {
		m := r.Metrics.Get(name)
		for _, q := range chosen(m.Quantiles) {
			run.Values = append(run.Values, quantile(r, name, q))
		}
	}
}

func (run *Run) rate(name string, v *float64) {
	if v != nil {
		run.Values = append(run.Values, Value{Metric: name, V: *v, Unit: "per_s", Higher: true})
	}
}

// chosen takes p50, p99 and p99.9, or the first three where none was asked for.
func chosen(qs []report.Quantile) []report.Quantile {
	var out []report.Quantile
	for _, q := range qs {
		if q.P == "50" || q.P == "99" || q.P == "99.9" {
			out = append(out, q)
		}
	}
	if len(out) == 0 {
		out = qs[:min(3, len(qs))]
	}
	return out
}

// quantile takes a quantile of a run. What is too uncertain within a run is taken
// all the same: the scatter between the runs shows how uncertain it is.
func quantile(r *report.Report, metric string, q report.Quantile) Value {
	v := Value{Metric: metric + " p" + q.P, Unit: "ns"}
	switch {
	case q.Status == report.Infinite:
		v.Missing = "infinite: messages without an answer or arrival"
	case q.Status == report.Nonstationary:
		v.Missing = "of the run's length only: overload"
	case q.Status == report.ClockUnknown:
		v.Missing = "the clocks are not aligned"
	case q.Observed == nil:
		v.Missing = "no message"
	default:
		v.V = float64(*q.Observed)
		v.Tool = lateness(r, metric, q)
		if metric != "response" && metric != "service" && r.Clock.Bound != nil && v.V > 0 {
			v.Tool += float64(*r.Clock.Bound) / v.V
		}
	}
	return v
}

// lateness is the share of a quantile by which the generator's lateness can have
// raised it: the width of its bracket.
func lateness(r *report.Report, metric string, q report.Quantile) float64 {
	for _, b := range r.Bracket[metric] {
		if b.P == q.P && b.Lower != nil && b.Upper != nil && *b.Upper > 0 {
			return float64(*b.Upper-*b.Lower) / float64(*b.Upper)
		}
	}
	return 0
}

// Difference is a label or a setting that is not the same everywhere.
type Difference struct {
	Key    string   `json:"key"`
	Values []string `json:"values"` // sorted; "" where it is absent
}

// String prints the difference in words.
func (d Difference) String() string {
	var out []string
	for _, v := range d.Values {
		if v == "" {
			v = "(none)"
		}
		out = append(out, v)
	}
	return d.Key + ": " + strings.Join(out, " | ")
}

// Differences returns the labels and settings in which runs differ, sorted,
// without those named in ignore (a label, a flag, or a tool and a flag).
func Differences(runs []Run, ignore []string) []Difference {
	values := map[string][]string{}
	for _, r := range runs {
		for k := range r.Labels {
			values["label "+k] = nil
		}
		for k := range r.Config {
			values[k] = nil
		}
	}
	var out []Difference
	for _, k := range slices.Sorted(maps.Keys(values)) {
		_, name, _ := strings.Cut(k, " ")
		if slices.Contains(ignore, name) || slices.Contains(ignore, strings.ReplaceAll(name, "_", "-")) || slices.Contains(ignore, k) {
			continue
		}
		var seen []string
		for _, r := range runs {
			v := r.Config[k]
			if label, ok := strings.CutPrefix(k, "label "); ok {
				v = r.Labels[label]
			}
			seen = append(seen, v)
		}
		slices.Sort(seen)
		if seen = slices.Compact(seen); len(seen) > 1 {
			out = append(out, Difference{k, seen})
		}
	}
	return out
}

// ByLabel groups runs by the value of a label, sorted by it. It is an error when
// a run does not have the label.
func ByLabel(runs []Run, label string) ([]Side, error) {
	byValue := map[string][]Run{}
	for _, r := range runs {
		v, ok := r.Labels[label]
		if !ok || v == "" {
			return nil, fmt.Errorf("%s has no label %q: its labels are %s", r.Name, label, list(slices.Sorted(maps.Keys(r.Labels))))
		}
		byValue[v] = append(byValue[v], r)
	}
	var sides []Side
	for _, v := range slices.Sorted(maps.Keys(byValue)) {
		sides = append(sides, Side{Name: label + "=" + v, Runs: byValue[v]})
	}
	return sides, nil
}

func list(names []string) string {
	if len(names) == 0 {
		return "(none)"
	}
	return strings.Join(names, ", ")
}
