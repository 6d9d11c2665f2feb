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

// A skewed clock shows the offset at once, gains as it was told to, and its timers
// are those of the clock that it was made from.
func TestSkewed(t *testing.T) {
	t.Parallel()
	c := NewClock()
	for _, tt := range []struct {
		offset time.Duration
		ppm    float64
	}{{0, 0}, {3 * time.Millisecond, 20}, {-3 * time.Millisecond, -20}} {
		s := c.Skewed(tt.offset, tt.ppm)
		a := s.Anchor()
		if a.Wall != c.Anchor().Wall+int64(tt.offset) || a.Monotonic != c.Anchor().Monotonic || a.ClockID != c.Anchor().ClockID {
			t.Errorf("anchor %+v of %+v", a, c.Anchor())
		}
		const later = int64(1_000_000_000)
		instant := a.Wall + later + int64(tt.ppm*1000)
		if got, want := s.MonotonicOf(instant), a.Monotonic+later; got < want-1 || got > want+1 {
			t.Errorf("%v: the monotonic clock is %d ns after the anchor, want %d", tt, got-a.Monotonic, later)
		}
		if got, want := s.Time(instant), c.Time(c.Anchor().Wall+later); got.Sub(want).Abs() > 1 {
			t.Errorf("%v: a timer at %v, want %v", tt, got, want)
		}
		before := c.Now()
		now := s.Now()
		after := c.Now()
		skew := func(x int64) int64 { return x + int64(tt.offset) + int64(float64(x-c.Anchor().Wall)*tt.ppm/1e6) }
		if now < skew(before)-1 || now > skew(after)+1 {
			t.Errorf("%v: %d, not within %d and %d", tt, now, skew(before), skew(after))
		}
	}
}
