package perfsend

import (
	"context"
	"fmt"

	"amqpperf/internal/amqp/link"
	"amqpperf/internal/command/connect"
	"amqpperf/internal/load/produce"
	"amqpperf/internal/load/recorder"
	"amqpperf/internal/load/schedule"
)

// connect opens every connection and every link before anything is sent.
func (r *run) connect(ctx context.Context) error {
	var err error
	if r.conns, err = connect.Dial(ctx, r.link, r.connections); err != nil {
		return connect.Explain(ctx, err)
	}
	r.makeProducers()
	r.links = make([]sender, r.producers)
	err = connect.Each(ctx, r.producers, func(ctx context.Context, k int) error {
		p := r.list[k]
		s, err := r.conns[k%r.connections].NewSender(ctx, link.SenderConfig{
			Address: r.address(k), Body: p, Sink: p, MaxPending: r.o.maxPending,
			Durable: r.o.durable, Presettled: r.o.presettled,
		})
		if err != nil {
			return err
		}
		r.links[k] = s
		return r.checkSize(k)
	})
	return connect.Explain(ctx, err)
}

// checkSize compares with the peer's limit, so that the run does not fail at
// its first message.
func (r *run) checkSize(k int) error {
	limit := r.links[k].MaxMessageSize()
	if limit > 0 && uint64(r.o.size) > limit {
		return fmt.Errorf("%s: the broker takes messages of at most %d bytes, -s asks for %d", r.address(k), limit, int64(r.o.size))
	}
	return nil
}

// address returns the address of a producer: neighbours in the schedule go to
// different addresses.
func (r *run) address(k int) string { return r.addresses[k%len(r.addresses)] }

func (r *run) makeProducers() {
	filler := produce.Filler(int32(r.o.size))
	r.list = make([]*produce.Producer, r.producers)
	for k := range r.list {
		lane := &lane{}
		c := produce.Config{
			Run: r.runID, Sender: r.senderID, Producer: int32(k), Destination: r.address(k), Connection: 0,
			Size: int32(r.o.size), Window: r.o.maxPending, Clock: r.clock, Filler: filler,
			Count: schedule.Unbounded, Drain: r.o.drain, Write: lane.write, OnDown: r.lost,
		}
		if r.schedule != nil {
			c.Schedule = schedule.Stripe{Of: r.schedule, K: int64(k), By: int64(r.producers)}
		} else if r.count != schedule.Unbounded {
			c.Count = schedule.Share(r.count, int64(k), int64(r.producers))
		}
		r.list[k] = produce.New(c)
		r.lanes = append(r.lanes, lane)
	}
}

// lane is a recorder's lane that is set once the recorder exists; no row is
// written before.
type lane struct {
	to *recorder.Lane[recorder.SendRow]
}

func (l *lane) write(row *recorder.SendRow) { l.to.Append(row) }

// disconnect closes everything. The log is closed by then.
func (r *run) disconnect() {
	if err := connect.Close(r.links, r.conns); err != nil && r.failure == nil && !r.o.live.Quiet {
		fmt.Fprintf(r.env.Stderr, "%s: while closing: %v\n", tool, err)
	}
}
