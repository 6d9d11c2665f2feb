package broker

import "time"

// alarm wakes one goroutine at an instant that others may move.
type alarm interface {
	// set fires the alarm after d (at once if d <= 0), whatever was set before. Not after close.
	set(d time.Duration)
	// wait blocks until the alarm fires; false after close.
	wait() bool
	close()
}

// coarseAlarm uses the runtime's timers.
type coarseAlarm struct {
	t    *time.Timer
	done chan struct{}
}

func newCoarseAlarm() *coarseAlarm {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return &coarseAlarm{t: t, done: make(chan struct{})}
}

func (a *coarseAlarm) set(d time.Duration) { a.t.Reset(max(d, 0)) }

func (a *coarseAlarm) wait() bool {
	select {
	case <-a.t.C:
		return true
	case <-a.done:
		return false
	}
}

func (a *coarseAlarm) close() {
	a.t.Stop()
	close(a.done)
}
