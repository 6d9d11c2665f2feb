package link

import (
	"fmt"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"amqpperf/format"
	"amqpperf/internal/amqp"
)

// deliver translates a message.
func deliver(id uint64, a arrival) amqp.Delivery {
	d := amqp.Delivery{ID: id, Received: a.at, BrokerIn: brokerIn(a.message.Annotations)}
	if a.message.Header != nil {
		d.DeliveryCount = a.message.Header.DeliveryCount
	}
	if p := a.message.Properties; p != nil && p.ContentType != nil {
		d.ContentType = printable(*p.ContentType)
	}
	d.Stamp, _ = a.message.ApplicationProperties[amqp.StampKey].([]byte)
	d.Body = body(a.message)
	if d.Body == nil && d.ContentType == "" {
		d.ContentType = kindOfBody(a.message)
	}
	return d
}

// body returns the data sections one after the other or the bytes of a binary
// value; nil for any other body.
func body(m *goamqp.Message) []byte {
	switch len(m.Data) {
	case 0:
		b, _ := m.Value.([]byte)
		return b
	case 1:
		return m.Data[0]
	}
	var b []byte
	for _, section := range m.Data {
		b = append(b, section...)
	}
	return b
}

// kindOfBody names a body that is not bytes.
func kindOfBody(m *goamqp.Message) string {
	switch {
	case m.Value != nil:
		return fmt.Sprintf("amqp-value (%T)", m.Value)
	case m.Sequence != nil:
		return "amqp-sequence"
	}
	return "no body"
}

// brokerIn returns the broker's own arrival annotation in ns, format.Null if
// there is none: x-opt-ingress-time (Artemis) or x-opt-rabbitmq-received-time,
// milliseconds since the Unix epoch.
func brokerIn(annotations goamqp.Annotations) int64 {
	for _, key := range []string{"x-opt-ingress-time", "x-opt-rabbitmq-received-time"} {
		switch v := annotations[key].(type) {
		case int64:
			return v * int64(time.Millisecond)
		case uint64:
			return int64(v) * int64(time.Millisecond)
		case time.Time:
			return v.UnixNano()
		}
	}
	return format.Null
}

// unsettled keeps the messages that were handed out, by ID. IDs are added in
// order and leave in about the same, so that a slice from the oldest on will do.
type unsettled struct {
	first    uint64 // ID of messages[0]
	messages []*goamqp.Message
	head     int // messages before it are gone
	count    int
}

// add takes the message with the next ID.
func (u *unsettled) add(id uint64, m *goamqp.Message) {
	if u.count == 0 {
		u.messages, u.head, u.first = u.messages[:0], 0, id
	}
	// IDs of settled deliveries leave gaps.
	for u.first+uint64(len(u.messages)) < id {
		u.messages = append(u.messages, nil)
	}
	if u.head > 1024 && 2*u.head > len(u.messages) {
		rest := copy(u.messages, u.messages[u.head:])
		clear(u.messages[rest:])
		u.messages = u.messages[:rest]
		u.first += uint64(u.head)
		u.head = 0
	}
	u.messages = append(u.messages, m)
	u.count++
}

// remove returns the message with an ID and forgets it; nil if it is not there.
func (u *unsettled) remove(id uint64) *goamqp.Message {
	if id < u.first || id-u.first >= uint64(len(u.messages)) {
		return nil
	}
	i := int(id - u.first)
	m := u.messages[i]
	if m == nil {
		return nil
	}
	u.messages[i] = nil
	u.count--
	for u.head < len(u.messages) && u.messages[u.head] == nil {
		u.head++
	}
	return m
}
