package reduce

import (
	"amqpperf/internal/analysis/stats"
)

// Data is everything a report needs to know of a run. Instants are ns since the
// Unix epoch, spans ns, unless a name says otherwise. It is not changed after
// Reduce returned it.
type Data struct {
	Run string
	Setup
	Rows     int64 // rows read, of all kinds
	Warnings []string

	First, Last int64 // intended instants of the whole run; equal to 0 when there are no rows
	Window      Selection
	Auto        *AutoWarmup // nil without Options.WarmupAuto
	Counts      Counts
	Rates       Rates
	Metrics     [numMetrics]Metrical
	Waits       [numWaits]int64 // selected messages that were blocked for more than a millisecond, by cause
	Size        stats.Moments   // bodies of the selected messages, bytes

	Series    Series
	Tail      Tail
	Stalls    []Stall
	Backlog   Stability // intended − acked
	Delivery  Stability // intended − received
	Clock     Clock
	Integrity Integrity
	Bracket   Bracket
	Arrivals  Arrivals
	Path      Path
	Side      Side
	// Episodes is how many episodes carry 80 % of the messages above p99.9
	// (those within a second of one another are one), of AllEpisodes.
	Episodes, AllEpisodes int
	// Warmth is what MSER-5 says of the selected responses: what of them is
	// still warm-up.
	Warmth stats.Truncation
}

// Empty reports whether there were no rows.
func (d *Data) Empty() bool { return d.Rows == 0 }

// Selection is what was looked at.
type Selection struct {
	From, To    int64 // spans since Data.First; To 0: to the end
	Warmup      int64 // span since Data.First
	Warm        int64 // messages left out as warm-up
	First, Last int64 // intended instants of the selected messages
	N           int64 // selected messages: primary rows, or arrivals without a send log
}

// Metrical is one metric.
type Metrical struct {
	*stats.Distribution
	// Quantiles stand in the order of Options.Percentiles.
	Quantiles []stats.Quantile
	Negative  int64 // values below zero
}

// Counts are over the whole run. Send-side ones are over primary rows that a
// send log has, received, lost, unknown and reordered over copy 0. A message that
// was re-sent is intended once; outcomes, Sent and Acked count every attempt.
type Counts struct {
	Outcomes  [numOutcomes]int64
	Intended  int64 // messages: first attempts
	Attempts  int64 // the sum of Outcomes but Unlogged
	SentFirst int64 // first attempts that were written
	Sent      int64
	Acked     int64
	Received  int64
	Lost      int64
	Unknown   int64 // unsettled or failed, without arrival
	Resolved  int64 // of these, attempts of messages that arrived by another attempt
	Duplicate int64
	Reordered int64
	// Redelivered counts arrivals, of any copy, that the broker had delivered before.
	Redelivered int64
	// Foreign counts messages without a stamp of ours, from the receive logs' counters.
	Foreign int64
	Resent  int64 // messages with more than one attempt
}

// Rates are in messages per second over the selected messages, each
// (n−1)/(last−first) over the instants that the name says; NaN below two of
// them.
type Rates struct {
	Offered, Sent, Acked, Received float64
	Clients                        []Client
	Producers, Consumers           int
}

// Client is a producer or a consumer.
type Client struct {
	Sender  bool // a producer of a sending process, else a consumer of a receiving one
	Process int32
	Index   int32
	N       int64 // acked (presettled: sent) or received messages
	PerS    float64
	First   int64
	Last    int64
}

// Series are numbers per interval of equal width from Start on. Counts are by
// their own instants, latencies by the intended instant of the message.
type Series struct {
	Start, Width                    int64
	Intended, Sent, Acked, Received []int64
	// InFlight is sent − acked, InBroker sent − received, at the end of each
	// interval; nil when nothing was acked, or received.
	InFlight, InBroker []int64
	Response           []Interval
	Service            []Interval
	E2E                []Interval
	// Heat are the distributions of the same three over time.
	ResponseHeat, ServiceHeat, E2EHeat Heat
	// Parts are where the time of the messages with a finite response went, by
	// their intended instants; nil without any.
	Parts []Parts
	// Bound is the largest bound of the clocks' alignment by received instant,
	// −1 where nothing with a known bound was received; nil if that is all.
	Bound   []int64
	Outside int64 // instants beyond the series
}

// Heat counts values by interval and by step of size: the k-th count of an
// interval is of values from 10^(k/HeatSteps) to 10^((k+1)/HeatSteps) ns, put
// there by the upper edges of buckets 1/256 wide.
type Heat struct {
	Columns         [][]uint32 // nil: no values; a column is as long as it must be
	Below, Infinite int64      // values of 0 and less; messages without an answer
}

// HeatSteps is how many steps of a Heat make a factor of ten.
const HeatSteps = 20

// Parts are the means in ns of one interval: response = lag + blocked + service.
type Parts struct {
	N            int64
	Lag, Service float64
	Blocked      [numWaits]float64 // share of the mean by cause
}

// Len returns the number of intervals.
func (s *Series) Len() int { return len(s.Intended) }

// Interval is a metric in one interval. Quantiles are the upper edges of
// buckets 1/256 wide and at most Max, which is exact; a quantile among infinite
// values is Infinity.
type Interval struct {
	N                   int64
	P50, P99, P999, Max int64
}

// Infinity stands for the latency of a message without an answer.
const Infinity int64 = 1<<63 - 1

// Tail is what the slowest hundredth is made of: the means over the messages
// whose response is above the 99th percentile (above the bucket that holds it,
// 1/1024 wide).
type Tail struct {
	Above    int64 // threshold, ns
	N        int64 // finite messages above it that have all instants
	Infinite int64 // messages without an answer: above everything
	Lag      float64
	Blocked  [numWaits]float64 // share of the mean by cause; they add up to the mean blocked
	Service  float64
	Response float64
}

// Stall is an episode of slow messages, see the package's stalls.go.
type Stall struct {
	Start      int64 // span from Data.First to the first message's intended instant
	Length     int64 // from there to the last completion; to the run's last intended instant if a message had none
	Messages   int64
	Of         int64   // messages intended from the first to the last of these, slow or not
	ShareOfTop float64 // share of the messages above p99.9
	CarriedBy  string  // generator, window, broker or consumer
}

// Stability compares what went in and out over the last half of the selected
// intended time, as check C7 does.
type Stability struct {
	Valid    bool    // enough messages to say something
	In, Out  int64   // in the last half
	Deficit  float64 // (in − out)/in over the last half
	Quarters [2]float64
	Slope    float64 // least squares, messages per second, over the selected intended time
	Capacity float64 // out per second over the last half
}

// Clock is what is known about the alignment of the clocks of an arrival's two sides.
type Clock struct {
	Arrivals   int64 // selected, copy 0
	Unknown    int64 // of these without a bound
	Bound      int64 // the largest bound
	MinTransit int64 // the smallest received − sent; by causality the receiving clock is ahead by at most this
	Negative   int64 // arrivals before they were sent
	Impossible int64 // of these by more than the bound
}

// Integrity is what must be right in a log whose instants and rows are.
type Integrity struct {
	Identity     int64 // largest |response − (lag + blocked + service)|, ns
	Decomposed   int64 // messages that have all of them
	LittleLeft   float64
	LittleRight  float64 // the two sides of Little's identity, messages × seconds
	AckedEarly   int64   // acked before sent
	SentEarly    int64   // sent before intended
	Incomplete   int64   // accepted, but without sent or acked
	Strange      int64   // outcome that the format does not know
	Oldest       int64   // age of the oldest unfinished message at the end of the run; 0: unknown
	Unfinished   int64   // selected messages without an answer
	Answerable   int64   // selected messages that service and response are about
	MaxInFlight  int64   // at the ends of fine intervals: a lower limit
	LastInstant  int64   // the last instant of the log
	ReceiveLog   bool
	OutOfSeries  int64
	NoneExpected int64 // messages taken by the broker that no attached subscription was to get
}
