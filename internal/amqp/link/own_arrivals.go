package link

import (
	"fmt"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// arrivals are deliveries that wait to be received. Their bodies stand in slabs
// that are used again when the Receive after the one that handed them out begins.
type arrivals struct {
	list []arrived
	head int // those before it were handed out
	slab *slab
	free []*slab
	out  []*slab // of the deliveries handed out last, one entry each
	step int     // bytes of the next slab
}

type arrived struct {
	d amqp.Delivery
	s *slab // nil: no body
}

// slab holds bodies.
type slab struct {
	b    []byte
	used int // deliveries whose bodies are in it
}

const (
	leastSlab = 4 << 10
	mostSlab  = 64 << 10
	// freeSlabs are kept at most; others are garbage.
	freeSlabs = 32
)

func (a *arrivals) len() int { return len(a.list) - a.head }

// room returns the slab for a body of n bytes, which goes to its end.
func (a *arrivals) room(n int) *slab {
	if s := a.slab; s != nil {
		if s.used == 0 {
			s.b = s.b[:0]
		}
		if len(s.b)+n <= cap(s.b) {
			return s
		}
	}
	a.step = min(max(leastSlab, 2*a.step), mostSlab)
	s := (*slab)(nil)
	if k := len(a.free); k > 0 && cap(a.free[k-1].b) >= n {
		s, a.free[k-1] = a.free[k-1], nil
		a.free = a.free[:k-1]
		s.b = s.b[:0]
	} else {
		s = &slab{b: make([]byte, 0, max(n, a.step))}
	}
	if old := a.slab; old != nil && old.used == 0 {
		a.keep(old)
	}
	a.slab = s
	return s
}

// keep keeps a slab for later.
func (a *arrivals) keep(s *slab) {
	if len(a.free) < freeSlabs && cap(s.b) <= maxSpare {
		a.free = append(a.free, s)
	}
}

// add appends a delivery whose body is the last in slab s.
func (a *arrivals) add(d amqp.Delivery, s *slab) {
	if s != nil {
		s.used++
	}
	if a.head > 0 && len(a.list) == cap(a.list) {
		n := copy(a.list, a.list[a.head:])
		clear(a.list[n:])
		a.list, a.head = a.list[:n], 0
	}
	a.list = append(a.list, arrived{d, s})
}

// take hands out what is there and gives up the bodies handed out before.
func (a *arrivals) take(dst []amqp.Delivery) int {
	for i, s := range a.out {
		a.out[i] = nil
		if s.used--; s.used == 0 && s != a.slab {
			a.keep(s)
		}
	}
	a.out = a.out[:0]
	n := min(len(dst), a.len())
	for i := range n {
		w := &a.list[a.head+i]
		dst[i] = w.d
		if w.s != nil {
			a.out = append(a.out, w.s)
		}
		*w = arrived{}
	}
	a.head += n
	if a.head == len(a.list) {
		a.list, a.head = a.list[:0], 0
	}
	return n
}

// arrive takes in a delivery; plane.mu is held.
func (r *ownReceiver) arrive(e *endpoint.Delivery, at int64) {
	d := amqp.Delivery{ID: uint64(e.No), Received: at, BrokerIn: format.Null, Settled: e.Settled}
	if e.Settled {
		r.presettled++
	}
	s := r.queue.room(len(e.Payload)) // more than the body
	start, found := len(s.b), false
	kind := "no body"
	for rest := e.Payload; len(rest) > 0; {
		section, more, err := wire.CutSection(rest)
		if err != nil {
			found, kind = false, "undecodable message"
			break
		}
		rest = more
		switch section.Code {
		case wire.CodeHeader:
			var h wire.Header
			if h.Decode(section.Bytes) == nil {
				d.DeliveryCount = h.DeliveryCount
			}
		case wire.CodeMessageAnnotations:
			d.BrokerIn = ownBrokerIn(section.Value)
		case wire.CodeProperties:
			d.ContentType = r.typeOf(wire.ContentType(section.Bytes))
		case wire.CodeApplicationProperties:
			if stamp := wire.MapBinary(section.Value, amqp.StampKey); stamp != nil && !found {
				s.b = append(s.b, stamp...)
				d.Stamp = s.b[start:len(s.b):len(s.b)]
				start = len(s.b)
			}
		case wire.CodeData:
			s.b = append(s.b, binaryOf(section.Value)...)
			found = true
		case wire.CodeSequence:
			kind = "amqp-sequence"
		case wire.CodeValue:
			if b := binaryOf(section.Value); b != nil {
				s.b = append(s.b, b...)
				found = true
			} else {
				kind = fmt.Sprintf("amqp-value (%T)", wire.NewReader(section.Value).Value())
			}
		}
	}
	if !found {
		s.b = s.b[:start]
		if d.ContentType == "" {
			d.ContentType = kind
		}
		if d.Stamp == nil {
			s = nil
		}
		r.queue.add(d, s)
		return
	}
	d.Body = s.b[start:len(s.b):len(s.b)]
	r.queue.add(d, s)
}

// binaryOf returns the bytes of an encoded binary; nil for anything else.
func binaryOf(value []byte) []byte {
	const bin8, bin32 = 0xa0, 0xb0
	if len(value) == 0 || value[0] != bin8 && value[0] != bin32 {
		return nil
	}
	return wire.NewReader(value).Binary()
}

// typeOf makes a string of a content type, the same one as long as it does not change.
func (r *ownReceiver) typeOf(b []byte) string {
	if string(b) != r.contentType {
		r.contentType = printable(string(b))
	}
	if len(b) == 0 {
		return ""
	}
	return r.contentType
}

// ownBrokerIn is brokerIn for an encoded map.
func ownBrokerIn(annotations []byte) int64 {
	const millisecond = 1_000_000
	for _, key := range [...]string{"x-opt-ingress-time", "x-opt-rabbitmq-received-time"} {
		if v, ok := wire.MapInt(annotations, key); ok {
			return v * millisecond
		}
	}
	return format.Null
}
