package link

import (
	"context"
	"errors"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// ownSession is a session of ours. One for each link is the rule, since some
// brokers end the session when a link is refused.
type ownSession struct {
	ep    *endpoint.Session
	links []*ownLink    // all that were ever attached; plane.mu
	over  chan struct{} // closed when the session is
}

// event takes what happened to a session as such; plane.mu is held.
func (s *ownSession) event(e *endpoint.Event) {
	switch e.Kind {
	case endpoint.SessionEnded:
		close(s.over)
	case endpoint.Unblocked:
		for _, l := range s.links {
			if l.unblocked != nil {
				l.unblocked()
			}
			l.poke()
		}
	}
}

// ownLink is what our senders and receivers have in common.
type ownLink struct {
	p       *plane
	session *ownSession
	ep      *endpoint.Link
	typed   string // the address as typed
	address Address
	name    string
	wake    chan struct{} // a token when something has changed, for whoever submits or receives
	ended   chan struct{} // closed when the link is gone
	// unblocked is called when the session's window has opened, with plane.mu held; nil: wake is enough.
	unblocked func()

	// Under plane.mu.
	attached  bool
	over      bool   // the link is gone
	closing   bool   // we ended it
	keep      bool   // the subscription outlives the link: it is not detached for good
	fault     *Error // why it is of no use any more, though it may live; nil: it is
	condition string // why the peer ended it, or the connection is gone
	text      string
	cause     error
}

// poke wakes whoever waits for the link.
func (l *ownLink) poke() {
	select {
	case l.wake <- struct{}{}:
	default: // a token is there
	}
}

// newOwnLink makes a link that is not attached.
func newOwnLink(p *plane, typed string, a Address, name string) ownLink {
	return ownLink{p: p, typed: typed, address: a, name: name, wake: make(chan struct{}, 1), ended: make(chan struct{})}
}

// because returns why the link is gone, nil if it is not or we ended it; plane.mu is held.
func (l *ownLink) because(op string) *Error {
	if !l.over && l.fault == nil || l.closing || l.p.conn.closing.Load() && !l.p.conn.cutByUs.Load() {
		return nil
	}
	if l.fault != nil {
		return &Error{Op: op, Address: printable(l.typed), Condition: l.fault.Condition, Description: l.fault.Description, cause: l.fault.cause}
	}
	return &Error{Op: op, Address: printable(l.typed), Condition: l.condition, Description: l.text, cause: l.cause}
}

// gone returns why nothing can be done on the link any more; nil if it is alive;
// plane.mu is held.
func (l *ownLink) gone(op string) error {
	if !l.over && !l.closing && l.fault == nil {
		return nil
	}
	if e := l.because(op); e != nil {
		return e
	}
	return &Error{Op: op, Address: printable(l.typed), Description: "the link is closed"}
}

// detached notes why the link is gone; plane.mu is held.
func (l *ownLink) detached(e *endpoint.Event) {
	l.over = true
	close(l.ended)
	switch gone := l.p.gone; {
	case gone != nil:
		l.condition, l.text, l.cause = gone.Condition, gone.Description, gone.cause
		if l.p.conn.cutByUs.Load() {
			l.text, l.cause = "the peer took no data: connection given up", nil
		}
	case e.Err != nil:
		said := l.p.conn.said("", "", e.Err)
		l.condition, l.text = said.Condition, said.Description
	case e.Session.Over():
		l.text = "the peer ended the session without a reason"
	default:
		l.text = "the peer detached without a reason"
	}
	l.poke()
}

// said makes an *Error of what the peer said.
func (c *Conn) said(op, address string, e *wire.Error) *Error {
	return &Error{Op: op, Address: printable(address), Condition: printable(string(e.Condition)), Description: printable(c.cfg.URL.hide(e.Description))}
}

// takeTurn waits until nobody else writes.
func (p *plane) takeTurn(ctx context.Context) error {
	select {
	case <-p.turn:
		return nil
	default:
	}
	select {
	case <-p.turn:
		return nil
	case <-p.broken:
		return p.deadErr()
	case <-ctx.Done():
		return ctx.Err()
	}
}

// attach begins a session, unless there is one, attaches a link and waits for the
// peer's answer. A refusal is an error here: the answer with a null terminus is
// not enough, the detach that follows it says why.
func (l *ownLink) attach(ctx context.Context, s *ownSession, self attachment, a wire.Attach) error {
	p := l.p
	if err := p.takeTurn(ctx); err != nil {
		return err
	}
	p.mu.Lock()
	err := l.ask(s, self, a)
	out := p.take()
	p.mu.Unlock()
	p.send(out)
	if err != nil {
		return err
	}
	for {
		p.mu.Lock()
		gone, attached := l.gone("attach"), l.attached
		p.mu.Unlock()
		if gone != nil {
			l.forget()
			return gone
		}
		if attached {
			return nil
		}
		select {
		case <-l.wake:
		case <-ctx.Done():
			l.forget()
			return ctx.Err()
		}
	}
}

// ask encodes begin and attach; plane.mu is held.
func (l *ownLink) ask(s *ownSession, self attachment, a wire.Attach) (err error) {
	if l.p.gone != nil { // its close may come before our first begin
		e := *l.p.gone
		e.Op, e.Address = "attach", printable(l.typed)
		return &e
	}
	if l.p.conn.closing.Load() {
		return errors.New("the connection is closed")
	}
	if s == nil {
		s = &ownSession{over: make(chan struct{})}
	}
	if s.ep == nil {
		if s.ep, err = l.p.ep.Begin(); err != nil {
			return err
		}
		s.ep.Data = s
	}
	a.Name = l.name
	if l.ep, err = s.ep.Attach(a); err != nil {
		return err
	}
	l.ep.Data = self
	l.session = s
	s.links = append(s.links, l)
	return nil
}

// forget gives up a link that was refused, or not answered, without waiting.
func (l *ownLink) forget() {
	l.p.mu.Lock()
	l.closing = true
	l.ep.Detach(!l.keep, nil)
	l.leave()
	l.p.mu.Unlock()
	l.p.flushSoon()
}

// leave ends the session if no other link is on it, and reports whether it did;
// plane.mu is held.
func (l *ownLink) leave() bool {
	for _, other := range l.session.links {
		if other != l && !other.over && !other.closing {
			return false
		}
	}
	l.session.ep.End(nil)
	return true
}

// shut detaches the link and ends its session if it is the last there, waiting for
// each answer until ctx is done. An end that comes together with the detach of a
// receiver is not answered by RabbitMQ.
func (l *ownLink) shut(ctx context.Context) {
	l.p.mu.Lock()
	l.ep.Detach(!l.keep, nil)
	l.p.mu.Unlock()
	if l.p.takeTurn(ctx) != nil {
		return
	}
	l.p.flush()
	select {
	case <-l.ended:
	case <-ctx.Done():
		return
	}
	l.p.mu.Lock()
	last := l.leave()
	l.p.mu.Unlock()
	if !last || l.p.takeTurn(ctx) != nil {
		return
	}
	l.p.flush()
	select {
	case <-l.session.over:
	case <-ctx.Done():
	}
}

// report tells OnEvent of the end of the link.
func (l *ownLink) report(e *Error) {
	var err error
	if e != nil {
		err = e
	}
	l.p.conn.event(amqp.EventDetach, l.address.Text, err)
}

// symbols translates capabilities.
func symbols(s []string) []wire.Symbol {
	var out []wire.Symbol
	for _, c := range s {
		out = append(out, wire.Symbol(c))
	}
	return out
}
