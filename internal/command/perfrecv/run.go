package perfrecv

import (
	"context"
	"math/rand/v2"
	"sync"
	"sync/atomic"

	"amqpperf/format"
	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
	"amqpperf/internal/command/connect"
	"amqpperf/internal/load/consume"
	"amqpperf/internal/load/events"
	"amqpperf/internal/load/probe"
	"amqpperf/internal/load/recorder"
	"amqpperf/timestamp"
)

// receiver is what the command needs of a link, beside what a consumer does.
type receiver interface {
	consume.Link
	Address() link.Address
	Subscription() string // "" on a queue
	Queued() (waiting, unsettled int)
	Credit() int // that the peer has left
	Start()
}

// run is one run of the command.
type run struct {
	env         *cli.Env
	o           *options
	addresses   []string
	consumers   int
	connections int
	runID       string // --run, "" for all
	receiverID  int32
	clock       *timestamp.Clock
	link        link.Config
	events      events.Log
	watch       *connect.Watch
	sessions    *connect.Sessions
	begun       atomic.Bool // the first credit is granted: --start-delay is over

	probes *probe.Server // nil without --clock-listen
	token  probe.Token   // of its questions
	target connect.Target
	conns  []*link.Conn
	lines  *connect.Lines // of conns, and what takes their places
	seats  []*seat
	list   []*consume.Consumer
	group  *consume.Group
	rec    *recorder.Recorder[recorder.RecvRow]
	start  int64

	mu       sync.Mutex
	senders  []format.Sender
	runs     map[string]int64 // rows by run
	counters []*runCounter
	failure  error // the first of a link
	history  []attachment
	away     int // links that are lost and not back
}

// run receives, and closes the log whatever happened.
func (r *run) run(ctx context.Context) error {
	r.receiverID = rand.Int32()
	var err error
	if r.target, err = connect.OpenTarget(r.env, &r.o.log, tool, r.clock); err != nil {
		return err
	}
	r.group = consume.NewGroup(ctx, r.clock, consume.Limits{
		Count: r.o.count, Duration: r.o.duration, Idle: r.o.idle, Wait: r.o.wait, Delay: r.o.consumer.startDelay,
	}, r.consumers)
	interrupted, release := r.env.Interruptible(ctx)
	defer release()
	if err := r.listenClock(); err != nil {
		return err
	}
	defer r.disconnect()
	defer r.closeClock()
	if err := r.connect(interrupted); err != nil {
		r.failure = err
		return err
	}
	if err := r.record(); err != nil {
		return err
	}
	stopWatching := context.AfterFunc(interrupted, func() { r.group.Stop(stopSignal, nil) })
	defer stopWatching()
	remove, err := r.writeReady()
	if err != nil {
		r.group.Stop(consume.StopError, err)
	}
	defer remove()
	return r.finish(r.receive())
}

// receive runs the consumers to their end and returns what they counted.
func (r *run) receive() *totals {
	r.start = r.clock.Now()
	t := newTotals(r)
	var wg, others sync.WaitGroup
	others.Go(r.group.Watch)
	others.Go(r.startLate)
	done := make(chan struct{})
	others.Go(func() { t.tick(done) })
	for i, c := range r.list {
		wg.Go(func() { r.seats[i].consume(c) })
	}
	<-r.group.Context().Done()
	t.stopped = r.clock.Now()
	wg.Wait()
	close(done)
	others.Wait()
	return t
}
