package perfrecv

import (
	"context"
	"fmt"

	"amqpperf/format"
	"amqpperf/internal/amqp/link"
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
	r.links = make([]receiver, r.consumers)
	err = connect.Each(ctx, r.consumers, func(ctx context.Context, k int) error {
		l, err := r.conns[k%r.connections].NewReceiver(ctx, link.ReceiverConfig{
			Address: r.address(k), Credit: r.o.credit, Hold: r.o.consumer.startDelay > 0,
		})
		if err == nil {
			r.links[k] = l
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
			Consumer: int32(k), Destination: r.address(k), Subscription: r.links[k].Subscription(), Run: r.runID,
			Credit: r.o.credit, AckEvery: int(r.o.ackEvery), Foreign: consume.Foreign(r.o.foreign.String()),
			Outcomes: r.o.consumer.outcomes, Tempo: r.tempo(r.consumers),
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

// subscriptions lists what is or was attached, for the log. Consumers that
// compete for a queue are one subscription, which lasts as long as any of them.
func (r *run) subscriptions() []format.Subscription {
	list := make([]format.Subscription, 0, len(r.links))
	queues := map[string]int{}
	for k, l := range r.links {
		s := format.Subscription{Destination: r.address(k), Attached: r.attached, Detached: r.detached[k]}
		name := l.Subscription()
		if name != "" {
			s.Name = &name
			list = append(list, s)
			continue
		}
		i, known := queues[s.Destination]
		switch {
		case !known:
			queues[s.Destination] = len(list)
			list = append(list, s)
		case s.Detached == 0 || list[i].Detached == 0:
			list[i].Detached = 0
		default:
			list[i].Detached = max(list[i].Detached, s.Detached)
		}
	}
	return list
}

// disconnect closes everything. The log is closed by then.
func (r *run) disconnect() {
	if err := connect.Close(r.links, r.conns); err != nil && r.failure == nil && !r.o.live.Quiet {
		fmt.Fprintf(r.env.Stderr, "%s: while closing: %v\n", tool, err)
	}
}
