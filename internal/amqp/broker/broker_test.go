package broker_test

import (
	"bytes"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

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

func TestMessageTooLarge(t *testing.T) {
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

// released comes back unchanged, modified counts if it says so, rejected is gone.
func TestOutcomes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s, r := w.sender("q", nil), w.receiver("q", nil)
		w.send(s, "a")
		count := func(m *amqp.Message) uint32 {
			if string(m.GetData()) != "a" {
				t.Fatalf("got %q", m.GetData())
			}
			if m.Header == nil {
				return 0
			}
			return m.Header.DeliveryCount
		}
		m := w.receive(r)
		if count(m) != 0 {
			t.Errorf("first delivery: count %d", count(m))
		}
		if err := r.ReleaseMessage(w.ctx, m); err != nil {
			t.Fatal(err)
		}
		if m = w.receive(r); count(m) != 0 {
			t.Errorf("after released: count %d", count(m))
		}
		if err := r.ModifyMessage(w.ctx, m, &amqp.ModifyMessageOptions{DeliveryFailed: true}); err != nil {
			t.Fatal(err)
		}
		if m = w.receive(r); count(m) != 1 || m.Header.FirstAcquirer {
			t.Errorf("after modified, failed: count %d, header %+v", count(m), m.Header)
		}
		if err := r.ModifyMessage(w.ctx, m, &amqp.ModifyMessageOptions{}); err != nil {
			t.Fatal(err)
		}
		if m = w.receive(r); count(m) != 1 {
			t.Errorf("after modified, not failed: count %d", count(m))
		}
		if err := r.RejectMessage(w.ctx, m, &amqp.Error{Condition: "x:y"}); err != nil {
			t.Fatal(err)
		}
		w.nothing(r)
		if rec := w.log()[0]; rec.Outcome != broker.Rejected || rec.Deliveries != 4 || rec.Failed != 1 {
			t.Errorf("record %+v", rec)
		}
	})
}

func TestUndeliverableHere(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s, r := w.sender("q", nil), w.receiver("q", &amqp.ReceiverOptions{Credit: 10})
		w.send(s, "a", "b")
		a, b := w.receive(r), w.receive(r)
		if err := r.ModifyMessage(w.ctx, a, &amqp.ModifyMessageOptions{UndeliverableHere: true}); err != nil {
			t.Fatal(err)
		}
		w.accept(r, b)
		w.send(s, "c") // behind the one that this consumer must not get
		c := w.receive(r)
		if string(c.GetData()) != "c" {
			t.Errorf("got %q", c.GetData())
		}
		w.accept(r, c)
		other := w.receiver("q", nil)
		if m := w.receive(other); string(m.GetData()) != "a" {
			t.Errorf("other consumer got %q", m.GetData())
		}
	})
}

// Released messages go to the front in their order, before what was behind them.
func TestRequeueKeepsOrder(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s := w.sender("q", nil)
		w.send(s, "0", "1", "2", "3", "4", "5")
		first := w.receiver("q", &amqp.ReceiverOptions{Credit: -1})
		if err := first.IssueCredit(4); err != nil {
			t.Fatal(err)
		}
		for range 4 {
			w.receive(first)
		}
		if err := first.Close(w.ctx); err != nil { // 0 to 3 unsettled
			t.Fatal(err)
		}
		r := w.receiver("q", nil)
		for i := range 6 {
			m := w.receive(r)
			count := uint32(0)
			if m.Header != nil {
				count = m.Header.DeliveryCount
			}
			want := uint32(0)
			if i < 4 {
				want = 1
			}
			if string(m.GetData()) != fmt.Sprint(i) || count != want {
				t.Errorf("message %d: %q, delivery-count %d of %d", i, m.GetData(), count, want)
			}
			w.accept(r, m)
		}
	})
}

// A consumer whose connection breaks loses nothing.
func TestBrokenConnection(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s := w.sender("q", nil)
		pipe := w.pipe()
		conn, err := amqp.NewConn(w.ctx, pipe, nil)
		if err != nil {
			t.Fatal(err)
		}
		ses, err := conn.NewSession(w.ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		dying, err := ses.NewReceiver(w.ctx, "q", nil)
		if err != nil {
			t.Fatal(err)
		}
		w.send(s, "a")
		w.receive(dying)
		if err := pipe.Close(); err != nil {
			t.Fatal(err)
		}
		m := w.receive(w.receiver("q", nil))
		if string(m.GetData()) != "a" || m.Header == nil || m.Header.DeliveryCount != 1 {
			t.Errorf("got %q, header %+v", m.GetData(), m.Header)
		}
	})
}

// Two consumers of a queue share, in turn; without credit one gets nothing.
func TestCompetingConsumers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s := w.sender("queue://q", nil)
		a := w.receiver("q", &amqp.ReceiverOptions{Credit: 10})
		b := w.receiver("q", &amqp.ReceiverOptions{Credit: 10, SourceCapabilities: []string{"queue"}})
		idle := w.receiver("queue://q", &amqp.ReceiverOptions{Credit: -1})
		w.send(s, "0", "1", "2", "3")
		got := map[string][]string{}
		for range 2 {
			for name, r := range map[string]*amqp.Receiver{"a": a, "b": b} {
				m := w.receive(r)
				got[name] = append(got[name], string(m.GetData()))
				w.accept(r, m)
			}
		}
		if d := cmp.Diff(map[string][]string{"a": {"0", "2"}, "b": {"1", "3"}}, got); d != "" {
			t.Error(d)
		}
		w.nothing(idle)
	})
}

// Every subscriber of a topic gets its own copy with its own fate; nobody else does.
func TestTopicFanOut(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s := w.sender("x", &amqp.SenderOptions{TargetCapabilities: []string{"topic"}})
		w.send(s, "nobody")
		a := w.receiver("topic://x", nil)
		b := w.receiver("x", &amqp.ReceiverOptions{SourceCapabilities: []string{"topic"}})
		queue := w.receiver("x", nil)
		w.send(s, "1", "2")
		m := w.receive(a)
		if err := a.ModifyMessage(w.ctx, m, &amqp.ModifyMessageOptions{DeliveryFailed: true}); err != nil {
			t.Fatal(err)
		}
		var got []string
		for range 2 {
			m := w.receive(b)
			if m.Header != nil && m.Header.DeliveryCount != 0 {
				t.Errorf("one subscriber's failure is another's: %+v", m.Header)
			}
			got = append(got, string(m.GetData()))
			w.accept(b, m)
		}
		if d := cmp.Diff([]string{"1", "2"}, got); d != "" {
			t.Error(d)
		}
		w.nothing(queue)
		if err := a.Close(w.ctx); err != nil {
			t.Fatal(err)
		}
		w.nothing(b)
		if d := cmp.Diff(map[broker.Outcome]int{broker.Accepted: 2, broker.Dropped: 3}, w.outcomes()); d != "" {
			t.Error(d)
		}
	})
}

func TestPresettled(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s := w.sender("q", &amqp.SenderOptions{SettlementMode: amqp.SenderSettleModeSettled.Ptr()})
		r := w.receiver("q", &amqp.ReceiverOptions{RequestedSenderSettleMode: amqp.SenderSettleModeSettled.Ptr()})
		w.send(s, "a")
		if m := w.receive(r); string(m.GetData()) != "a" {
			t.Errorf("got %q", m.GetData())
		}
		if rec := w.log()[0]; rec.Outcome != broker.Presettled || rec.Acked != 0 || rec.Settled != rec.Delivered || rec.Delivered == 0 {
			t.Errorf("record %+v", rec)
		}
	})
}

func TestReceiverModeSecond(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s := w.sender("q", nil)
		r := w.receiver("q", &amqp.ReceiverOptions{SettlementMode: amqp.ReceiverSettleModeSecond.Ptr()})
		w.send(s, "a")
		w.accept(r, w.receive(r)) // waits for the broker's disposition
		if n := w.outcomes()[broker.Accepted]; n != 1 {
			t.Errorf("%d accepted", n)
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

func TestRefusals(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{NoAutoCreate: true, Addresses: []string{"here", "topic://news"}, Forbidden: []string{"secret"}})
		defer w.close()
		ses := w.session()
		for addr, want := range map[string]amqp.ErrCond{
			"nowhere": amqp.ErrCondNotFound, "queue://news": amqp.ErrCondNotFound, "secret": amqp.ErrCondUnauthorizedAccess, "queue://": amqp.ErrCondInvalidField,
		} {
			_, err := ses.NewSender(w.ctx, addr, nil)
			var le *amqp.LinkError
			var ae *amqp.Error
			switch {
			case errors.As(err, &le) && le.RemoteErr != nil:
				ae = le.RemoteErr
			case errors.As(err, &ae):
			}
			if ae == nil || ae.Condition != want {
				t.Errorf("sender to %q: %v, want %s", addr, err, want)
			}
			if _, err = ses.NewReceiver(w.ctx, addr, nil); err == nil || !strings.Contains(err.Error(), string(want)) {
				t.Errorf("receiver from %q: %v, want %s", addr, err, want)
			}
		}
		if _, err := ses.NewReceiver(w.ctx, "", &amqp.ReceiverOptions{DynamicAddress: true}); err == nil {
			t.Error("a dynamic address was accepted")
		}
		if _, err := ses.NewSender(w.ctx, "topic://news", &amqp.SenderOptions{TargetCapabilities: []string{"queue"}}); err == nil {
			t.Error("an address that contradicts its capability was accepted")
		}
		// The session has survived all of it.
		if _, err := ses.NewSender(w.ctx, "here", nil); err != nil {
			t.Error(err)
		}
		if _, err := ses.NewReceiver(w.ctx, "topic://news", nil); err != nil {
			t.Error(err)
		}
	})
}

func TestSASL(t *testing.T) {
	t.Parallel()
	plain := amqp.SASLTypePlain("user", "pass")
	for _, c := range []struct {
		name string
		cfg  broker.Config
		sasl amqp.SASLType
		fail bool
	}{
		{"none", broker.Config{}, nil, false},
		{"anonymous", broker.Config{}, amqp.SASLTypeAnonymous(), false},
		{"plain where there are no users", broker.Config{}, plain, true},
		{"plain", broker.Config{Users: map[string]string{"user": "pass"}}, plain, false},
		{"wrong password", broker.Config{Users: map[string]string{"user": "other"}}, plain, true},
		{"unknown user", broker.Config{Users: map[string]string{"other": "pass"}}, plain, true},
		{"anonymous beside users", broker.Config{Users: map[string]string{"user": "pass"}}, amqp.SASLTypeAnonymous(), false},
		{"anonymous, user required", broker.Config{RequireUser: true, Users: map[string]string{"user": "pass"}}, amqp.SASLTypeAnonymous(), true},
		{"none, user required", broker.Config{RequireUser: true, Users: map[string]string{"user": "pass"}}, nil, true},
		{"plain, user required", broker.Config{RequireUser: true, Users: map[string]string{"user": "pass"}}, plain, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				w := start(t, c.cfg)
				defer w.close()
				conn, err := amqp.NewConn(w.ctx, w.pipe(), &amqp.ConnOptions{SASLType: c.sasl})
				if (err != nil) != c.fail {
					t.Fatalf("error %v", err)
				}
				if err != nil {
					if strings.Contains(err.Error(), "pass") {
						t.Errorf("the password is in the error: %v", err)
					}
					return
				}
				if p := conn.Properties(); p["product"] != "perf-broker" || p["version"] != "dev" {
					t.Errorf("properties %v", p)
				}
				_ = conn.Close() // on a pipe the library may report its own closing of it
			})
		})
	}
}

// Idle connections live as long as both sides send heartbeats; a silent one dies.
func TestHeartbeats(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{IdleTimeout: 10 * time.Second})
		defer w.close()
		conn := w.dial(&amqp.ConnOptions{IdleTimeout: 4 * time.Second})
		ses, err := conn.NewSession(w.ctx, nil)
		if err != nil {
			t.Fatal(err)
		}
		s, err := ses.NewSender(w.ctx, "q", nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(10 * time.Minute)
		w.send(s, "still here")
	})
}

func TestSilentPeerIsClosed(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{IdleTimeout: 10 * time.Second})
		defer w.close()
		peer := w.pipe()
		got := make(chan string)
		go func() { got <- readAll(peer) }()
		if _, err := peer.Write(opening()); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		out := <-got
		if d := time.Since(began); d < 10*time.Second || d > 12*time.Second || !strings.Contains(out, "amqp:resource-limit-exceeded") {
			t.Errorf("after %v: %q", d, out)
		}
	})
}

func TestCloseTellsClients(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		s := w.sender("q", nil)
		r := w.receiver("q", &amqp.ReceiverOptions{Credit: -1})
		w.send(s, "a", "b")
		if err := r.IssueCredit(1); err != nil {
			t.Fatal(err)
		}
		w.receive(r)
		w.close()
		err := s.Send(w.ctx, amqp.NewMessage([]byte("c")), nil)
		if err == nil || !strings.Contains(err.Error(), "amqp:connection:forced") {
			t.Errorf("send after the close: %v", err)
		}
		if d := cmp.Diff(map[broker.Outcome]int{broker.Unsettled: 1, broker.Queued: 1}, w.outcomes()); d != "" {
			t.Error(d)
		}
	})
}
