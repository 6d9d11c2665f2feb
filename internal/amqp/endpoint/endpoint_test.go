package endpoint

import (
	"bytes"
	"testing"

	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/amqp/wire"
)

const nearWrap = 1<<32 - 3

// The three serial numbers start at different places near 2^32 and all wrap while
// messages of one and of several frames go through.
func TestSerialNumbersWrap(t *testing.T) {
	t.Parallel()
	cfg := Config{FirstTransferID: nearWrap, FirstDeliveryID: nearWrap + 1, FirstDeliveryCount: nearWrap - 2}
	p := newPair(t, cfg, cfg, 512)
	snd, rcv := p.sender("l", p.session())
	rcv.Grant(20)
	p.settle()
	body := bytes.Repeat([]byte("0123456789"), 150) // three or four frames
	for i := range int64(20) {
		m := Message{Tag: []byte{byte(i)}, Head: []byte{byte(i)}}
		if i%3 == 0 {
			m.Body = body
		}
		if no := p.mustSend(snd, &m); no != i {
			t.Fatalf("delivery %d has number %d", i, no)
		}
	}
	if snd.CanSend() != WaitCredit {
		t.Errorf("after 20 of 20: %v", snd.CanSend())
	}
	p.settle()
	got := p.server.all(Received)
	if len(got) != 20 {
		t.Fatalf("%d deliveries arrived", len(got))
	}
	for i, e := range got {
		want := []byte{byte(i)}
		if i%3 == 0 {
			want = append(want, body...)
		}
		if e.Delivery.No != int64(i) || e.Delivery.Tag[0] != byte(i) || !bytes.Equal(e.Delivery.Payload, want) || e.Delivery.Owned != (i%3 == 0) {
			t.Errorf("delivery %d: number %d, tag %v, %d bytes, owned %v", i, e.Delivery.No, e.Delivery.Tag, len(e.Delivery.Payload), e.Delivery.Owned)
		}
	}
	rcv.Settle(0, 9, wire.StateOf(wire.CodeAccepted))
	rcv.Settle(12, 12, wire.State{Kind: wire.CodeRejected, Error: &wire.Error{Condition: "x:y"}})
	rcv.Settle(10, 19, wire.StateOf(wire.CodeReleased)) // 12 is settled already
	p.settle()
	var runs [][3]int64
	for _, e := range p.client.all(Settled) {
		runs = append(runs, [3]int64{e.First, e.Last, int64(e.State.Kind)})
	}
	want := [][3]int64{{0, 9, 0x24}, {12, 12, 0x25}, {10, 11, 0x26}, {13, 19, 0x26}}
	if d := cmp.Diff(want, runs); d != "" {
		t.Error(d)
	}
	if n := snd.Session().Unsettled(); n != 0 {
		t.Errorf("%d deliveries are still unsettled", n)
	}
	if e := p.client.all(Settled)[1]; e.State.Error == nil || e.State.Error.Condition != "x:y" {
		t.Errorf("condition of the rejection is lost: %v", e.State.Error)
	}
}

// The peer's session window counts frames: a message of more frames than the
// window is cut, goes on with each flow, and nothing overtakes it.
func TestSessionWindowCountsFrames(t *testing.T) {
	t.Parallel()
	p := newPair(t, Config{FirstTransferID: nearWrap}, Config{IncomingWindow: 4}, 512)
	snd, rcv := p.sender("l", p.session())
	rcv.Grant(100)
	p.settle()
	body := bytes.Repeat([]byte{7}, 5000)
	p.mustSend(snd, &Message{Tag: []byte{1}, Body: body})
	if w := snd.CanSend(); w != WaitSession {
		t.Fatalf("after a message larger than the window: %v", w)
	}
	if _, err := snd.Send(&Message{Tag: []byte{2}}); err == nil {
		t.Fatal("a second message is taken although the window is full")
	}
	total := 0
	for range 20 {
		n := p.move(p.client, p.server)
		if total += n; n > 4 {
			t.Fatalf("%d frames at once into a window of 4", n)
		}
		p.move(p.server, p.client)
	}
	e := p.server.find(Received)
	if e == nil || !bytes.Equal(e.Delivery.Payload, body) || total < 10 {
		t.Fatalf("after %d frames: %+v", total, e)
	}
	if p.client.find(Unblocked) == nil || snd.CanSend() != WaitNone {
		t.Errorf("no Unblocked, or still waiting: %v", snd.CanSend())
	}
}

func transferTo(handle uint32, id uint32) *wire.Transfer {
	return &wire.Transfer{Handle: handle, DeliveryID: wire.Some(id), DeliveryTag: []byte{1}, Payload: []byte("x")}
}

// began returns a client endpoint whose session (channel 0 both ways) is begun by
// hand, and that session.
func began(t *testing.T, cfg Config) (*side, *Session) {
	t.Helper()
	c := &side{Conn: New(cfg)}
	c.SetPeer(&wire.Open{})
	s, err := c.Begin()
	if err != nil {
		t.Fatal(err)
	}
	c.send(t, 0, &wire.Begin{RemoteChannel: wire.Some(uint16(0)), IncomingWindow: 10, OutgoingWindow: 10})
	c.take(t)
	return c, s
}

func attached(t *testing.T, c *side, s *Session, role bool) *Link {
	t.Helper()
	l, err := s.Attach(wire.Attach{Name: "l", Role: role, Source: &wire.Source{}, Target: &wire.Target{}})
	if err != nil {
		t.Fatal(err)
	}
	c.send(t, 0, &wire.Attach{Name: "l", Handle: 7, Role: !role, Source: &wire.Source{}, Target: &wire.Target{}, InitialDeliveryCount: wire.Some(uint32(nearWrap))})
	c.take(t)
	return l
}

// Nulls in a flow: delivery-count is the initial one, next-incoming-id where we
// started (part 2, section 2.7.4; RabbitMQ and others send such flows).
func TestFlowNullFields(t *testing.T) {
	t.Parallel()
	c, s := began(t, Config{FirstTransferID: nearWrap, FirstDeliveryCount: nearWrap})
	l := attached(t, c, s, wire.RoleSender)
	if l.CanSend() != WaitCredit {
		t.Fatalf("without any flow: %v", l.CanSend())
	}
	c.send(t, 0, &wire.Flow{IncomingWindow: 3, Handle: wire.Some(uint32(7)), LinkCredit: wire.Some(uint32(5))})
	if l.Credit() != 5 {
		t.Errorf("credit %d of 5", l.Credit())
	}
	for range 3 {
		if _, err := l.Send(&Message{Tag: []byte{1}}); err != nil {
			t.Fatal(err)
		}
	}
	if l.CanSend() != WaitSession || l.Credit() != 2 {
		t.Errorf("after 3 frames into a window of 3: %v, credit %d", l.CanSend(), l.Credit())
	}
	// Two of the three have arrived; the count has wrapped; credit is from there.
	next, count := uint32(nearWrap), uint32(nearWrap)
	c.send(t, 0, &wire.Flow{NextIncomingID: wire.Some(next + 2), IncomingWindow: 3, Handle: wire.Some(uint32(7)), DeliveryCount: wire.Some(count + 2), LinkCredit: wire.Some(uint32(5))})
	if l.Credit() != 4 || s.outWindow != 2 {
		t.Errorf("credit %d of 4, window %d of 2", l.Credit(), s.outWindow)
	}
	c.send(t, 0, &wire.Flow{NextIncomingID: wire.Some(next + 3), IncomingWindow: 3, Handle: wire.Some(uint32(7)), DeliveryCount: wire.Some(count), LinkCredit: wire.Some(uint32(1))})
	if l.Credit() != 0 {
		t.Errorf("credit taken back below what is used: %d", l.Credit())
	}
	c.send(t, 0, &wire.Flow{IncomingWindow: 1<<32 - 1, Handle: wire.Some(uint32(7)), LinkCredit: wire.Some(uint32(1<<32 - 1))})
	if l.CanSend() != WaitNone {
		t.Errorf("with the largest credit and window: %v", l.CanSend())
	}
}

func TestDispositionIsClipped(t *testing.T) {
	t.Parallel()
	c, s := began(t, Config{FirstDeliveryID: nearWrap})
	l := attached(t, c, s, wire.RoleSender)
	c.send(t, 0, &wire.Flow{IncomingWindow: 100, Handle: wire.Some(uint32(7)), LinkCredit: wire.Some(uint32(50))})
	for range 10 {
		if _, err := l.Send(&Message{Tag: []byte{1}}); err != nil {
			t.Fatal(err)
		}
	}
	acc := wire.StateOf(wire.CodeAccepted)
	wide := uint32(nearWrap)
	c.send(t, 0,
		&wire.Disposition{Role: true, First: wide + 8, Last: wire.Some(wide + 1<<30), Settled: true, State: acc},      // runs past what was sent
		&wire.Disposition{Role: true, First: wide + 5, Last: wire.Some(wide + 2), Settled: true, State: acc},          // runs backwards
		&wire.Disposition{Role: true, First: wide - 1<<30, Last: wire.Some(wide), Settled: true, State: acc},          // from long ago
		&wire.Disposition{Role: true, First: wide, Settled: true, State: acc},                                         // again
		&wire.Disposition{Role: true, First: wide + 3, State: wire.State{Kind: wire.CodeReceived}},                    // progress
		&wire.Disposition{Role: true, First: wide + 3, State: wire.StateOf(wire.CodeReleased)},                        // not settled yet
		&wire.Disposition{Role: true, First: wide + 3, Settled: true, State: acc},                                     // too late
		&wire.Disposition{Role: false, First: wide, Last: wire.Some(wide + 9), Settled: true},                         // other direction
		&wire.Disposition{Role: true, First: wide + 1, Last: wire.Some(wide + 7), Settled: true, State: wire.State{}}) // no state
	var got [][3]int64
	for _, e := range c.all(Settled) {
		got = append(got, [3]int64{e.First, e.Last, int64(e.State.Kind)})
	}
	want := [][3]int64{{8, 9, 0x24}, {0, 0, 0x24}, {3, 3, 0x26}, {1, 2, 0}, {4, 7, 0}}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
	out := c.take(t)
	d, ok := out[len(out)-1].(*wire.Disposition)
	if !ok || d.Role != wire.RoleSender || !d.Settled || d.First != wide+3 || d.State.Kind != wire.CodeReleased {
		t.Errorf("a terminal state is not settled in turn: %+v", out[len(out)-1])
	}
}

func TestEchoAndDrain(t *testing.T) {
	t.Parallel()
	c, s := began(t, Config{FirstDeliveryCount: nearWrap})
	l := attached(t, c, s, wire.RoleSender)
	c.send(t, 0, &wire.Flow{IncomingWindow: 10, Echo: true}, &wire.Flow{IncomingWindow: 10, Echo: true})
	out := c.take(t)
	if f, ok := out[0].(*wire.Flow); !ok || len(out) != 1 || f.Handle.OK || f.Echo {
		t.Errorf("two echoes on a session are answered with %+v", out)
	}
	c.send(t, 0, &wire.Flow{IncomingWindow: 10, Handle: wire.Some(uint32(7)), LinkCredit: wire.Some(uint32(8)), Drain: true, Echo: true})
	if e := c.find(LinkFlow); e == nil || !e.Drain {
		t.Fatalf("drain is not reported: %+v", e)
	}
	if _, err := l.Send(&Message{Tag: []byte{1}}); err != nil {
		t.Fatal(err)
	}
	l.Drained()
	out = c.take(t)
	f, ok := out[len(out)-1].(*wire.Flow)
	if !ok || !f.Drain || f.LinkCredit != wire.Some(uint32(0)) || f.DeliveryCount != wire.Some(uint32(5)) || f.Handle != wire.Some(uint32(0)) {
		t.Errorf("drain is answered with %+v", out[len(out)-1]) // nearWrap + 8 = 5
	}
	l.Drained()
	if c.HasOutput() {
		t.Error("a drain is answered twice")
	}
}

func TestDrainAsReceiver(t *testing.T) {
	t.Parallel()
	c, s := began(t, Config{})
	l := attached(t, c, s, wire.RoleReceiver)
	l.Grant(10)
	l.Drain()
	out := c.take(t)
	if f, ok := out[0].(*wire.Flow); !ok || len(out) != 1 || !f.Drain || f.LinkCredit.V != 10 || f.DeliveryCount.V != nearWrap {
		t.Fatalf("drain is asked for with %+v", out)
	}
	// RabbitMQ's first answer still has credit: it is none.
	c.send(t, 0, &wire.Flow{IncomingWindow: 10, Handle: wire.Some(uint32(7)), DeliveryCount: wire.Some(uint32(nearWrap)), LinkCredit: wire.Some(uint32(10)), Drain: true})
	if l.Credit() != 10 {
		t.Errorf("credit %d", l.Credit())
	}
	c.send(t, 0, transferTo(7, 1), &wire.Flow{IncomingWindow: 10, Handle: wire.Some(uint32(7)), DeliveryCount: wire.Some(uint32(7)), LinkCredit: wire.Some(uint32(0)), Drain: true})
	if l.Credit() != 0 || l.drain {
		t.Errorf("after the answer: credit %d, drain %v", l.Credit(), l.drain)
	}
}

// Deliveries of several frames on two links of one session, mixed, one aborted.
func TestInterleavedAndAborted(t *testing.T) {
	t.Parallel()
	c, s := began(t, Config{})
	a := attached(t, c, s, wire.RoleReceiver)
	b, _ := s.Attach(wire.Attach{Name: "b", Role: wire.RoleReceiver, Source: &wire.Source{}})
	c.send(t, 0, &wire.Attach{Name: "b", Handle: 8, Role: wire.RoleSender, Source: &wire.Source{}})
	a.Grant(10)
	b.Grant(10)
	first := func(h, id uint32) *wire.Transfer {
		tr := transferTo(h, id)
		tr.More = true
		return tr
	}
	rest := func(h uint32) *wire.Transfer { return &wire.Transfer{Handle: h, Payload: []byte("y")} }
	c.send(t, 0, first(7, 1), first(8, 2), rest(8), transferTo(8, 3), rest(7),
		first(7, 4), &wire.Transfer{Handle: 7, Aborted: true, More: true}, transferTo(7, 5))
	type d struct {
		Link, Payload string
		No            int64
	}
	var got []d
	for _, e := range c.all(Received) {
		got = append(got, d{e.Link.Name(), string(e.Delivery.Payload), e.Delivery.No})
	}
	want := []d{{"b", "xy", 0}, {"b", "x", 1}, {"l", "xy", 0}, {"l", "x", 1}}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Error(diff)
	}
	if a.Credit() != 7 || b.Credit() != 8 {
		t.Errorf("credits %d and %d", a.Credit(), b.Credit())
	}
	c.take(t)
	a.Settle(0, 1, wire.StateOf(wire.CodeAccepted))
	b.Settle(0, 1, wire.StateOf(wire.CodeAccepted))
	var ranges [][2]uint32
	for _, p := range c.take(t) {
		if p, ok := p.(*wire.Disposition); ok {
			ranges = append(ranges, [2]uint32{p.First, p.Last.Or(p.First)})
		}
	}
	if diff := cmp.Diff([][2]uint32{{1, 1}, {5, 5}, {2, 3}}, ranges); diff != "" {
		t.Error(diff)
	}
	if s.incoming.Len() != 0 {
		t.Errorf("%d deliveries are left", s.incoming.Len())
	}
}

func TestReceiverSettleModeSecond(t *testing.T) {
	t.Parallel()
	p := newPair(t, Config{}, Config{}, 4096)
	s := p.session()
	snd, _ := s.Attach(wire.Attach{Name: "l", RcvSettleMode: wire.Some(wire.ReceiverSecond), Source: &wire.Source{}, Target: &wire.Target{}})
	p.settle()
	rcv := p.server.find(LinkRequested).Link
	rcv.Accept(wire.Attach{RcvSettleMode: wire.Some(wire.ReceiverSecond), Source: &wire.Source{}, Target: &wire.Target{}})
	rcv.Grant(5)
	p.settle()
	p.mustSend(snd, &Message{Tag: []byte{1}})
	p.settle()
	rcv.Settle(0, 0, wire.StateOf(wire.CodeAccepted))
	if p.server.Flush(); rcv.s.incoming.Len() != 1 {
		t.Error("settled before the sender has")
	}
	p.settle()
	if rcv.s.incoming.Len() != 0 || s.Unsettled() != 0 || len(p.client.all(Settled)) != 1 || len(p.server.all(Settled)) != 0 {
		t.Errorf("left %d and %d, events %d and %d", rcv.s.incoming.Len(), s.Unsettled(), len(p.client.all(Settled)), len(p.server.all(Settled)))
	}
}

// The sender settles what the receiver has not: the receiver hears of it once.
func TestSenderGivesUp(t *testing.T) {
	t.Parallel()
	c, s := began(t, Config{})
	l := attached(t, c, s, wire.RoleReceiver)
	l.Grant(10)
	c.send(t, 0, transferTo(7, 1), transferTo(7, 2), &wire.Disposition{Role: wire.RoleSender, First: 0, Last: wire.Some(uint32(9)), Settled: true})
	e := c.find(Settled)
	if e == nil || e.Link != l || e.First != 0 || e.Last != 1 {
		t.Fatalf("event %+v", e)
	}
	l.Settle(0, 1, wire.StateOf(wire.CodeAccepted))
	for _, p := range c.take(t) {
		if _, ok := p.(*wire.Disposition); ok {
			t.Error("settled a second time")
		}
	}
}

func TestTransactionalState(t *testing.T) {
	t.Parallel()
	p := newPair(t, Config{}, Config{}, 512)
	snd, rcv := p.sender("l", p.session())
	rcv.Grant(5)
	p.settle()
	txn := wire.State{Kind: wire.CodeTransactional, TxnID: bytes.Repeat([]byte{9}, 36)}
	p.mustSend(snd, &Message{Tag: []byte{1}, State: txn, Body: make([]byte, 2000)})
	p.settle()
	for i, f := range p.client.frames[2:] {
		if tr, ok := f.(*wire.Transfer); ok && !bytes.Equal(tr.State.TxnID, txn.TxnID) {
			t.Errorf("frame %d has state %+v", i, tr.State)
		}
	}
	acc := wire.StateOf(wire.CodeAccepted)
	rcv.Settle(0, 0, wire.State{Kind: wire.CodeTransactional, TxnID: txn.TxnID, Outcome: &acc})
	p.settle()
	e := p.client.find(Settled)
	if e == nil || e.State.Kind != wire.CodeTransactional || e.State.Outcome == nil || e.State.Outcome.Kind != wire.CodeAccepted {
		t.Errorf("outcome %+v", e)
	}
	tiny := Message{Tag: []byte{1}, State: wire.State{Kind: wire.CodeTransactional, TxnID: make([]byte, 600)}, Body: []byte("x")}
	if _, err := snd.Send(&tiny); err == nil || snd.Credit() != 4 || p.client.Pending() != 0 {
		t.Errorf("a state larger than a frame: error %v, credit %d, output %d", err, snd.Credit(), p.client.Pending())
	}
}

// Steady traffic allocates nothing in either endpoint.
func TestHotPathDoesNotAllocate(t *testing.T) {
	p := newPair(t, Config{}, Config{}, 65536)
	snd, rcv := p.sender("l", p.session())
	m := Message{Tag: []byte{1, 2, 3, 4}, Body: make([]byte, 1024)}
	bufs := [2][]byte{}
	pump := func(from, to *Conn, i int) {
		out := from.Swap(bufs[i])
		for b := out; len(b) > 0; {
			f, n, err := wire.Cut(b, 1<<20)
			if err != nil {
				t.Fatal(err)
			}
			if err := to.Frame(f); err != nil {
				t.Fatal(err)
			}
			for _, e := range to.Events() {
				if e.Kind == Received {
					e.Link.Settle(e.Delivery.No, e.Delivery.No, wire.StateOf(wire.CodeAccepted))
				}
			}
			b = b[n:]
		}
		bufs[i] = out
	}
	got := testing.AllocsPerRun(50, func() {
		rcv.Grant(100)
		pump(p.server.Conn, p.client.Conn, 0)
		for range 100 {
			if _, err := snd.Send(&m); err != nil {
				t.Fatal(err)
			}
		}
		pump(p.client.Conn, p.server.Conn, 1)
		pump(p.server.Conn, p.client.Conn, 0)
	})
	if got > 0 || snd.Session().Unsettled() != 0 {
		t.Errorf("%v allocations per 100 messages, %d unsettled", got, snd.Session().Unsettled())
	}
}
