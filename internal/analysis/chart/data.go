package chart

import "time"

// Caption is the text around a picture. Text is made safe for drawing: control
// characters and letters that the font lacks are replaced, lines that are too
// long are cut with an ellipsis.
type Caption struct {
	Name    string    // name of the run, in the title
	Labels  []string  // such as "build=trunk", below the title
	Start   time.Time // start of the run, shown in UTC; zero: not shown
	Finding string    // what the picture shows, one line
	Stamps  []Stamp   // checks that spoil or qualify the numbers
	Notes   []string  // small print below the picture, a line each
}

// Stamp marks a picture whose numbers a check has put in doubt.
type Stamp struct {
	Level Level
	Text  string // such as "C2 offered rate not reached"
}

// Level is the severity of a stamp.
type Level int

// Levels of stamps.
const (
	Warn Level = iota
	Fail
)

// Point is a sample of a series over time. A Value that is NaN is a gap: the
// line is broken there and nothing is counted; an infinite one is left out,
// counted and noted.
type Point struct {
	Seconds float64 // since the start of the run
	Value   float64 // ns, messages per second or messages
}

// Span is a stretch of time that is shaded behind the data, with its name in
// the legend.
type Span struct {
	Name     string // such as "warm-up" or "stall"
	From, To float64
	// Bar draws a bar at the top in place of the shade, for what would otherwise
	// cover the data: spans of one name are all of one kind.
	Bar bool
}

// Percentiles is the input of the picture of latency by percentile.
type Percentiles struct {
	Caption
	Curves       []Curve // such as service, response and e2e
	Baseline     []Curve // the same metrics of another run; matched by name
	BaselineName string
}

// Curve is the distribution of one metric.
type Curve struct {
	Name   string       // the metric's word: response, service, …
	Points []CurvePoint // in any order
	Marks  []Mark       // the quantiles of the table, with their intervals
	Band   []BandPoint  // bounds around the truth, shaded
	// Infinite is the share of messages without an answer, 0 to 1: their
	// quantiles are infinite and the curve ends before them.
	Infinite float64
}

// CurvePoint is the quantile at 1−p = Tail.
type CurvePoint struct {
	Tail  float64 // 0 < Tail ≤ 1
	Value float64 // ns
}

// BandPoint is an interval at 1−p = Tail.
type BandPoint struct {
	Tail      float64
	Low, High float64 // ns
}

// Mark is one quantile of a table.
type Mark struct {
	Label     string // "99.9"
	Tail      float64
	Value     float64 // ns
	Low, High float64 // ns, the interval; NaN: that limit is unknown
	Uncertain bool    // too few events to headline: hollow, in parentheses
}

// Latency is the input of the picture of one metric over time.
type Latency struct {
	Caption
	Metric       string // the metric's word: response, e2e, …
	Lines        LatencyLines
	Baseline     LatencyLines
	BaselineName string
	Spans        []Span
}

// LatencyLines are quantiles per interval. P999 may be empty.
type LatencyLines struct {
	P50, P99, P999, Max []Point
}

// Rates is the input of the picture of rates over time, messages per second.
type Rates struct {
	Caption
	Lines        RateLines
	Baseline     RateLines
	BaselineName string
	Spans        []Span
}

// RateLines are messages per second in each interval. A line that is empty is
// not in the legend.
type RateLines struct {
	Intended, Sent, Acked, Received []Point
}

// Backlog is the input of the picture of messages under way over time.
type Backlog struct {
	Caption
	Lines        BacklogLines
	Baseline     BacklogLines
	BaselineName string
	Window       float64 // in-flight limit over all producers; 0: no line
	Spans        []Span
}

// BacklogLines are numbers of messages.
type BacklogLines struct {
	InFlight []Point // sent − acked
	InBroker []Point // sent − received
}

// Options say how large a picture is. The zero value is 1600×900 pixels at
// 144 DPI.
type Options struct {
	Width, Height int // pixels
	DPI           int // scales type and lines
}
