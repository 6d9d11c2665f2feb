package link

import (
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// plane is the data plane of a connection: the net.Conn under the library, which
// gets to see protocol headers, SASL, open, close and empty frames only. All
// other frames are those of our own sessions and links.
//
// Who does what:
//   - The reader is the library's reading goroutine inside Read, which may last for
//     hours. It never writes: it changes the state under mu, tells sinks and waiters,
//     and wakes the writer. So two peers that both wait until the other reads cannot
//     block each other.
//   - Whoever writes has the turn, a token: a sender that submits, a receiver that
//     settles, the library with a heartbeat, or the writer, which does what the others
//     left. What is taken from the endpoint under the turn is written under the turn,
//     so that frames stay in order.
//   - mu guards the endpoint and all state of links. It is never held during I/O or a
//     call to a sink. The turn is taken before mu.
type plane struct {
	net.Conn                 // the socket, or TLS on it
	raw      syscall.RawConn // for calls that do not wait; nil: there are none
	conn     *Conn           // for clock, events, errors
	idle     int64           // ns; the peer must not be silent for longer

	// Of the reader.
	from     io.Reader // the socket
	in       inbox
	pass     []byte // for the library
	opened   bool   // the peer's open was seen
	failure  error  // why nothing more is read
	readAt   int64  // instant of the last socket read
	deadline int64  // of the socket, the same clock; 0: not ours yet
	told     []attachment
	ours     atomic.Bool // deadlines are ours: those of the library are swallowed

	// Of whoever has the turn.
	turn  chan struct{} // holds one token: nobody writes
	spare []byte        // buffer for the next output
	rest  []byte        // what the writer is to write, handed over with the turn
	whole []byte        // its buffer
	try   attempt       // state of a write that does not wait
	paid  []*ownSender  // presettled messages of theirs are in what is being written

	handed chan struct{} // to the writer: rest, and the turn
	wake   chan struct{} // to the writer: there may be output
	broken chan struct{} // closed when the socket is
	wrote  atomic.Uint64 // bytes written, to see whether a peer takes any

	mu        sync.Mutex
	ep        *endpoint.Conn
	peerOpen  wire.Open
	hasOpen   bool
	closeSaid *wire.Error // the error of the peer's close; nil: none or none yet
	closeIn   bool        // our own close frame is in the output: the library's is swallowed
	closeOut  bool        // the library's close frame was written: nothing follows
	cause     error       // why nothing can be written; nil: it can
	gone      *Error      // set with the end of the connection

	closed   chan struct{} // closed when the peer's close, or the end of the stream, was seen
	closing  sync.Once
	cutOnce  sync.Once
	cutErr   error
	finished sync.WaitGroup // the writer
}

// attachment is one of our links.
type attachment interface {
	// event takes what happened to the link; mu is held. at is the instant of the read.
	event(e *endpoint.Event, at int64)
	// tell passes on what event has gathered; mu is not held.
	tell()
}

const (
	writeTimeout = 30 * time.Second // for one write to the socket
	// batchBytes is how much is encoded for one write, in bytes, unless one message is larger.
	batchBytes = 64 << 10
	// maxSpare is the largest output buffer that is kept, in bytes.
	maxSpare = 4 << 20
)

func newPlane(c *Conn, socket net.Conn) *plane {
	p := &plane{
		Conn: socket, conn: c, idle: int64(c.cfg.IdleTimeout), in: inbox{limit: int(c.cfg.MaxFrameSize)},
		turn: make(chan struct{}, 1), handed: make(chan struct{}, 1), wake: make(chan struct{}, 1),
		broken: make(chan struct{}), closed: make(chan struct{}),
	}
	p.turn <- struct{}{}
	if s, ok := socket.(*net.TCPConn); ok {
		p.raw, _ = s.SyscallConn() // it fails with the first write, if it does
	}
	p.try.writing()
	p.from = readerOf(socket, p.raw)
	p.ep = endpoint.New(endpoint.Config{
		Reuse:           true,
		IncomingWindow:  c.cfg.SessionWindow,
		FirstTransferID: c.cfg.serial, FirstDeliveryID: c.cfg.serial, FirstDeliveryCount: c.cfg.serial,
	})
	p.finished.Go(p.writer)
	return p
}

// closingError returns the error of the peer's close, nil if there was none.
func (p *plane) closingError() *wire.Error {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.closeSaid
}

// peer returns what the open said.
func (p *plane) peer() (container string, maxFrame uint32, opened bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peerOpen.ContainerID, p.peerOpen.MaxFrameSize.Or(0), p.hasOpen
}

// offered implements carrier.
func (p *plane) offered() []wire.Symbol {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.peerOpen.OfferedCapabilities
}

// hungUp implements carrier; why says more.
func (p *plane) hungUp() bool { return false }

// why returns why the connection is gone.
func (p *plane) why(op, address string) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	e := Error{Description: "the connection is closed"}
	if p.gone != nil {
		e = *p.gone
	}
	e.Op, e.Address = op, address
	return &e
}

// SetDeadline implements net.Conn. The library sets one for the whole of SASL and
// open, which counts; afterwards deadlines are ours.
func (p *plane) SetDeadline(t time.Time) error {
	if p.ours.Load() {
		return nil
	}
	return p.Conn.SetDeadline(t)
}

// SetReadDeadline implements net.Conn, like SetDeadline.
func (p *plane) SetReadDeadline(t time.Time) error {
	if p.ours.Load() {
		return nil
	}
	return p.Conn.SetReadDeadline(t)
}

// SetWriteDeadline implements net.Conn, like SetDeadline. The library never clears
// the one of its last heartbeat, which would end our writes.
func (p *plane) SetWriteDeadline(t time.Time) error {
	if p.ours.Load() {
		return nil
	}
	return p.Conn.SetWriteDeadline(t)
}

// Close is called by the library after it wrote its close frame: it waits for the
// peer's, at most closeTimeout, while the library still reads.
func (p *plane) Close() error {
	p.mu.Lock()
	wait := p.hasOpen && p.cause == nil
	p.mu.Unlock()
	if wait {
		timer := time.NewTimer(closeTimeout)
		defer timer.Stop()
		select {
		case <-p.closed:
		case <-timer.C:
		}
	}
	return p.cut()
}

// goodbye is how long TLS may take to say that it closes.
const goodbye = time.Second

// cut closes the socket, at once but for TLS, which says so in a last record that a
// peer may not take.
func (p *plane) cut() error {
	p.cutOnce.Do(func() {
		if t, ok := p.Conn.(interface{ NetConn() net.Conn }); ok {
			defer time.AfterFunc(goodbye, func() { _ = t.NetConn().Close() }).Stop()
		}
		p.cutErr = p.Conn.Close()
		close(p.broken)
	})
	return p.cutErr
}

// seenClose says that nothing will come any more.
func (p *plane) seenClose() { p.closing.Do(func() { close(p.closed) }) }

// timedOut reports whether an error is that of a deadline.
func timedOut(err error) bool { return err != nil && os.IsTimeout(err) }
