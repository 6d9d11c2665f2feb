//go:build !linux

package recorder

import "os"

// hostClock returns a row about the host's clock: wall − monotonic only, there
// is no adjtimex(2) outside Linux.
func hostClock(c Clock) ClockRow {
	r := NewClockRow(c.Now())
	r.WallOffset, r.Gap = c.WallOffset()
	return r
}

func widenPipe(*os.File) {}
