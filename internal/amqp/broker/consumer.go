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
	browse    bool
	expelled  bool   // detached by us: its subscription stays
	seen      uint64 // of a browser: messages below this number were looked at
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
	if limit := c.c.b.cfg.MaxUnsettledBytes; limit > 0 && c.c.bytes > 0 && c.c.bytes+int64(m.rec.Size) > limit {
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
		if !c.browse {
			c.st.ready.pushFront(m)
		}
		return
	}
	b.touch(c.c)
	if c.browse {
		if !c.presettle { // only its size matters from here on: the bytes are the original's
			c.unsettled.Put(no, &message{rec: Record{Size: m.rec.Size}})
			c.c.bytes += int64(m.rec.Size)
		}
		return
	}
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
	c.c.bytes += int64(m.rec.Size)
}

// release counts a message out of those that are unsettled on the connection.
func (c *consumer) release(m *message) {
	c.c.bytes -= int64(m.rec.Size)
	if c.c.b.cfg.MaxUnsettledBytes > 0 {
		for k := range c.c.consumers {
			c.c.b.dirtyStore(k.st)
		}
	}
}

// outcome handles a consumer's disposition.
func (c *consumer) outcome(first, last int64, st *wire.State, now int64) {
	var again []*message
	c.unsettled.TakeRange(first, last, func(_ int64, m *message) {
		c.release(m)
		if !c.browse && !c.ends(m, st, now) {
			again = append(again, m)
		}
	})
	c.requeue(again)
}

// ends deals with the outcome of one message; false: it is to be put back.
func (c *consumer) ends(m *message, st *wire.State, now int64) bool {
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
		return false
	}
	return true
}

// requeue puts messages back where they were: at the front, in their order.
func (c *consumer) requeue(ms []*message) {
	for _, m := range slices.Backward(ms) {
		c.st.ready.pushFront(m)
	}
	c.c.b.dirtyStore(c.st)
}

// leave ends a consumer. Its unsettled messages are available to others, each with
// one failed attempt more; those of a subscription that ends are dropped with it.
// closed says that the client has detached it for good.
func (c *consumer) leave(now int64, closed bool) {
	s, b := c.st, c.c.b
	if i := slices.Index(s.browsers, c); i >= 0 {
		s.browsers = slices.Delete(s.browsers, i, i+1)
		c.unsettled.TakeIf(func(_ int64, m *message) bool {
			c.c.bytes -= int64(m.rec.Size)
			return true
		})
		return
	}
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
	c.unsettled.All(func(_ int64, m *message) {
		held = append(held, m)
		c.release(m)
	})
	c.unsettled = endpoint.Outstanding[*message]{}
	if !s.node.topic || len(s.consumers) > 0 || s.durable && !closed {
		for _, m := range held {
			m.rec.Failed++
		}
		c.requeue(held)
		return
	}
	for _, m := range held {
		b.finish(m, Dropped, now)
	}
	s.end(now)
}
