package gate

import (
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"

	"amqpperf/internal/analysis/compare"
	"amqpperf/internal/analysis/report"
	"amqpperf/internal/units"
)

// Result is what became of a gate or a check.
type Result struct {
	Name    string // the gate as typed, or the check's id and name
	Run     string
	Crossed bool
	// Text is the value with its interval, or why there is none.
	Text string
	// Skipped says that nothing was decided.
	Skipped bool
}

// reading is a number of a report as a gate takes it.
type reading struct {
	value    float64
	text     string
	withheld string // why the value may not be used
}

// Evaluate applies a gate that needs no baseline to a report.
func (g *Gate) Evaluate(r *report.Report) Result {
	out := Result{Name: g.src, Run: r.Title()}
	if g.kind == kindCheck {
		g.check(r, &out)
		return out
	}
	v := g.read(r)
	if v.withheld != "" {
		out.Crossed, out.Text = true, "withheld: "+v.withheld
		return out
	}
	out.Crossed, out.Text = g.holds(v.value), v.text
	if failed := r.Invalid[g.group]; len(failed) > 0 {
		out.Text += ", INVALID: " + strings.Join(failed, ", ") + " failed (see --strict)"
	}
	return out
}

// EvaluateChange applies a gate on a change to the runs of two sides.
func (g *Gate) EvaluateChange(base, other []*report.Report) Result {
	out := Result{Name: g.src, Run: title(other)}
	if len(base) == 0 || len(other) == 0 {
		out.Crossed, out.Text = true, "withheld: there is no baseline"
		return out
	}
	var logs [2][]float64
	for side, reports := range [][]*report.Report{base, other} {
		for _, r := range reports {
			v := g.read(r)
			if v.withheld == "" && !(v.value > 0) {
				v.withheld = "it is " + v.text + ", and only numbers above 0 have a ratio"
			}
			if v.withheld != "" {
				out.Crossed, out.Text = true, fmt.Sprintf("withheld: %s: %s", r.Title(), v.withheld)
				return out
			}
			logs[side] = append(logs[side], math.Log(v.value))
		}
	}
	s := compare.ShiftOf(logs[0], logs[1])
	change := math.Expm1(s.Estimate)
	out.Crossed = g.holds(change)
	out.Text = fmt.Sprintf("%+.2f %%", change*100)
	switch {
	case len(base) == 1 && len(other) == 1:
		out.Text += " (one run a side: no interval, this may be the difference from run to run)"
	case math.IsInf(s.Low, 0):
		out.Text += fmt.Sprintf(" (%d and %d runs are too few for an interval)", len(base), len(other))
	default:
		out.Text += fmt.Sprintf(" (95 %% %+.2f %% .. %+.2f %%, p %.3f, %d and %d runs)", math.Expm1(s.Low)*100, math.Expm1(s.High)*100, s.P, len(base), len(other))
	}
	return out
}

func title(reports []*report.Report) string {
	switch len(reports) {
	case 0:
		return ""
	case 1:
		return reports[0].Title()
	}
	same := true
	for _, r := range reports {
		same = same && r.Title() == reports[0].Title()
	}
	if same {
		return fmt.Sprintf("%s (%d runs)", reports[0].Title(), len(reports))
	}
	return fmt.Sprintf("%d runs", len(reports))
}

func (g *Gate) check(r *report.Report, out *Result) {
	i := slices.IndexFunc(r.Checks, func(c report.Check) bool { return c.ID == g.stat })
	if i < 0 {
		out.Crossed, out.Text = g.status != "skip" || g.op == "!=", "the report has no check "+g.stat
		return
	}
	c := r.Checks[i]
	out.Text = fmt.Sprintf("%s is %s", c.Name, c.Status)
	if c.Text != "" {
		out.Text += ": " + c.Text
	}
	equal := string(c.Status) == g.status
	if c.Status == report.CheckSkip && g.status != "skip" {
		out.Crossed, out.Text = true, "withheld: "+out.Text
		return
	}
	out.Crossed = equal == (g.op == "==")
}

// read takes the number that the gate is about.
func (g *Gate) read(r *report.Report) reading {
	switch g.kind {
	case kindCount:
		return g.count(r)
	case kindRate:
		v := map[string]*float64{"offered": r.Rates.Offered, "sent": r.Rates.Sent, "acked": r.Rates.Acked, "received": r.Rates.Received}[g.stat]
		if v == nil {
			return reading{withheld: "too few messages for a rate"}
		}
		return reading{value: *v, text: fmt.Sprintf("%.6g/s", *v)}
	}
	m := r.Metrics.Get(g.group)
	if g.kind == kindNumber {
		n := map[string]int64{"n": m.N, "infinite": m.Infinite, "negative": m.Negative}[g.stat]
		return reading{value: float64(n), text: units.Thousands(n)}
	}
	if r.Loop == report.Closed && slices.Contains([]string{"response", "e2e", "handled", "lag"}, g.group) {
		return reading{withheld: "a closed loop has no schedule: take service or transit"}
	}
	if m.N == 0 {
		return reading{withheld: "no message has it"}
	}
	if g.kind == kindMoment {
		return g.moment(m)
	}
	q, ok := m.Quantile(g.stat)
	if !ok {
		return reading{withheld: "p" + g.stat + " was not computed"}
	}
	return fromQuantile(q)
}

// count finds a count by its name in the JSON form, so that there is one list of
// names.
func (g *Gate) count(r *report.Report) reading {
	raw, err := json.Marshal(r.Counts)
	var counts map[string]int64
	if err == nil {
		err = json.Unmarshal(raw, &counts)
	}
	n, ok := counts[g.stat]
	if err != nil || !ok {
		return reading{withheld: "the report does not count it"}
	}
	return reading{value: float64(n), text: units.Thousands(n)}
}

func (g *Gate) moment(m report.Metric) reading {
	for _, q := range m.Quantiles { // what is wrong with the whole metric shows in each
		if q.Status == report.Nonstationary || q.Status == report.ClockUnknown {
			return reading{withheld: because(q)}
		}
	}
	if m.Infinite > 0 && g.stat != "min" {
		return reading{withheld: fmt.Sprintf("%s of %s messages have no answer or arrival: it is infinite", units.Thousands(m.Infinite), units.Thousands(m.N))}
	}
	var v *float64
	switch g.stat {
	case "mean":
		v = m.Mean
	case "stddev":
		v = m.StdDev
	case "min":
		v = float(m.Min)
	case "max":
		v = float(m.Max)
	}
	if v == nil {
		return reading{withheld: "too few messages"}
	}
	return reading{value: *v, text: units.Latency(int64(math.Round(*v)))}
}

func float(v *int64) *float64 {
	if v == nil {
		return nil
	}
	f := float64(*v)
	return &f
}

func fromQuantile(q report.Quantile) reading {
	if q.Value == nil || q.Status == report.Nonstationary {
		return reading{withheld: because(q)}
	}
	text := units.Latency(*q.Value)
	switch {
	case q.Low != nil && q.High != nil:
		text += fmt.Sprintf(" (95 %% %s .. %s)", units.Latency(*q.Low), units.Latency(*q.High))
	case q.Low != nil:
		text += fmt.Sprintf(" (95 %% from %s)", units.Latency(*q.Low))
	}
	if q.Low == nil && q.High == nil {
		text += " (no interval)"
	}
	if q.Status == report.Low {
		text += ", low confidence"
	}
	return reading{value: float64(*q.Value), text: text}
}

// because says why a quantile is withheld, with what was observed.
func because(q report.Quantile) string {
	observed := ""
	if q.Observed != nil {
		observed = ", observed " + units.Latency(*q.Observed)
	}
	switch q.Status {
	case report.Infinite:
		return "infinite: too many messages never got an answer, or never arrived"
	case report.Nonstationary:
		return "the system was overloaded: it is of this run's length only" + observed
	case report.ClockUnknown:
		return "the clocks of sender and receiver are not aligned well enough" + observed
	case report.Uncertain:
		text := fmt.Sprintf("too uncertain, %d independent events beyond it", q.Events)
		if q.Needed != nil {
			text += fmt.Sprintf(", needs a run %.3g times as long", *q.Needed)
		}
		return text + observed
	}
	return string(q.Status) + observed
}

// Checks turns the checks of a report into results; with strict a failed one is
// crossed, otherwise it is skipped: it is no pass, and nothing asked for one.
func Checks(r *report.Report, strict bool) []Result {
	var out []Result
	for _, c := range r.Checks {
		res := Result{Name: c.ID + " " + c.Name, Run: r.Title(), Text: string(c.Status)}
		if c.Text != "" {
			res.Text += ": " + c.Text
		}
		switch c.Status {
		case report.CheckFail:
			res.Crossed, res.Skipped = strict, !strict
			if c.Advice != "" {
				res.Text += " (" + c.Advice + ")"
			}
			if !strict {
				res.Text += " (does not count without --strict)"
			}
		case report.CheckSkip:
			res.Skipped = true
		}
		out = append(out, res)
	}
	return out
}
