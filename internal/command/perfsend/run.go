package perfsend

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"time"

	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
	"amqpperf/internal/command/connect"
	"amqpperf/internal/load/events"
	"amqpperf/internal/load/pace"
	"amqpperf/internal/load/produce"
	"amqpperf/internal/load/recorder"
	"amqpperf/timestamp"
)

// Why a run stopped, as in perf.stop.
const (
	stopCount    = "count"
	stopDuration = "duration"
	stopSignal   = "signal"
	stopError    = "error"
)

// atomicSender is the present link of a producer.
type atomicSender = atomic.Pointer[link.Sender]

// run is one run of the command.
type run struct {
	*layout
	env         *cli.Env
	o           *options
	planned     *planned // nil: closed loop
	bodies      *bodies
	seed        uint64 // of all that is drawn
	connections int
	runID       string
	senderID    int32
	clock       *timestamp.Clock
	link        link.Config
	events      events.Log
	watch       *connect.Watch

	target    connect.Target
	clocks    *connect.ClockPeers
	clockRows clockRows
	lines     *connect.Lines
	sessions  *connect.Sessions
	list      []*produce.Producer
	links     []atomicSender // of the producers, the present ones
	lanes     []*lane
	recorder  atomic.Pointer[recorder.Recorder[recorder.SendRow]]
	pacer     *pace.Pacer
	start     int64

	mu      sync.Mutex
	stop    string // why the run will stop, or has
	early   bool   // it was stopped before its limits
	failure error  // the first that stopped something
	down    int    // producers whose link is gone
	begun   bool
	ended   bool
	endAt   int64 // when that was asked for
	drained context.CancelFunc
}

// run sends, and closes the log whatever happened.
func (r *run) run(ctx context.Context) error {
	r.senderID = rand.Int32()
	var err error
	if r.clocks, err = r.o.clock.New(r.clock, r.clockRows.add); err != nil {
		return err
	}
	defer r.clocks.Finish(ctx)
	if r.target, err = connect.OpenTarget(r.env, &r.o.log, tool, r.clock); err != nil {
		return err
	}
	interrupted, release := r.env.Interruptible(ctx)
	defer release()
	defer r.disconnect()
	if err := r.connect(interrupted); err != nil {
		r.note(err)
		return err
	}
	if err := r.askClocks(ctx); err != nil {
		return err
	}
	timer, err := r.newPacer()
	if err != nil {
		return err
	}
	defer timer()
	if err := r.setStart(); err != nil { // early: there is no log yet
		return err
	}
	rec, err := r.record()
	if err != nil {
		return err
	}
	drain, drained := context.WithCancel(ctx)
	defer drained()
	r.drained = drained
	err = r.setStart() // creating the log took time
	if err == nil {
		err = r.describe(rec)
	}
	if err != nil {
		r.end(stopError, err)
	}
	stopWatching := context.AfterFunc(interrupted, func() { r.end(stopSignal, nil) })
	defer stopWatching()
	r.await(interrupted)
	return r.finish(rec, r.send(drain))
}

// setStart decides when the first message is intended.
func (r *run) setStart() error {
	now := r.clock.Now()
	at, asked := r.o.startAt.From(r.clock.Time(now))
	switch {
	case asked:
		// The wall time that was asked for, in the instants of our clock.
		if r.start = at.UnixNano(); r.start < now {
			return fmt.Errorf("--start-at %s passed %v ago, before all links were open: choose a later time",
				r.o.startAt.String(), time.Duration(now-r.start).Round(time.Millisecond))
		}
	case r.planned == nil:
		r.start = now
	default:
		r.start = now + int64(lead) + int64(r.producers)*int64(leadEach)
	}
	return nil
}

// await waits for the start of a closed loop; in an open one the pacer does.
func (r *run) await(ctx context.Context) {
	if r.planned != nil {
		return
	}
	select {
	case <-time.After(time.Duration(r.start - r.clock.Now())):
	case <-ctx.Done():
	}
}

// send runs the producers to their end and returns what they counted.
func (r *run) send(drain context.Context) *totals {
	measured := r.start + int64(r.o.warmup)
	var wg sync.WaitGroup
	for i, p := range r.list {
		p.Begin(r.start, measured)
		wg.Go(func() {
			if err := p.Run(drain, r.links[i].Load()); err != nil {
				r.note(err)
			}
		})
	}
	if r.pacer != nil {
		r.pacer.Start = r.start
		go r.pace()
	} else if r.o.duration > 0 {
		end := r.start + int64(r.o.duration)
		timer := time.AfterFunc(time.Duration(end-r.clock.Now()), func() { r.endClosed(stopDuration, end) })
		defer timer.Stop()
	}
	r.begin()
	t := newTotals(r)
	live := make(chan struct{})
	var ticker sync.WaitGroup
	ticker.Go(func() { t.tick(live) })
	wg.Wait()
	t.stopped = r.clock.Now()
	close(live)
	ticker.Wait()
	return t
}

// pace hands over the schedule, and after its end lets the producers drain.
func (r *run) pace() {
	_, err := r.pacer.Run(func(run pace.Run) {
		r.split(run, func(k int, run pace.Run) { r.list[k].Offer(run) })
	})
	if err != nil {
		r.note(err)
	}
	r.mu.Lock()
	r.ended = true // what comes now interrupts the drain only
	r.mu.Unlock()
	r.finishAll(r.clock.Now())
}

// finishAll tells the producers that nothing more is intended, and starts the drain.
func (r *run) finishAll(end int64) {
	for _, p := range r.list {
		p.Finish(end)
	}
	time.AfterFunc(r.o.drain, r.drained)
}

// end stops the run before its time. The first reason counts.
func (r *run) end(reason string, err error) {
	if err != nil {
		r.note(err)
	}
	r.endClosed(reason, r.clock.Now())
}

func (r *run) endClosed(reason string, at int64) {
	r.mu.Lock()
	if r.ended {
		r.mu.Unlock()
		return
	}
	r.ended = true
	r.stop = reason
	r.endAt = at
	r.early = reason == stopSignal || reason == stopError
	begun := r.begun
	r.mu.Unlock()
	if begun {
		r.halt(at)
	}
}

// halt lets nothing new be intended from an instant on.
func (r *run) halt(at int64) {
	if r.pacer != nil {
		r.pacer.Stop() // pace goes on to finishAll
		return
	}
	r.finishAll(at)
}

// begin says that the run can be halted, and halts it if it was to end before: its
// links may be gone as soon as they are attached.
func (r *run) begin() {
	r.mu.Lock()
	r.begun = true
	ended, at := r.ended, r.endAt
	r.mu.Unlock()
	if ended {
		r.halt(at)
	}
}

// note keeps the first failure.
func (r *run) note(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.failure = err
	}
}

// lost is told that a producer's link is gone; without any the run ends.
func (r *run) lost(err error) {
	r.mu.Lock()
	r.down++
	all := r.down == r.producers
	r.mu.Unlock()
	if all {
		go r.end(stopError, err) // not under the producer's lock
	}
}
