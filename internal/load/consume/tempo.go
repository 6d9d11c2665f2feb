package consume

import (
	"math/rand/v2"
	"time"

	"amqpperf/internal/load/pace"
	"amqpperf/timestamp"
)

// catchUp is how much lateness of a timer is made up for. What is above is a
// stall of the host: the consumer that is played would have stood still too.
const catchUp = int64(10 * time.Millisecond)

// Tempo slows a consumer down: a time of work on each message, and a limit to how
// many are begun with. The zero value does not.
type Tempo struct {
	Work Work
	// Seed of the times of work; each consumer draws its own from it.
	Seed uint64
	// Interval is the least time between the beginnings of two messages; 0 is no limit.
	Interval time.Duration
	// NewTimer makes the timers that are waited with, up to two for each consumer.
	// It must be set if there is Work or an Interval.
	NewTimer func() (pace.Timer, error)
}

// None reports whether nothing is slowed down.
func (t *Tempo) None() bool { return t.Work.None() && t.Interval <= 0 }

// tempo keeps the times of one consumer. They are computed one from the other
// and not from when a timer has fired, so that a timer that is late by 50 µs each
// time does not make 5 ms of work take 5.05 ms on average: what one message
// got too much the next gets less.
type tempo struct {
	opt      Tempo
	clock    *timestamp.Clock
	rng      *rand.Rand
	toBegin  pace.Timer // interrupted when the run is over
	toFinish pace.Timer // never interrupted: what was begun with is finished

	done  int64 // when the consumer was free, as it happened
	late  int64 // by how much what happens is behind what was computed
	start int64 // of the present message, computed
	slot  int64 // when the rate allows the next one
}

func newTempo(opt Tempo, clock *timestamp.Clock, consumer int32) (t *tempo, err error) {
	t = &tempo{opt: opt, clock: clock, rng: rand.New(rand.NewPCG(opt.Seed, uint64(consumer)))}
	if t.toBegin, err = opt.NewTimer(); err != nil {
		return nil, err
	}
	if t.toFinish, err = opt.NewTimer(); err != nil {
		_ = t.toBegin.Close() // the error above says more
		return nil, err
	}
	return t, nil
}

func (t *tempo) close() {
	_ = t.toBegin.Close() // nothing is kept in a timer
	_ = t.toFinish.Close()
}

// begin waits until the message received at an instant may be begun with; it
// returns early when the run is over.
func (t *tempo) begin(received int64) error {
	now := t.clock.Now()
	if received > t.done {
		t.late = 0 // nothing had to wait for the consumer
	}
	t.start = max(now-t.late, t.slot)
	if err := t.wait(t.toBegin, t.start); err != nil {
		return err
	}
	t.slot = t.start + int64(t.opt.Interval)
	return nil
}

// finish waits until the work on the message is done.
func (t *tempo) finish() error {
	if t.opt.Work.None() {
		return nil
	}
	return t.wait(t.toFinish, t.start+t.opt.Work.draw(t.rng))
}

// wait waits for an instant that was computed and keeps how late it is then.
func (t *tempo) wait(timer pace.Timer, until int64) error {
	if until > t.clock.Now() {
		if err := timer.Wait(until); err != nil {
			return err
		}
	}
	t.done = t.clock.Now()
	t.late = min(max(t.done-until, 0), catchUp)
	return nil
}
