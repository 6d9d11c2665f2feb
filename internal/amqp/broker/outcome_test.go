package broker_test

import (
	"fmt"
	"testing"

	"github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/amqp/broker"
)

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
