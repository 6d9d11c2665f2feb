package timestamp

import (
	"testing"
	"time"
)

func TestClockKeepsToItsAnchor(t *testing.T) {
	t.Parallel()
	c := NewClock()
	a := c.Anchor()
	if a.Gap < 0 || a.Gap > int64(100*time.Millisecond) {
		t.Errorf("gap %v", time.Duration(a.Gap))
	}
	if d := time.Since(time.Unix(0, a.Wall)); d < 0 || d > time.Minute {
		t.Errorf("anchored %v ago", d)
	}
	last := c.Now()
	for range 1000 {
		now := c.Now()
		if now < last {
			t.Fatalf("the clock went back by %d ns", last-now)
		}
		last = now
	}
	if got := c.Time(a.Wall).UnixNano(); got != a.Wall {
		t.Errorf("Time of the anchor is %d, want %d", got, a.Wall)
	}
	if got := c.MonotonicOf(a.Wall); got != a.Monotonic {
		t.Errorf("monotonic of the anchor is %d, want %d", got, a.Monotonic)
	}
}

// TestClocksOfOneHostAgree aligns two clocks the way perf-merge does.
func TestClocksOfOneHostAgree(t *testing.T) {
	t.Parallel()
	a, b := NewClock(), NewClock()
	if a.Anchor().ClockID == 0 {
		t.Skip("this host does not name its monotonic clock")
	}
	if a.Anchor().ClockID != b.Anchor().ClockID {
		t.Fatalf("clock ids %x and %x", a.Anchor().ClockID, b.Anchor().ClockID)
	}
	before := a.MonotonicOf(a.Now())
	mid := b.MonotonicOf(b.Now())
	after := a.MonotonicOf(a.Now())
	bound := a.Anchor().Gap + b.Anchor().Gap
	if mid < before-bound || mid > after+bound {
		t.Errorf("%d is not between %d and %d, bound %d", mid, before, after, bound)
	}
}

func TestWallOffset(t *testing.T) {
	t.Parallel()
	c := NewClock()
	offset, gap := c.WallOffset()
	// Nobody steps the clock of a test machine by a minute within a millisecond.
	if d := time.Duration(offset - c.Anchor().Offset()); d.Abs() > time.Minute || gap < 0 {
		t.Errorf("wall − monotonic moved by %v, gap %d", d, gap)
	}
}

func TestClockIDNeedsABootID(t *testing.T) {
	t.Parallel()
	if clockID("", "time:[1]") != 0 {
		t.Error("a clock without a boot id has an identity")
	}
	if clockID("b", "time:[1]") == clockID("b", "time:[2]") {
		t.Error("two time namespaces are one clock")
	}
}

func BenchmarkNow(b *testing.B) {
	c := NewClock()
	for b.Loop() {
		c.Now()
	}
}
