package link

import (
	"context"
	"errors"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/wire"
)

// gone returns why nothing can be sent any more.
func (s *librarySender) gone(op string) error {
	if err := s.cause(op); err != nil {
		return err
	}
	return &Error{Op: op, Address: s.cfg.Address, Description: "the link is closed"}
}

// cause returns why the link ended, nil if we ended it.
func (s *librarySender) cause(op string) *Error {
	return s.conn.linkCause(op, s.cfg.Address, s.state, s.closing.Load())
}

// linkCause returns why a link ended, nil if we ended it or its connection.
func (c *Conn) linkCause(op, address string, l *linkState, closing bool) *Error {
	if l.isGone() && !closing {
		e := &Error{Op: op, Address: address, Description: "the peer " + l.how + " without a reason"}
		if l.cause != nil {
			e.Condition = printable(string(l.cause.Condition))
			e.Description = printable(c.cfg.URL.hide(l.cause.Description))
		}
		return e
	}
	select {
	case <-c.inner.Done():
	default:
		return nil
	}
	if c.closing.Load() || closing {
		return nil
	}
	if c.cutByUs.Load() {
		return &Error{Op: op, Address: address, Description: "the peer took no data: connection given up"}
	}
	var e *Error
	if errors.As(c.endError(op, address), &e) {
		return e
	}
	return nil
}

// reason is the best description of an error of the library on this link: what
// the wire said, else the error itself.
func (s *librarySender) reason(err error) *Error {
	if e := s.cause("send"); e != nil {
		return e
	}
	return s.conn.failed("send", s.cfg.Address, err)
}

// watchEnd waits for the end of the link, from whichever side, lets the library
// finish what it has, and reports Down.
func (s *librarySender) watchEnd() {
	select {
	case <-s.state.gone:
	case <-s.conn.inner.Done():
	case <-s.closed:
	}
	s.flight.finish(func() (string, bool) {
		if e := s.cause("send"); e != nil {
			return e.text(), true
		}
		return "", false
	})
	err := error(nil)
	if e := s.cause("send"); e != nil {
		err = e
	}
	s.conn.watch.remove(s.name, wire.RoleSender)
	s.conn.event(amqp.EventDetach, s.address.Text, err)
	s.flight.finished(err)
}

// Close detaches the link and ends its session within 2 s. Messages in flight
// get no completion any more: wait for them before. The sink hears nothing
// more after Close has returned, and no Down if the link was alive.
func (s *librarySender) Close(ctx context.Context) error {
	s.once.Do(func() {
		s.closing.Store(s.closing.Load() || !s.state.isGone())
		if !s.conn.detach(ctx, s.state, s.inner, s.session, s.cfg.Session == nil) {
			s.flight.stop() // what is in flight remains unsettled
		}
		close(s.closed)
	})
	<-s.flight.down
	if e := s.cause("close"); e != nil {
		return e
	}
	return nil
}

// Flush implements sending: there are no transactions.
func (s *librarySender) Flush(context.Context) error { return nil }
