package link

import (
	"bytes"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/wire"
)

// txPeer is a scripted broker with transactions: one link, and its coordinator,
// which gets credit for one message at a time as on Broker-J.
type txPeer struct {
	f           *fake
	id          []byte // of every transaction, with its number behind it
	declare     func(n int) wire.State
	discharge   func(q wire.TxRequest) wire.State
	message     func(tag []byte) *wire.State // the outcome inside a transaction; nil: none
	coordinator uint32
	sullen      bool // answers no detach

	mu       sync.Mutex
	declared int
	log      []string // what came: d(eclare), c(ommit), r(ollback), m(essage), with the transaction
}

func (p *txPeer) note(kind byte, id []byte) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.log = append(p.log, string(kind)+string(bytes.TrimPrefix(id, p.id)))
}

func (p *txPeer) came() string {
	p.mu.Lock()
	defer p.mu.Unlock()
	return strings.Join(p.log, " ")
}

func (p *txPeer) grant(handle, count, credit uint32) {
	p.f.write(&wire.Flow{NextIncomingID: wire.Some(uint32(0)), IncomingWindow: 1 << 20, OutgoingWindow: 1 << 20,
		Handle: wire.Some(handle), DeliveryCount: wire.Some(count), LinkCredit: wire.Some(credit)})
}

// play serves the connection until it ends.
func (p *txPeer) play(f *fake) {
	p.f = f
	if !f.begin() {
		return
	}
	requests := uint32(0)
	for {
		switch x := f.read().(type) {
		case *wire.Attach:
			f.write(&wire.Attach{Name: x.Name, Handle: x.Handle, Role: wire.RoleReceiver, Source: x.Source, Target: x.Target, Coordinator: x.Coordinator})
			if x.Coordinator != nil {
				p.coordinator = x.Handle
				p.grant(x.Handle, 0, 1)
			} else {
				p.grant(x.Handle, 0, 1000)
			}
		case *wire.Transfer:
			if x.Handle == p.coordinator {
				requests++
				f.write(settled(x.DeliveryID.V, x.DeliveryID.V, p.request(x.Payload)))
				p.grant(x.Handle, requests, 1)
				continue
			}
			p.note('m', x.State.TxnID)
			if outcome := p.message(x.DeliveryTag); outcome != nil {
				f.write(settled(x.DeliveryID.V, x.DeliveryID.V, wire.State{Kind: wire.CodeTransactional, TxnID: x.State.TxnID, Outcome: outcome}))
			}
		case *wire.Detach:
			if !p.sullen {
				f.write(&wire.Detach{Handle: x.Handle, Closed: true})
			}
		case *wire.End:
			f.write(&wire.End{})
		case *wire.Close:
			f.write(&wire.Close{})
			return
		case nil:
			return
		}
	}
}

// request answers a declare or discharge.
func (p *txPeer) request(payload []byte) wire.State {
	var q wire.TxRequest
	if err := q.DecodeMessage(payload); err != nil {
		p.f.t.Error(err)
	}
	switch {
	case !q.Discharge:
		p.declared++
		p.note('d', nil)
		if p.declare != nil {
			return p.declare(p.declared)
		}
		return wire.State{Kind: wire.CodeDeclared, TxnID: append(bytes.Clone(p.id), byte('0'+p.declared))}
	case q.Fail:
		p.note('r', q.TxnID)
	default:
		p.note('c', q.TxnID)
	}
	if p.discharge != nil {
		return p.discharge(q)
	}
	return wire.StateOf(wire.CodeAccepted)
}

func accept([]byte) *wire.State {
	s := wire.StateOf(wire.CodeAccepted)
	return &s
}

// txSender attaches a sender to a peer.
func txSender(t *testing.T, p *txPeer, cfg SenderConfig) (*Sender, *ledger, error) {
	t.Helper()
	if p.message == nil {
		p.message = accept
	}
	f, sink := newFake(t, p.play), newLedger(t)
	cfg.Address, cfg.Body, cfg.Sink = "queue://q", numbered{}, sink
	s, err := dial(t, config(t, f.url), 0).NewSender(limit(t), cfg)
	return s, sink, err
}

// TestTxOrder: the frames of transactions are those of the specification, in order, whatever the length of an
// id, and a coordinator that gets credit for one message at a time is enough.
func TestTxOrder(t *testing.T) {
	t.Parallel()
	for _, size := range []int{0, 1, 4, 36, 300} {
		p := &txPeer{id: bytes.Repeat([]byte{0xff}, size)}
		s, sink, err := txSender(t, p, SenderConfig{Tx: 2, TxRollback: 0.5, MaxPending: 2})
		if err != nil {
			t.Fatal(err)
		}
		for first := uint64(0); first < 6; first += 2 {
			if err := submitAll(limit(t), s, messages(first, 2, 5000)); err != nil {
				t.Fatal(err)
			}
			sink.await(limit(t), int(first)+2)
		}
		if err := s.Close(limit(t)); err != nil {
			t.Error(err)
		}
		var order []string
		for _, e := range strings.Fields(p.came()) {
			if e != "d" {
				order = append(order, e)
			}
		}
		if want := strings.Fields("m1 m1 c1 m2 m2 r2 m3 m3 c3"); !slices.Equal(order, want) {
			t.Errorf("ids of %d bytes: %s", size, p.came())
		}
		if !strings.HasPrefix(p.came(), "d ") {
			t.Errorf("nothing is declared first: %s", p.came())
		}
	}
}

// TestTxRefusedMessage: a message that is refused inside a transaction completes by itself, and the others with the
// discharge.
func TestTxRefusedMessage(t *testing.T) {
	t.Parallel()
	n, log := 0, newTxLog(t)
	p := &txPeer{message: func([]byte) *wire.State {
		n++
		if n == 2 {
			return &wire.State{Kind: wire.CodeRejected, Error: &wire.Error{Condition: "amqp:resource-limit-exceeded", Description: "full"}}
		}
		return accept(nil)
	}}
	s, sink, err := txSender(t, p, SenderConfig{Tx: 4, OnTx: log.onTx})
	if err != nil {
		t.Fatal(err)
	}
	if err := submitAll(limit(t), s, messages(10, 4, 100)); err != nil {
		t.Fatal(err)
	}
	if states := sink.await(limit(t), 4); states[amqp.Accepted] != 3 || states[amqp.Rejected] != 1 {
		t.Errorf("%v", states)
	}
	sink.mu.Lock()
	if c := sink.done[11]; c.State != amqp.Rejected || c.Error != "amqp:resource-limit-exceeded: full" {
		t.Errorf("message 11: %+v", c)
	}
	sink.mu.Unlock()
	if err := s.Close(limit(t)); err != nil {
		t.Error(err)
	}
	if got := log.shapes(); !slices.Equal(got, []amqp.Tx{{First: 10, Last: 13, Count: 4}}) {
		t.Errorf("%+v", got)
	}
}

// TestTxCommitFails: what the broker refuses to commit is rejected, with its reason.
func TestTxCommitFails(t *testing.T) {
	t.Parallel()
	log := newTxLog(t)
	p := &txPeer{discharge: func(wire.TxRequest) wire.State {
		return wire.State{Kind: wire.CodeRejected, Error: &wire.Error{Condition: "amqp:transaction:rollback", Description: "disk full"}}
	}}
	s, sink, err := txSender(t, p, SenderConfig{Tx: 2, OnTx: log.onTx})
	if err != nil {
		t.Fatal(err)
	}
	if err := submitAll(limit(t), s, messages(0, 2, 100)); err != nil {
		t.Fatal(err)
	}
	if states := sink.await(limit(t), 2); states[amqp.Rejected] != 2 {
		t.Errorf("%v", states)
	}
	if err := s.Close(limit(t)); err != nil {
		t.Error(err)
	}
	const text = "amqp:transaction:rollback: disk full"
	if got := log.shapes(); !slices.Equal(got, []amqp.Tx{{First: 0, Last: 1, Count: 2, Error: text}}) {
		t.Errorf("%+v", got)
	}
}

// TestTxNotDeclared: a broker that declares nothing ends the sender with its reason; messages of transactions that
// are open fail.
func TestTxNotDeclared(t *testing.T) {
	t.Parallel()
	for _, declared := range []int{0, 1, 1} { // before the refusal
		p := &txPeer{sullen: declared > 0, declare: func(n int) wire.State {
			if n <= declared {
				return wire.State{Kind: wire.CodeDeclared, TxnID: []byte{byte(n)}}
			}
			return wire.State{Kind: wire.CodeRejected, Error: &wire.Error{Condition: "amqp:resource-limit-exceeded", Description: "too many"}}
		}}
		s, sink, err := txSender(t, p, SenderConfig{Tx: 10})
		if err != nil { // the refusal may come while the sender is attached
			if declared > 0 || !strings.Contains(err.Error(), "amqp:resource-limit-exceeded") || !strings.Contains(err.Error(), "too many") {
				t.Error(err)
			}
			continue
		}
		err = submitAll(limit(t), s, messages(0, 15, 100))
		if err == nil || !strings.Contains(err.Error(), "too many") {
			t.Errorf("submit: %v", err)
		}
		<-s.Done()
		sink.mu.Lock()
		for id, c := range sink.done {
			if c.State != amqp.Failed && c.State != amqp.Accepted || c.State == amqp.Failed && !strings.Contains(c.Error, "too many") {
				t.Errorf("message %d: %+v", id, c)
			}
		}
		if sink.downs != 1 || !strings.Contains(sink.downErr.Error(), "too many") {
			t.Errorf("down %d times: %v", sink.downs, sink.downErr)
		}
		sink.mu.Unlock()
		if n := s.Pending(); n != 0 {
			t.Errorf("%d messages pending", n)
		}
	}
}

// TestTxCut: a connection that is lost fails the messages of all transactions that were not answered, though the
// broker had taken them.
func TestTxCut(t *testing.T) {
	t.Parallel()
	log, p := newTxLog(t), &txPeer{}
	n := 0
	p.message = func([]byte) *wire.State {
		if n++; n == 5 {
			_ = p.f.conn.Close()
			return nil
		}
		return accept(nil)
	}
	s, sink, err := txSender(t, p, SenderConfig{Tx: 5, OnTx: log.onTx})
	if err != nil {
		t.Fatal(err)
	}
	if err := submitAll(limit(t), s, messages(0, 5, 100)); err != nil {
		t.Fatal(err)
	}
	<-s.Done()
	if states := sink.await(limit(t), 5); states[amqp.Failed] != 5 {
		t.Errorf("%v", states)
	}
	if got := log.shapes(); len(got) != 1 || got[0].Error == "" || got[0].Count != 5 {
		t.Errorf("%+v", got)
	}
}

// TestTxNotImplemented: a broker without transactions ends the session, as RabbitMQ does, and that is the error.
func TestTxNotImplemented(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(f *fake) {
		if !f.begin() {
			return
		}
		if _, ok := await[*wire.Attach](f); ok {
			f.write(&wire.End{Error: &wire.Error{Condition: wire.CondNotImplemented, Description: "Transactions not supported"}})
			f.finish()
		}
	})
	c := dial(t, config(t, f.url), 0)
	_, err := c.NewSender(limit(t), SenderConfig{Address: "queue://q", Body: numbered{}, Sink: newLedger(t), Tx: 1})
	if e := (*Error)(nil); !errors.As(err, &e) || e.Condition != "amqp:not-implemented" || !strings.Contains(e.Description, "gives no transactions: Transactions not supported") {
		t.Errorf("%v", err)
	}
}
