package perfsend

import (
	"context"
	"errors"
	"fmt"

	"amqpperf/format"
	"amqpperf/internal/cli"
	"amqpperf/internal/command/connect"
	"amqpperf/internal/load/live"
	"amqpperf/internal/load/recorder"
	"amqpperf/internal/load/schedule"
)

// record starts the log, with everything in it that is known by now.
func (r *run) record() (*recorder.Recorder[recorder.SendRow], error) {
	meta, err := cli.BaseMeta(tool, r.runID, r.clock, &r.o.run)
	if err != nil {
		return nil, err
	}
	meta[format.KeyOrder] = format.OrderSeq
	if err := meta.SetJSON(format.KeyConfig, r.config()); err != nil {
		return nil, err
	}
	rec, err := recorder.NewSend(recorder.Options{
		Target: r.target.Name, Stdout: r.env.Stdout, Force: r.o.log.Force, Sync: recorder.Sync(r.o.log.Sync.String()), CreatedBy: tool + " version " + cli.Version(),
		Run: r.runID, Process: r.senderID, Meta: meta, Clock: r.clock,
		OnError: func(err error) { r.end(stopError, err) },
	})
	if err != nil {
		return nil, err
	}
	if r.target.Made && !r.o.live.Quiet {
		fmt.Fprintf(r.env.Stderr, "%s: writing %s\n", tool, r.target.Name)
	}
	for k, l := range r.lanes {
		l.to = rec.NewLane(r.list[k].Provisional)
	}
	r.recorder.Store(rec)
	r.clockRows.attach(rec.Clock)
	r.events.Attach(rec.Event)
	r.sample(rec)
	return rec, nil
}

// sample begins with the samples of the log.
func (r *run) sample(rec *recorder.Recorder[recorder.SendRow]) {
	if !r.o.live.Quiet {
		r.watch.Missing(r.env.Stderr, tool)
	}
	r.watch.Connections(r.lines.All())
	for k := range r.links {
		conn, l := int32(k%r.connections), &r.links[k]
		r.watch.Of(conn, "credit_messages", func() int64 { return int64(l.Load().Credit()) })
		r.watch.Of(conn, "unsettled_messages", func() int64 { return int64(l.Load().Pending()) })
		if r.bodies.fixed() { // else nobody has added them up
			size := r.bodies.dist.Max()
			r.watch.Of(conn, "unsettled_bytes", func() int64 { return int64(l.Load().Pending()) * size })
		}
		if r.o.maxPending > 0 {
			r.watch.Of(conn, "window_messages", func() int64 { return int64(r.list[k].Free()) })
		}
	}
	r.watch.Start(rec.Sample)
}

// describe puts the configuration with the final start into the log.
func (r *run) describe(rec *recorder.Recorder[recorder.SendRow]) error {
	meta := format.Meta{}
	if err := meta.SetJSON(format.KeyConfig, r.config()); err != nil {
		return err
	}
	rec.SetMeta(meta)
	return nil
}

// finish closes the log, prints the SUMMARY and decides the exit status.
func (r *run) finish(rec *recorder.Recorder[recorder.SendRow], t *totals) error {
	stopped := r.clock.Now()
	if err := r.watch.Stop(); err != nil {
		rec.Event(recorder.Event{At: stopped, Kind: "error", Connection: format.Null32, Text: err.Error()})
	}
	rec.Event(recorder.Event{At: stopped, Kind: "stop", Connection: format.Null32, Text: r.stop})
	for _, err := range r.clocks.Finish(context.Background()) {
		rec.Event(recorder.Event{At: r.clock.Now(), Kind: "error", Connection: format.Null32, Text: err.Error()})
		fmt.Fprintf(r.env.Stderr, "%s: %v\n", tool, err)
	}
	restore := connect.Frugal()
	err := rec.Close(r.stop, true, counters(&t.sum))
	restore()
	r.mu.Lock()
	failure, early := r.failure, r.early
	r.mu.Unlock()
	switch {
	case r.o.stats.JSON():
		t.final()
	case !r.o.live.Quiet:
		t.summary(err == nil)
	}
	switch {
	case err != nil || failure != nil:
		if errors.Is(err, failure) {
			return err
		}
		return errors.Join(failure, err)
	case r.o.count > 0 && t.sum.Sent-t.sum.Resent < r.expected():
		return &cli.ExitError{Code: cli.ExitUnmet, Err: fmt.Errorf("%d of %d messages were sent", t.sum.Sent-t.sum.Resent, r.expected())}
	case early && (r.o.count > 0 || r.o.duration > 0):
		return &cli.ExitError{Code: cli.ExitUnmet, Err: errors.New("interrupted before the end")}
	case t.sum.Sent == 0 && t.sum.Rows > 0: // the rows say what they waited for
		return &cli.ExitError{Code: cli.ExitUnmet, Err: fmt.Errorf("none of %d messages was sent", t.sum.Rows)}
	}
	return nil
}

// expected returns how many messages -n asked for, or -d allowed of them.
func (r *run) expected() int64 {
	if r.planned != nil && r.planned.whole.N() != schedule.Unbounded {
		return r.planned.whole.N()
	}
	if r.o.duration > 0 {
		return 0 // closed loop: whichever comes first
	}
	return r.o.count
}

// counters returns the totals for perf.counters.
func counters(s *live.Send) map[string]int64 {
	return map[string]int64{
		"rows": s.Rows, "sent": s.Sent, "blocked": s.Blocked, "completed": s.Completed,
		"accepted": s.Accepted, "rejected": s.Rejected, "released": s.Released, "modified": s.Modified,
		"presettled": s.Presettled, "unsettled": s.Unsettled, "failed": s.Failed, "unsent": s.Unsent,
		"stray_answers": s.Stray, "resent": s.Resent, "committed": s.Committed, "rolled_back": s.RolledBack,
	}
}
