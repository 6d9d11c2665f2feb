package broker_test

import (
	"bytes"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/go-amqp"

	"amqpperf/internal/amqp/broker"
)

// bubble runs a test in virtual time.
func bubble(t *testing.T, f func(t *testing.T)) {
	t.Helper()
	t.Parallel()
	synctest.Test(t, f)
}

func TestSendAndReceive(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s, r := w.sender("q", nil), w.receiver("q", nil)
		sent := amqp.NewMessage([]byte("hello"))
		sent.Header = &amqp.MessageHeader{Durable: true, Priority: 7, TTL: time.Hour}
		sent.Properties = &amqp.MessageProperties{MessageID: uint64(5), Subject: ptr("s")}
		sent.Annotations = amqp.Annotations{"x-opt-a": "b"}
		sent.ApplicationProperties = map[string]any{"k": int32(1)}
		if err := s.Send(w.ctx, sent, nil); err != nil {
			t.Fatal(err)
		}
		got := w.receive(r)
		w.accept(r, got)
		if string(got.GetData()) != "hello" || got.Header == nil || !got.Header.Durable || got.Header.Priority != 7 || got.Header.TTL != time.Hour ||
			!got.Header.FirstAcquirer || got.Header.DeliveryCount != 0 || *got.Properties.Subject != "s" || got.Properties.MessageID != uint64(5) ||
			got.Annotations["x-opt-a"] != "b" || got.ApplicationProperties["k"] != int32(1) {
			t.Errorf("got %+v, header %+v", got, got.Header)
		}
		synctest.Wait()
		log := w.log()
		if len(log) != 1 {
			t.Fatalf("%d records", len(log))
		}
		rec := log[0]
		if rec.Address != "queue://q" || rec.Outcome != broker.Accepted || string(rec.Body) != "hello" || rec.Deliveries != 1 || rec.Failed != 0 ||
			rec.Arrival == 0 || rec.Start != rec.Arrival || rec.Due != rec.Arrival || rec.Acked != rec.Departure || rec.Delivered < rec.Departure || rec.Settled < rec.Delivered || rec.Link != r.LinkName() {
			t.Errorf("record %+v", rec)
		}
	})
}

func ptr[T any](v T) *T { return &v }

// Large messages cross in frames of the smaller max-frame-size, in both directions.
func TestMultiFrame(t *testing.T) {
	for _, size := range []uint32{512, 16384, 0} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := start(t, broker.Config{MaxFrameSize: size})
				defer w.close()
				conn := w.dial(&amqp.ConnOptions{MaxFrameSize: max(size, 512)})
				ses, err := conn.NewSession(w.ctx, nil)
				if err != nil {
					t.Fatal(err)
				}
				s, err := ses.NewSender(w.ctx, "q", nil)
				if err != nil {
					t.Fatal(err)
				}
				r, err := ses.NewReceiver(w.ctx, "q", nil)
				if err != nil {
					t.Fatal(err)
				}
				for i, n := range []int{1 << 20, 0, 1, 511, 512, 100_000} {
					body := bytes.Repeat([]byte{byte(i), 1, 2, 3, 4, 5, 6}, n/7+1)[:n]
					if err := s.Send(w.ctx, amqp.NewMessage(body), nil); err != nil {
						t.Fatal(err)
					}
					m := w.receive(r)
					if !bytes.Equal(m.GetData(), body) {
						t.Errorf("body of %d bytes came as %d bytes, or changed", n, len(m.GetData()))
					}
					w.accept(r, m)
				}
			})
		})
	}
}

func TestMaxMessageSizeIsAnnounced(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{MaxMessageSize: 100_000})
		defer w.close()
		s := w.sender("q", nil)
		if s.MaxMessageSize() != 100_000 {
			t.Errorf("announced %d", s.MaxMessageSize())
		}
	})
}

// The broker hands out no more than the credit, however much is there.
func TestCredit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s := w.sender("q", nil)
		r := w.receiver("q", &amqp.ReceiverOptions{Credit: -1})
		w.send(s, "1", "2", "3", "4", "5")
		w.nothing(r)
		if err := r.IssueCredit(3); err != nil {
			t.Fatal(err)
		}
		for _, want := range []string{"1", "2", "3"} {
			m := w.receive(r)
			if string(m.GetData()) != want {
				t.Errorf("got %q, want %q", m.GetData(), want)
			}
			w.accept(r, m)
		}
		w.nothing(r)
		if err := r.IssueCredit(5); err != nil {
			t.Fatal(err)
		}
		w.accept(r, w.receive(r), w.receive(r))
		if err := r.DrainCredit(w.ctx, nil); err != nil { // answered by the broker
			t.Errorf("drain: %v", err)
		}
		w.send(s, "6")
		w.nothing(r)
	})
}

// Many more messages than the producer's first credit.
func TestProducerCreditIsRenewed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{Credit: 10})
		defer w.close()
		s := w.sender("q", nil)
		for range 100 {
			w.send(s, "x")
		}
	})
}

func TestMaxQueuedWithholdsCredit(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{Credit: 10, MaxQueued: 20})
		defer w.close()
		s, r := w.sender("q", nil), w.receiver("q", &amqp.ReceiverOptions{Credit: -1})
		done := make(chan int)
		go func() {
			for i := range 60 {
				if s.Send(w.ctx, amqp.NewMessage([]byte("x")), nil) != nil {
					done <- i
					return
				}
			}
			done <- 60
		}()
		time.Sleep(time.Minute)
		select {
		case n := <-done:
			t.Fatalf("%d messages went into a queue of 20", n)
		default:
		}
		if err := r.IssueCredit(60); err != nil {
			t.Fatal(err)
		}
		for range 60 {
			w.accept(r, w.receive(r))
		}
		if n := <-done; n != 60 {
			t.Errorf("%d of 60 sent", n)
		}
	})
}

func TestTTL(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s := w.sender("q", nil)
		m := amqp.NewMessage([]byte("late"))
		m.Header = &amqp.MessageHeader{TTL: 200 * time.Millisecond}
		if err := s.Send(w.ctx, m, nil); err != nil {
			t.Fatal(err)
		}
		w.send(s, "kept")
		time.Sleep(200 * time.Millisecond)
		r := w.receiver("q", nil)
		if m := w.receive(r); string(m.GetData()) != "kept" {
			t.Errorf("got %q", m.GetData())
		}
		if n := w.outcomes()[broker.Expired]; n != 1 {
			t.Errorf("%d expired", n)
		}
	})
}
