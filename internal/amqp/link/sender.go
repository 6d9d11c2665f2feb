package link

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/wire"
)

// SenderConfig describes a sending link.
type SenderConfig struct {
	// Address as typed: queue://NAME, topic://NAME or the broker's own form.
	Address string
	// Body makes the bodies, Sink takes the completions. Both must be set.
	Body amqp.Body
	Sink amqp.Sink
	// MaxPending is how many messages will be in flight at most: a hint for sizes.
	MaxPending int
	// Sections makes the sections before the body; nil: a header of priority 4 with
	// Durable. The header is always sent then: brokers differ in what they take a
	// missing one for.
	Sections amqp.Sections
	// BodySection is the kind of section that holds the body.
	BodySection BodySection
	// Durable goes into the header of every message, unless there are Sections, and
	// asks for a durable target: RabbitMQ makes a queue durable only then.
	Durable bool
	// Presettled sends messages settled; they complete as [amqp.Presettled] as soon as
	// they are written.
	Presettled bool
	// Tx is how many messages a transaction has; 0: there are none. ClientOwn only, and
	// not together with Presettled. Transactions are declared ahead. One that is full, or
	// flushed, is discharged without waiting; its messages complete at the instant of the
	// discharge's disposition: as Accepted, or Released if it was rolled back. A message
	// that the broker refused inside a transaction completes by itself.
	Tx int
	// TxRollback is the share of transactions that are rolled back, 0 to 1, spread evenly
	// (exact to a millionth).
	TxRollback float64
	// OnTx is told of each transaction that has ended, before its completions, so that
	// who has those of all messages was told of all transactions; under the rules of
	// Sink. nil: nobody is told.
	OnTx func(amqp.Tx)
	// Session is the session to attach on; nil: one of its own.
	Session *Session

	session *ownSession // to attach on, with ClientOwn; nil: a new one
}

// librarySender is a sending link of the library.
type librarySender struct {
	conn     *Conn
	cfg      SenderConfig
	address  Address
	name     string
	session  *goamqp.Session
	inner    *goamqp.Sender
	state    *linkState
	flight   *flight
	message  *goamqp.Message // reused: the library copies it
	body     []byte          // likewise
	sections []byte          // likewise
	data     [1][]byte       // likewise
	sent     atomic.Uint32   // delivery-count of the link (serial number)
	noted    int64           // when the last credit0 event was reported
	calls    atomic.Uint64   // odd while Submit is in the library
	closing  atomic.Bool
	closed   chan struct{} // closed when Close is done with the library
	once     sync.Once
	dead     atomic.Bool // a multi-frame message was cut off: nothing can follow
}

func (c *Conn) newLibrarySender(ctx context.Context, cfg SenderConfig, address Address, warning string) (*librarySender, error) {
	s := &librarySender{conn: c, cfg: cfg, address: address, name: c.linkName(), closed: make(chan struct{}),
		message: &goamqp.Message{Header: &goamqp.MessageHeader{Durable: cfg.Durable, Priority: 4}}}
	ctx, cancel := c.deadline(ctx)
	defer cancel()
	s.state = c.watch.add(s.name, wire.RoleSender)
	if err := s.attach(ctx); err != nil {
		c.watch.remove(s.name, wire.RoleSender)
		return nil, c.attachFailed(cfg.Address, address, err)
	}
	s.flight = newFlight(c.cfg.Now, c.library.lastRead, cfg.Sink, cfg.MaxPending)
	theirs, _ := s.state.terminus()
	c.attached(theirs, address, warning)
	c.running.Go(s.watchEnd)
	return s, nil
}

func (s *librarySender) attach(ctx context.Context) (err error) {
	if s.session, err = s.conn.librarySession(ctx, s.cfg.Session); err != nil {
		return err
	}
	s.inner, err = s.session.NewSender(ctx, s.address.Text, &goamqp.SenderOptions{
		Name: s.name, TargetCapabilities: s.address.Capabilities, TargetDurability: goamqp.Durability(s.cfg.durability()),
	})
	if err != nil && s.cfg.Session == nil {
		s.conn.endSession(s.session)
	}
	return err
}

// attachFailed makes the error of a refused link and reports it.
func (c *Conn) attachFailed(typed string, a Address, err error) error {
	e := c.failed("attach", typed, err)
	if style, known := styleOf(c.peer.Product, c.peer.Version); known && style == StyleRabbitMQ4 && e.Condition == string(wire.CondNotFound) {
		e.Description += ": RabbitMQ 4 makes no queues, declare it first"
	}
	c.event(amqp.EventError, a.Text, e)
	return e
}

// attached reports a link; theirs is its address in the peer's answer.
func (c *Conn) attached(theirs string, a Address, warning string) {
	text := warning
	if theirs != "" && theirs != a.Text {
		text = fmt.Sprintf("the broker calls it %q; %s", printable(theirs), warning)
	}
	c.cfg.OnEvent(amqp.Event{At: c.cfg.Now(), Kind: amqp.EventAttach, Connection: c.index, Link: a.Text, Text: text})
}

// endSession ends a session whose link was refused, without waiting.
func (c *Conn) endSession(s *goamqp.Session) {
	go func() {
		ctx, cancel := c.closeDeadline(context.Background())
		defer cancel()
		_ = s.Close(ctx) // the refusal is the error that counts
	}()
}

// Address returns the address as attached.
func (s *librarySender) Address() Address { return s.address }

// MaxMessageSize returns the peer's limit for a message in bytes, 0 if it has none.
func (s *librarySender) MaxMessageSize() uint64 { return s.inner.MaxMessageSize() }

// Pending returns how many messages were submitted and not yet completed.
func (s *librarySender) Pending() int { return s.flight.pending() }

// Credit returns how many messages the peer lets us send now. It may be negative
// after a peer took credit back.
func (s *librarySender) Credit() int { return int(s.state.credit(s.sent.Load())) }

// Done is closed when the link is gone and everything was completed.
func (s *librarySender) Done() <-chan struct{} { return s.flight.down }

// Submit sends messages in order and returns how many it took: at least one
// unless there is an error, and fewer than given if the credit ran out after some.
// It sets Sent and Wait of those it took, and waits for credit but never for a
// settlement. Every message taken completes exactly once through the Sink, unless
// Close comes before.
//
// When ctx is done Submit returns with what it took so far and the context's
// error in the chain; a peer that takes no bytes for another 2 s loses its
// connection, since nothing else ends a blocked write. A message that was cut off
// between two frames is not taken, and the link is closed.
func (s *librarySender) Submit(ctx context.Context, messages []amqp.Message) (n int, err error) {
	stop := context.AfterFunc(ctx, s.rescue)
	defer stop()
	entered := s.conn.cfg.Now()
	var credit int64
	for n < len(messages) {
		if n > 0 && s.state.credit(s.sent.Load()) <= 0 {
			return n, nil
		}
		waited, err := s.awaitCredit(ctx)
		if err != nil {
			return n, err
		}
		credit += waited
		m := &messages[n]
		m.Sent = s.conn.cfg.Now()
		m.Wait = waitOf(credit, m.Sent-entered)
		s.body = s.cfg.Body.Append(s.body[:0], m)
		if err := s.send(ctx, m); err != nil {
			return n, err
		}
		n++
	}
	return n, nil
}

// shortest is what counts as a wait in the library or for the socket, in ns:
// its own hand-offs take microseconds.
const shortest = int64(100 * time.Microsecond)

// waitOf names the longest part of the time since Submit was entered.
func waitOf(credit, total int64) amqp.Wait {
	rest := total - credit
	switch {
	case credit > 0 && credit >= rest:
		return amqp.WaitCredit
	case rest >= shortest:
		return amqp.WaitSocket
	}
	return amqp.WaitNone
}

// awaitCredit waits until one message may be sent and returns how long it had to, in ns.
func (s *librarySender) awaitCredit(ctx context.Context) (int64, error) {
	if s.dead.Load() || s.closing.Load() || s.state.isGone() {
		return 0, s.gone("send")
	}
	if s.state.credit(s.sent.Load()) > 0 {
		return 0, nil
	}
	began := s.conn.cfg.Now()
	if began-s.noted > int64(time.Second) { // at most one a second: some brokers grant five at a time
		s.noted = began
		s.conn.cfg.OnEvent(amqp.Event{At: began, Kind: amqp.EventCredit0, Connection: s.conn.index, Link: s.address.Text})
	}
	for s.state.credit(s.sent.Load()) <= 0 {
		select {
		case <-s.state.changed:
		case <-s.state.gone:
			return 0, s.gone("send")
		case <-s.conn.inner.Done():
			return 0, s.gone("send")
		case <-s.flight.down:
			return 0, s.gone("send")
		case <-ctx.Done():
			return 0, &Error{Op: "send", Address: s.cfg.Address, Description: "waiting for credit", cause: ctx.Err()}
		}
	}
	return max(s.conn.cfg.Now()-began, 1), nil
}

// patient is a context without its deadline: the library would take that for
// the deadline of the write and end the connection with it.
type patient struct{ context.Context }

func (patient) Deadline() (time.Time, bool) { return time.Time{}, false }

// send hands s.body to the library. An error means that the message was not sent.
func (s *librarySender) send(ctx context.Context, m *amqp.Message) error {
	if err := s.compose(m); err != nil {
		return err
	}
	if !s.flight.begin() {
		return s.gone("send")
	}
	s.calls.Add(1)
	receipt, err := s.call(patient{ctx})
	s.calls.Add(1)
	if err == nil {
		s.sent.Add(1)
		s.flight.track(m.ID, receipt)
		return nil
	}
	if s.refused(ctx, err) {
		s.flight.cancel()
		return s.notSent(ctx, err)
	}
	// The link went down during the call: nobody knows whether the message left.
	s.flight.complete(amqp.Completion{First: m.ID, Last: m.ID, State: amqp.Failed,
		At: s.conn.cfg.Now(), Error: s.reason(err).text()})
	return nil
}

// call sends the message; a presettled one needs no receipt.
func (s *librarySender) call(ctx context.Context) (*goamqp.SendReceipt, error) {
	if s.cfg.Presettled {
		return nil, s.inner.Send(ctx, s.message, &goamqp.SendOptions{Settled: true})
	}
	receipt, err := s.inner.SendWithReceipt(ctx, s.message, nil)
	return &receipt, err
}

// refused reports whether err means that the message certainly did not leave as a whole.
func (s *librarySender) refused(ctx context.Context, err error) bool {
	var local *goamqp.Error
	var link *goamqp.LinkError
	var session *goamqp.SessionError
	var conn *goamqp.ConnError
	if errors.As(err, &link) || errors.As(err, &session) || errors.As(err, &conn) {
		return false
	}
	// Only the library makes a bare *Error here: a size above the limit, or a context that was done.
	return errors.As(err, &local) || ctx.Err() != nil
}

// notSent makes the error of a message that did not leave.
func (s *librarySender) notSent(ctx context.Context, err error) error {
	var local *goamqp.Error
	if errors.As(err, &local) && local.Condition == goamqp.ErrCondMessageSizeExceeded {
		return &Error{Op: "send", Address: s.cfg.Address, Condition: CondTooLarge,
			Description: fmt.Sprintf("a message with a body of %d bytes is above the peer's limit of %d bytes", len(s.body), s.inner.MaxMessageSize())}
	}
	if ctx.Err() == nil {
		return s.reason(err)
	}
	const overhead = 128 // frame, transfer, header and data section
	limit := s.conn.peer.MaxFrameSize
	if limit == 0 {
		limit = DefaultMaxFrameSize // the library's default
	}
	if len(s.body)+overhead > int(limit) {
		// Some of its frames may be out: no other message may follow them on this link.
		s.dead.Store(true)
		go func() { _ = s.Close(context.Background()) }() // Down reports the end
	}
	return &Error{Op: "send", Address: s.cfg.Address, Description: "cancelled", cause: ctx.Err()}
}

// rescue ends a call of Submit that is still blocked some time after its context ended.
func (s *librarySender) rescue() {
	before := s.calls.Load()
	time.AfterFunc(closeTimeout, func() {
		if now := s.calls.Load(); now == before && now%2 == 1 {
			s.conn.abort()
		}
	})
}
