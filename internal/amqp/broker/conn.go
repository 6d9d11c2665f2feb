package broker

import (
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"sync"
	"time"

	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

const (
	handshakeLimit = 10 * time.Second // for SASL and open
	writeLimit     = 30 * time.Second // for one write
	closeLimit     = time.Second      // for the peer's close after ours
	channelMax     = 255
	readBuffer     = 64 << 10
)

// conn is one connection. The reader works frames off and never writes; the
// writer takes what has gathered and never reads.
type conn struct {
	b    *Broker
	nc   net.Conn
	in   inbox
	wake chan struct{} // capacity 1
	over chan struct{} // closed when the reader has ended

	peerIdle time.Duration // the peer's idle-time-out; 0: none

	// Under the broker's lock.
	ep        *endpoint.Conn
	consumers map[*consumer]bool
	container string // the peer's
	bytes     int64  // of unsettled messages on their way to the peer
	txns      map[string]*txn
	lastTxn   uint64
	touched   bool
	arrival   int64 // of the bytes being worked off
	choked    bool  // a consumer was passed over because too much is unwritten
	ending    bool  // a close frame is in the output, or the socket is gone: nothing follows
	peerDone  bool  // the peer has sent its close
	cause     error
}

func newConn(b *Broker, nc net.Conn) *conn {
	c := &conn{b: b, nc: nc, wake: make(chan struct{}, 1), over: make(chan struct{}), consumers: make(map[*consumer]bool)}
	c.in = inbox{r: nc, max: b.cfg.MaxFrameSize}
	c.ep = endpoint.New(endpoint.Config{AcceptSessions: true, MaxMessageSize: b.cfg.MaxMessageSize, ChannelMax: channelMax})
	return c
}

// serve runs the connection and closes the socket.
func (c *conn) serve() error {
	err := c.handshake()
	if err != nil {
		return errors.Join(err, c.nc.Close())
	}
	var writer sync.WaitGroup
	writer.Go(c.write)
	err = c.read()
	close(c.over)
	c.b.mu.Lock()
	if errors.Is(err, os.ErrDeadlineExceeded) {
		c.fail(&wire.Error{Condition: wire.CondResourceLimit, Description: fmt.Sprintf("nothing was received for %v", c.b.cfg.IdleTimeout)})
	}
	if !c.ending {
		c.ending = true
		c.cause = err
	}
	err = c.cause
	now := c.b.cfg.Now()
	c.leaveAll(now)
	c.b.touch(c)
	c.b.unlock(now)
	writer.Wait() // it closes the socket
	return err
}

// read is the reader: it returns when the connection is over in its direction.
// A client may send all its frames in one write with the open: what the
// handshake has read of them is worked off before the next read.
func (c *conn) read() error {
	if c.work(c.b.cfg.Now()) {
		return nil
	}
	for {
		if err := c.deadline(); err != nil {
			return err
		}
		if err := c.in.fill(); err != nil {
			if errors.Is(err, io.EOF) {
				return fmt.Errorf("connection ended without a close: %w", err)
			}
			return err
		}
		if c.work(c.b.cfg.Now()) {
			return nil
		}
	}
}

func (c *conn) deadline() error {
	c.b.mu.Lock()
	ending := c.ending
	c.b.mu.Unlock()
	switch {
	case ending:
		return nil // the writer has set the last deadline
	case c.b.cfg.IdleTimeout > 0:
		return c.nc.SetReadDeadline(time.Now().Add(c.b.cfg.IdleTimeout))
	}
	return c.nc.SetReadDeadline(time.Time{})
}

// work handles all whole frames read so far; true when nothing more is wanted.
// arrival is when the read returned; what is done about it is stamped later, once
// for all frames of the read.
func (c *conn) work(arrival int64) (done bool) {
	c.b.mu.Lock()
	now := c.b.cfg.Now()
	defer func() { c.b.unlock(now) }()
	c.arrival = arrival
	c.b.touch(c)
	for {
		f, ok, err := c.in.frame()
		if err != nil {
			c.fail(&wire.Error{Condition: wire.CondFramingError, Description: err.Error()})
			return c.peerDone
		}
		if !ok || c.peerDone {
			return c.peerDone
		}
		c.frame(f, now)
	}
}

func (c *conn) frame(f wire.Frame, now int64) {
	if len(f.Body) == 0 {
		return // a heartbeat
	}
	code, err := wire.BodyCode(f.Body)
	switch {
	case err != nil:
		c.fail(&wire.Error{Condition: wire.CondDecodeError, Description: err.Error()})
	case f.Type != wire.FrameAMQP:
		c.fail(&wire.Error{Condition: wire.CondFramingError, Description: "SASL frame after the open"})
	case code == wire.CodeClose:
		c.peerDone = true
		c.fail(nil)
	case c.ending: // the peer has not seen our close yet
	default:
		if e := c.ep.Frame(f); e != nil {
			c.fail(e)
			return
		}
		events := c.ep.Events()
		for i := range events {
			c.event(&events[i], now)
		}
	}
}

// fail closes the connection, with an error or, if e is nil, without.
func (c *conn) fail(e *wire.Error) {
	c.b.touch(c)
	if c.ending {
		return
	}
	c.ending = true
	if e != nil {
		c.cause = e
	}
	c.ep.Close(e)
}

// write is the writer. It closes the socket at its end.
func (c *conn) write() {
	defer func() { _ = c.nc.Close() }() // everything that matters has been written or has failed
	var spare []byte
	beat := newHeart(c.peerIdle)
	defer beat.stop()
	for {
		due := false
		select {
		case <-c.wake:
		case <-beat.c():
			due = true
		}
		out, ending := c.take(spare)
		if ending { // not later than the last output: the reader may wait for a peer that is gone
			_ = c.nc.SetReadDeadline(time.Now().Add(closeLimit))
		}
		if len(out) == 0 && due && !ending {
			out = wire.AppendHeartbeat(out)
		}
		if len(out) > 0 {
			_ = c.nc.SetWriteDeadline(time.Now().Add(writeLimit)) // fails with the write, if it does
			if _, err := c.nc.Write(out); err != nil {
				c.dead(err)
				return
			}
			beat.reset()
		}
		if spare = out; cap(spare) > 2*maxUnwritten {
			spare = nil
		}
		if ending {
			c.lastWords()
			return
		}
	}
}

// take gets the output, and lets consumers go on that waited for that.
func (c *conn) take(spare []byte) (out []byte, ending bool) {
	c.b.mu.Lock()
	out, ending = c.ep.Swap(spare), c.ending
	now := c.b.cfg.Now()
	if c.choked {
		c.choked = false
		for k := range c.consumers {
			c.b.dirtyStore(k.st)
		}
	}
	c.b.unlock(now)
	return out, ending
}

// dead notes that the socket cannot be written to.
func (c *conn) dead(err error) {
	c.b.mu.Lock()
	c.ending = true
	if c.cause == nil {
		c.cause = err
	}
	c.b.mu.Unlock()
}

// lastWords waits, after our close, until the reader has seen the peer's or its
// deadline has passed, so that the close is not lost in a reset.
func (c *conn) lastWords() {
	c.b.mu.Lock()
	done := c.peerDone
	c.b.mu.Unlock()
	if done {
		return
	}
	if t, ok := c.nc.(interface{ CloseWrite() error }); ok {
		_ = t.CloseWrite()
	}
	t := time.NewTimer(closeLimit)
	defer t.Stop()
	select {
	case <-c.over:
	case <-t.C:
	}
}

// leaveAll ends every link of a connection that is gone.
func (c *conn) leaveAll(now int64) {
	c.rollBackAll(nil)
	for k := range c.consumers {
		k.leave(now, false)
	}
	clear(c.consumers)
}
