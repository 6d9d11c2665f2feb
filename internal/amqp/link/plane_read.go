package link

import (
	"errors"
	"fmt"
	"net"
	"syscall"
	"time"

	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// Read implements net.Conn for the library. It returns when there is something
// for the library, or at the end; what is ours is dealt with meanwhile.
func (p *plane) Read(b []byte) (int, error) {
	for len(p.pass) == 0 {
		if p.failure != nil {
			return 0, p.failure
		}
		at, err := p.fill()
		if err == nil {
			err = p.work(at)
		}
		if err != nil {
			p.end(err)
		}
	}
	n := copy(b, p.pass)
	p.pass = p.pass[:copy(p.pass, p.pass[n:])]
	return n, nil
}

// fill reads the socket once and returns the instant at which that returned.
//
// The deadline is not set anew for each read: when it passes, it is seen whether
// anything came since it was set.
func (p *plane) fill() (at int64, err error) {
	for {
		if p.opened && p.deadline == 0 {
			p.deadline = max(p.readAt, p.conn.cfg.Now()-p.idle) + p.idle
			_ = p.Conn.SetReadDeadline(time.Now().Add(time.Duration(p.deadline - p.conn.cfg.Now()))) // fails with the read, if it does
		}
		err = p.in.fill(p.from)
		at = p.conn.cfg.Now()
		if err == nil {
			p.readAt = at
			return at, nil
		}
		if !p.opened || !timedOut(err) || p.deadErrOrNil() != nil {
			return at, err
		}
		if at-p.readAt >= p.idle {
			return at, fmt.Errorf("the peer was silent for %v: %w", p.conn.cfg.IdleTimeout, err)
		}
		p.deadline = 0
	}
}

// work works off the frames that were read at an instant.
func (p *plane) work(at int64) (err error) {
	p.mu.Lock()
	for err == nil {
		if !p.opened {
			if h := p.in.header(); h != nil {
				p.pass = append(p.pass, h...)
				continue
			}
		}
		f, raw, bad := p.in.frame()
		if len(raw) == 0 || bad != nil {
			err = p.refuse(bad)
			break
		}
		err = p.frame(f, raw, at)
	}
	output := p.ep.HasOutput()
	p.mu.Unlock()
	for i, a := range p.told {
		p.told[i] = nil
		a.tell()
	}
	p.told = p.told[:0]
	if output {
		p.nudge()
	}
	return err
}

// refuse makes the error of bytes that are no frames; nil if bad is.
func (p *plane) refuse(bad error) error {
	if bad == nil {
		return nil
	}
	if !p.opened {
		return errNoAMQP
	}
	p.fail(&wire.Error{Condition: wire.CondFramingError, Description: bad.Error()})
	return fmt.Errorf("the peer sent a frame that is not what we announced: %w", bad)
}

// fail makes a close frame with an error the last of our output. The library
// writes one of its own afterwards, which is swallowed.
func (p *plane) fail(e *wire.Error) {
	if !p.closeIn && !p.closeOut {
		p.closeIn = true
		p.ep.Close(e)
	}
}

// frame deals with one frame; mu is held.
func (p *plane) frame(f wire.Frame, raw []byte, at int64) error {
	if len(f.Body) == 0 {
		p.pass = append(p.pass, raw...)
		return nil
	}
	code, err := wire.BodyCode(f.Body)
	switch {
	case err != nil:
	case f.Type == wire.FrameSASL && !p.opened:
		_, err = wire.Parse(f)
		p.pass = append(p.pass, raw...)
	case f.Type == wire.FrameSASL, (code == wire.CodeOpen) == p.opened:
		err = fmt.Errorf("performative %#x at the wrong time", uint64(code))
	case code == wire.CodeOpen:
		if err = p.onOpen(f); err == nil {
			p.pass = append(p.pass, raw...)
		}
	case code == wire.CodeClose:
		if err = p.onClose(f, at); err == nil {
			p.pass = append(p.pass, raw...)
		}
	default:
		return p.own(f, at)
	}
	if err != nil {
		p.fail(&wire.Error{Condition: wire.CondDecodeError, Description: err.Error()})
		return fmt.Errorf("the peer sent a frame that cannot be decoded: %w", err)
	}
	return nil
}

// onOpen takes the peer's limits, and the deadlines into our hands.
func (p *plane) onOpen(f wire.Frame) error {
	if err := p.peerOpen.Decode(append([]byte(nil), f.Body...)); err != nil {
		return err
	}
	p.opened, p.hasOpen = true, true
	p.ep.SetPeer(&p.peerOpen)
	p.ours.Store(true)
	return p.Conn.SetDeadline(time.Time{})
}

// onClose takes the peer's close: links and sessions are gone.
func (p *plane) onClose(f wire.Frame, at int64) error {
	var c wire.Close
	if err := c.Decode(append([]byte(nil), f.Body...)); err != nil {
		return err
	}
	p.closeSaid = c.Error
	e := &Error{Op: "connection", Address: p.conn.cfg.URL.HostPort(), Description: "the peer closed the connection without a reason"}
	if c.Error != nil {
		e = p.conn.said(e.Op, e.Address, c.Error)
	}
	p.down(e, at)
	return nil
}

// own deals with a frame of a session.
func (p *plane) own(f wire.Frame, at int64) error {
	if p.gone != nil {
		return nil // after its close
	}
	e := p.ep.Frame(f)
	p.drain(at)
	if e != nil {
		p.fail(e)
		return &Error{Op: "connection", Address: p.conn.cfg.URL.HostPort(), Condition: printable(string(e.Condition)),
			Description: printable("closed by us: " + e.Description)}
	}
	return nil
}

// drain hands the events to the links.
func (p *plane) drain(at int64) {
	events := p.ep.Events()
	for i := range events {
		e := &events[i]
		if e.Kind == endpoint.LinkRequested {
			e.Link.Refuse(&wire.Error{Condition: wire.CondNotAllowed, Description: "links are attached by this end only"})
			continue
		}
		if e.Link == nil {
			if s, ok := e.Session.Data.(*ownSession); ok {
				s.event(e)
			}
			continue
		}
		if a, ok := e.Link.Data.(attachment); ok {
			a.event(e, at)
		}
	}
}

// tellLater has tell called when the frames of this read are worked off.
func (p *plane) tellLater(a attachment) { p.told = append(p.told, a) }

// down ends everything on the connection; mu is held.
func (p *plane) down(e *Error, at int64) {
	if p.gone != nil {
		return
	}
	p.gone = e
	p.ep.Down(nil)
	p.drain(at)
	p.seenClose()
}

// end is the end of the reader.
func (p *plane) end(err error) {
	p.mu.Lock()
	if p.cause != nil && (timedOut(err) || errors.Is(err, net.ErrClosed)) {
		err = p.cause // of a write
	}
	p.failure = err
	if p.gone == nil {
		p.down(p.explain(err), p.conn.cfg.Now())
	}
	p.mu.Unlock()
	for _, a := range p.told {
		a.tell()
	}
	p.told = nil
	p.seenClose()
}

// explain makes an *Error of the reason why nothing more is read.
func (p *plane) explain(err error) *Error {
	e := failure(p.conn.cfg.URL, "connection", p.conn.cfg.URL.HostPort(), err)
	switch {
	case errors.Is(err, syscall.ECONNRESET), errors.Is(err, syscall.EPIPE):
		e.Description = "the peer closed the connection without a reason (" + e.cause.Error() + ")"
	case errors.Is(err, net.ErrClosed):
		e.Description = "the connection is closed"
	}
	return e
}
