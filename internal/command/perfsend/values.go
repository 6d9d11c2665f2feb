package perfsend

import (
	"strconv"

	"amqpperf/internal/load/schedule"
	"amqpperf/internal/load/schedule/text"
)

// parsed is a flag that is read by a function and printed as it was written.
type parsed[T any] struct {
	V     T
	text  string
	read  func(string) (T, error)
	which string // of type, for --help
}

// Set implements pflag.Value.
func (p *parsed[T]) Set(s string) (err error) {
	p.V, err = p.read(s)
	p.text = s
	return err
}

// String implements pflag.Value.
func (p *parsed[T]) String() string { return p.text }

// Type implements pflag.Value.
func (p *parsed[T]) Type() string { return p.which }

// given reports whether the flag was given.
func (p *parsed[T]) given() bool { return p.text != "" }

func segmentsFlag() parsed[[]schedule.Segment] {
	return parsed[[]schedule.Segment]{read: text.ParseShape, which: "segments"}
}

func burstFlag() parsed[schedule.Burst] {
	return parsed[schedule.Burst]{read: text.ParseBurst, which: "phases"}
}

func repeatFlag() parsed[int64] { return parsed[int64]{read: text.ParseRepeat, which: "times"} }

func speedFlag() parsed[schedule.Speed] {
	return parsed[schedule.Speed]{read: text.ParseSpeed, which: "factor"}
}

func shareFlag() parsed[schedule.Part] {
	return parsed[schedule.Part]{read: text.ParseShare, which: "k/n"}
}

func seedFlag() parsed[uint64] {
	return parsed[uint64]{read: func(s string) (uint64, error) { return strconv.ParseUint(s, 10, 64) }, which: "number"}
}
