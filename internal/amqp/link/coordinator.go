package link

import (
	"bytes"
	"context"
	"encoding/binary"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// coordinator is a link to the broker's transaction manager, beside the link whose
// transactions it controls and on the same session. All of it is under plane.mu.
type coordinator struct {
	ownLink
	user  txUser
	queue []txRequest // waiting for credit: some brokers grant one
	sent  map[int64]txRequest
	ready []*transaction // declared and not begun
	asked int            // declares that are queued or sent

	tag     [8]byte
	body    []byte
	message endpoint.Message
}

// txUser is the link whose transactions a coordinator controls. Its methods are
// called with plane.mu held.
type txUser interface {
	// declared says that there is one transaction more in ready.
	declared()
	// discharged tells the answer to the discharge of t, at an instant.
	discharged(t *transaction, at int64, answer *wire.State)
	// lost says that the coordinator is gone.
	lost(why *Error)
}

// transaction is one that was declared.
type transaction struct {
	amqp.Tx
	id   []byte
	fail bool // to be rolled back
}

// state is the delivery state of what happens inside the transaction.
func (t *transaction) state() wire.State {
	return wire.State{Kind: wire.CodeTransactional, TxnID: t.id}
}

// txRequest is a declare (t is nil) or the discharge of t.
type txRequest struct{ t *transaction }

// newCoordinator attaches a coordinator, to a new session if s is not begun. What a
// broker without transactions says is the error.
func (c *Conn) newCoordinator(ctx context.Context, s *ownSession, typed string, a Address, user txUser) (*coordinator, error) {
	x := &coordinator{ownLink: newOwnLink(c.plane, typed, a, c.linkName()+"-coordinator"), user: user, sent: map[int64]txRequest{}}
	x.unblocked = x.push
	err := x.attach(ctx, s, x, wire.Attach{Role: wire.RoleSender, Source: &wire.Source{}, Coordinator: &wire.Coordinator{}})
	if err != nil {
		e := c.failed("attach", typed, err)
		e.Description = "the broker gives no transactions: " + e.Description
		return nil, e
	}
	return x, nil
}

// declare asks for one transaction more.
func (x *coordinator) declare() {
	x.asked++
	x.queue = append(x.queue, txRequest{})
	x.push()
}

// discharge ends a transaction; it goes before declares that wait.
func (x *coordinator) discharge(t *transaction) {
	at := 0
	for at < len(x.queue) && x.queue[at].t != nil {
		at++
	}
	x.queue = append(x.queue, txRequest{})
	copy(x.queue[at+1:], x.queue[at:])
	x.queue[at] = txRequest{t}
	x.push()
}

// push sends what credit and session window allow.
func (x *coordinator) push() {
	for len(x.queue) > 0 && !x.over && x.ep.CanSend() == endpoint.WaitNone {
		q := x.queue[0]
		x.queue = x.queue[:copy(x.queue, x.queue[1:])]
		request := wire.TxRequest{}
		if q.t != nil {
			request = wire.TxRequest{Discharge: true, TxnID: q.t.id, Fail: q.t.fail}
			q.t.Discharged = x.p.conn.cfg.Now()
		}
		x.body = request.AppendMessage(x.body[:0])
		binary.BigEndian.PutUint64(x.tag[:], binary.BigEndian.Uint64(x.tag[:])+1)
		x.message = endpoint.Message{Tag: x.tag[:], Body: x.body}
		no, err := x.ep.Send(&x.message)
		if err != nil { // cannot be: it fits into the smallest frame that there is
			x.ep.Detach(true, &wire.Error{Condition: wire.CondInternalError, Description: err.Error()})
			return
		}
		x.sent[no] = q
	}
}

// close detaches the coordinator. What was declared and not discharged is rolled
// back by the broker.
func (x *coordinator) close(ctx context.Context) {
	x.p.mu.Lock()
	x.closing = !x.over
	x.p.mu.Unlock()
	x.shut(ctx)
}

// next takes a transaction that is ready; nil: there is none.
func (x *coordinator) next() *transaction {
	if len(x.ready) == 0 {
		return nil
	}
	t := x.ready[0]
	x.ready = x.ready[:copy(x.ready, x.ready[1:])]
	return t
}

// event implements attachment.
func (x *coordinator) event(e *endpoint.Event, at int64) {
	switch e.Kind {
	case endpoint.LinkAttached:
		x.attached = true
		x.poke()
	case endpoint.LinkFlow:
		x.push()
		if e.Drain && len(x.queue) == 0 {
			x.ep.Drained()
		}
	case endpoint.Settled:
		for no := e.First; no <= e.Last; no++ {
			x.answered(no, at, &e.State)
		}
	case endpoint.LinkDetached:
		x.detached(e)
		if why := x.because("transaction"); why != nil {
			x.user.lost(why)
		}
	}
}

// answered takes the answer to a request.
func (x *coordinator) answered(no int64, at int64, answer *wire.State) {
	q, known := x.sent[no]
	if !known {
		return
	}
	delete(x.sent, no)
	if q.t != nil {
		x.user.discharged(q.t, at, answer)
		return
	}
	x.asked--
	if answer.Kind != wire.CodeDeclared {
		why := &Error{Description: "the broker declares no transaction"}
		if said := answer.Error; said != nil {
			why.Condition, why.Description = printable(string(said.Condition)), why.Description+": "+printable(said.Description)
		}
		x.user.lost(why)
		return
	}
	x.ready = append(x.ready, &transaction{id: bytes.Clone(answer.TxnID), Tx: amqp.Tx{Declared: at}})
	x.user.declared()
}

// tell implements attachment.
func (x *coordinator) tell() {}

// even spreads a share evenly over a sequence: of the first n, exactly
// ⌊n·millionths/10⁶⌋ are chosen.
type even struct{ millionths, n int64 }

func newEven(share float64) even { return even{millionths: int64(share*1e6 + 0.5)} }

// next reports whether the next one is chosen.
func (e *even) next() bool {
	before := e.n * e.millionths / 1e6
	e.n++
	return e.n*e.millionths/1e6 > before
}
