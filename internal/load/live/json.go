package live

import (
	"encoding/json"
	"math"
	"time"
)

// Schema is the name of what --stats json prints.
const Schema = "stats/1"

// The kinds of objects.
const (
	KindSecond  = "second"  // what happened since the object before
	KindSummary = "summary" // the last one: of the whole run
)

// Stats is one object of --stats json. All times are in ns, durations too.
type Stats struct {
	Schema string `json:"schema"`
	Tool   string `json:"tool"`
	Kind   string `json:"kind"`
	// AtNS is the end of the interval, in ns since the Unix epoch on the tool's
	// clock; ElapsedNS is that since the start.
	AtNS      int64  `json:"at_ns"`
	Time      string `json:"time"` // the same for people: RFC 3339, UTC
	ElapsedNS int64  `json:"elapsed_ns"`
	// IntervalNS is how long the interval of Counts, Rates and Metrics is: about one
	// second, or the whole run.
	IntervalNS int64 `json:"interval_ns"`
	// Warmup tells that the interval began during the warm-up. Counts, Rates and Metrics of
	// such a second are given all the same; the Metrics of the summary leave it out.
	Warmup bool `json:"warmup"`
	// Stop is why the run ended, in the summary only.
	Stop string `json:"stop,omitempty"`
	// Counts are those of the interval, Totals those since the start, Now what is so at
	// the instant. See Send and Recv.
	Counts any              `json:"counts"`
	Totals any              `json:"totals"`
	Now    map[string]int64 `json:"now,omitempty"`
	// Rates are per second.
	Rates map[string]float64 `json:"rates"`
	// Metrics are latencies of messages that came or were answered in the interval, by
	// the names of the reports; without any value, or where the offset of the clocks is
	// not known, there is none.
	Metrics map[string]Latency `json:"metrics"`
}

// Latency is a distribution in short. Minimum, mean and maximum are exact,
// quantiles at most 3.2 % too high: those of the reports come from the rows.
type Latency struct {
	N           int64            `json:"n"`
	MinNS       int64            `json:"min_ns"`
	MeanNS      int64            `json:"mean_ns"`
	MaxNS       int64            `json:"max_ns"`
	QuantilesNS map[string]int64 `json:"quantiles_ns"` // by percentile: "99.9"
}

// NewStats begins an object of a tool about an interval that ended at an instant.
func NewStats(tool, kind string, at time.Time, elapsed, interval time.Duration) *Stats {
	return &Stats{
		Schema: Schema, Tool: tool, Kind: kind, AtNS: at.UnixNano(), Time: at.UTC().Format(time.RFC3339Nano),
		ElapsedNS: int64(elapsed), IntervalNS: int64(interval), Rates: map[string]float64{}, Metrics: map[string]Latency{},
	}
}

// Rate adds n per interval as a rate, rounded to a tenth.
func (s *Stats) Rate(name string, n int64) {
	s.Rates[name] = math.Round(float64(n)/max(1e-9, float64(s.IntervalNS)/1e9)*10) / 10
}

// Metric adds a latency if there are values.
func (s *Stats) Metric(name string, h *Histogram) {
	if h.N() == 0 {
		return
	}
	l := Latency{N: h.N(), MinNS: h.Min(), MeanNS: int64(math.Round(h.Mean())), MaxNS: h.Max(), QuantilesNS: map[string]int64{}}
	for _, q := range quantiles() {
		l.QuantilesNS[q.percent] = h.Quantile(q.p)
	}
	s.Metrics[name] = l
}

// Line returns the object in one line, with its end.
func (s *Stats) Line() ([]byte, error) {
	b, err := json.Marshal(s)
	return append(b, '\n'), err
}
