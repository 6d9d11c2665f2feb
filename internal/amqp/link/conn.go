package link

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/wire"
)

// Peer is what a broker said in its open frame.
type Peer struct {
	Product      string
	Version      string
	ContainerID  string
	MaxFrameSize uint32 // bytes; 0: no limit stated
}

// Conn is one connection. Its methods may be called from several goroutines.
type Conn struct {
	cfg       Config
	index     int32
	container string
	peer      Peer
	offers    []string // the capabilities that the peer's open offers
	inner     *goamqp.Conn
	net       carrier
	watch     *watcher       // of ClientLibrary
	library   *netConn       // the same
	plane     *plane         // of ClientOwn; nil: the library's client
	links     atomic.Int32   // names handed out
	closing   atomic.Bool    // Close was called
	cutByUs   atomic.Bool    // we gave up on the peer
	running   sync.WaitGroup // goroutines that report events

	sharedMu sync.Mutex
	shared   map[string]int // links by the start of their name, for shared subscriptions
}

// Dial connects, negotiates TLS and SASL, and opens. index is the connection's
// number within the process, for events and the container id. Errors are
// *[Error]; refused credentials have the condition [CondUnauthorized].
func Dial(ctx context.Context, cfg Config, index int32) (*Conn, error) {
	if err := cfg.Check(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	ctx, cancel := context.WithTimeout(ctx, cfg.Timeout)
	defer cancel()
	socket, err := dialNet(ctx, cfg)
	return open(ctx, cfg, index, socket, err)
}

// open opens a connection on a socket, unless there is an error already. cfg has
// its defaults.
func open(ctx context.Context, cfg Config, index int32, socket net.Conn, err error) (*Conn, error) {
	c := &Conn{cfg: cfg, index: index, container: cfg.containerID(index)}
	if err == nil {
		c.carry(socket)
		c.inner, err = goamqp.NewConn(ctx, c.net, c.options())
	}
	if err != nil {
		err = c.failed("connect", cfg.URL.HostPort(), err)
		if c.net != nil {
			_ = c.net.cut() // the cause is reported already
		}
		c.event(amqp.EventError, "", err)
		return nil, err
	}
	c.learn()
	c.cfg.OnEvent(amqp.Event{At: cfg.Now(), Kind: amqp.EventConnect, Connection: index,
		Text: fmt.Sprintf("%s %s %s", cfg.URL.HostPort(), c.peer.Product, c.peer.Version)})
	c.running.Go(c.watchEnd)
	return c, nil
}

// carrier is the net.Conn under the library.
type carrier interface {
	net.Conn
	// peer returns what the peer's open said.
	peer() (container string, maxFrame uint32, opened bool)
	// offered returns the capabilities that the peer's open offers.
	offered() []wire.Symbol
	// closingError returns the error of the peer's close, nil if there was none.
	closingError() *wire.Error
	// hungUp reports whether the peer closed the stream.
	hungUp() bool
	// cut closes the socket at once.
	cut() error
}

// carry puts the library on a socket.
func (c *Conn) carry(socket net.Conn) {
	if c.cfg.Client.orDefault() == ClientOwn {
		c.plane = newPlane(c, socket)
		c.net = c.plane
		return
	}
	c.watch = newWatcher(c.cfg.MaxFrameSize)
	c.library = &netConn{Conn: socket, watch: c.watch, now: c.cfg.Now}
	c.net = c.library
}

// dialNet connects the socket, and TLS on it.
func dialNet(ctx context.Context, cfg Config) (net.Conn, error) {
	d := net.Dialer{Control: cfg.sockets()}
	if !cfg.URL.tls {
		return d.DialContext(ctx, "tcp", cfg.URL.HostPort())
	}
	conf, err := cfg.TLS.config(cfg.URL.host)
	if err != nil {
		return nil, err
	}
	return (&tls.Dialer{NetDialer: &d, Config: conf}).DialContext(ctx, "tcp", cfg.URL.HostPort())
}

// options are the library's.
func (c *Conn) options() *goamqp.ConnOptions {
	sessions := uint16(0) // the library's default
	if c.plane != nil {
		sessions = maxSessions
	}
	return &goamqp.ConnOptions{
		MaxSessions:  sessions,
		ContainerID:  c.container,
		HostName:     c.cfg.Hostname,
		IdleTimeout:  c.cfg.IdleTimeout,
		MaxFrameSize: c.cfg.MaxFrameSize,
		Properties:   map[string]any{"product": "amqpperf"},
		SASLType:     c.cfg.sasl(),
	}
}

// learn takes the peer's description from its open.
func (c *Conn) learn() {
	c.peer.ContainerID, c.peer.MaxFrameSize, _ = c.net.peer()
	for _, s := range c.net.offered() {
		c.offers = append(c.offers, string(s))
	}
	properties := c.inner.Properties()
	c.peer.Product = printable(fmt.Sprint(orEmpty(properties["product"])))
	c.peer.Version = printable(fmt.Sprint(orEmpty(properties["version"])))
}

func orEmpty(v any) any {
	if v == nil {
		return ""
	}
	return v
}

// Peer returns what the broker said about itself.
func (c *Conn) Peer() Peer { return c.peer }

// Index returns the index given to Dial.
func (c *Conn) Index() int32 { return c.index }

// ContainerID returns our container id, which no other connection has.
func (c *Conn) ContainerID() string { return c.container }

// Done is closed when the connection is gone, whoever ended it.
func (c *Conn) Done() <-chan struct{} { return c.inner.Done() }

// Err returns why the connection is gone: nil while it lives and after Close.
func (c *Conn) Err() error {
	select {
	case <-c.inner.Done():
	default:
		return nil
	}
	if c.closing.Load() && !c.cutByUs.Load() {
		return nil
	}
	return c.endError("connection", c.cfg.URL.HostPort())
}

// endError describes the end of the connection, after Done. What the peer said
// in its close counts more than the library's "broken pipe".
func (c *Conn) endError(op, address string) error {
	if said := c.net.closingError(); said != nil {
		return c.said(op, address, said)
	}
	if c.plane != nil {
		return c.plane.why(op, address)
	}
	// A write that fails because the peer is gone hides just that.
	if err := c.inner.Err(); err != nil && !c.net.hungUp() {
		return failure(c.cfg.URL, op, address, err)
	}
	return &Error{Op: op, Address: address, Description: "the peer closed the connection without a reason"}
}

// failed makes an *Error of the failure of op; if the connection is gone, of its end.
func (c *Conn) failed(op, address string, err error) *Error {
	var conn *goamqp.ConnError
	if c.inner != nil && errors.As(err, &conn) && conn.RemoteErr == nil {
		select {
		case <-c.inner.Done():
			if e := (*Error)(nil); errors.As(c.endError(op, address), &e) {
				return e
			}
		default:
		}
	}
	e := failure(c.cfg.URL, op, address, err)
	if errors.Is(e.cause, context.DeadlineExceeded) {
		e.Description = fmt.Sprintf("no answer within %v", c.cfg.Timeout)
	}
	return e
}

// watchEnd reports the end of the connection.
func (c *Conn) watchEnd() {
	<-c.inner.Done()
	if err := c.Err(); err != nil {
		c.event(amqp.EventError, "", err)
	}
	c.cfg.OnEvent(amqp.Event{At: c.cfg.Now(), Kind: amqp.EventClose, Connection: c.index})
}

// event reports something that went wrong, or right if err is nil.
func (c *Conn) event(kind amqp.EventKind, link string, err error) {
	e := amqp.Event{At: c.cfg.Now(), Kind: kind, Connection: c.index, Link: link}
	var known *Error
	if errors.As(err, &known) {
		e.Condition, e.Text = known.Condition, known.Description
	} else if err != nil {
		e.Text = err.Error()
	}
	c.cfg.OnEvent(e)
}

// Close ends links, sessions and the connection, waits for the peer's close at
// most 2 s, and closes the socket after 3 s or when ctx is done in any case.
// Senders and receivers should be closed before. After Close nothing is reported
// any more, to OnEvent or to a sink; neither may call it.
func (c *Conn) Close(ctx context.Context) error {
	c.closing.Store(true)
	ctx, cancel := context.WithTimeout(ctx, closeTimeout+time.Second)
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- c.inner.Close() }()
	select {
	case <-done:
		c.settleDown()
		// The library's error at this point is about the socket and helps nobody.
		return c.Err()
	case <-ctx.Done():
		c.abort()
		<-done
		c.settleDown()
		return &Error{Op: "close", Address: c.cfg.URL.HostPort(), Description: "the peer did not answer in time", cause: ctx.Err()}
	}
}

// settleDown waits for what still reports or writes; the library has ended.
func (c *Conn) settleDown() {
	if c.plane != nil {
		_ = c.plane.cut() // the library has
		c.plane.finished.Wait()
	}
	c.running.Wait()
}

// abort closes the socket under everything.
func (c *Conn) abort() {
	c.cutByUs.Store(true)
	_ = c.net.cut() // nobody is left to tell
}

// linkName returns a name that no other link has.
func (c *Conn) linkName() string { return fmt.Sprintf("%s-%d", c.container, c.links.Add(1)-1) }

// deadline bounds a wait for an answer.
func (c *Conn) deadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, c.cfg.Timeout)
}

// closeDeadline bounds a polite shutdown.
func (c *Conn) closeDeadline(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, min(closeTimeout, c.cfg.Timeout))
}

// detach closes a link and, if end is true, its session within closeTimeout and reports whether
// the peer answered.
//
// Note: RabbitMQ's plugin answers a detach with one that is not closed, on which
// the library waits on; so the answer that the watcher saw counts too.
func (c *Conn) detach(ctx context.Context, l *linkState, link interface{ Close(context.Context) error }, session *goamqp.Session, end bool) bool {
	ctx, cancel := c.closeDeadline(ctx)
	defer cancel()
	done := make(chan struct{})
	go func() {
		_ = link.Close(ctx) // the link's state describes its end better
		close(done)
	}()
	select {
	case <-done:
	case <-l.gone:
		const grace = 20 * time.Millisecond // for the library to see it too
		timer := time.NewTimer(grace)
		defer timer.Stop()
		select {
		case <-done:
		case <-timer.C:
		}
	}
	if end && session.Close(ctx) != nil && ctx.Err() != nil {
		return false
	}
	if !end { // the session is shared, and ends with the connection
		select {
		case <-done:
		case <-ctx.Done():
			return false
		}
	}
	<-done
	return true
}
