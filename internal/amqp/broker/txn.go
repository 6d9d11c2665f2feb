package broker

import (
	"encoding/binary"
	"fmt"
	"slices"

	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// txn is a transaction of a connection that was declared and not discharged.
type txn struct {
	id    []byte
	owner *coordinator
	sent  []*message  // arrive when it is committed
	acks  []txnAnswer // count when it is committed

	// After the discharge.
	no      int64 // of the discharge on the coordinator's link
	waiting int   // messages whose service has not ended
}

// txnAnswer is a consumer's answer inside a transaction.
type txnAnswer struct {
	c     *consumer
	m     *message
	state wire.State
}

// coordinator is a link on which a client declares and discharges transactions.
type coordinator struct {
	c *conn
	l *endpoint.Link
}

// coordinatorCredit is what a coordinator's link is given, renewed at half.
const coordinatorCredit = 100

// attachCoordinator accepts a link to the transaction manager.
func (c *conn) attachCoordinator(l *endpoint.Link, a *wire.Attach) {
	k := &coordinator{c: c, l: l}
	l.Data = k
	l.Accept(wire.Attach{
		SndSettleMode: a.SndSettleMode, RcvSettleMode: a.RcvSettleMode, Source: a.Source,
		Coordinator: &wire.Coordinator{Capabilities: []wire.Symbol{"amqp:local-transactions", "amqp:multi-txns-per-ssn", "amqp:multi-ssns-per-txn"}},
	})
	k.feed()
}

// feed renews the coordinator's credit.
func (k *coordinator) feed() {
	if k.l.Credit() <= coordinatorCredit/2 {
		k.l.Grant(coordinatorCredit)
		k.c.b.touch(k.c)
	}
}

// receive takes a declare or discharge.
func (k *coordinator) receive(d *endpoint.Delivery, now int64) {
	defer k.feed()
	reject := func(cond wire.Symbol, text string) {
		k.l.Settle(d.No, d.No, wire.State{Kind: wire.CodeRejected, Error: &wire.Error{Condition: cond, Description: text}})
	}
	var q wire.TxRequest
	if err := q.DecodeMessage(d.Payload); err != nil {
		reject(wire.CondDecodeError, err.Error())
		return
	}
	switch {
	case !q.Discharge && q.GlobalID != nil:
		reject(wire.CondNotImplemented, "distributed transactions are not supported")
	case !q.Discharge:
		t := k.c.newTxn(k)
		k.l.Settle(d.No, d.No, wire.State{Kind: wire.CodeDeclared, TxnID: t.id})
	default:
		t := k.c.txns[string(q.TxnID)]
		if t == nil || t.owner != k {
			reject(wire.CondTxnUnknownID, unknownTxn(q.TxnID))
			return
		}
		delete(k.c.txns, string(q.TxnID))
		t.no = d.No
		if q.Fail {
			k.c.rollBack(t)
			k.l.Settle(d.No, d.No, wire.StateOf(wire.CodeAccepted))
			return
		}
		t.commit(k.c.arrival, now)
	}
}

func unknownTxn(id []byte) string { return fmt.Sprintf("there is no transaction %x", id) }

func (c *conn) newTxn(k *coordinator) *txn {
	c.lastTxn++
	t := &txn{id: binary.BigEndian.AppendUint64(nil, c.lastTxn), owner: k}
	if c.txns == nil {
		c.txns = make(map[string]*txn)
	}
	c.txns[string(t.id)] = t
	return t
}

// commit lets the messages arrive, at the instant of the discharge, and the answers
// count. The discharge is accepted when the service of the last message has ended:
// at once if there is none.
func (t *txn) commit(arrival, now int64) {
	var again []txnAnswer
	for _, a := range t.acks {
		if !a.c.ends(a.m, &a.state, now) {
			again = append(again, a)
		}
	}
	for _, a := range slices.Backward(again) {
		a.putBack()
	}
	t.waiting = len(t.sent)
	if t.waiting == 0 {
		t.done()
		return
	}
	for _, m := range t.sent {
		m.txn = t
		m.rec.Arrival = arrival
		if m.header.TTL.OK {
			m.expires = arrival + int64(m.header.TTL.V)*1e6
		}
		m.node.arrive(m, now)
	}
}

// departed counts a message whose service has ended.
func (t *txn) departed() {
	if t.waiting--; t.waiting == 0 {
		t.done()
	}
}

func (t *txn) done() {
	t.owner.l.Settle(t.no, t.no, wire.StateOf(wire.CodeAccepted))
	t.owner.c.b.touch(t.owner.c)
}

// rollBack forgets the messages, which have never arrived, and undoes the answers:
// what was answered is put back, with one failed attempt more.
func (c *conn) rollBack(t *txn) {
	for _, m := range t.sent {
		c.b.recycle(m)
	}
	for _, a := range slices.Backward(t.acks) {
		a.m.rec.Failed++
		a.putBack()
	}
}

// putBack puts a message in front of its queue, or drops it with its subscription.
func (a txnAnswer) putBack() {
	b, s := a.c.c.b, a.c.st
	if !s.kept() {
		b.finish(a.m, Dropped, 0)
		return
	}
	s.ready.pushFront(a.m)
	b.dirtyStore(s)
}

// rollBackAll rolls back what a coordinator has left open; nil: what all have.
func (c *conn) rollBackAll(k *coordinator) {
	ids := make([]string, 0, len(c.txns))
	for id, t := range c.txns {
		if k == nil || t.owner == k {
			ids = append(ids, id)
		}
	}
	slices.Sort(ids)
	for _, id := range slices.Backward(ids) { // the last first, so that the first is in front
		c.rollBack(c.txns[id])
		delete(c.txns, id)
	}
}

// inTxn takes a message that was sent inside a transaction.
func (p *producer) inTxn(m *message, d *endpoint.Delivery, id []byte) {
	t := p.c.txns[string(id)]
	if t == nil {
		p.c.b.recycle(m)
		p.l.Detach(true, &wire.Error{Condition: wire.CondTxnUnknownID, Description: unknownTxn(id)})
		return
	}
	m.settled, m.node = true, p.node // it is answered here, and the discharge later
	t.sent = append(t.sent, m)
	if !d.Settled {
		accepted := wire.StateOf(wire.CodeAccepted)
		p.l.Settle(d.No, d.No, wire.State{Kind: wire.CodeTransactional, TxnID: t.id, Outcome: &accepted})
	}
}

// inTxn takes a consumer's answers inside a transaction. Unknown ones are undone, and
// the link is detached.
func (k *consumer) inTxn(first, last int64, st *wire.State, now int64) {
	t := k.c.txns[string(st.TxnID)]
	if t == nil {
		k.expelled = true
		k.l.Detach(true, &wire.Error{Condition: wire.CondTxnUnknownID, Description: unknownTxn(st.TxnID)})
		released := wire.StateOf(wire.CodeReleased)
		k.outcome(first, last, &released, now)
		return
	}
	state := wire.State{}
	if st.Outcome != nil {
		state = *st.Outcome
		state.Error, state.Annotations = nil, nil // views of the frame, of no use later
	}
	k.unsettled.TakeRange(first, last, func(_ int64, m *message) {
		k.release(m)
		if !k.browse {
			t.acks = append(t.acks, txnAnswer{k, m, state})
		}
	})
}
