package broker

import (
	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// message is one message in the broker; on a topic, one copy of it.
type message struct {
	rec       Record
	node      *node
	from      *producer
	no        int64 // number on the producer's link
	settled   bool  // sent settled: nobody waits for a disposition
	hasHeader bool
	header    wire.Header
	format    uint32
	txn       *txn        // committed, and it waits for this message's service; nil: none
	expires   int64       // instant; 0: never
	excluded  []*consumer // told us that it is undeliverable there
}

// maxPooled and maxPooledSize bound the messages kept for reuse and their bytes.
const (
	maxPooled     = 4096
	maxPooledSize = 4096
)

// blank is a message with nothing in it but, perhaps, room for bytes.
func (b *Broker) blank() *message {
	n := len(b.pool)
	if n == 0 {
		return new(message)
	}
	m := b.pool[n-1]
	b.pool[n-1] = nil
	b.pool = b.pool[:n-1]
	return m
}

// recycle keeps a message that is finished. The copies of a topic share their
// bytes and are left to the garbage collector.
func (b *Broker) recycle(m *message) {
	if m.node == nil || m.node.topic || len(b.pool) >= maxPooled || cap(m.rec.Message) > maxPooledSize {
		return
	}
	*m = message{rec: Record{Message: m.rec.Message[:0]}}
	b.pool = append(b.pool, m)
}

// newMessage takes a delivery over. It looks at the header section only; the rest
// is passed on as it is.
func (b *Broker) newMessage(d *endpoint.Delivery, arrival int64) (*message, error) {
	m := b.blank()
	m.no, m.settled, m.format = d.No, d.Settled, d.Format
	bare := d.Payload
	if len(bare) > 0 {
		s, rest, err := wire.CutSection(bare)
		if err != nil {
			return nil, err
		}
		if s.Code == wire.CodeHeader {
			if err := m.header.Decode(s.Bytes); err != nil {
				return nil, err
			}
			m.hasHeader, bare = true, rest
		}
	}
	if !d.Owned {
		bare = append(m.rec.Message, bare...)
	}
	m.rec = Record{Size: len(d.Payload), Arrival: arrival, Message: bare, Failed: m.header.DeliveryCount}
	if m.header.TTL.OK {
		m.expires = arrival + int64(m.header.TTL.V)*1e6
	}
	return m, nil
}

// copyFor is the message for one more subscriber; the bytes are shared.
func (m *message) copyFor() *message {
	c := *m
	return &c
}

// head encodes the header section for the next delivery, if there is one to send.
func (m *message) head(b []byte) []byte {
	if !m.hasHeader && m.rec.Failed == 0 {
		return b
	}
	h := m.header
	h.DeliveryCount = m.rec.Failed
	h.FirstAcquirer = m.rec.Deliveries == 0
	return h.Append(b)
}

func (m *message) excludes(c *consumer) bool {
	for _, e := range m.excluded {
		if e == c {
			return true
		}
	}
	return false
}

// fifo is a double-ended queue of messages.
type fifo struct {
	ring []*message // length a power of two, or 0
	head int
	n    int
}

func (q *fifo) at(i int) *message { return q.ring[(q.head+i)&(len(q.ring)-1)] }

func (q *fifo) room() {
	if q.n < len(q.ring) {
		return
	}
	ring := make([]*message, max(16, 2*len(q.ring)))
	for i := range q.n {
		ring[i] = q.at(i)
	}
	q.ring, q.head = ring, 0
}

func (q *fifo) pushBack(m *message) {
	q.room()
	q.ring[(q.head+q.n)&(len(q.ring)-1)] = m
	q.n++
}

func (q *fifo) pushFront(m *message) {
	q.room()
	q.head = (q.head - 1) & (len(q.ring) - 1)
	q.ring[q.head] = m
	q.n++
}

// remove takes out the message at place i; near the front it is cheap.
func (q *fifo) remove(i int) *message {
	m := q.at(i)
	mask := len(q.ring) - 1
	for ; i > 0; i-- {
		q.ring[(q.head+i)&mask] = q.ring[(q.head+i-1)&mask]
	}
	q.ring[q.head] = nil
	q.head = (q.head + 1) & mask
	if q.n--; q.n == 0 && len(q.ring) > 1<<16 {
		q.ring = nil // do not keep the memory of a long backlog
	}
	return m
}
