package recorder

import (
	"fmt"
	"time"

	"amqpperf/format"
)

// tick is the ticker's goroutine: it collects what lies in lanes and side
// tables, asks for provisional rows and has everything flushed, whatever the
// rate. It is not the writer, because the callbacks may take locks that a lane
// holds while it waits for the writer.
func (r *Recorder[R]) tick() {
	defer close(r.ticked)
	t := time.NewTicker(r.opts.FlushEvery)
	defer t.Stop()
	var lastClock int64
	for first := true; ; first = false {
		now := r.opts.Clock.Now()
		if first || now-lastClock >= int64(r.opts.ClockEvery) {
			lastClock = now
			r.side.addClock(hostClock(r.opts.Clock))
		}
		r.flushLanes()
		r.noteBlocked()
		r.handSide()
		r.q.give(item[R]{flush: true})
		if r.askProvisional(now - int64(r.opts.ProvisionalAfter)) {
			r.q.give(item[R]{flush: true})
		}
		select {
		case <-t.C:
		case <-r.quit:
			return
		}
	}
}

func (r *Recorder[R]) snapshot() []*Lane[R] {
	r.lanes.Lock()
	defer r.lanes.Unlock()
	return r.lanes.list[:len(r.lanes.list):len(r.lanes.list)] // only ever appended to
}

func (r *Recorder[R]) flushLanes() {
	for _, l := range r.snapshot() {
		l.flush()
	}
}

// askProvisional reports whether any lane may have emitted rows. A pipe has no
// place for them: its reader sees finished rows only.
func (r *Recorder[R]) askProvisional(olderThan int64) bool {
	if !r.sink.wantsProvisional() {
		return false
	}
	asked := false
	for _, l := range r.snapshot() {
		if l.provisional != nil {
			asked = true
			l.askProvisional(olderThan)
		}
	}
	return asked
}

// handSide hands the rows of side tables to the writer.
func (r *Recorder[R]) handSide() {
	for _, b := range r.side.take() {
		r.q.give(item[R]{table: b})
	}
}

// noteBlocked records how long lanes have waited since it was last called.
func (r *Recorder[R]) noteBlocked() {
	ns, _ := r.q.blocked()
	if ns == r.noted {
		return
	}
	d := time.Duration(ns - r.noted)
	r.noted = ns
	r.side.addEvent(Event{
		At: r.opts.Clock.Now(), Kind: EventKind, Connection: format.Null32,
		Text: fmt.Sprintf("appending rows waited %v for the log to be written", d),
	})
}
