package perfsend

import (
	"context"
	"errors"
	"fmt"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/link"
	"amqpperf/internal/command/connect"
	"amqpperf/internal/load/produce"
	"amqpperf/internal/load/recorder"
	"amqpperf/internal/load/schedule"
)

// connect opens every connection and every link before anything is sent.
func (r *run) connect(ctx context.Context) error {
	conns, err := connect.Dial(ctx, r.link, r.connections)
	r.lines = connect.NewLines(r.link, r.o.reconnect, conns, r.watch.Reconnected)
	if err != nil {
		return connect.Explain(ctx, err)
	}
	r.sessions = r.o.conn.Sessions()
	r.makeProducers()
	r.links = make([]atomicSender, r.producers)
	err = connect.Each(ctx, r.producers, func(ctx context.Context, k int) error {
		return r.attach(ctx, k, conns[k%r.connections])
	})
	return connect.Explain(ctx, err)
}

// attach attaches the link of a producer.
func (r *run) attach(ctx context.Context, k int, c *link.Conn) error {
	p := r.list[k]
	sections, err := r.sections(p, k)
	if err != nil {
		return err
	}
	session, err := r.sessions.Of(ctx, c)
	if err != nil {
		return err
	}
	o := r.o
	s, err := c.NewSender(ctx, link.SenderConfig{
		Address: r.address(k), Body: p, Sink: p, Sections: sections, BodySection: o.sections.body, MaxPending: o.maxPending,
		Durable: o.sections.durable, Presettled: o.sections.presettled, Session: session,
		Tx: o.tx.size, TxRollback: float64(o.tx.rollback), OnTx: func(tx amqp.Tx) { r.transacted(k, p, tx) },
	})
	if err != nil {
		r.sessions.Forget(c) // it may have gone with the link
		return err
	}
	r.links[k].Store(s)
	return r.checkSize(k)
}

// reattach replaces the link of a producer, for produce.Config.Reconnect.
func (r *run) reattach(ctx context.Context, k int, old produce.Link, cause error) (produce.Link, error) {
	var refused *link.Error
	if errors.As(cause, &refused) && refused.Condition == link.CondTooLarge {
		return nil, cause // it would be too large for any other link as well
	}
	_ = old.Close(ctx) // it is gone: this only makes sure that it no longer calls back
	index := k % r.connections
	r.sessions.Forget(r.lines.Conn(index))
	err := r.lines.Restore(ctx, index, cause, func(ctx context.Context, c *link.Conn) error { return r.attach(ctx, k, c) })
	if err != nil {
		return nil, err
	}
	return r.links[k].Load(), nil
}

// checkSize compares with the peer's limit, so that the run does not fail at
// its first message.
func (r *run) checkSize(k int) error {
	limit := r.links[k].Load().MaxMessageSize()
	if limit > 0 && uint64(r.bodies.largest) > limit {
		return fmt.Errorf("%s: the broker takes messages of at most %d bytes, and there are bodies of %d", r.address(k), limit, r.bodies.largest)
	}
	return nil
}

func (r *run) makeProducers() {
	var filler []byte
	if r.bodies.content == nil {
		filler = produce.Filler(int32(r.bodies.largest))
	}
	r.list = make([]*produce.Producer, r.producers)
	for k := range r.list {
		lane := &lane{}
		c := produce.Config{
			Run: r.runID, Sender: r.senderID, Producer: int32(k), Destination: r.address(k), Connection: 0,
			Size: int32(r.bodies.dist.Max()), StampApart: r.o.sections.apart(), Window: r.o.maxPending, Clock: r.clock, Filler: filler,
			Count: schedule.Unbounded, Drain: r.o.drain, Write: lane.write, OnDown: r.lost, Resend: r.o.resend,
		}
		if !r.bodies.fixed() {
			c.SizeOf = func(seq int64) int32 { return r.sizeOf(k, seq) }
		}
		if r.bodies.content != nil {
			c.Content = func(seq int64) []byte { return r.bodies.at(int32(k), seq) }
		}
		if r.o.reconnect.Enabled() {
			c.Reconnect = func(ctx context.Context, old produce.Link, cause error) (produce.Link, error) {
				return r.reattach(ctx, k, old, cause)
			}
		}
		if r.planned != nil {
			c.Schedule = r.schedules[k]
		} else if r.o.count > 0 {
			c.Count = schedule.Share(r.o.count, int64(k), int64(r.producers))
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
	if r.lines == nil {
		return
	}
	links := make([]*link.Sender, len(r.links))
	for k := range links {
		links[k] = r.links[k].Load()
	}
	if err := connect.Close(links, r.lines.All()); err != nil && r.failure == nil && !r.o.live.Quiet {
		fmt.Fprintf(r.env.Stderr, "%s: while closing: %v\n", tool, err)
	}
}
