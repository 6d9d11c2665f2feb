package join

import (
	"errors"
	"io"

	"amqpperf/format"
	"amqpperf/internal/analysis/clock"
	"amqpperf/timestamp"
)

// Live passes the rows of a receive log on as merged rows while it is being
// written: every delivery is an unlogged message, known from its stamp alone,
// and a copy 0, since duplicates are only found when all is there. The
// senders' clocks must stand in the metadata in front of the rows; a sender
// that is not among them has an unknown clock offset.
func Live(log *format.Log, emit func(*format.Merged) error) error {
	in := &input{log: log}
	if err := in.readAnchor(); err != nil {
		return err
	}
	senders, err := log.Meta().Senders()
	if err != nil {
		return err
	}
	l := live{anchor: in.anchor, clocks: map[int32]clock.Alignment{}}
	for _, s := range senders {
		if s.Clock.Gap > 0 {
			l.clocks[s.Sender] = clock.Align(in.anchor, s.Clock)
		}
	}
	var merged format.Merged
	var b format.Recv
	for {
		err := log.Read(&b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		l.convert(&merged, &b)
		if err := emit(&merged); err != nil {
			return err
		}
	}
}

// live makes merged rows of deliveries alone.
type live struct {
	anchor timestamp.Anchor
	clocks map[int32]clock.Alignment // of senders against the receiver
}

func (l *live) convert(m *format.Merged, b *format.Recv) {
	n := b.Len()
	resize(m, n)
	m.Identity = b.Identity
	m.Destination, m.Source, m.Subscription, m.RecvOutcome = b.Destination, b.Destination, b.Subscription, b.Outcome
	m.Outcome.Values, m.Wait.Values = []string{format.Unlogged}, []string{format.WaitNone}
	m.Size, m.Receiver, m.Consumer, m.DeliveryCount, m.RecvConnection = b.Size, b.Receiver, b.Consumer, b.DeliveryCount, b.Connection
	m.BrokerIn, m.Received, m.Started, m.Settled = b.BrokerIn, b.Received, b.Started, b.Settled
	for i := range n {
		m.Outcome.Codes[i], m.Wait.Codes[i], m.Error.Codes[i] = 0, 0, -1
		m.Connection[i], m.Copy[i], m.Primary[i], m.Reordered[i] = 0, 0, true, false
		m.Ready[i], m.Acked[i], m.Bound[i] = format.Null, format.Null, format.Null
		a, ok := l.clocks[b.Sender[i]]
		m.Intended[i], m.Sent[i] = moved(b.Intended[i], a.Shift), moved(b.Sent[i], a.Shift)
		if ok && a.Known() {
			m.Bound[i] = a.Bound
		}
	}
}
