package report

import (
	"encoding/json"
	"time"

	"amqpperf/internal/analysis/checks"
)

// Schema names the JSON form.
const Schema = "report/1"

// Report is the report of one run. Its JSON form is fixed: fields are only
// added. Spans are ns, rates per second.
type Report struct {
	Schema string            `json:"schema"`
	Run    string            `json:"run"`
	Name   string            `json:"name"`
	Labels map[string]string `json:"labels"`
	// Config is the effective configuration of the sender, Configs that of every
	// process by tool, without repetition.
	Config  json.RawMessage              `json:"config"`
	Configs map[string][]json.RawMessage `json:"configs"`
	Loop    Loop                         `json:"loop"`
	// Start is the first intended instant, Seconds the time from there to the last.
	Start   *time.Time `json:"start"`
	Seconds float64    `json:"seconds"`

	Counts    Counts    `json:"counts"`
	Warmup    Warmup    `json:"warmup"`
	Selection Selection `json:"selection"`
	Rates     Rates     `json:"rates"`
	Metrics   Metrics   `json:"metrics"`
	// Bracket is by metric: only the response has one.
	Bracket map[string]Bracket `json:"bracket"`
	// Path is where deliveries spend their time; null without deliveries.
	Path *Path `json:"path"`
	// Limits say what held each side, the sending one first.
	Limits []Limit `json:"limits"`
	// Invalid names the failed checks by what they spoil: metrics, or "rates".
	Invalid  map[string][]string `json:"invalid"`
	Tail     *Tail               `json:"tail"`
	Overload *Overload           `json:"overload"`
	// Transactions are absent without any.
	Transactions []Transactions `json:"transactions,omitempty"`
	Clock        Clock          `json:"clock"`
	Checks       []Check        `json:"checks"`
	Stalls       []Stall        `json:"stalls"`
	// Findings say in plain sentences what the numbers mean, the first is the one
	// for a title.
	Findings []string `json:"findings"`
	Warnings []string `json:"warnings"`
	Series   Series   `json:"series"`
	// Baseline is the run that this one stands beside.
	Baseline *Report `json:"baseline,omitempty"`

	observed []checks.Observed // what Limits are judged from
}

// Loop is how the sender was driven.
type Loop string

// The loops. A paced run is partly closed when at least a hundredth of its
// messages waited for more than a millisecond before they were written.
const (
	Open         Loop = "open"
	PartlyClosed Loop = "partly-closed"
	Closed       Loop = "closed"
)

// Counts are over the whole run, see reduce.Counts: a message is intended once;
// sent, acked, outcomes, lost and unknown are of its attempts.
type Counts struct {
	Intended    int64 `json:"intended"`
	Attempts    int64 `json:"attempts"`
	Sent        int64 `json:"sent"`
	Acked       int64 `json:"acked"`
	Accepted    int64 `json:"accepted"`
	Rejected    int64 `json:"rejected"`
	Released    int64 `json:"released"`
	Modified    int64 `json:"modified"`
	Presettled  int64 `json:"presettled"`
	Unsettled   int64 `json:"unsettled"`
	Failed      int64 `json:"failed"`
	Unsent      int64 `json:"unsent"`
	Received    int64 `json:"received"`
	Lost        int64 `json:"lost"`
	Unknown     int64 `json:"unknown"`
	Duplicate   int64 `json:"duplicate"`
	Reordered   int64 `json:"reordered"`
	Redelivered int64 `json:"redelivered"`
	Foreign     int64 `json:"foreign"`
	Resent      int64 `json:"resent"`
	Resolved    int64 `json:"resolved"` // of the unknown, attempts of messages that arrived by another attempt
	Unlogged    int64 `json:"unlogged"` // arrived, but in no send log
}

// Warmup is what was left out at the start.
type Warmup struct {
	Seconds float64 `json:"seconds"`
	N       int64   `json:"n"`
	// Source is none, marked (by perf-send), given (--warmup) or auto (MSER-5).
	Source string `json:"source"`
	// Cut is the share of the responses that MSER-5 cut; null unless it was asked to.
	Cut *float64 `json:"cut"`
}

// Selection is what was looked at, in seconds since the first intended instant.
type Selection struct {
	From float64  `json:"from_s"`
	To   *float64 `json:"to_s"` // null: to the end
	N    int64    `json:"n"`    // messages, after warm-up
}

// Rates are in messages per second, null below two messages.
type Rates struct {
	Offered  *float64 `json:"offered_per_s"`
	Sent     *float64 `json:"sent_per_s"`
	Acked    *float64 `json:"acked_per_s"`
	Received *float64 `json:"received_per_s"`
	Clients  []Client `json:"clients"`
	// MeanSize is the mean body in bytes of the messages that were intended.
	MeanSize *float64 `json:"mean_size_bytes"`
}

// Client is one producer or consumer: S1, S2, … R1, R2, …
type Client struct {
	Name    string   `json:"name"`
	Kind    string   `json:"kind"`    // sender or receiver
	Process int32    `json:"process"` // the log's sender or receiver
	Index   int32    `json:"index"`   // the log's producer or consumer
	N       int64    `json:"n"`
	PerS    *float64 `json:"per_s"`
}

// Metric is one metric. Minimum, mean and maximum are over the finite rows.
type Metric struct {
	Name      string
	N         int64 // infinite ones included
	Min, Max  *int64
	Mean      *float64
	StdDev    *float64
	Infinite  int64
	Negative  int64
	Quantiles []Quantile
}

// Quantile is one quantile with what may be said about it.
type Quantile struct {
	P         string // as typed
	Value     *int64 // nil for infinite, clock and uncertain
	Low, High *int64 // limits of the 95 % interval
	Events    int64  // effective events above it
	Observed  *int64 // of the rows
	Status    Status
	Needed    *float64 // factor by which the run must be longer, for low and uncertain
}

// Status says how a quantile may be used; the first that applies.
type Status string

// The statuses.
const (
	Infinite      Status = "infinite"      // too many messages without an answer or arrival
	Nonstationary Status = "nonstationary" // of this run's length only
	ClockUnknown  Status = "clock"         // withheld: the clocks are not aligned well enough
	Uncertain     Status = "uncertain"     // withheld: fewer than 5 effective events
	Low           Status = "low"           // 5 to 10 effective events
	OK            Status = "ok"
)

// Tail is what the messages above p99 of the response are made of, means in ns.
type Tail struct {
	Above    int64              `json:"above_ns"`
	N        int64              `json:"n"`
	Infinite int64              `json:"infinite"`
	Response float64            `json:"response_ns"`
	Lag      float64            `json:"lag_ns"`
	Blocked  map[string]float64 `json:"blocked_ns"` // by wait
	Service  float64            `json:"service_ns"`
}

// Overload is a paced run whose offered rate the system did not keep up with.
type Overload struct {
	Side     string  `json:"side"` // send or receive
	Offered  float64 `json:"offered_per_s"`
	Capacity float64 `json:"capacity_per_s"` // over the last half of the run
	Backlog  float64 `json:"backlog_per_s"`  // messages by which it grows each second
	Growth   float64 `json:"growth"`         // seconds of latency by second of run
}

// Path is where deliveries spend their time: means in ns, null where the logs
// do not have the instants.
type Path struct {
	// ToBroker and FromBroker are before and after the broker's own time of
	// arrival, which is in whole milliseconds and on the broker's clock.
	ToBroker   *float64 `json:"to_broker_ns"`
	FromBroker *float64 `json:"from_broker_ns"`
	// AfterAck is from the acknowledgement to the receipt: how long after the
	// broker had taken a message the consumer got it.
	AfterAck *float64 `json:"after_ack_ns"`
	Queued   *float64 `json:"queued_ns"` // in the consumer's prefetch
	Work     *float64 `json:"work_ns"`
}

// Clock says how one-way latencies came about.
type Clock struct {
	Source string `json:"source"`
	Bound  *int64 `json:"bound_ns"`
	// MinTransit is the smallest received − sent: by causality the receiver's
	// clock is ahead of the sender's by at most this.
	MinTransit *int64 `json:"min_transit_ns"`
	Negative   int64  `json:"negative"`
}

// Check is the verdict of one soundness check.
type Check = checks.Check

// CheckStatus is a verdict.
type CheckStatus = checks.Status

// The verdicts.
const (
	CheckOK   = checks.OK
	CheckWarn = checks.Warn
	CheckFail = checks.Fail
	CheckSkip = checks.Skip
)

// HDR is the account of a histogram log.
type HDR = checks.HDR

// Limit says what held one side of the run.
type Limit = checks.Limit

// Stall is an episode of slow messages; Start counts from the first intended instant.
type Stall struct {
	Start      int64   `json:"start_ns"`
	Length     int64   `json:"length_ns"`
	Messages   int64   `json:"messages"`
	Of         int64   `json:"of"` // messages intended from its first to its last
	ShareOfTop float64 `json:"share_of_top"`
	CarriedBy  string  `json:"carried_by"`
	// Beside is what else the logs have of the same seconds: hiccups, collections,
	// events of connections and links.
	Beside []string `json:"beside"`
}

// Series are numbers per interval, counted from the first intended instant.
// Latencies stand at the message's intended instant; null: no message, or
// infinite.
type Series struct {
	Interval int64         `json:"interval_ns"`
	N        int           `json:"n"`
	Intended []int64       `json:"intended"`
	Sent     []int64       `json:"sent"`
	Acked    []int64       `json:"acked"`
	Received []int64       `json:"received"`
	InFlight []int64       `json:"in_flight"` // at the end of each interval; null: not known
	InBroker []int64       `json:"in_broker"`
	Response *LatencyLines `json:"response"`
	Service  *LatencyLines `json:"service"`
	E2E      *LatencyLines `json:"e2e"`
}

// LatencyLines are quantiles per interval, at most 1/256 above the exact ones;
// the maximum is exact.
type LatencyLines struct {
	N    []int64  `json:"n"`
	P50  []*int64 `json:"p50_ns"`
	P99  []*int64 `json:"p99_ns"`
	P999 []*int64 `json:"p99.9_ns"`
	Max  []*int64 `json:"max_ns"`
}
