package perfrecv

import (
	"context"
	"fmt"

	"amqpperf/internal/command/connect"
	"amqpperf/internal/load/consume"
	"amqpperf/internal/load/recorder"
)

// connect opens every connection and every link before anything is counted.
func (r *run) connect(ctx context.Context) error {
	var err error
	if r.conns, err = connect.Dial(ctx, r.link, r.connections); err != nil {
		return connect.Explain(ctx, err)
	}
	r.lines = connect.NewLines(r.link, r.o.link.reconnect, r.conns, r.watch.Reconnected)
	r.begun.Store(r.o.consumer.startDelay == 0)
	r.seats = make([]*seat, r.consumers)
	for k := range r.seats {
		r.seats[k] = &seat{r: r, k: k}
	}
	err = connect.Each(ctx, r.consumers, func(ctx context.Context, k int) error {
		l, err := r.seats[k].attach(ctx, r.lines.Conn(r.seats[k].connection()), 0)
		if err == nil {
			r.seats[k].link = l
		}
		return err
	})
	return connect.Explain(ctx, err)
}

// address returns the address of a consumer.
func (r *run) address(k int) string { return r.addresses[k%len(r.addresses)] }

// makeConsumers makes a consumer and its lane for each link.
func (r *run) makeConsumers() error {
	r.list = make([]*consume.Consumer, r.consumers)
	for k := range r.list {
		var lane *recorder.Lane[recorder.RecvRow]
		runs := r.countRuns()
		c, err := consume.New(consume.Config{
			Consumer: int32(k), Destination: r.address(k), Run: r.runID,
			Credit: r.o.credit, AckEvery: int(r.o.ackEvery), Tx: r.o.link.tx, Foreign: consume.Foreign(r.o.foreign.String()),
			Outcomes: r.o.consumer.outcomes, UndeliverableHere: r.o.consumer.undeliverable, Tempo: r.tempo(r.consumers),
			Clock: r.clock, Group: r.group, Warmup: r.o.warmup, OnSender: r.meet,
			Write: func(row *recorder.RecvRow) {
				runs.add(row.Run)
				lane.Append(row)
			},
		})
		if err != nil {
			return fmt.Errorf("consumer %d: %w", k, err)
		}
		lane = r.rec.NewLane(c.Provisional)
		r.list[k] = c
	}
	return nil
}

// disconnect closes everything. The log is closed by then.
func (r *run) disconnect() {
	conns := r.conns
	if r.lines != nil {
		conns = r.lines.All()
	}
	links := make([]receiver, len(r.seats)) // nil where none was attached
	for k, s := range r.seats {
		links[k], _ = s.get()
	}
	if err := connect.Close(links, conns); err != nil && r.failure == nil && !r.o.live.Quiet {
		fmt.Fprintf(r.env.Stderr, "%s: while closing: %v\n", tool, err)
	}
}
