package link

import (
	"bytes"
	"sync"
	"testing"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/wire"
)

// arrivals of a perf-broker: the messages as they were encoded, header included in Size only.
type kept struct {
	mu   sync.Mutex
	list [][]byte
}

func (k *kept) add(r *broker.Record) {
	k.mu.Lock()
	defer k.mu.Unlock()
	k.list = append(k.list, bytes.Clone(r.Message))
}

// stamped makes sections with a stamp in the application properties.
type stamped struct{ t *testing.T }

func (s stamped) AppendSections(dst []byte, m *amqp.Message) []byte {
	if m.Sent == 0 {
		s.t.Error("sections are made before the message is sent")
	}
	dst = (&wire.Header{Durable: true, Priority: wire.Some(uint8(7))}).Append(dst)
	return (&wire.Message{
		MessageAnnotations: wire.Map{{Key: wire.Symbol("x-opt-test"), Value: int64(m.ID)}},
		Properties:         &wire.Properties{MessageID: uint64(m.ID), Subject: wire.Some("subject")},
		ApplicationProperties: wire.Map{
			{Key: "number", Value: int64(m.Seq)},
			{Key: amqp.StampKey, Value: []byte{1, 2, byte(m.ID)}},
		},
	}).Append(dst)
}

// TestSections: what the sections and the kind of body say arrives, and the stamp is found.
func TestSections(t *testing.T) { bothClients(t, testSections) }

func testSections(t *testing.T) {
	t.Parallel()
	for _, kind := range []BodySection{"", BodyData, BodyValue} {
		log := &kept{}
		u := ownBroker(t, broker.Config{ArrivalLog: log.add}).url
		ctx, address, sink := limit(t), queue(t), newLedger(t)
		c := dial(t, config(t, u), 0)
		s, err := c.NewSender(ctx, SenderConfig{Address: address, Body: numbered{}, Sink: sink, Sections: stamped{t}, BodySection: kind})
		if err != nil {
			t.Fatal(err)
		}
		r, err := c.NewReceiver(ctx, ReceiverConfig{Address: address, Credit: 10})
		if err != nil {
			t.Fatal(err)
		}
		const n = 3
		if err := submitAll(ctx, s, messages(0, n, 300)); err != nil {
			t.Fatal(err)
		}
		for i, d := range take(t, r, n) {
			if id, ok := intact(d.Body); !ok || id != uint64(i) || len(d.Body) != 300 {
				t.Errorf("%q: body of %d bytes, ID %d", kind, len(d.Body), id)
			}
			if !bytes.Equal(d.Stamp, []byte{1, 2, byte(i)}) {
				t.Errorf("%q: stamp % x", kind, d.Stamp)
			}
		}
		if _, err := r.Settle(0, n-1, amqp.Accepted); err != nil {
			t.Fatal(err)
		}
		sink.await(ctx, n)
		if err := r.Close(ctx); err != nil {
			t.Fatal(err)
		}
		log.mu.Lock()
		for i, b := range log.list {
			var m wire.Message
			if err := m.Decode(b); err != nil {
				t.Fatal(err)
			}
			if (kind == BodyValue) != m.Value.OK || (kind == BodyValue) != (len(m.Data) == 0) {
				t.Errorf("%q: value %v, %d data sections", kind, m.Value.OK, len(m.Data))
			}
			if m.Properties == nil || m.Properties.MessageID != uint64(i) || m.Properties.Subject.Or("") != "subject" {
				t.Errorf("%q: properties %+v", kind, m.Properties)
			}
			if v, _ := m.ApplicationProperties.Get("number"); v != int64(i) {
				t.Errorf("%q: application property %v", kind, v)
			}
			if v, _ := m.MessageAnnotations.Get("x-opt-test"); v != int64(i) {
				t.Errorf("%q: annotation %v", kind, v)
			}
		}
		if len(log.list) != n {
			t.Errorf("%q: %d messages left the broker", kind, len(log.list))
		}
		log.mu.Unlock()
	}
}

// TestStampAlone: a stamp in the properties is found though the body is of another kind.
func TestStampAlone(t *testing.T) { bothClients(t, testStampAlone) }

func testStampAlone(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(f *fake) {
		if !f.attach(0) {
			return
		}
		await[*wire.Flow](f)
		for i, value := range []any{"text", []byte{}, nil} {
			f.send(uint32(i), &wire.Message{ApplicationProperties: wire.Map{{Key: amqp.StampKey, Value: []byte("stamp")}}, Value: wire.Some(value)})
		}
		f.finish()
	})
	for i, d := range take(t, fakeReceiver(t, f, 10), 3) {
		if string(d.Stamp) != "stamp" || len(d.Body) != 0 {
			t.Errorf("delivery %d: stamp %q, body %q", i, d.Stamp, d.Body)
		}
	}
}
