package link

import (
	"net"
	"time"

	"amqpperf/internal/amqp/wire"
)

// Write implements net.Conn for the library: each call holds whole frames. What
// links have left goes out in front.
func (p *plane) Write(b []byte) (int, error) {
	select {
	case <-p.turn:
	case <-p.broken:
		return 0, p.deadErr()
	}
	p.mu.Lock()
	out := p.take()
	if !p.closeIn && !p.closeOut && p.cause == nil {
		out = append(out, b...)
		p.closeOut = isClose(b)
	}
	p.mu.Unlock()
	err := p.write(out)
	p.recycle(out)
	p.turn <- struct{}{}
	if err != nil {
		return 0, err
	}
	return len(b), nil
}

// isClose reports whether b, of the library, is a close frame.
func isClose(b []byte) bool {
	f, _, err := wire.Cut(b, mostFrameSize)
	if err != nil || len(f.Body) == 0 || f.Type != wire.FrameAMQP || string(b[:4]) == wire.ProtocolAMQP[:4] {
		return false
	}
	code, err := wire.BodyCode(f.Body)
	return err == nil && code == wire.CodeClose
}

// take returns all output; mu and the turn are held.
func (p *plane) take() []byte {
	out := p.ep.Swap(p.spare)
	p.spare = nil
	if p.closeOut || p.cause != nil {
		out = out[:0]
	}
	return out
}

// recycle keeps a buffer for the next output; the turn is held.
func (p *plane) recycle(out []byte) {
	if cap(out) <= maxSpare {
		p.spare = out[:0]
	}
}

// write writes all of b, and waits for the peer as long as it must; the turn is held.
func (p *plane) write(b []byte) error {
	if len(b) == 0 {
		return p.deadErrOrNil()
	}
	if p.ours.Load() {
		_ = p.Conn.SetWriteDeadline(time.Now().Add(writeTimeout)) // fails with the write, if it does
		defer func() { _ = p.Conn.SetWriteDeadline(time.Time{}) }()
	}
	n, err := p.Conn.Write(b)
	p.wrote.Add(uint64(n))
	if err != nil {
		p.dead(err)
	}
	return err
}

// send writes out at once as far as the socket takes it, leaves the rest to the
// writer, and gives up the turn. It never waits. It reports whether all is written.
func (p *plane) send(out []byte) bool {
	n := 0
	if len(out) > 0 && p.raw != nil {
		var err error
		if n, err = p.try.write(p.raw, out); err != nil {
			p.dead(err)
			p.recycle(out)
			p.turn <- struct{}{}
			return false
		}
		p.wrote.Add(uint64(n))
	}
	if n < len(out) {
		p.rest, p.whole = out[n:], out
		p.handed <- struct{}{} // has room: whoever has the turn puts one in
		return false
	}
	p.settlePaid()
	p.recycle(out)
	p.turn <- struct{}{}
	return true
}

// settlePaid completes presettled messages, which are written now.
func (p *plane) settlePaid() {
	if len(p.paid) == 0 {
		return
	}
	at := p.conn.cfg.Now()
	for i, s := range p.paid {
		p.paid[i] = nil
		s.payPresettled(at)
	}
	p.paid = p.paid[:0]
}

// flush sends what there is; the turn is held, and given up.
func (p *plane) flush() bool {
	p.mu.Lock()
	out := p.take()
	p.mu.Unlock()
	return p.send(out)
}

// flushSoon sends what there is, or has the writer do it if somebody else writes.
func (p *plane) flushSoon() {
	select {
	case <-p.turn:
		p.flush()
	default:
		p.nudge()
	}
}

// nudge wakes the writer.
func (p *plane) nudge() {
	select {
	case p.wake <- struct{}{}:
	default: // it will look
	}
}

// writer writes what the reader has caused, and what others could not get rid of
// without waiting.
func (p *plane) writer() {
	for {
		select {
		case <-p.handed: // with the turn
			if p.write(p.rest) == nil {
				p.settlePaid()
			}
			p.recycle(p.whole)
			p.rest, p.whole = nil, nil
			p.turn <- struct{}{}
		case <-p.wake:
			select {
			case <-p.turn:
				p.flush()
			case <-p.handed: // whoever has the turn hands it over
				p.nudge()
				p.handed <- struct{}{}
			case <-p.broken:
				return
			}
		case <-p.broken:
			return
		}
	}
}

// lastRead is how long the reader goes on after a write failed: the peer's close,
// with its reason, may have come already.
const lastRead = time.Second

// dead notes that a write failed, maybe midway: nothing can follow, and the reader
// ends soon.
func (p *plane) dead(err error) {
	p.mu.Lock()
	if p.cause == nil {
		p.cause = err
	}
	p.mu.Unlock()
	if p.ours.Load() {
		_ = p.Conn.SetReadDeadline(time.Now().Add(lastRead)) // the socket may be closed
	}
}

func (p *plane) deadErrOrNil() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cause
}

// deadErr returns why nothing can be written.
func (p *plane) deadErr() error {
	if err := p.deadErrOrNil(); err != nil {
		return err
	}
	return net.ErrClosed
}

// rescue gives up a connection whose peer takes nothing for closeTimeout.
func (p *plane) rescue() {
	before := p.wrote.Load()
	time.AfterFunc(closeTimeout, func() {
		select {
		case t := <-p.turn: // nobody is stuck
			p.turn <- t
		default:
			if p.wrote.Load() == before {
				p.conn.abort()
			}
		}
	})
}
