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
// watcher, and its Close gives the peer's close some time to arrive.
type netConn struct {
	net.Conn
	watch  *watcher
	broken atomic.Bool // a write failed
	ended  atomic.Bool // the peer closed the stream
	once   sync.Once
	err    error
}

// Read implements net.Conn.
func (c *netConn) Read(p []byte) (int, error) {
	n, err := c.Conn.Read(p)
	if n > 0 {
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
