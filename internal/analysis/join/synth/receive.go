package synth

import (
	"container/heap"
	"errors"
	"fmt"

	"amqpperf/format"
)

// delivery is a message on its way to a receiver.
type delivery struct {
	message
	sub      int
	received int64
	again    bool
}

// deliveries is a heap by instant.
type deliveries []delivery

func (d deliveries) Len() int           { return len(d) }
func (d deliveries) Less(i, j int) bool { return d[i].received < d[j].received }
func (d deliveries) Swap(i, j int)      { d[i], d[j] = d[j], d[i] }
func (d *deliveries) Push(x any)        { *d = append(*d, x.(delivery)) } //nolint:forcetypeassert // the heap's own
func (d *deliveries) Pop() any {
	last := (*d)[len(*d)-1]
	*d = (*d)[:len(*d)-1]
	return last
}

// writeRecv writes the log of one receiver, in order of receipt.
func (s Spec) writeRecv(name string, receiver int, t *Truth) error {
	meta, err := s.listed(receiver)
	if err != nil {
		return err
	}
	w, err := create(name, format.RecvSchema(), anchor(100+receiver), format.OrderReceived, meta)
	if err != nil {
		return err
	}
	o := &recvOut{w: w, receiver: int32(1000 + receiver), spec: s}
	o.b.Run.Values, o.b.Destination.Values, o.b.Outcome.Values = []string{Run}, []string{s.destination()}, []string{format.Accepted}
	for i := range s.Subscriptions {
		o.b.Subscription.Values = append(o.b.Subscription.Values, subscription(i))
	}
	var waiting deliveries
	for n := range s.Messages {
		m := s.message(n)
		for sub := range max(s.Subscriptions, 1) {
			s.deliver(m, n, sub, receiver, &waiting, t)
		}
		// Whatever comes is at least 300 µs behind its intended instant.
		for len(waiting) > 0 && (!s.Backlog && waiting[0].received < m.intended) {
			o.add(heap.Pop(&waiting).(delivery)) //nolint:forcetypeassert // the heap's own
		}
	}
	for len(waiting) > 0 {
		o.add(heap.Pop(&waiting).(delivery)) //nolint:forcetypeassert // the heap's own
	}
	if err := errors.Join(o.err, w.Write(&o.b)); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Close()
}

func (s Spec) listed(receiver int) (format.Meta, error) {
	meta := format.Meta{}
	if s.Subscriptions == 0 {
		return meta, meta.SetJSON(format.KeySubscriptions, []format.Subscription{{Destination: s.destination(), Attached: Start - 1}})
	}
	var subs []format.Subscription
	for i := range s.Subscriptions {
		if i%s.Receivers == receiver {
			name := subscription(i)
			subs = append(subs, format.Subscription{Destination: s.destination(), Name: &name, Attached: Start - 1})
		}
	}
	return meta, meta.SetJSON(format.KeySubscriptions, subs)
}

func subscription(i int) string { return fmt.Sprintf("c/s%03d", i) }

// deliver puts the deliveries of a message to one subscription on their way.
func (s Spec) deliver(m message, n, sub, receiver int, waiting *deliveries, t *Truth) {
	share := n / (s.Senders * s.Producers) // on a queue receivers compete
	if s.Subscriptions > 0 {
		share = sub
	}
	if share%s.Receivers != receiver {
		return
	}
	if m.lost {
		t.Lost++
		return
	}
	d := delivery{message: m, sub: sub, received: m.sent + 300_000}
	if s.Backlog {
		d.received += int64(s.Messages) * gap
	}
	if s.Lag > 0 && (s.Subscriptions > 0 && sub == s.Subscriptions-1 || s.Subscriptions == 0 && m.producer%2 == 1) {
		d.received += s.Lag
	}
	t.Received++
	heap.Push(waiting, d)
	r := random(uint64(n)*977 + uint64(sub) + 1181783497276652981)
	r.next()
	if s.Duplicate > 0 && r.next()%int64(s.Duplicate) == 0 {
		later := s.Later
		if later == 0 {
			later = 1_000_000 + r.next()*29
		}
		d.received, d.again = d.received+later, true
		t.Duplicate++
		heap.Push(waiting, d)
	}
}

type recvOut struct {
	spec     Spec
	w        *format.ParquetWriter
	b        format.Recv
	receiver int32
	err      error
}

func (o *recvOut) add(d delivery) {
	b := &o.b
	b.Run.Codes = append(b.Run.Codes, 0)
	b.Sender, b.Producer = append(b.Sender, d.sender), append(b.Producer, d.producer)
	b.Seq, b.Attempt = append(b.Seq, d.seq), append(b.Attempt, 0)
	b.Receiver, b.Consumer = append(b.Receiver, o.receiver), append(b.Consumer, int32(d.sub))
	b.Destination.Codes = append(b.Destination.Codes, 0)
	code := int32(-1)
	if o.spec.Subscriptions > 0 {
		code = int32(d.sub)
	}
	b.Subscription.Codes = append(b.Subscription.Codes, code)
	b.Size = append(b.Size, 1024)
	b.Intended, b.Sent = append(b.Intended, d.intended), append(b.Sent, d.sent)
	b.BrokerIn, b.Received = append(b.BrokerIn, format.Null), append(b.Received, d.received)
	b.Started, b.Settled = append(b.Started, d.received+500), append(b.Settled, d.received+3000)
	b.Outcome.Codes = append(b.Outcome.Codes, 0)
	again := int32(0)
	if d.again {
		again = 1
	}
	b.DeliveryCount, b.Connection = append(b.DeliveryCount, again), append(b.Connection, 0)
	if b.Len() == format.BatchRows {
		o.err = errors.Join(o.err, o.w.Write(b))
		truncate(b)
	}
}
