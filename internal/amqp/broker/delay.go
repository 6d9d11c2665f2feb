package broker

import (
	"net"
	"sync"
	"time"
)

// delayConn is a connection whose bytes take a fixed time longer in each
// direction. Only latency is added: nothing is limited but memory.
type delayConn struct {
	net.Conn
	in, out *delayLine
}

// maxInFlight bounds the bytes that one direction holds.
const maxInFlight = 32 << 20

func newDelayConn(nc net.Conn, d time.Duration, coarse bool) *delayConn {
	c := &delayConn{Conn: nc, in: newDelayLine(d, coarse), out: newDelayLine(d, coarse)}
	go c.pump()
	go c.drain()
	return c
}

// pump reads the socket. Deadlines of the socket still work: they end its read.
func (c *delayConn) pump() {
	for {
		buf := make([]byte, 16<<10)
		n, err := c.Conn.Read(buf)
		if !c.in.put(buf[:n:n], err) || err != nil {
			return
		}
	}
}

// drain writes to the socket what has been long enough on the way.
func (c *delayConn) drain() {
	for {
		p, err := c.out.take()
		if err == nil {
			_, err = c.Conn.Write(p)
		}
		if err != nil {
			c.out.stop(err)
			return
		}
		c.out.done(len(p))
	}
}

// Read returns bytes that have been long enough on the way.
func (c *delayConn) Read(p []byte) (int, error) {
	b, err := c.in.take()
	if err != nil {
		return 0, err
	}
	n := copy(p, b)
	c.in.unread(b[n:])
	c.in.done(n)
	return n, nil
}

// Write takes the bytes at once, unless very many are on their way.
func (c *delayConn) Write(p []byte) (int, error) {
	if !c.out.put(append([]byte(nil), p...), nil) {
		return 0, c.out.cause()
	}
	return len(p), nil
}

// CloseWrite is not passed on: the last bytes may still be on their way.
func (c *delayConn) CloseWrite() error { return nil }

// Close lets what is on its way out arrive, then closes the socket.
func (c *delayConn) Close() error {
	c.out.empty()
	c.in.stop(net.ErrClosed)
	c.out.stop(net.ErrClosed)
	return c.Conn.Close()
}

// delayLine is a queue whose items can be taken a fixed time after they were put in.
type delayLine struct {
	d     time.Duration
	alarm alarm

	mu      sync.Mutex
	changed *sync.Cond
	items   []delayed
	bytes   int
	err     error // nothing goes in or out any more
}

type delayed struct {
	p   []byte
	err error
	at  time.Time
}

func newDelayLine(d time.Duration, coarse bool) *delayLine {
	l := &delayLine{d: d, alarm: newAlarm(coarse)}
	l.changed = sync.NewCond(&l.mu)
	return l
}

func (l *delayLine) put(p []byte, err error) bool {
	at := time.Now().Add(l.d)
	l.mu.Lock()
	defer l.mu.Unlock()
	for l.bytes > maxInFlight && l.err == nil {
		l.changed.Wait()
	}
	if l.err != nil {
		return false
	}
	if len(p) > 0 {
		l.items = append(l.items, delayed{p: p, at: at})
		l.bytes += len(p)
	}
	if err != nil {
		l.items = append(l.items, delayed{err: err, at: at})
	}
	l.changed.Broadcast()
	return true
}

// take waits for the next item to be due. It has one caller at a time.
func (l *delayLine) take() ([]byte, error) {
	for {
		l.mu.Lock()
		for len(l.items) == 0 && l.err == nil {
			l.changed.Wait()
		}
		if l.err != nil {
			l.mu.Unlock()
			return nil, l.err
		}
		first := l.items[0]
		wait := time.Until(first.at)
		if wait <= 0 {
			l.items[0] = delayed{}
			l.items = l.items[1:]
			l.mu.Unlock()
			return first.p, first.err
		}
		l.alarm.set(wait)
		l.mu.Unlock()
		l.alarm.wait()
	}
}

// unread puts the rest of an item back.
func (l *delayLine) unread(p []byte) {
	if len(p) == 0 {
		return
	}
	l.mu.Lock()
	l.items = append([]delayed{{p: p}}, l.items...)
	l.mu.Unlock()
}

// done notes that bytes taken have been passed on.
func (l *delayLine) done(n int) {
	l.mu.Lock()
	l.bytes -= n
	l.changed.Broadcast()
	l.mu.Unlock()
}

// empty waits until everything put in has been passed on, at most a second more
// than the delay.
func (l *delayLine) empty() {
	t := time.AfterFunc(l.d+time.Second, func() { l.stop(net.ErrClosed) })
	defer t.Stop()
	l.mu.Lock()
	for l.bytes > 0 && l.err == nil {
		l.changed.Wait()
	}
	l.mu.Unlock()
}

func (l *delayLine) stop(err error) {
	l.mu.Lock()
	if l.err == nil {
		l.err = err
		l.alarm.close()
	}
	l.changed.Broadcast()
	l.mu.Unlock()
}

func (l *delayLine) cause() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}
