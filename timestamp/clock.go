package timestamp

import (
	"hash/fnv"
	"time"
)

// anchorReads is how many wall/monotonic/wall brackets NewClock tries; the
// tightest is kept, because a read that was interrupted has a wide bracket.
const anchorReads = 64

// Anchor ties the instants of one process to the clocks of its host.
//
// An instant t of the process happened when the host's monotonic clock showed
// Monotonic + (t − Wall). Two processes with equal, non-empty ClockID share
// that monotonic clock, so the second equation aligns them to within the sum
// of both Gap values.
type Anchor struct {
	// Wall is the anchor instant on the wall clock, in ns since the Unix epoch.
	Wall int64 `json:"wall_ns"`
	// Monotonic is the same instant on the host's monotonic clock
	// (CLOCK_MONOTONIC on Linux), in ns since an origin that differs by boot
	// and time namespace.
	Monotonic int64 `json:"monotonic_ns"`
	// Gap is the width of the wall/monotonic/wall bracket in ns: by so much
	// the two readings can be off against each other.
	Gap int64 `json:"gap_ns"`
	// ClockID identifies the monotonic clock: a hash of the boot id and the
	// time namespace. 0 if the host does not tell.
	ClockID uint64 `json:"clock_id"`
	// BootID is the boot id as the host prints it, "" if unknown.
	BootID string `json:"boot_id,omitempty"`
}

// Offset returns wall − monotonic in ns: the number that turns a reading of
// the monotonic clock into an instant of this process.
func (a Anchor) Offset() int64 { return a.Wall - a.Monotonic }

// Clock makes instants: wall time at its anchor, monotonic since.
//
// Subtleness ahead: reading the wall clock for each stamp would be simpler and
// wrong, because NTP may step or slew it in mid-run, and a latency would then
// contain the step. The monotonic clock is still slewed by the kernel (not
// stepped); the once-a-second clock rows of a log record by how much.
//
// A Clock is safe for concurrent use and is not copied: all stamps of one
// process come from one Clock.
type Clock struct {
	base   time.Time // carries Go's monotonic reading of the anchor
	anchor Anchor
	gain   float64 // of a skewed clock, else 0: nanoseconds that it gains in one
}

// NewClock anchors a clock now.
func NewClock() *Clock {
	c := &Clock{}
	boot := bootID()
	best := int64(-1)
	for range anchorReads {
		before := time.Now()
		mono := monotonic()
		gap := int64(time.Since(before))
		if best >= 0 && gap >= best {
			continue
		}
		best = gap
		c.base = before
		c.anchor = Anchor{Wall: before.UnixNano(), Monotonic: mono - gap/2, Gap: gap}
	}
	c.anchor.BootID = boot
	c.anchor.ClockID = clockID(boot, timeNamespace())
	return c
}

// Anchor returns how this clock is tied to the host's clocks.
func (c *Clock) Anchor() Anchor { return c.anchor }

// Now returns the present instant in ns since the Unix epoch. It never goes
// back and costs one read of the monotonic clock (about 35 ns).
func (c *Clock) Now() int64 {
	d := int64(time.Since(c.base))
	if c.gain != 0 {
		d += int64(float64(d) * c.gain)
	}
	return c.anchor.Wall + d
}

// Skewed returns a clock that is ahead of c by offset at the anchor and gains ppm
// microseconds a second from there on: that of a host whose clock is wrong, for
// tests of what is to find that out. Its anchor is the wrong wall clock's, with the
// right reading of the monotonic one.
func (c *Clock) Skewed(offset time.Duration, ppm float64) *Clock {
	s := *c
	s.anchor.Wall += int64(offset)
	s.gain = ppm / 1e6
	return &s
}

// sinceAnchor returns how much later than the anchor an instant of this clock is, in
// ns of the monotonic clock.
func (c *Clock) sinceAnchor(instant int64) int64 {
	d := instant - c.anchor.Wall
	if c.gain != 0 {
		d = int64(float64(d) / (1 + c.gain))
	}
	return d
}

// Time returns the time.Time of an instant of this clock. Timers and deadlines
// made from it follow the monotonic clock, as the instant does.
func (c *Clock) Time(instant int64) time.Time {
	return c.base.Add(time.Duration(c.sinceAnchor(instant)))
}

// WallOffset returns wall − monotonic now, in ns, and the width of the bracket
// in which it was read. Logged once a second it shows steps and slewing of the
// wall clock; compare it with Anchor().Offset().
func (c *Clock) WallOffset() (offset, gap int64) {
	before := time.Now()
	mono := monotonic()
	gap = int64(time.Since(before))
	skew := c.anchor.Wall - c.base.UnixNano()
	return before.UnixNano() + skew - (mono - gap/2), gap
}

// MonotonicOf returns the reading of the host's monotonic clock at an instant
// of this clock.
func (c *Clock) MonotonicOf(instant int64) int64 { return c.anchor.Monotonic + c.sinceAnchor(instant) }

func clockID(boot, namespace string) uint64 {
	if boot == "" {
		return 0
	}
	h := fnv.New64a()
	_, _ = h.Write([]byte(boot + "\x00" + namespace)) // never fails
	return h.Sum64()
}
