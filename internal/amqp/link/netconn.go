package link

import (
	"errors"
	"io"
	"net"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"amqpperf/internal/amqp/wire"
)

// netConn is the net.Conn under the library: it shows what comes in to the
// watcher, keeps the instant at which it came, and its Close gives the peer's
// close some time to arrive.
type netConn struct {
	net.Conn
	watch  *watcher
	now    func() int64
	readAt atomic.Int64 // when the last read returned
	broken atomic.Bool  // a write failed
	ended  atomic.Bool  // the peer closed the stream
	once   sync.Once
	err    error
}

// Read implements net.Conn.
func (c *netConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
		c.readAt.Store(c.now())
		if bad := c.watch.feed(p[:n]); bad != nil {
			n, err = 0, bad
		}
	}
	if err != nil {
		c.ended.Store(errors.Is(err, io.EOF) || errors.Is(err, syscall.ECONNRESET))
		c.watch.end()
	}
	return n, err
}

// Write implements net.Conn.
func (c *netConn) Write(p []byte) (int, error) {
	n, err := c.Conn.Write(p)
	if err != nil {
		c.broken.Store(true)
	}
	return n, err
}

func (c *netConn) peer() (container string, maxFrame uint32, opened bool) { return c.watch.peer() }

func (c *netConn) offered() []wire.Symbol { return c.watch.offered() }

// lastRead returns the instant at which the last read of the socket returned.
//
// What the library hands over has come with that read or an earlier one: the
// instant lies between the arrival and the end of the library's own hand-offs,
// from one goroutine to the next. On a connection that is not busy it is that of
// the arrival.
func (c *netConn) lastRead() int64 { return c.readAt.Load() }

func (c *netConn) hungUp() bool { return c.ended.Load() }

func (c *netConn) closingError() *wire.Error { return c.watch.closing() }

// Close is called by the library after it wrote its close frame: it waits for
// the peer's, at most closeTimeout, while the library still reads.
func (c *netConn) Close() error {
	if _, _, opened := c.watch.peer(); opened && !c.broken.Load() {
		timer := time.NewTimer(closeTimeout)
		defer timer.Stop()
		select {
		case <-c.watch.closed:
		case <-timer.C:
		}
	}
	return c.cut()
}

// cut closes the socket at once.
func (c *netConn) cut() error {
	c.once.Do(func() { c.err = c.Conn.Close() })
	return c.err
}
