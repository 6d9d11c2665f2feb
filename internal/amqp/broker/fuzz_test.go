package broker

import (
	"net"
	"testing"
	"time"

	"amqpperf/internal/amqp/wire"
)

type noAlarm struct{}

func (noAlarm) set(time.Duration) {}
func (noAlarm) wait() bool        { return false }
func (noAlarm) close()            {}

// FuzzConnection works off a stream of bytes as it comes after the open, without
// sockets or goroutines. The broker must not panic, must write frames that can be
// parsed, and must not lose count of its messages.
func FuzzConnection(f *testing.F) {
	var s []byte
	add := func(ps ...wire.Performative) {
		for _, p := range ps {
			s = wire.AppendFrame(s, wire.FrameAMQP, 0, p)
		}
	}
	src, tgt := &wire.Source{Address: wire.Some("q")}, &wire.Target{Address: wire.Some("q")}
	msg := wire.AppendData((&wire.Header{Durable: true, TTL: wire.Some(uint32(100))}).Append(nil), []byte("body"))
	add(&wire.Begin{IncomingWindow: 100, OutgoingWindow: 100},
		&wire.Attach{Name: "s", Handle: 0, Source: src, Target: tgt, InitialDeliveryCount: wire.Some(uint32(0))},
		&wire.Attach{Name: "r", Handle: 1, Role: wire.RoleReceiver, Source: src, Target: tgt},
		&wire.Flow{NextIncomingID: wire.Some(uint32(0)), IncomingWindow: 100, Handle: wire.Some(uint32(1)), LinkCredit: wire.Some(uint32(10))},
		&wire.Transfer{DeliveryID: wire.Some(uint32(0)), DeliveryTag: []byte{1}, Payload: msg},
		&wire.Transfer{DeliveryID: wire.Some(uint32(1)), DeliveryTag: []byte{1}, More: true, Payload: msg[:5]},
		&wire.Transfer{Payload: msg[5:]})
	f.Add(s)
	add(&wire.Disposition{Role: wire.RoleReceiver, First: 0, Settled: true, State: wire.State{Kind: wire.CodeModified, DeliveryFailed: true, UndeliverableHere: true}},
		&wire.Disposition{Role: wire.RoleReceiver, First: 0, Last: wire.Some(uint32(9)), Settled: true, State: wire.StateOf(wire.CodeReleased)},
		&wire.Flow{IncomingWindow: 5, Handle: wire.Some(uint32(1)), LinkCredit: wire.Some(uint32(10)), Drain: true, Echo: true},
		&wire.Detach{Handle: 1}, &wire.Detach{Handle: 0, Closed: true}, &wire.End{}, &wire.Close{})
	f.Add(s)
	txn := func(discharge, fail bool, n byte) []byte {
		q := wire.TxRequest{Discharge: discharge, Fail: fail}
		if discharge {
			q.TxnID = []byte{0, 0, 0, 0, 0, 0, 0, n}
		}
		return q.AppendMessage(nil)
	}
	inside := func(n byte, outcome *wire.State) wire.State {
		return wire.State{Kind: wire.CodeTransactional, TxnID: []byte{0, 0, 0, 0, 0, 0, 0, n}, Outcome: outcome}
	}
	accepted := wire.StateOf(wire.CodeAccepted)
	s = nil
	add(&wire.Begin{IncomingWindow: 100, OutgoingWindow: 100},
		&wire.Attach{Name: "s", Handle: 0, Source: src, Target: tgt, InitialDeliveryCount: wire.Some(uint32(0))},
		&wire.Attach{Name: "c", Handle: 2, Source: &wire.Source{}, Coordinator: &wire.Coordinator{}, InitialDeliveryCount: wire.Some(uint32(0))},
		&wire.Attach{Name: "r", Handle: 1, Role: wire.RoleReceiver, Source: src, Target: tgt},
		&wire.Attach{Name: "b", Handle: 3, Role: wire.RoleReceiver, Source: &wire.Source{Address: wire.Some("q"), DistributionMode: "copy"}, Target: tgt},
		&wire.Attach{Name: "d", Handle: 4, Role: wire.RoleReceiver, Target: tgt,
			Source: &wire.Source{Address: wire.Some("topic://t"), Durable: 2, ExpiryPolicy: "never", Capabilities: []wire.Symbol{"shared", "global"}}},
		&wire.Flow{NextIncomingID: wire.Some(uint32(0)), IncomingWindow: 100, Handle: wire.Some(uint32(1)), LinkCredit: wire.Some(uint32(10))},
		&wire.Flow{NextIncomingID: wire.Some(uint32(0)), IncomingWindow: 100, Handle: wire.Some(uint32(3)), LinkCredit: wire.Some(uint32(10))},
		&wire.Transfer{Handle: 2, DeliveryID: wire.Some(uint32(0)), DeliveryTag: []byte{1}, Payload: txn(false, false, 0)},
		&wire.Transfer{Handle: 2, DeliveryID: wire.Some(uint32(1)), DeliveryTag: []byte{2}, Payload: txn(false, false, 0)},
		&wire.Transfer{DeliveryID: wire.Some(uint32(2)), DeliveryTag: []byte{1}, State: inside(1, nil), Payload: msg},
		&wire.Transfer{DeliveryID: wire.Some(uint32(3)), DeliveryTag: []byte{1}, State: inside(2, nil), Payload: msg},
		&wire.Transfer{Handle: 2, DeliveryID: wire.Some(uint32(4)), DeliveryTag: []byte{3}, Payload: txn(true, false, 1)},
		&wire.Transfer{Handle: 2, DeliveryID: wire.Some(uint32(5)), DeliveryTag: []byte{3}, Payload: txn(true, true, 2)},
		&wire.Transfer{Handle: 2, DeliveryID: wire.Some(uint32(6)), DeliveryTag: []byte{1}, Payload: txn(false, false, 0)},
		&wire.Disposition{Role: wire.RoleReceiver, First: 0, Last: wire.Some(uint32(5)), Settled: true, State: inside(3, &accepted)})
	f.Add(s)
	add(&wire.Transfer{Handle: 2, DeliveryID: wire.Some(uint32(7)), DeliveryTag: []byte{3}, Payload: txn(true, false, 3)},
		&wire.Transfer{DeliveryID: wire.Some(uint32(8)), DeliveryTag: []byte{1}, State: inside(9, nil), Payload: msg},
		&wire.Detach{Handle: 4}, &wire.Detach{Handle: 2, Closed: true}, &wire.Detach{Handle: 3, Closed: true},
		&wire.Attach{Name: "d|2", Handle: 4, Role: wire.RoleReceiver, DesiredCapabilities: []wire.Symbol{"shared", "global"}}, &wire.End{})
	f.Add(s)
	f.Fuzz(func(t *testing.T, in []byte) {
		finished := 0
		now := int64(1)
		b, err := New(Config{Stalls: []Stall{{At: 3, For: 5}}, Service: Service{Mean: 2}, MaxMessageSize: 1000, CoarseTimers: true,
			Now: func() int64 { return now }, ArrivalLog: func(*Record) { finished++ }})
		if err != nil {
			t.Fatal(err)
		}
		b.work.alarm = noAlarm{} // time goes by where this test says so
		mine, theirs := net.Pipe()
		defer func() { _, _ = mine.Close(), theirs.Close() }()
		c := newConn(b, theirs)
		c.ep.SetPeer(&wire.Open{})
		for len(in) > 0 { // in pieces, with time going by
			n := min(len(in), 200)
			c.in.buf = append(c.in.buf[:c.in.end], in[:n]...)
			c.in.end += n
			in = in[n:]
			if c.work(now) {
				break
			}
			now += int64(time.Millisecond)
			for _, n := range b.nodes {
				n.run(now)
			}
			b.mu.Lock()
			b.unlock(now)
		}
		for out := c.ep.Swap(nil); len(out) > 0; {
			fr, n, err := wire.Cut(out, 65536)
			if err != nil || n == 0 {
				t.Fatalf("own output: %v", err)
			}
			if _, err := wire.Parse(fr); err != nil {
				t.Fatalf("own output: %v", err)
			}
			out = out[n:]
		}
		arrived := 0
		for _, n := range b.nodes {
			if !n.topic {
				arrived += int(n.seq)
			}
		}
		b.mu.Lock()
		c.leaveAll(now)
		b.unlock(now)
		if err := b.Close(); err != nil {
			t.Fatal(err)
		}
		if finished < arrived {
			t.Fatalf("%d messages arrived on queues, %d records", arrived, finished)
		}
	})
}
