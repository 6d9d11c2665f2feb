package report

import (
	"encoding/json"
	"fmt"
	"math"
	"strings"
	"time"

	"amqpperf/internal/analysis/checks"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/stats"
)

// Options say how a report is made of the numbers.
type Options struct {
	Name string // in place of the run's own name
	// HDR tells how a histogram log took the values in; nil: none was written.
	HDR *HDR
	// Comparison is what check C25 needs, nil unless runs are compared.
	Comparison *checks.Comparison
}

// builder holds what the parts of a report need of each other.
type builder struct {
	d *reduce.Data
	r *Report
	o Options
}

// Title is the name of the run, or its id.
func (r *Report) Title() string { return r.title() }

// New makes the report of a run.
func New(d *reduce.Data, opt Options) *Report {
	b := &builder{d: d, o: opt, r: &Report{
		Schema: Schema, Run: d.Run, Name: d.Name, Labels: map[string]string{}, Configs: d.Configs,
		Bracket: map[string]Bracket{}, Limits: []Limit{}, Invalid: map[string][]string{}, Stalls: []Stall{}, Findings: []string{}, Warnings: []string{}, Checks: []Check{},
	}}
	r := b.r
	if opt.Name != "" {
		r.Name = opt.Name
	}
	for k, values := range d.Labels {
		r.Labels[k] = strings.Join(values, ",")
	}
	if configs := d.Configs["perf-send"]; len(configs) > 0 {
		r.Config = configs[0]
	}
	r.Loop = b.loop()
	if !d.Empty() {
		start := time.Unix(0, d.First).UTC()
		r.Start, r.Seconds = &start, float64(d.Last-d.First)/1e9
	}
	b.counts()
	b.window()
	b.rates()
	b.clock()
	r.Overload = b.overload()
	b.metrics()
	b.tail()
	b.stalls()
	b.series()
	b.bracket()
	b.path()
	b.transactions()
	b.checks()
	b.findings()
	b.warnings()
	return r
}

func (b *builder) loop() Loop {
	d := b.d
	if d.ClosedLoop {
		return Closed
	}
	if checks.BlockedShare(d) < 0.01 {
		return Open
	}
	return PartlyClosed
}

func (b *builder) counts() {
	c := b.d.Counts
	o := c.Outcomes
	b.r.Counts = Counts{
		Intended: c.Intended, Attempts: c.Attempts, Sent: c.Sent, Acked: c.Acked,
		Accepted: o[reduce.Accepted], Rejected: o[reduce.Rejected], Released: o[reduce.Released], Modified: o[reduce.Modified],
		Presettled: o[reduce.Presettled], Unsettled: o[reduce.Unsettled], Failed: o[reduce.Failed], Unsent: o[reduce.Unsent],
		Received: c.Received, Lost: c.Lost, Unknown: c.Unknown, Duplicate: c.Duplicate,
		Reordered: c.Reordered, Redelivered: c.Redelivered, Foreign: c.Foreign,
		Resent: c.Resent, Resolved: c.Resolved, Unlogged: o[reduce.Unlogged],
	}
}

func (b *builder) window() {
	w := b.d.Window
	b.r.Warmup = Warmup{Seconds: float64(w.Warmup) / 1e9, N: w.Warm, Source: "none"}
	switch auto := b.d.Auto; {
	case auto != nil && auto.Used:
		b.r.Warmup.Source, b.r.Warmup.Cut = "auto", number(auto.Share)
	case w.Warmup > 0 && w.Warmup == int64(b.d.MarkedWarmup):
		b.r.Warmup.Source = "marked"
	case w.Warmup > 0:
		b.r.Warmup.Source = "given"
	}
	b.r.Selection = Selection{From: float64(w.From) / 1e9, N: w.N}
	if w.To > 0 {
		to := float64(w.To) / 1e9
		b.r.Selection.To = &to
	}
}

func (b *builder) rates() {
	d := b.d.Rates
	r := &b.r.Rates
	r.Offered, r.Sent, r.Acked, r.Received = number(d.Offered), number(d.Sent), number(d.Acked), number(d.Received)
	if b.d.Empty() {
		r.Offered, r.Sent, r.Acked, r.Received = nil, nil, nil, nil
	}
	r.Clients = []Client{}
	senders, receivers := 0, 0
	for _, c := range d.Clients {
		out := Client{Process: c.Process, Index: c.Index, N: c.N, PerS: number(c.PerS)}
		if c.Sender {
			senders++
			out.Name, out.Kind = fmt.Sprintf("S%d", senders), "sender"
		} else {
			receivers++
			out.Name, out.Kind = fmt.Sprintf("R%d", receivers), "receiver"
		}
		r.Clients = append(r.Clients, out)
	}
	if b.d.Size.N() > 0 {
		r.MeanSize = number(b.d.Size.Mean())
	}
}

// number returns nil for what is not a number.
func number(f float64) *float64 {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return nil
	}
	return &f
}

func (b *builder) clock() {
	c := b.d.Clock
	out := &b.r.Clock
	out.Source = "none"
	if c.Arrivals == 0 {
		return
	}
	lowest := c.MinTransit
	out.MinTransit, out.Negative = &lowest, c.Negative
	if c.Unknown > 0 {
		out.Source = "unknown"
		return
	}
	bound := c.Bound
	out.Bound = &bound
	out.Source = b.d.ClockSource
	if out.Source == "" || out.Source == "unknown" {
		out.Source = "log" // the rows carry a bound, the log does not say from where
	}
}

func (b *builder) metrics() {
	for _, m := range reduce.Metrics() {
		b.r.Metrics = append(b.r.Metrics, b.metric(m))
	}
}

func (b *builder) metric(m reduce.Metric) Metric {
	in := b.d.Metrics[m]
	out := Metric{Name: m.String()}
	if in.Distribution == nil {
		return out
	}
	out.N, out.Infinite, out.Negative = in.N(), in.Infinite(), in.Negative
	if in.Finite() > 0 {
		lowest, highest := in.Min(), in.Max()
		out.Min, out.Max, out.Mean, out.StdDev = &lowest, &highest, number(in.Mean()), number(in.StdDev())
	}
	for _, q := range in.Quantiles {
		out.Quantiles = append(out.Quantiles, b.quantile(m, q, in.Finite() > 0))
	}
	return out
}

// quantile decides what may be said about a quantile.
func (b *builder) quantile(m reduce.Metric, q stats.Quantile, finite bool) Quantile {
	out := Quantile{P: q.Percentile.String(), Events: q.Events()}
	if q.N > 0 && finite {
		out.Observed = &q.Observed
	}
	if q.HasLow {
		out.Low = &q.LowValue
	}
	if q.HasHigh {
		out.High = &q.HighValue
	}
	switch {
	case q.Status == stats.Infinite:
		out.Status = Infinite
	case b.nonstationary(m):
		out.Status = Nonstationary
	case m.OneWay() && b.withheld(m):
		out.Status = ClockUnknown
	default:
		out.Status = Status(q.Status)
	}
	if q.Status == stats.Low || q.Status == stats.Uncertain {
		out.Needed = number(q.Needed())
	}
	if out.Status == Nonstationary || out.Status == Low || out.Status == OK {
		out.Value = out.Observed
	}
	return out
}

// withheld reports whether a one-way metric says more about the clocks than
// about messages: the bound is unknown, or above a quarter of the median (C16).
func (b *builder) withheld(m reduce.Metric) bool {
	c := b.d.Clock
	if c.Arrivals == 0 || c.Unknown > 0 {
		return c.Unknown > 0
	}
	if c.Bound == 0 {
		return false
	}
	median, infinite, ok := b.d.Metrics[m].Approx(stats.MustPercentiles("50")[0])
	return ok && !infinite && float64(c.Bound) > 0.25*float64(median)
}

// nonstationary reports whether a metric is of an overloaded part of the run.
func (b *builder) nonstationary(m reduce.Metric) bool {
	o := b.r.Overload
	if o == nil {
		return false
	}
	switch m {
	case reduce.Response, reduce.Service, reduce.Blocked:
		return o.Side == "send"
	case reduce.E2E, reduce.Handled:
		return true
	case reduce.Transit, reduce.Queued:
		return o.Side == "receive"
	}
	return false
}

func (b *builder) tail() {
	t := b.d.Tail
	if t.N == 0 && t.Infinite == 0 {
		return
	}
	out := &Tail{Above: t.Above, N: t.N, Infinite: t.Infinite, Response: t.Response, Lag: t.Lag, Service: t.Service, Blocked: map[string]float64{}}
	for _, w := range reduce.Waits() {
		if t.Blocked[w] != 0 {
			out.Blocked[w.String()] = t.Blocked[w]
		}
	}
	b.r.Tail = out
}

// Limits of overload (check C7).
const (
	overloaded  = 0.01
	leastExcess = 10 // messages a quarter: below, a deficit is noise
)

// overload reports that a paced run did not keep up: in both of the last two
// quarters of the intended time at least a hundredth more went in than out. A
// backlog that is there at the end only (a stall, a broker that died) is none,
// nor is a broker that answers nothing at all.
func (b *builder) overload() *Overload {
	if b.d.ClosedLoop {
		return nil
	}
	if grows(b.d.Backlog) {
		return growth("send", b.d.Backlog)
	}
	if grows(b.d.Delivery) {
		return growth("receive", b.d.Delivery)
	}
	return nil
}

func grows(s reduce.Stability) bool {
	enough := max(overloaded, leastExcess*2/float64(max(s.In, 1)))
	return s.Valid && s.Out > 0 && s.Deficit > overloaded && s.Quarters[0] > enough && s.Quarters[1] > enough
}

func growth(side string, s reduce.Stability) *Overload {
	o := &Overload{Side: side, Capacity: s.Capacity, Backlog: s.Slope}
	o.Growth = float64(s.In)/float64(s.Out) - 1
	o.Offered = s.Capacity * float64(s.In) / float64(s.Out)
	return o
}

func (b *builder) series() {
	in := &b.d.Series
	b.r.Series = Series{
		Interval: in.Width, N: in.Len(),
		Intended: in.Intended, Sent: in.Sent, Acked: in.Acked, Received: in.Received,
		InFlight: in.InFlight, InBroker: in.InBroker,
		Response: lines(in.Response), Service: lines(in.Service), E2E: lines(in.E2E),
	}
}

func lines(in []reduce.Interval) *LatencyLines {
	if in == nil {
		return nil
	}
	out := &LatencyLines{}
	for _, i := range in {
		out.N = append(out.N, i.N)
		for _, c := range []struct {
			to *[]*int64
			v  int64
		}{{&out.P50, i.P50}, {&out.P99, i.P99}, {&out.P999, i.P999}, {&out.Max, i.Max}} {
			var p *int64
			if i.N > 0 && c.v != reduce.Infinity {
				p = &c.v
			}
			*c.to = append(*c.to, p)
		}
	}
	return out
}

// config finds a flag of the sender, for advice and findings only.
func (b *builder) config(flag string) string {
	var c map[string]any
	if err := json.Unmarshal(b.r.Config, &c); err != nil {
		return ""
	}
	v, ok := c[flag]
	if !ok {
		v = c[strings.ReplaceAll(flag, "-", "_")]
	}
	switch v := v.(type) {
	case string:
		return v
	case float64:
		return fmt.Sprintf("%.0f", v)
	}
	return ""
}
