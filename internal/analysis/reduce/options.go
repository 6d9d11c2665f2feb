package reduce

import (
	"time"

	"amqpperf/format"
	"amqpperf/internal/analysis/stats"
)

// Rows yields merged rows, in any order. A join of raw logs and an open merged
// log are such.
type Rows interface {
	// Next fills b with the next rows, io.EOF after the last.
	Next(b *format.Merged) error
	// Rewind starts over at the first row.
	Rewind() error
	// Meta is the metadata; it is whole after Next returned io.EOF.
	Meta() format.Meta
}

// Spanner is what Rows may also be: it knows the first intended instant (ns
// since the Unix epoch) before the rows were read.
type Spanner interface {
	FirstIntended() (at int64, ok bool)
}

// Sink takes in every sample in the second pass, those of the warm-up included,
// in the order of the rows; a histogram log is made of them.
type Sink interface {
	// Begin comes once, before the samples. Of the data it may use what the
	// first pass found: setup, counts, the window, the clock.
	Begin(d *Data) error
	// Sample is one finite value in ns of a message with that intended instant.
	// bound is by how much the clocks can have made it wrong.
	Sample(m Metric, intended, v, bound int64)
	// Infinite is a message without an answer or arrival.
	Infinite(m Metric, intended int64)
}

// Options says what to look at. The zero value is the whole run with the
// warm-up that perf-send marked.
type Options struct {
	// Percentiles to compute; none: stats.DefaultPercentiles.
	Percentiles []stats.Percentile
	// Warmup leaves out of metrics and rates what was intended in this time from
	// the first intended instant; nil: what perf.config of the send logs says.
	Warmup *time.Duration
	// WarmupAuto leaves out what MSER-5 finds to be warm-up in the responses of
	// what From and To select, in place of Warmup. It costs one more reading of
	// the rows. When there is no steady part the marked warm-up is used, and a
	// warning says so.
	WarmupAuto bool
	// From and To bound what is looked at, as time since the first intended
	// instant; To 0: to the end. From ≤ intended < To.
	From, To time.Duration
	// Negative counts rejected, released and modified messages in service and
	// response too.
	Negative bool
	// Interval is the width of the series; 0: one second, less for a run below
	// 20 s, more beyond a quarter of an hour.
	Interval time.Duration
	// Sink may be nil.
	Sink Sink

	// inOrder is in place of rowsInOrder, for tests; 0: that.
	inOrder int
	// byRow looks at single rows even where whole columns would do, chunk is in
	// place of chunkRows; for tests.
	byRow bool
	chunk int
}

// window is the selection in instants.
type window struct {
	from, to int64 // looked at: from ≤ intended < to
	warm     int64 // counted from here on
}

func (w window) covers(intended int64) bool  { return intended >= w.from && intended < w.to }
func (w window) selects(intended int64) bool { return intended >= w.warm && w.covers(intended) }
