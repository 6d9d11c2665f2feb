package link

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/wire"
)

// fakeReceiver attaches a receiver to a fake.
func fakeReceiver(t *testing.T, f *fake, credit int) *Receiver {
	t.Helper()
	r, err := dial(t, config(t, f.url), 0).NewReceiver(limit(t), ReceiverConfig{Address: "queue://q", Credit: credit})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// send sends a message as a transfer with the given id.
func (f *fake) send(id uint32, m *wire.Message) {
	f.write(&wire.Transfer{DeliveryID: wire.Some(id), DeliveryTag: []byte{byte(id)}, MessageFormat: wire.Some(uint32(0)), Payload: m.Append(nil)})
}

// take receives n deliveries.
func take(t *testing.T, r *Receiver, n int) []amqp.Delivery {
	t.Helper()
	dst := make([]amqp.Delivery, n)
	for got := 0; got < n; {
		k, err := r.Receive(limit(t), dst[got:])
		if err != nil {
			t.Fatal(err)
		}
		got += k
	}
	return dst
}

func TestDelivery(t *testing.T) { bothClients(t, testDelivery) }

func testDelivery(t *testing.T) {
	t.Parallel()
	arrived := []wire.Message{
		{Data: [][]byte{[]byte("ab"), []byte("cd")}, Header: &wire.Header{DeliveryCount: 3},
			MessageAnnotations: wire.Map{{Key: wire.Symbol("x-opt-ingress-time"), Value: int64(1_700_000_000_123)}}},
		{Value: wire.Some[any]([]byte("bytes")),
			MessageAnnotations: wire.Map{{Key: wire.Symbol("x-opt-rabbitmq-received-time"), Value: wire.Timestamp(1_700_000_000_456)}}},
		{Value: wire.Some[any]("text")},
		{Value: wire.Some[any]("text"), Properties: &wire.Properties{ContentType: "text/plain"}},
		{Sequence: []wire.List{{int64(1)}}},
		{Data: [][]byte{{}}},
	}
	f := newFake(t, func(f *fake) {
		if !f.attach(0) {
			return
		}
		await[*wire.Flow](f) // the library has a data race with transfers before credit
		for i := range arrived {
			f.send(uint32(i), &arrived[i])
		}
		f.finish()
	})
	r := fakeReceiver(t, f, 10)
	for i, want := range []struct {
		body, contentType string
		count             uint32
		brokerIn          int64
	}{
		{"abcd", "", 3, 1_700_000_000_123_000_000},
		{"bytes", "", 0, 1_700_000_000_456_000_000},
		{"", "amqp-value (string)", 0, format.Null},
		{"", "text/plain", 0, format.Null},
		{"", "amqp-sequence", 0, format.Null},
		{"", "", 0, format.Null},
	} {
		got := take(t, r, 1)[0]
		if string(got.Body) != want.body || got.ContentType != want.contentType || got.DeliveryCount != want.count || got.BrokerIn != want.brokerIn || got.ID != uint64(i) {
			t.Errorf("delivery %d: %+v, want %+v", i, got, want)
		}
	}
	if waiting, unsettled := r.Queued(); waiting != 0 || unsettled != len(arrived) {
		t.Errorf("%d waiting, %d unsettled", waiting, unsettled)
	}
}

// TestCreditRenewal: credit comes back at half, and no more after Stop.
func TestCreditRenewal(t *testing.T) { bothClients(t, testCreditRenewal) }

func testCreditRenewal(t *testing.T) {
	t.Parallel()
	flows := make(chan uint32, 10)
	f := newFake(t, func(f *fake) {
		if !f.attach(0) {
			return
		}
		id := uint32(0)
		for {
			flow, ok := await[*wire.Flow](f)
			if !ok {
				return
			}
			flows <- flow.LinkCredit.V
			for range 4 {
				f.send(id, &wire.Message{Data: [][]byte{[]byte("x")}})
				id++
			}
		}
	})
	r := fakeReceiver(t, f, 4)
	if got := <-flows; got != 4 {
		t.Errorf("first credit %d", got)
	}
	d := take(t, r, 4)
	settle := func(first, last uint64) {
		t.Helper()
		if _, err := r.Settle(first, last, amqp.Accepted); err != nil {
			t.Fatal(err)
		}
	}
	settle(d[0].ID, d[0].ID)
	select {
	case got := <-flows:
		t.Errorf("credit %d after a quarter", got)
	case <-time.After(20 * time.Millisecond):
	}
	settle(d[1].ID, d[3].ID)
	want := uint32(2)
	if clientOf(t) == ClientOwn {
		want = 4 // a range is settled at once
	}
	if got := <-flows; got != want {
		t.Errorf("credit %d at half, want %d", got, want)
	}
	if err := r.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	d = take(t, r, 4)
	settle(d[0].ID, d[3].ID)
	select {
	case got := <-flows:
		// The flow of the settlements before Stop may come late; none after it may grant more than those.
		if got > 4 {
			t.Errorf("credit %d after Stop", got)
		}
	case <-time.After(20 * time.Millisecond):
	}
}

// TestOverdelivery: a broker that once sends more than was granted does not stop the flow of credit.
func TestOverdelivery(t *testing.T) { bothClients(t, testOverdelivery) }

func testOverdelivery(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(f *fake) {
		if !f.attach(0) {
			return
		}
		sent, over := uint32(0), uint32(3)
		for {
			flow, ok := await[*wire.Flow](f)
			if !ok {
				return
			}
			if flow.LinkCredit.V > 1000 {
				f.t.Errorf("credit %d", flow.LinkCredit.V)
				return
			}
			for limit := flow.DeliveryCount.V + flow.LinkCredit.V + over; sent < limit; sent++ {
				f.send(sent, &wire.Message{Data: [][]byte{[]byte("x")}})
			}
			over = 0
		}
	})
	r := fakeReceiver(t, f, 10)
	for range 20 {
		d := take(t, r, 5)
		if _, err := r.Settle(d[0].ID, d[4].ID, amqp.Accepted); err != nil {
			t.Fatal(err)
		}
	}
}

// TestCarefulCredit: RabbitMQ 3 takes new credit as additional to what is on its way, so it gets some only when
// everything has arrived.
func TestCarefulCredit(t *testing.T) { bothClients(t, testCarefulCredit) }

func testCarefulCredit(t *testing.T) {
	t.Parallel()
	if clientOf(t) == ClientOwn {
		t.Skip("what comes beyond the credit is harmless: see TestOverdelivery")
	}
	f := newFake(t, func(f *fake) {
		f.product, f.version = "RabbitMQ", "3.10.8"
		if !f.attach(0) {
			return
		}
		for sent := uint32(0); ; {
			flow, ok := await[*wire.Flow](f)
			if !ok {
				return
			}
			if flow.DeliveryCount.V != sent || flow.LinkCredit.V == 0 || flow.LinkCredit.V > 10 {
				f.t.Errorf("flow with delivery-count %d and credit %d after %d messages", flow.DeliveryCount.V, flow.LinkCredit.V, sent)
				return
			}
			for range flow.LinkCredit.V {
				f.send(sent, &wire.Message{Data: [][]byte{[]byte("x")}})
				sent++
			}
		}
	})
	r := fakeReceiver(t, f, 10)
	for range 30 {
		d := take(t, r, 3)
		if _, err := r.Settle(d[0].ID, d[2].ID, amqp.Accepted); err != nil {
			t.Fatal(err)
		}
	}
}

// TestReceiverPeerEnds: what has arrived is handed out, then comes the cause.
func TestReceiverPeerEnds(t *testing.T) { bothClients(t, testReceiverPeerEnds) }

func testReceiverPeerEnds(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(f *fake) {
		if !f.attach(0) {
			return
		}
		await[*wire.Flow](f)
		f.send(0, &wire.Message{Data: [][]byte{[]byte("x")}})
		f.write(&wire.Detach{Closed: true, Error: &wire.Error{Condition: wire.CondResourceDeleted, Description: "gone"}})
		f.finish()
	})
	r := fakeReceiver(t, f, 10)
	take(t, r, 1)
	_, err := r.Receive(limit(t), make([]amqp.Delivery, 1))
	var e *Error
	if !errors.As(err, &e) || e.Condition != "amqp:resource-deleted" || e.Description != "gone" {
		t.Errorf("%v", err)
	}
	_ = r.Close(limit(t)) // must not hang
}

// TestHostilePeer: frames that would harm the library end the connection with a clear error.
func TestHostilePeer(t *testing.T) { bothClients(t, testHostilePeer) }

func testHostilePeer(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		bytes []byte
		want  string // with the library
		own   string // "": harmless there
	}{
		"huge frame":       {[]byte{0x7f, 0xff, 0xff, 0xff, 2, 0, 0, 0}, "announced", "limit of 65536"},
		"data offset":      {[]byte{0, 0, 0, 16, 255, 0, 0, 0}, "data offset", "data offset"},
		"tiny frame":       {[]byte{0, 0, 0, 4, 2, 0, 0, 0}, "data offset", "below 8"},
		"flow no credit":   {wire.AppendFrame(nil, wire.FrameAMQP, 0, &wire.Flow{Handle: wire.Some(uint32(0))}), "link-credit", ""},
		"undecodable flow": {[]byte{0, 0, 0, 13, 2, 0, 0, 0, 0, 0x53, 0x13, 0xc0, 0xff}, "decoded", "amqp:decode-error"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			if clientOf(t) == ClientOwn {
				c.want = c.own
			}
			if c.want == "" {
				t.Skip("harmless")
			}
			f := newFake(t, func(f *fake) {
				if f.attach(0) {
					_, _ = f.conn.Write(c.bytes)
					f.finish()
				}
			})
			r, err := dial(t, config(t, f.url), 0).NewReceiver(limit(t), ReceiverConfig{Address: "queue://q", Credit: 10})
			if err == nil { // else the frame came with the attach
				_, err = r.Receive(limit(t), make([]amqp.Delivery, 1))
			}
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v, want %q", err, c.want)
			}
		})
	}
}

// FuzzWatcher: no bytes make the watcher panic, and how they are cut does not matter.
func FuzzWatcher(f *testing.F) {
	flow := wire.AppendFrame(nil, wire.FrameAMQP, 0, &wire.Flow{Handle: wire.Some(uint32(0)), LinkCredit: wire.Some(uint32(7))})
	attach := wire.AppendFrame(nil, wire.FrameAMQP, 0, &wire.Attach{Name: "l", Role: wire.RoleReceiver, Target: &wire.Target{}})
	transfer := wire.AppendFrame(nil, wire.FrameAMQP, 0, &wire.Transfer{Payload: make([]byte, 100)})
	f.Add(append([]byte(wire.ProtocolAMQP), append(attach, append(transfer, flow...)...)...), uint8(3))
	f.Add(append(transfer, wire.AppendHeartbeat(nil)...), uint8(1))
	f.Fuzz(func(t *testing.T, b []byte, step uint8) {
		whole, cut := newWatcher(DefaultMaxFrameSize), newWatcher(DefaultMaxFrameSize)
		a, c := whole.add("l", wire.RoleSender), cut.add("l", wire.RoleSender)
		err1 := whole.feed(b)
		var err2 error
		for rest := b; len(rest) > 0 && err2 == nil; {
			n := min(int(step)+1, len(rest))
			err2 = cut.feed(rest[:n])
			rest = rest[n:]
		}
		if (err1 == nil) != (err2 == nil) || (err1 == nil && (a.credit(0) != c.credit(0) || a.isGone() != c.isGone())) {
			t.Errorf("whole: %v, credit %d; cut: %v, credit %d", err1, a.credit(0), err2, c.credit(0))
		}
	})
}
