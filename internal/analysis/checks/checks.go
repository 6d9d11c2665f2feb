package checks

import (
	"math"
	"slices"

	"amqpperf/internal/analysis/reduce"
)

// Check is the verdict of one soundness check.
type Check struct {
	ID     string   `json:"id"`
	Name   string   `json:"name"`
	Status Status   `json:"status"`
	Value  *float64 `json:"value"`
	Limit  string   `json:"limit"`
	Advice string   `json:"advice"` // "" unless it is a warning or a failure
	Text   string   `json:"text"`   // the value in words
	// Spoils names what a failed check makes invalid: metrics, or "rates".
	Spoils []string `json:"spoils,omitempty"`
}

// Status is a verdict.
type Status string

// The verdicts; skip means that the data do not allow the check.
const (
	OK   Status = "ok"
	Warn Status = "warn"
	Fail Status = "fail"
	Skip Status = "skip"
)

// Rates is the name of the rates in Check.Spoils.
const Rates = "rates"

// Input is what the checks look at. It is not changed.
type Input struct {
	Data *reduce.Data
	// Overloaded is the verdict of the report: a paced run that the system did
	// not keep up with.
	Overloaded bool
	// HDR is the account of a histogram log; nil: none was written.
	HDR *HDR
	// Comparison is nil unless runs are compared.
	Comparison *Comparison
}

// HDR is the account of a histogram log.
type HDR struct {
	Recorded int64
	Errors   int64 // finite values that it could not take
	// Series is what was read back of each series, without the warm-up.
	Series []HDRSeries
}

// HDRSeries is one series of a histogram log beside the rows it was made from.
type HDRSeries struct {
	Name       string
	N, Rows    int64   // values in its histograms; finite ones of the rows
	Difference float64 // the largest relative difference of a quantile
	At         string  // of which percentile
}

// Comparison is what is known about the power of a comparison of runs.
type Comparison struct {
	RunsA, RunsB int
	// SmallestP is the smallest attainable adjusted p, 0 if unknown.
	SmallestP float64
	// Detectable is the smallest effect that would be found, as a share; 0 if unknown.
	Detectable float64
}

// row is one check of the table.
type row struct {
	id, name, limit, advice string
	spoils                  []string
	run                     func(*Input, *Check)
}

// Run computes all checks in the order of their numbers; none for a run
// without rows.
func Run(in Input) []Check {
	if in.Data == nil || in.Data.Empty() {
		return nil
	}
	var out []Check
	for _, r := range table() {
		c := Check{ID: r.id, Name: r.name, Limit: r.limit}
		r.run(&in, &c)
		if slices.Contains(byJoin(), r.id) {
			c.joined(in.Data)
		}
		if c.Status == Warn || c.Status == Fail {
			c.Advice = r.advice
		}
		switch {
		case c.Status != Fail:
			c.Spoils = nil
		case c.Spoils == nil:
			c.Spoils = r.spoils
		}
		out = append(out, c)
	}
	return out
}

func everything() []string {
	all := []string{Rates}
	for _, m := range reduce.Metrics() {
		all = append(all, m.String())
	}
	return all
}

func oneWay() []string { return []string{"transit", "e2e", "handled"} }

func answered() []string { return []string{"service", "response"} }

func scheduled() []string { return []string{"response", "e2e"} }

// table lists the checks with their limits and what to do. C7, C10, C16 and C23
// spoil nothing that is not marked anyway: an overloaded run's percentiles are
// called not stationary, those among unfinished messages infinite, and uncertain
// ones and one-way ones are withheld.
func table() []row {
	return []row{
		{"C1", "completeness", "lost or duplicate > 0, or a log that did not end cleanly warn; accounting off fail", "quantiles above 1 − loss are infinite; raise --drain and --idle, look for prefetched messages and credit", everything(), completeness},
		{"C2", "offered rate achieved", "> 0.1 % short warn; > 1 % fail", "lower the rate, or use more senders or hosts", scheduled(), offered},
		{"C3", "generator lag", "bracket of a quantile wider than 2 % + 20 us warn; 10 % + 20 us fail; reader busy > 60 % warn, > 85 % fail", "fewer messages per process, more processes or hosts; free a core for the tool", append(scheduled(), "transit"), lag},
		{"C4", "back-pressure", "> 1 % of messages warn; > 20 % fail", "raise --max-pending or the broker's credit, or accept that the number is window over round trip", nil, backPressure},
		{"C5", "window limit", "rate > 0.9 window/RTT warn", "raise --max-pending", nil, window},
		{"C6", "arrival process", "dispersion of ready off by a quarter, or A*² > 1.96 warn; off by half, or > 3.9 fail", "the rate is too high for the pacer's granularity: use more processes or hosts", scheduled(), arrivals},
		{"C7", "stability", "> 0.3 % warn; > 1 % in both of the last quarters fail", "overload: the capacity is the result, percentiles are of this run only; lower the rate", nil, stability},
		{"C8", "warm-up", "d*/n > 25 % warn; > 50 % fail", "use a longer run, or --warmup auto", append(answered(), "transit", "e2e"), warmUp},
		{"C9", "stationarity", "trend p < 0.01 and > 5 %, or a step warn; > 20 %, or a step in the middle half fail", "split the run with --from and --to; look for compaction, collections, neighbours", append(answered(), "transit", "e2e"), stationarity},
		{"C10", "resolution of quantiles", "fewer than 10 events warn; fewer than 5 fail", "use a longer run, or fewer nines with --percentiles", nil, resolution},
		{"C11", "host hiccups", "> 10 % of p99.9, or steal > 0.5 % warn; > 50 %, or > 5 % fail", "give the tool cores of its own, stop what runs beside it", everything(), hiccups},
		{"C12", "CPU headroom of the client", "> 60 % warn; > 85 % fail", "use more client processes or hosts", everything(), headroom},
		{"C13", "clock source", "not read in user space, or > 200 ns a read warn", "use a clock source that needs no system call (tsc, kvm-clock)", nil, clockSource},
		{"C14", "clock synchronisation", "maxerror > 1 ms, or rate off by > 500 ppm warn; ≥ 16 s without probes fail", "repair NTP or PTP, and let the clocks settle before the run", oneWay(), clockSync},
		{"C15", "clock steps", "> 20 us warn; > 1 ms between hosts fail", "repeat the run when the clocks are steady", oneWay(), clockSteps},
		{"C16", "offset between hosts", "bound > 10 % of p50 warn; > 25 % fail", "run sender and receiver on one host, or synchronise and probe the clocks", nil, offset},
		{"C17", "causality", "received before sent warn; by more than the bound, or bound unknown, fail", "the clocks are not aligned: keep the rows, do not use one-way numbers", oneWay(), causality},
		{"C18", "Little's identity", "> 1e-6 warn; > 1e-3, or a message acked before it was sent, fail", "the log is corrupt or was joined wrongly: do not publish", everything(), little},
		{"C19", "decomposition identity", "> 1 ns fail", "a fault in the analysis: report it", everything(), decomposition},
		{"C20", "histogram log", "any record error fail", "the values are beyond what the log can hold, or negative: look at the clocks", nil, histogram},
		{"C21", "null-target floor", "floor > 20 % of the number warn, > 50 % fail; older than 7 days warn", "calibrate again on this host, or use an instrument with a lower floor", append(answered(), "transit", "e2e"), floor},
		{"C22", "merge integrity", "runs, schedules, shares, configurations or times do not fit fail", "the logs are of different runs: join those that belong together", everything(), merge},
		{"C23", "censoring", "unfinished > 0, or a send log that did not end cleanly warn; share above 1 − largest percentile fail", "raise --drain; quantiles among unfinished messages are infinite", nil, censoring},
		{"C24", "retries and settlement", "rejected, released, modified or redelivered > 0 warn", "these messages are not in service and response: look at them on their own", nil, retries},
		{"C25", "power of a comparison", "fewer than 4 runs a side warn", "use more interleaved runs", nil, power},
	}
}

// grade sets a value and the verdict of two limits.
func (c *Check) grade(value, warn, fail float64, text string) {
	c.Text, c.Status = text, OK
	if !math.IsNaN(value) && !math.IsInf(value, 0) {
		c.Value = &value
	}
	switch {
	case value > fail:
		c.Status = Fail
	case value > warn:
		c.Status = Warn
	}
}

// atLeast makes a verdict worse, never better.
func (c *Check) atLeast(s Status) {
	if s == Fail || (s == Warn && c.Status == OK) {
		c.Status = s
	}
}

func (c *Check) skip(why string) { c.Status, c.Text = Skip, why }
