package link

import (
	"context"
	"errors"
	"fmt"
	"math"
	"sync"
	"sync/atomic"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// ownReceiver is a receiving link of ours.
type ownReceiver struct {
	ownLink
	cfg    ReceiverConfig
	once   sync.Once
	closed chan struct{} // closed when the end of the link was told
	tx     *recvTx       // nil: there are no transactions

	reported atomic.Bool // the end of the link, to OnEvent

	// Under plane.mu.
	queue       arrivals
	presettled  int // deliveries that wait and need no answer
	stopped     bool
	contentType string // of the last delivery that had one

	// Of the reader.
	queued bool // tell will be called
	fell   bool
}

func (c *Conn) newOwnReceiver(ctx context.Context, cfg ReceiverConfig, address Address, warning string) (*ownReceiver, error) {
	r := &ownReceiver{
		ownLink: newOwnLink(c.plane, cfg.Address, address, cfg.linkName(c)),
		cfg:     cfg, closed: make(chan struct{}), stopped: cfg.Hold,
	}
	a := wire.Attach{
		Role: wire.RoleReceiver, Target: &wire.Target{Address: wire.Some(r.name)},
		Source: cfg.source(address),
	}
	r.keep = cfg.Durable && !cfg.Unsubscribe
	if cfg.Presettled {
		a.SndSettleMode = wire.Some(wire.SenderSettled)
	}
	if cfg.second {
		a.RcvSettleMode = wire.Some(wire.ReceiverSecond)
	}
	session, err := r.coordinate(ctx, c)
	if err == nil {
		if err = r.attach(ctx, session, r, a); err == nil {
			err = r.agreed()
		}
		if err != nil {
			r.uncoordinate()
		}
	}
	if err != nil {
		return nil, c.attachFailed(cfg.Address, address, err)
	}
	theirs := ""
	if peer := r.ep.Peer(); peer.Source != nil {
		theirs = peer.Source.Address.Or("")
	}
	c.attached(theirs, address, warning)
	r.p.mu.Lock()
	r.renew()
	r.p.mu.Unlock()
	r.p.flushSoon()
	return r, nil
}

// agreed gives the link up if the peer's answer lacks what was asked for.
func (r *ownReceiver) agreed() error {
	peer := r.ep.Peer()
	text := ""
	switch {
	case r.cfg.Presettled && peer.SndSettleMode.Or(wire.SenderMixed) != wire.SenderSettled:
		text = "the peer does not send settled"
	case r.cfg.second && peer.RcvSettleMode.Or(wire.ReceiverFirst) != wire.ReceiverSecond:
		text = "the peer does not settle second"
	default:
		if text = r.cfg.agreed(peer.Source); text == "" {
			return nil
		}
	}
	r.forget()
	return &Error{Op: "attach", Address: printable(r.typed), Description: text}
}

// Address implements receiving.
func (r *ownReceiver) Address() Address { return r.address }

// Subscription implements receiving.
func (r *ownReceiver) Subscription() string {
	return r.cfg.subscription(r.p.conn, r.address, r.name)
}

// Queued implements receiving.
func (r *ownReceiver) Queued() (waiting, unsettled int) {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	waiting = r.queue.len()
	return waiting, r.ep.Unsettled() + r.presettled - waiting
}

// event implements attachment.
func (r *ownReceiver) event(e *endpoint.Event, at int64) {
	switch e.Kind {
	case endpoint.LinkAttached:
		r.attached = true
		r.ep.Tolerate(uint32(r.cfg.Credit))
		r.poke()
	case endpoint.Received:
		r.arrive(&e.Delivery, at)
		r.soon()
	case endpoint.LinkFlow, endpoint.Settled: // a delivery was aborted, or the sender gave some up
		if r.attached && r.ep.Credit() < uint32(r.cfg.Credit) {
			r.renew()
		}
	case endpoint.LinkDetached:
		if r.over { // without its coordinator it was of no use
			return
		}
		r.detached(e)
		if r.tx != nil {
			r.tx.over(r.because("settle"))
		}
		r.fell = true
		r.soon()
	}
}

func (r *ownReceiver) soon() {
	if !r.queued {
		r.queued = true
		r.p.tellLater(r)
	}
}

// tell implements attachment.
func (r *ownReceiver) tell() {
	r.queued = false
	if r.tx != nil {
		r.tx.tell()
	}
	if r.fell {
		r.fell = false
		r.p.mu.Lock()
		e := r.because("receive")
		r.p.mu.Unlock()
		if !r.reported.Swap(true) {
			r.report(e)
		}
		close(r.closed)
	}
	r.poke()
}

// Receive implements receiving.
func (r *ownReceiver) Receive(ctx context.Context, dst []amqp.Delivery) (int, error) {
	if len(dst) == 0 {
		return 0, errors.New("link: receive into nothing")
	}
	for {
		n, output, err := r.take(dst)
		if output {
			r.p.flushSoon()
		}
		if n > 0 || err != nil {
			return n, err
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
			return 0, &Error{Op: "receive", Address: printable(r.typed), Description: "stopped waiting", cause: ctx.Err()}
		}
	}
}

// take hands out what has arrived; output says that there is something to write.
func (r *ownReceiver) take(dst []amqp.Delivery) (n int, output bool, err error) {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	if n = r.queue.take(dst); n == 0 {
		return 0, false, r.gone("receive")
	}
	free := 0
	for i := range dst[:n] {
		if dst[i].Settled {
			free++
		}
	}
	if free > 0 {
		r.presettled -= free
		r.renew()
		output = r.p.ep.HasOutput()
	}
	return n, output, nil
}

// renew grants credit up to what may be under way to us or unsettled by us, once
// half of that is free; plane.mu is held.
func (r *ownReceiver) renew() {
	if r.stopped || r.over || r.closing {
		return
	}
	held := r.ep.Unsettled() + r.presettled
	if r.ep.Assembling() {
		held++
	}
	if free := r.cfg.Credit - held - int(r.ep.Credit()); free > 0 && 2*free >= r.cfg.Credit {
		r.ep.Grant(uint32(r.cfg.Credit - held))
	}
}

// Settle implements receiving. Neighbours share a disposition.
func (r *ownReceiver) Settle(first, last uint64, state amqp.State) (at int64, err error) {
	p := r.p
	st, err := stateOf(state)
	if err != nil || first > last {
		return p.conn.cfg.Now(), err
	}
	if r.tx != nil {
		return r.tx.settle(int64(min(first, math.MaxInt64-1)), int64(min(last, math.MaxInt64-1)), st)
	}
	if err := p.takeTurn(context.Background()); err != nil { // bounded by writeTimeout
		return p.conn.cfg.Now(), r.why("settle", err)
	}
	p.mu.Lock()
	err = r.gone("settle")
	if err == nil {
		r.ep.Settle(int64(min(first, math.MaxInt64)), int64(min(last, math.MaxInt64)), st)
		r.renew()
	}
	out := p.take()
	p.mu.Unlock()
	if !p.send(out) { // the writer writes it
		if bad := p.takeTurn(context.Background()); bad != nil {
			return p.conn.cfg.Now(), r.why("settle", bad)
		}
		p.turn <- struct{}{}
	}
	return p.conn.cfg.Now(), err
}

// why describes a failed write: by the end of the link, if that is known already.
func (r *ownReceiver) why(op string, err error) error {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	if gone := r.gone(op); gone != nil {
		return gone
	}
	return failure(r.p.conn.cfg.URL, op, r.typed, err)
}

// stateOf translates the outcome of a delivery.
func stateOf(s amqp.State) (wire.State, error) {
	switch s {
	case amqp.Accepted:
		return wire.StateOf(wire.CodeAccepted), nil
	case amqp.Rejected:
		return wire.StateOf(wire.CodeRejected), nil
	case amqp.Released:
		return wire.StateOf(wire.CodeReleased), nil
	case amqp.Modified:
		return wire.State{Kind: wire.CodeModified, DeliveryFailed: true}, nil
	case amqp.Undeliverable:
		return wire.State{Kind: wire.CodeModified, DeliveryFailed: true, UndeliverableHere: true}, nil
	}
	return wire.State{}, fmt.Errorf("link: settle with state %d", s)
}

// Stop implements receiving.
func (r *ownReceiver) Stop(context.Context) error {
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	r.stopped = true
	return nil
}

// Close implements receiving. What is here and not settled is released, in one
// write with the detach. The link is never drained: RabbitMQ 3.10 crashes its
// queue then, and others do not answer.
func (r *ownReceiver) Close(ctx context.Context) error {
	r.once.Do(func() {
		ctx, cancel := r.p.conn.closeDeadline(ctx)
		defer cancel()
		_ = r.Flush(ctx) // what is not committed comes again
		if r.tx != nil {
			r.tx.c.close(ctx)
		}
		r.p.mu.Lock()
		r.stopped = true
		r.closing = !r.over
		if r.closing {
			r.ep.Settle(0, math.MaxInt64, wire.StateOf(wire.CodeReleased))
			r.queue, r.presettled = arrivals{}, 0
		}
		r.poke() // a Receive that waits
		r.p.mu.Unlock()
		r.shut(ctx)
		r.p.mu.Lock()
		over := r.over
		r.p.mu.Unlock()
		if over {
			<-r.closed // the reader is about to
		} else if !r.reported.Swap(true) {
			r.report(nil)
		}
	})
	r.p.mu.Lock()
	defer r.p.mu.Unlock()
	if e := r.because("close"); e != nil {
		return e
	}
	return nil
}
