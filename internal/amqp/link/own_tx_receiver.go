package link

import (
	"context"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// recvTx are the transactions of a receiver: one at a time. What it tells is told
// by the reader; the rest is under plane.mu.
type recvTx struct {
	r       *ownReceiver
	c       *coordinator
	choose  even
	current *transaction
	spans   []span // deliveries of current, or of the one that is being discharged
	waiting *transaction
	wake    chan struct{} // a token when something has changed, for Settle and Flush

	endings []ending // to be told
	telling bool     // they are being told
	failed  bool     // the link is to be detached because of ownLink.fault
}

// ending is what is to be told of a transaction.
type ending struct {
	tx    amqp.Tx
	spans []span
	err   error
}

// coordinate attaches a coordinator for the receiver, if it has transactions. It
// returns the session that the receiver is to be attached to; nil: a new one.
func (r *ownReceiver) coordinate(ctx context.Context, c *Conn) (session *ownSession, err error) {
	if r.cfg.Tx == 0 {
		return r.cfg.session, nil
	}
	if session = r.cfg.session; session == nil {
		session = &ownSession{over: make(chan struct{})}
	}
	x := &recvTx{r: r, choose: newEven(r.cfg.TxRollback), wake: make(chan struct{}, 1)}
	if x.c, err = c.newCoordinator(ctx, session, r.cfg.Address, r.address, x); err != nil {
		return nil, err
	}
	r.tx = x
	r.p.mu.Lock()
	x.c.declare()
	r.p.mu.Unlock()
	return session, nil
}

// uncoordinate gives up the coordinator of a receiver that could not be attached.
func (r *ownReceiver) uncoordinate() {
	if r.tx != nil {
		r.tx.c.forget()
	}
}

func (x *recvTx) poke() {
	select {
	case x.wake <- struct{}{}:
	default: // a token is there
	}
}

// declared implements txUser.
func (x *recvTx) declared() { x.poke() }

// discharged implements txUser.
func (x *recvTx) discharged(t *transaction, at int64, answer *wire.State) {
	e := ending{spans: x.spans}
	t.At, t.Rolledback = at, t.fail
	switch {
	case answer.Kind != wire.CodeAccepted:
		_, t.Error = ownOutcome(answer)
		if t.Error == "" {
			t.Error = "the broker did not accept the discharge of the transaction"
		}
		t.Rolledback = false
		e.err = &Error{Op: "settle", Address: printable(x.r.typed), Description: t.Error}
	case t.fail:
		e.err = ErrRolledBack
	}
	e.tx = t.Tx
	x.endings = append(x.endings, e)
	x.spans, x.waiting = nil, nil
	x.r.soon()
}

// lost implements txUser: without its coordinator the receiver is of no use. That is
// told at once, the peer may never answer its detach.
func (x *recvTx) lost(why *Error) {
	r := x.r
	if r.fault != nil || r.over {
		return
	}
	r.fault, x.failed = why, true
	x.over(why)
	if r.attached {
		r.detached(&endpoint.Event{Session: r.ep.Session()})
		r.fell = true
	}
	r.poke()
	r.soon()
}

// over tells the end of the transaction that was going on when the link went down.
func (x *recvTx) over(why *Error) {
	t := x.current
	if t == nil {
		t = x.waiting
	}
	if t != nil && len(x.spans) > 0 && why != nil {
		t.Error = why.text()
		x.endings = append(x.endings, ending{tx: t.Tx, spans: x.spans, err: why})
	}
	x.current, x.waiting, x.spans = nil, nil, nil
	x.poke()
}

// tell passes on what has ended; it is called by the reader, without plane.mu.
func (x *recvTx) tell() {
	x.r.p.mu.Lock()
	endings, failed := x.endings, x.failed
	x.endings, x.failed, x.telling = nil, false, true
	if failed && x.r.ep != nil { // nil: it is about to be attached, and will be given up
		x.r.ep.Detach(!x.r.keep, nil)
	}
	x.r.p.mu.Unlock()
	if failed {
		x.r.p.nudge()
	}
	for _, e := range endings {
		for _, s := range e.spans {
			if x.r.cfg.OnSettled != nil {
				at := e.tx.At
				if at == 0 {
					at = x.r.p.conn.cfg.Now()
				}
				x.r.cfg.OnSettled(uint64(s.first), uint64(s.last), at, e.err)
			}
		}
		if x.r.cfg.OnTx != nil {
			x.r.cfg.OnTx(e.tx)
		}
	}
	x.r.p.mu.Lock()
	x.telling = false
	x.r.p.mu.Unlock()
	x.poke()
}

// settle puts deliveries into transactions and returns when the last disposition
// was written. It waits for each discharge, and until the next one is declared.
func (x *recvTx) settle(first, last int64, outcome wire.State) (at int64, err error) {
	for at = x.r.p.conn.cfg.Now(); first <= last; {
		x.r.p.mu.Lock()
		idle := x.r.ep.NextUnsettled(first, last) > last
		x.r.p.mu.Unlock()
		if idle { // settled already
			return at, nil
		}
		if err := x.await(context.Background(), func() bool { return x.waiting == nil && x.begin() }); err != nil {
			return at, err
		}
		if first, at, err = x.part(first, last, outcome); err != nil {
			return at, err
		}
		if err := x.await(context.Background(), func() bool { return x.waiting == nil }); err != nil {
			return at, err
		}
	}
	return at, nil
}

// begin makes sure that there is a current transaction, and that the next one is
// on its way.
func (x *recvTx) begin() bool {
	if x.current == nil {
		if x.current = x.c.next(); x.current == nil {
			return false
		}
		x.current.fail = x.choose.next()
		x.c.declare()
	}
	return true
}

// part writes the dispositions of as many deliveries as the current transaction
// still takes, with the discharge if it is full then. It returns where to go on.
func (x *recvTx) part(first, last int64, outcome wire.State) (next, at int64, err error) {
	err = x.r.write(func() {
		t := x.current
		st := t.state()
		st.Outcome = &outcome
		for next = first; next <= last && t.Count < x.r.cfg.Tx; {
			from := x.r.ep.NextUnsettled(next, last)
			if next = from; from > last {
				break
			}
			for next <= last && t.Count < x.r.cfg.Tx && x.r.ep.NextUnsettled(next, next) == next {
				next++
				t.Count++
			}
			x.add(t, span{from, next - 1})
			x.r.ep.Settle(from, next-1, st)
		}
		if t.Count == x.r.cfg.Tx {
			x.end()
		}
		x.r.renew()
	})
	return next, x.r.p.conn.cfg.Now(), err
}

// add notes deliveries of a transaction.
func (x *recvTx) add(t *transaction, s span) {
	if len(x.spans) == 0 {
		t.First, t.Last = uint64(s.first), uint64(s.last)
	}
	t.First, t.Last = min(t.First, uint64(s.first)), max(t.Last, uint64(s.last))
	if n := len(x.spans); n > 0 && x.spans[n-1].last+1 == s.first {
		x.spans[n-1].last = s.last
		return
	}
	x.spans = append(x.spans, s)
}

// end discharges the current transaction.
func (x *recvTx) end() {
	x.waiting, x.current = x.current, nil
	x.r.p.ep.Flush() // its dispositions must come before it
	x.c.discharge(x.waiting)
}

// await waits until ok, which is called with plane.mu held, or the link is gone.
func (x *recvTx) await(ctx context.Context, ok func() bool) error {
	for {
		x.r.p.mu.Lock()
		gone := x.r.gone("settle")
		done := gone == nil && ok() && len(x.endings) == 0 && !x.telling
		output := x.r.p.ep.HasOutput()
		x.r.p.mu.Unlock()
		if output {
			x.r.p.flushSoon()
		}
		if gone != nil || done {
			return gone
		}
		select {
		case <-x.wake:
		case <-ctx.Done():
			return &Error{Op: "settle", Address: printable(x.r.typed), Description: "waiting for the end of a transaction", cause: safeCause(ctx.Err())}
		}
	}
}

// Flush implements receiving.
func (r *ownReceiver) Flush(ctx context.Context) error {
	if r.tx == nil {
		return nil
	}
	err := r.write(func() {
		if t := r.tx.current; t != nil && t.Count > 0 {
			r.tx.end()
		}
	})
	if err != nil {
		return err
	}
	return r.tx.await(ctx, func() bool { return r.tx.waiting == nil })
}

// write has change make output under the turn, and waits until it is written.
func (r *ownReceiver) write(change func()) error {
	p := r.p
	if err := p.takeTurn(context.Background()); err != nil { // bounded by writeTimeout
		return r.why("settle", err)
	}
	p.mu.Lock()
	err := r.gone("settle")
	if err == nil {
		change()
	}
	out := p.take()
	p.mu.Unlock()
	if !p.send(out) { // the writer writes it
		if bad := p.takeTurn(context.Background()); bad != nil {
			return r.why("settle", bad)
		}
		p.turn <- struct{}{}
	}
	return err
}
