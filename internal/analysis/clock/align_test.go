package clock_test

import (
	"testing"

	"amqpperf/internal/analysis/clock"
	"amqpperf/timestamp"
)

// Two processes of one boot whose wall clocks were 7 ms apart when they
// anchored (a step in between) must agree on an instant after alignment.
func TestAlignSameBoot(t *testing.T) {
	t.Parallel()
	ref := timestamp.Anchor{Wall: 1_000_000_000, Monotonic: 500, Gap: 40, ClockID: 9}
	other := timestamp.Anchor{Wall: 2_007_000_000, Monotonic: 1_000_000_500, Gap: 60, ClockID: 9}
	a := clock.Align(ref, other)
	if a.Source != clock.SameBoot || a.Bound != 100 {
		t.Fatalf("Align = %+v, want same-boot with bound 100", a)
	}
	// other's anchor instant is monotonic 1_000_000_500, which ref calls 2_000_000_000.
	if got := other.Wall + a.Shift; got != 2_000_000_000 {
		t.Errorf("anchor of the other process is at %d on the reference clock, want 2000000000", got)
	}
}

func TestAlignUnknown(t *testing.T) {
	t.Parallel()
	for name, pair := range map[string][2]timestamp.Anchor{
		"other boot": {{Wall: 1, ClockID: 1}, {Wall: 1, ClockID: 2}},
		"no id":      {{Wall: 1}, {Wall: 2}},
		"no anchors": {{}, {}},
	} {
		a := clock.Align(pair[0], pair[1])
		if a.Known() || a.Shift != 0 {
			t.Errorf("%s: Align = %+v, want unknown and no shift", name, a)
		}
	}
}

func TestAlignSameProcess(t *testing.T) {
	t.Parallel()
	a := timestamp.Anchor{Wall: 5, Monotonic: 3, Gap: 10, ClockID: 1}
	if got := clock.Align(a, a); got.Source != clock.SameProcess || got.Bound != 0 || got.Shift != 0 {
		t.Errorf("Align = %+v, want same-process, no shift, bound 0", got)
	}
}
