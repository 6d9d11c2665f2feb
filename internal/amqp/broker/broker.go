package broker

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"

	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// Broker serves AMQP connections. Its methods may be called from several goroutines.
//
// One lock covers all of its state. It is held while a batch of frames is worked
// off and while output is taken, never during I/O; batches are what makes that
// cheap, and one lock is what keeps a broker with competing consumers, stalls and
// requeueing simple enough to be trusted as a reference.
type Broker struct {
	cfg       Config
	forbidden map[string]bool
	wg        sync.WaitGroup
	done      chan struct{} // closed by Close

	mu        sync.Mutex
	closed    bool
	listeners map[net.Listener]bool
	conns     map[*conn]bool
	nodes     map[string]*node
	first     int64 // arrival of the first message; 0: none yet
	spans     []span
	work      clockwork
	touched   []*conn
	dirty     []*store
	pool      []*message
	head      []byte           // scratch
	tag       [8]byte          // scratch
	out       endpoint.Message // scratch
}

// New returns a broker, or an error that says what is wrong with the configuration.
func New(c Config) (*Broker, error) {
	c, err := c.withDefaults()
	if err != nil {
		return nil, err
	}
	b := &Broker{cfg: c, done: make(chan struct{}), forbidden: make(map[string]bool), listeners: make(map[net.Listener]bool), conns: make(map[*conn]bool), nodes: make(map[string]*node)}
	for _, a := range c.Forbidden {
		name, e := resolve(a, nil)
		if e != nil {
			return nil, fmt.Errorf("broker: forbidden address: %w", e)
		}
		b.forbidden[name] = true
	}
	for _, a := range c.Addresses {
		name, e := resolve(a, nil)
		if e != nil {
			return nil, fmt.Errorf("broker: address: %w", e)
		}
		b.create(name)
	}
	return b, nil
}

// ErrClosed is returned by Serve and ServeConn on a broker that has been closed.
var ErrClosed = errors.New("broker: closed")

// Serve accepts connections until the listener fails or Close is called; after
// Close it returns nil. Several listeners may be served at once.
func (b *Broker) Serve(l net.Listener) error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return ErrClosed
	}
	b.listeners[l] = true
	b.mu.Unlock()
	defer func() {
		b.mu.Lock()
		delete(b.listeners, l)
		b.mu.Unlock()
		_ = l.Close()
	}()
	for {
		nc, err := l.Accept()
		if err != nil {
			b.mu.Lock()
			closed := b.closed
			b.mu.Unlock()
			switch {
			case closed:
				return nil
			case isTemporary(err): // out of descriptors: others may close some
				select {
				case <-b.done:
				case <-time.After(10 * time.Millisecond):
				}
				continue
			}
			return fmt.Errorf("broker: accept: %w", err)
		}
		go func() { _ = b.ServeConn(nc) }() // a failed connection is its client's affair
	}
}

func isTemporary(err error) bool {
	var t interface{ Temporary() bool }
	return errors.As(err, &t) && t.Temporary()
}

// ServeConn serves one connection until it ends and closes it. It returns nil
// after an orderly close, by either side.
func (b *Broker) ServeConn(nc net.Conn) error {
	if b.cfg.Delay > 0 {
		nc = newDelayConn(nc, b.cfg.Delay, b.cfg.CoarseTimers)
	}
	c := newConn(b, nc)
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return errors.Join(ErrClosed, nc.Close())
	}
	b.conns[c] = true
	b.wg.Add(1)
	b.mu.Unlock()
	defer b.wg.Done()
	err := c.serve()
	b.mu.Lock()
	delete(b.conns, c)
	b.mu.Unlock()
	return err
}

// Close closes listeners and connections (amqp:connection:forced), waits for what
// belongs to them, and reports the messages that are left to the arrival log.
func (b *Broker) Close() error {
	b.mu.Lock()
	if b.closed {
		b.mu.Unlock()
		return nil
	}
	now := b.cfg.Now()
	for c := range b.conns {
		c.rollBackAll(nil)
	}
	b.report()
	b.closed = true
	close(b.done)
	var err error
	for l := range b.listeners {
		err = errors.Join(err, l.Close())
	}
	for c := range b.conns {
		c.fail(&wire.Error{Condition: wire.CondConnectionForced, Description: "broker is shutting down"})
	}
	if b.work.alarm != nil {
		b.work.alarm.close()
	}
	b.unlock(now)
	hard := time.AfterFunc(closeGrace, b.cut)
	b.wg.Wait()
	hard.Stop()
	return err
}

// closeGrace is how long Close waits for peers to take part in it.
const closeGrace = 2 * time.Second

// cut closes the sockets of peers that do not.
func (b *Broker) cut() {
	b.mu.Lock()
	defer b.mu.Unlock()
	for c := range b.conns {
		_ = c.nc.Close()
	}
}

// report hands what is still in the broker to the arrival log.
func (b *Broker) report() {
	for _, n := range b.nodes {
		for _, s := range n.stores {
			for _, c := range s.consumers {
				c.unsettled.All(func(_ int64, m *message) { b.finish(m, Unsettled, 0) })
				c.unsettled.TakeIf(func(int64, *message) bool { return true })
			}
			for s.ready.n > 0 {
				b.finish(s.ready.remove(0), Queued, 0)
			}
		}
		for n.waiting.n > 0 {
			b.finish(n.waiting.remove(0), Queued, 0)
		}
	}
}

// finish is the end of a message, which must not be used afterwards: settled is
// the instant of the consumer's last word, 0 if there was none.
func (b *Broker) finish(m *message, o Outcome, settled int64) {
	if b.cfg.ArrivalLog != nil && !b.closed {
		m.rec.Outcome = o
		if o == Accepted || o == Rejected || o == Presettled {
			m.rec.Settled = settled
		}
		m.rec.Body, _ = wire.FirstData(m.rec.Message)
		b.cfg.ArrivalLog(&m.rec)
	}
	b.recycle(m)
}

// touch notes that a connection may have output.
func (b *Broker) touch(c *conn) {
	if !c.touched {
		c.touched = true
		b.touched = append(b.touched, c)
	}
}

// dirtyStore notes that a store may have something to hand out.
func (b *Broker) dirtyStore(s *store) {
	if !s.dirty {
		s.dirty = true
		b.dirty = append(b.dirty, s)
	}
}

// unlock does what a piece of work has left to do, and lets go of the lock: hands
// out messages, sets the alarm, wakes the writers that have output.
func (b *Broker) unlock(now int64) {
	for i := 0; i < len(b.dirty); i++ { // it may grow
		b.dirty[i].dirty = false
		b.dirty[i].dispatch(now)
	}
	clear(b.dirty)
	b.dirty = b.dirty[:0]
	b.arm()
	for _, c := range b.touched {
		c.touched = false
		if c.ep.HasOutput() || c.ending {
			select {
			case c.wake <- struct{}{}:
			default: // awake already
			}
		}
	}
	clear(b.touched)
	b.touched = b.touched[:0]
	b.mu.Unlock()
}
