package broker

import (
	"encoding/binary"
	"slices"

	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// consumer is a link on which a client receives.
type consumer struct {
	c         *conn
	l         *endpoint.Link
	st        *store
	presettle bool
	bytes     int64 // unsettled
	unsettled endpoint.Outstanding[*message]
	drain     bool
	tag       uint64
}

// maxUnwritten is how many encoded bytes may wait for a connection's writer before
// its consumers get nothing more.
const maxUnwritten = 1 << 20

func (c *consumer) can(m *message) bool {
	if c.l.CanSend() != endpoint.WaitNone || c.c.ending {
		return false
	}
	if limit := c.c.b.cfg.MaxUnsettledBytes; limit > 0 && c.bytes > 0 && c.bytes+int64(m.rec.Size) > limit {
		return false
	}
	if m.excluded != nil && m.excludes(c) {
		return false
	}
	if c.c.ep.Pending() >= maxUnwritten {
		c.c.choked = true
		return false
	}
	return true
}

func (c *consumer) deliver(m *message, now int64) {
	b := c.c.b
	b.head = m.head(b.head[:0])
	c.tag++
	binary.BigEndian.PutUint64(b.tag[:], c.tag)
	b.out = endpoint.Message{Tag: b.tag[:], Format: m.format, Settled: c.presettle, Head: b.head, Body: m.rec.Message}
	no, err := c.l.Send(&b.out)
	if err != nil { // only when the peer's frames are too small for anything
		c.c.fail(&wire.Error{Condition: wire.CondInternalError, Description: err.Error()})
		c.st.ready.pushFront(m)
		return
	}
	b.touch(c.c)
	m.rec.Deliveries++
	m.rec.Link = c.l.Name()
	if m.rec.Delivered == 0 {
		m.rec.Delivered = now
	}
	if c.presettle {
		b.finish(m, Presettled, now)
		return
	}
	c.unsettled.Put(no, m)
	c.bytes += int64(m.rec.Size)
}

// outcome handles a consumer's disposition.
func (c *consumer) outcome(first, last int64, st *wire.State, now int64) {
	var again []*message
	c.unsettled.TakeRange(first, last, func(_ int64, m *message) {
		c.bytes -= int64(m.rec.Size)
		switch st.Kind {
		case wire.CodeAccepted:
			c.c.b.finish(m, Accepted, now)
		case wire.CodeRejected:
			c.c.b.finish(m, Rejected, now)
		default: // released, modified; a delivery settled without an outcome had none
			if st.DeliveryFailed {
				m.rec.Failed++
			}
			if st.UndeliverableHere {
				m.excluded = append(m.excluded, c)
			}
			again = append(again, m)
		}
	})
	c.requeue(again)
}

// requeue puts messages back where they were: at the front, in their order.
func (c *consumer) requeue(ms []*message) {
	for _, m := range slices.Backward(ms) {
		c.st.ready.pushFront(m)
	}
	c.c.b.dirtyStore(c.st)
}

// leave ends a consumer. On a queue its unsettled messages are available to others,
// each with one failed attempt more; a subscriber's are dropped with it.
func (c *consumer) leave(now int64) {
	s, b := c.st, c.c.b
	i := slices.Index(s.consumers, c)
	if i < 0 {
		return
	}
	s.consumers = slices.Delete(s.consumers, i, i+1)
	if s.next > i {
		s.next--
	}
	if len(s.consumers) > 0 {
		s.next %= len(s.consumers)
	}
	var held []*message
	c.unsettled.All(func(_ int64, m *message) { held = append(held, m) })
	c.unsettled = endpoint.Outstanding[*message]{}
	if !s.node.topic {
		for _, m := range held {
			m.rec.Failed++
		}
		c.requeue(held)
		return
	}
	s.node.stores = slices.DeleteFunc(s.node.stores, func(o *store) bool { return o == s })
	for _, m := range held {
		b.finish(m, Dropped, now)
	}
	for s.ready.n > 0 {
		b.finish(s.ready.remove(0), Dropped, now)
	}
	s.node.water()
}
