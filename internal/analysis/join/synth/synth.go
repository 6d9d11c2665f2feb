// Package synth makes send and receive logs whose accounting is known, of any
// size, for tests and measurements of the join. It is used by those only.
package synth

import (
	"errors"
	"fmt"
	"path/filepath"

	"amqpperf/format"
	"amqpperf/timestamp"
)

// Start is the instant at which the first message is intended.
const Start int64 = 1_790_000_000_000_000_000

// Spec says what the logs look like; the zero values of all but Messages are
// useful.
type Spec struct {
	Messages      int // of all senders together
	Senders       int // logs of senders; 0: 1
	Producers     int // per sender; 0: 100
	Subscriptions int // of a topic; 0: a queue
	Receivers     int // logs of receivers, which take the subscriptions, or the messages of a queue, in turns; 0: 1
	Loss          int // one message of so many is lost; 0: none
	Duplicate     int // one delivery of so many comes a second time; 0: none
	// Later is how much later a duplicate comes, ns; 0: 1 to 500 ms.
	Later int64
	// Lag is by how much the last subscription, or on a queue every second
	// producer, is behind, ns.
	Lag int64
	// Backlog holds all deliveries back until the last message was sent.
	Backlog bool
}

func (s Spec) normal() Spec {
	s.Senders, s.Receivers = max(s.Senders, 1), max(s.Receivers, 1)
	if s.Producers == 0 {
		s.Producers = 100
	}
	return s
}

// Truth is what a join of the logs must find.
type Truth struct{ Intended, Received, Lost, Duplicate int64 }

// random is xorshift64*: the same on every machine.
type random uint64

func (r *random) next() int64 {
	*r ^= *r >> 12
	*r ^= *r << 25
	*r ^= *r >> 27
	return int64(uint64(*r) * 2685821657736338717 >> 40)
}

// gap is the time between two messages of all senders together: 100,000 a second.
const gap = 10_000

// names of the logs.
func (s Spec) sendName(i int) string { return fmt.Sprintf("send%d.parquet", i) }
func (s Spec) recvName(i int) string { return fmt.Sprintf("recv%d.parquet", i) }

// Write writes the logs into a folder and returns their names, send logs first.
func (s Spec) Write(dir string) (names []string, t Truth, err error) {
	s = s.normal()
	for i := range s.Senders {
		name := filepath.Join(dir, s.sendName(i))
		names = append(names, name)
		if err := s.writeSend(name, i, &t); err != nil {
			return nil, t, err
		}
	}
	for i := range s.Receivers {
		name := filepath.Join(dir, s.recvName(i))
		names = append(names, name)
		if err := s.writeRecv(name, i, &t); err != nil {
			return nil, t, err
		}
	}
	return names, t, nil
}

// Run is the run of all logs.
const Run = "0190c5f0-0000-7000-8000-00000000beef"

func anchor(n int) timestamp.Anchor {
	return timestamp.Anchor{Wall: Start + int64(n), Monotonic: int64(n), Gap: 30, ClockID: 7}
}

func (s Spec) destination() string {
	if s.Subscriptions > 0 {
		return "topic://t"
	}
	return "queue://q"
}

// message is one of all senders: number n is the seq-th of its producer.
type message struct {
	sender, producer      int32
	seq                   int64
	intended, sent, acked int64
	lost                  bool
}

func (s Spec) message(n int) message {
	r := random(uint64(n)*2654435761 + 88172645463325252)
	r.next()
	lanes := s.Senders * s.Producers
	lane := n % lanes
	m := message{sender: int32(lane%s.Senders) + 1, producer: int32(lane / s.Senders), seq: int64(n / lanes)}
	m.intended = Start + int64(n)*gap
	m.sent = m.intended + 2_000 + r.next()&0xfff
	m.acked = m.sent + 200_000 + r.next()&0x3ffff
	m.lost = s.Loss > 0 && r.next()%int64(s.Loss) == 0
	return m
}

func (s Spec) writeSend(name string, sender int, t *Truth) error {
	w, err := create(name, format.SendSchema(), anchor(sender), format.OrderSeq, nil)
	if err != nil {
		return err
	}
	b := &format.Send{}
	b.Run.Values, b.Destination.Values = []string{Run}, []string{s.destination()}
	b.Outcome.Values, b.Wait.Values = []string{format.Accepted}, []string{format.WaitNone}
	for n := sender; n < s.Messages; n += s.Senders {
		appendSend(b, s.message(n))
		t.Intended++
		if b.Len() == format.BatchRows {
			if err := w.Write(b); err != nil {
				return errors.Join(err, w.Abort())
			}
			truncate(b)
		}
	}
	if err := w.Write(b); err != nil {
		return errors.Join(err, w.Abort())
	}
	return w.Close()
}

func appendSend(b *format.Send, m message) {
	b.Run.Codes = append(b.Run.Codes, 0)
	b.Sender, b.Producer = append(b.Sender, m.sender), append(b.Producer, m.producer)
	b.Seq, b.Attempt = append(b.Seq, m.seq), append(b.Attempt, 0)
	b.Destination.Codes = append(b.Destination.Codes, 0)
	b.Size = append(b.Size, 1024)
	b.Intended, b.Ready = append(b.Intended, m.intended), append(b.Ready, m.intended+1000)
	b.Sent, b.Acked = append(b.Sent, m.sent), append(b.Acked, m.acked)
	b.Outcome.Codes, b.Wait.Codes = append(b.Outcome.Codes, 0), append(b.Wait.Codes, 0)
	b.Error.Codes = append(b.Error.Codes, -1)
	b.Connection = append(b.Connection, 0)
}

func create(name string, schema *format.Schema, a timestamp.Anchor, order string, meta format.Meta) (*format.ParquetWriter, error) {
	w, err := format.CreateParquet(name, schema, format.ParquetOptions{CreatedBy: "synth"})
	if err != nil {
		return nil, err
	}
	m := format.Meta{format.KeyRun: Run, format.KeyComplete: "true", format.KeyOrder: order}
	if err := m.SetJSON(format.KeyClock, a); err != nil {
		return nil, errors.Join(err, w.Abort())
	}
	w.SetMeta(m)
	w.SetMeta(meta)
	return w, nil
}

func truncate(b format.Batch) {
	for _, column := range b.Columns() {
		switch c := column.(type) {
		case *[]int32:
			*c = (*c)[:0]
		case *[]int64:
			*c = (*c)[:0]
		case *[]bool:
			*c = (*c)[:0]
		case *format.Strings:
			c.Codes = c.Codes[:0]
		}
	}
}
