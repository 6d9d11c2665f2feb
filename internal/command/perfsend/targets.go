package perfsend

import (
	"context"
	"errors"
	"net"
	"sync"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/link"
	"amqpperf/internal/load/consume"
	"amqpperf/internal/load/produce"
	"amqpperf/internal/load/recorder"
	"amqpperf/timestamp"
)

// nullLink makes every body and answers within Submit: what is measured with it
// is the tool alone.
type nullLink struct {
	p     *produce.Producer
	clock *timestamp.Clock
	body  []byte
}

// Submit implements produce.Link.
func (l *nullLink) Submit(_ context.Context, messages []amqp.Message) (int, error) {
	now := l.clock.Now()
	for i := range messages {
		m := &messages[i]
		m.Sent, m.Wait = now, amqp.WaitNone
		l.body = l.p.Append(l.body[:0], m)
	}
	answer := [1]amqp.Completion{{First: messages[0].ID, Last: messages[len(messages)-1].ID, State: amqp.Accepted, At: l.clock.Now()}}
	l.p.Completed(answer[:])
	return len(messages), nil
}

// Close implements produce.Link.
func (l *nullLink) Close(context.Context) error { return nil }

// inProcess measures the tool without network and peer.
func (m *meter) inProcess(ctx context.Context) (format.Target, error) {
	return m.both(ctx, func(_ context.Context, p *produce.Producer) (produce.Link, error) {
		return &nullLink{p: p, clock: m.clock}, nil
	})
}

// loopback measures against perf-broker in this process, by way of TCP on the
// loopback interface, with a consumer that takes everything.
func (m *meter) loopback(ctx context.Context) (t format.Target, err error) {
	b, err := broker.New(broker.Config{Now: m.clock.Now})
	if err != nil {
		return t, err
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return t, err
	}
	var serving sync.WaitGroup
	var served error
	serving.Go(func() { served = b.Serve(l) })
	defer func() {
		err = errors.Join(err, b.Close())
		serving.Wait()
		err = errors.Join(err, served)
	}()
	u, err := link.ParseURL("amqp://" + l.Addr().String())
	if err != nil {
		return t, err
	}
	return m.throughBroker(ctx, link.Config{URL: u, Now: m.clock.Now, OnEvent: func(amqp.Event) {}})
}

// throughBroker measures with one producer and one consumer, each on a
// connection of its own.
func (m *meter) throughBroker(ctx context.Context, cfg link.Config) (t format.Target, err error) {
	const address = "queue://calibration"
	conns := [2]*link.Conn{}
	for i := range conns {
		if conns[i], err = link.Dial(ctx, cfg, int32(i)); err != nil {
			return t, err
		}
		defer func() { err = errors.Join(err, conns[i].Close(context.WithoutCancel(ctx))) }()
	}
	in, err := conns[1].NewReceiver(ctx, link.ReceiverConfig{Address: address, Credit: 1000})
	if err != nil {
		return t, err
	}
	arrived := &arrivals{until: m.clock.Now() + int64(m.lasts)}
	group := consume.NewGroup(ctx, m.clock, consume.Limits{}, 1)
	consumer, err := consume.New(consume.Config{
		Destination: address, Credit: 1000, Foreign: consume.ForeignAccept, Clock: m.clock, Group: group, Write: arrived.row,
	})
	if err != nil {
		return t, err
	}
	var consuming sync.WaitGroup
	var consumed error
	consuming.Go(func() { consumed = consumer.Run(in, 0, "") })
	stop := func() {
		group.Stop(consume.StopCount, nil)
		consuming.Wait()
	}
	defer stop()
	t, err = m.both(ctx, func(ctx context.Context, p *produce.Producer) (produce.Link, error) {
		return conns[0].NewSender(ctx, link.SenderConfig{Address: address, Body: p, Sink: p, MaxPending: meterWindow})
	})
	if err != nil {
		return t, err
	}
	stop()
	if consumed != nil {
		return t, consumed
	}
	t.Floors["e2e"], err = arrived.e2e.floor()
	return t, errors.Join(err, in.Close(context.WithoutCancel(ctx)))
}

// arrivals are what was intended before an instant: the paced part.
type arrivals struct {
	until int64
	e2e   values
}

func (a *arrivals) row(row *recorder.RecvRow) {
	if row.Intended < a.until {
		a.e2e = append(a.e2e, row.Received-row.Intended)
	}
}
