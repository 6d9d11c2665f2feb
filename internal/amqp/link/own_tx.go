package link

import (
	"context"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// sendTx are the transactions of a sender. All of it is under plane.mu, but ended,
// which is of the reader.
type sendTx struct {
	s       *ownSender
	c       *coordinator
	choose  even
	ahead   int // transactions to have declared before they are needed
	current *transaction
	n       int // messages in current
	live    []*sentTx
	ended   []amqp.Tx // to be told
	failed  bool      // the link is to be detached because of ownLink.fault
}

// sentTx is a transaction that has begun, with its deliveries: numbers of the link
// that follow each other. Those that the broker refused are completed, and in out.
type sentTx struct {
	*transaction
	first, last int64
	out         []span
}

// span is a range of numbers, both included.
type span struct{ first, last int64 }

// mostAhead is the most transactions that are declared ahead.
const mostAhead = 64

// coordinate attaches a coordinator for the sender, if it has transactions. It
// returns the session that the sender is to be attached to; nil: a new one.
func (s *ownSender) coordinate(ctx context.Context, c *Conn) (session *ownSession, err error) {
	if s.cfg.Tx == 0 {
		return s.cfg.session, nil
	}
	if session = s.cfg.session; session == nil {
		session = &ownSession{over: make(chan struct{})}
	}
	x := &sendTx{s: s, choose: newEven(s.cfg.TxRollback), ahead: 1}
	if x.c, err = c.newCoordinator(ctx, session, s.cfg.Address, s.address, x); err != nil {
		return nil, err
	}
	s.tx = x
	x.s.p.mu.Lock()
	x.ask()
	x.s.p.mu.Unlock()
	return session, nil
}

// uncoordinate gives up the coordinator of a sender that could not be attached.
func (s *ownSender) uncoordinate() {
	if s.tx != nil {
		s.tx.c.forget()
	}
}

// ask declares as many transactions ahead as are wanted.
func (x *sendTx) ask() {
	for len(x.c.ready)+x.c.asked < x.ahead {
		x.c.declare()
	}
}

// canSend tells what the next message has to wait for.
func (s *ownSender) canSend() endpoint.Wait {
	w := s.ep.CanSend()
	if w != endpoint.WaitNone || s.tx == nil || s.tx.begin() {
		return w
	}
	return endpoint.WaitCredit // of the coordinator, in a way
}

// begin makes sure that there is a current transaction; false: none is declared.
// Then it was too late to ask, and more are declared ahead from now on.
func (x *sendTx) begin() bool {
	if x.current != nil {
		return true
	}
	if x.current = x.c.next(); x.current == nil {
		if x.c.asked == x.ahead {
			x.ahead = min(2*x.ahead, x.most())
		}
		x.ask()
		return false
	}
	x.current.fail = x.choose.next()
	x.n = 0
	x.ask()
	return true
}

// most is how many transactions to declare ahead at most: no more than can be in
// flight. With as many messages pending as a transaction has, that is one: each
// commit is waited for, as by a JMS session.
func (x *sendTx) most() int {
	if x.s.cfg.MaxPending == 0 {
		return mostAhead
	}
	return min(mostAhead, max(1, x.s.cfg.MaxPending/x.s.cfg.Tx))
}

// txState is the delivery state of the next message.
func (s *ownSender) txState() wire.State {
	if s.tx == nil {
		return wire.State{}
	}
	return s.tx.current.state()
}

// sent notes a message, and ends the transaction if that is full.
func (x *sendTx) sent(no int64, id uint64) {
	if x.n == 0 {
		x.current.First = id
		x.live = append(x.live, &sentTx{transaction: x.current, first: no})
	}
	x.n++
	x.current.Last, x.current.Count = id, x.n
	x.live[len(x.live)-1].last = no
	if x.n == x.s.cfg.Tx {
		x.end()
	}
}

// end discharges the current transaction, if it has messages.
func (x *sendTx) end() {
	if x.current == nil || x.n == 0 {
		return
	}
	t := x.current
	x.current, x.n = nil, 0
	x.c.discharge(t)
}

// declared implements txUser.
func (x *sendTx) declared() { x.s.poke() }

// settled takes a disposition. Inside a transaction, accepted says that the broker
// has the message, not that it is committed: that is for the discharge to say.
func (x *sendTx) settled(e *endpoint.Event, at int64) {
	state := &e.State
	if state.Kind == wire.CodeTransactional {
		if state.Outcome == nil {
			return
		}
		state = state.Outcome
	}
	if state.Kind == wire.CodeAccepted {
		return
	}
	c := amqp.Completion{At: at}
	c.State, c.Error = ownOutcome(state)
	for _, t := range x.live {
		if first, last := max(e.First, t.first), min(e.Last, t.last); first <= last {
			t.out = append(t.out, span{first, last})
			x.s.complete(&endpoint.Event{First: first, Last: last}, c)
		}
	}
}

// discharged implements txUser.
func (x *sendTx) discharged(t *transaction, at int64, answer *wire.State) {
	c := amqp.Completion{At: at, State: amqp.Accepted}
	if t.fail {
		c.State = amqp.Released
	}
	t.At, t.Rolledback = at, t.fail
	if answer.Kind != wire.CodeAccepted {
		c.State, c.Error = ownOutcome(answer)
		if c.State != amqp.Failed { // whatever it says: it is not committed
			c.State = amqp.Rejected
		}
		if c.Error == "" {
			c.Error = "the broker did not accept the discharge of the transaction"
		}
		t.Error, t.Rolledback = c.Error, false
	}
	x.finish(t, c)
}

// finish completes the messages of a transaction that has ended.
func (x *sendTx) finish(t *transaction, c amqp.Completion) {
	for i, l := range x.live {
		if l.transaction != t {
			continue
		}
		x.live = append(x.live[:i], x.live[i+1:]...)
		l.rest(func(first, last int64) { x.s.complete(&endpoint.Event{First: first, Last: last}, c) })
		x.ended = append(x.ended, t.Tx)
		x.s.soon()
		return
	}
}

// rest calls fn for the deliveries that are not completed, in order.
func (t *sentTx) rest(fn func(first, last int64)) {
	for no := t.first; no <= t.last; no++ {
		from := no
		for no <= t.last && !t.isOut(no) {
			no++
		}
		if no > from {
			fn(from, no-1)
		}
	}
}

func (t *sentTx) isOut(no int64) bool {
	for _, s := range t.out {
		if no >= s.first && no <= s.last {
			return true
		}
	}
	return false
}

// over completes what is left when the link is gone; quiet: we closed it, and what
// was in flight gets no completion.
func (x *sendTx) over(at int64, quiet bool) {
	for len(x.live) > 0 {
		t := x.live[0]
		if quiet {
			x.live = x.live[1:]
			t.rest(func(first, last int64) { x.s.settled(int(last - first + 1)) })
			continue
		}
		if t.Error = x.s.text; x.s.fault != nil {
			t.Error = x.s.fault.text()
		}
		x.finish(t.transaction, amqp.Completion{State: amqp.Failed, At: at, Error: t.Error})
	}
	x.current = nil
}

// lost implements txUser: without its coordinator the sender is of no use. That is
// told at once, the peer may never answer its detach.
func (x *sendTx) lost(why *Error) {
	s := x.s
	if s.fault != nil || s.over {
		return
	}
	s.fault, x.failed = why, true
	x.over(s.p.conn.cfg.Now(), false)
	if s.attached {
		s.detached(&endpoint.Event{Session: s.ep.Session()})
		s.fell = true
		s.settled(0)
	}
	s.soon()
	s.poke()
}

// tell passes on what has ended, and gives up a link whose coordinator is gone.
// sinkMu is held.
func (x *sendTx) tell(quiet bool) {
	for _, t := range x.ended {
		if x.s.cfg.OnTx != nil && !quiet {
			x.s.cfg.OnTx(t)
		}
	}
	x.ended = x.ended[:0]
	if x.failed {
		x.failed = false
		x.s.p.mu.Lock()
		if x.s.ep != nil { // else it is about to be attached, and will be given up
			x.s.ep.Detach(true, nil)
		}
		x.s.p.mu.Unlock()
		x.s.p.nudge()
	}
}

// Flush implements sending.
func (s *ownSender) Flush(ctx context.Context) error {
	if s.tx == nil {
		return nil
	}
	s.p.mu.Lock()
	s.tx.end()
	s.p.mu.Unlock()
	s.p.flushSoon()
	s.calm(ctx)
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	if gone := s.gone("send"); gone != nil {
		return gone
	}
	if err := ctx.Err(); err != nil && s.inFlight > 0 {
		return &Error{Op: "send", Address: printable(s.typed), Description: "waiting for the end of transactions", cause: safeCause(err)}
	}
	return nil
}
