package clock

import "amqpperf/timestamp"

// Source names where the alignment of two clocks comes from.
type Source string

// The sources, from the best to none.
const (
	SameProcess Source = "same-process" // one anchor: nothing to align
	SameBoot    Source = "same-boot"    // through the monotonic clock that both anchors name
	Probes      Source = "probes"       // exchanges between the hosts during the run
	Given       Source = "given"        // --clock HOST=OFFSET±BOUND: as good as whoever said so
	MaxError    Source = "maxerror"     // what both kernels say of their wall clocks
	ByCausality Source = "causality"    // one side only, from the messages; shown, never applied
	Unknown     Source = "unknown"      // another boot or host, and nothing measured between them
)

// rank orders sources from the best to none.
func (s Source) rank() int {
	for i, o := range []Source{SameProcess, SameBoot, Probes, Given, MaxError, ByCausality} {
		if s == o {
			return i
		}
	}
	return 6
}

// Worse returns the worse of two sources: that of a chain of alignments.
func Worse(a, b Source) Source {
	if b.rank() > a.rank() {
		return b
	}
	return a
}

// Alignment moves the instants of one process onto the reference clock.
type Alignment struct {
	// Shift is added to an instant, in ns.
	Shift int64
	// Bound is by how much a shifted instant can be off against one of the
	// reference, in ns; meaningless if Source is Unknown.
	Bound  int64
	Source Source
}

// Known reports whether the alignment has a bound.
func (a Alignment) Known() bool { return a.Source != Unknown }

// Align returns how the instants of a process with anchor a are moved onto the
// clock of a process with anchor ref.
//
// Both anchors of one boot and time namespace name the same monotonic clock:
// instant t happened at monotonic t − a.Offset(), which the reference calls
// t − a.Offset() + ref.Offset(). Each anchor's two readings can be off by its
// gap, so the bound is the sum of both gaps.
func Align(ref, a timestamp.Anchor) Alignment {
	switch {
	case ref == a && ref != (timestamp.Anchor{}):
		return Alignment{Source: SameProcess}
	case ref.ClockID == 0 || ref.ClockID != a.ClockID:
		return Alignment{Source: Unknown}
	}
	return Alignment{Shift: ref.Offset() - a.Offset(), Bound: ref.Gap + a.Gap, Source: SameBoot}
}
