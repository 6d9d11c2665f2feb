package link

import (
	"context"
	"errors"
	"fmt"

	"amqpperf/internal/amqp"
)

// Sender is a sending link, by default on a session of its own. Submit is for one
// goroutine at a time; the other methods may be called from any.
type Sender struct{ is sending }

// sending is what the two clients implement; see the methods of Sender.
type sending interface {
	Address() Address
	MaxMessageSize() uint64
	Pending() int
	Credit() int
	Done() <-chan struct{}
	Submit(ctx context.Context, messages []amqp.Message) (int, error)
	Flush(ctx context.Context) error
	Close(ctx context.Context) error
}

// NewSender begins a session and attaches a sending link. Errors are *[Error]
// with the peer's condition; a refused link is an error here, not later. The
// warning of [ResolveAddress] is reported as an event of kind attach.
func (c *Conn) NewSender(ctx context.Context, cfg SenderConfig) (*Sender, error) {
	if cfg.Body == nil || cfg.Sink == nil {
		return nil, errors.New("link: a sender needs a body and a sink")
	}
	address, warning, err := ResolveAddress(cfg.Address, c.peer.Product, c.peer.Version, c.cfg.Style, RoleSender)
	if err != nil {
		return nil, &Error{Op: "attach", Address: printable(cfg.Address), Description: err.Error()}
	}
	if err := cfg.check(c); err != nil {
		return nil, &Error{Op: "attach", Address: printable(cfg.Address), Description: err.Error()}
	}
	if c.plane == nil {
		s, err := c.newLibrarySender(ctx, cfg, address, warning)
		return sender(s, err)
	}
	ctx, cancel := c.deadline(ctx)
	defer cancel()
	s, err := c.newOwnSender(ctx, cfg, address, warning)
	return sender(s, err)
}

func sender(s sending, err error) (*Sender, error) {
	if err != nil {
		return nil, err
	}
	return &Sender{s}, nil
}

// Address returns the address as attached.
func (s *Sender) Address() Address { return s.is.Address() }

// MaxMessageSize returns the peer's limit for a message in bytes, 0 if it has none.
func (s *Sender) MaxMessageSize() uint64 { return s.is.MaxMessageSize() }

// Pending returns how many messages were submitted and not yet completed.
func (s *Sender) Pending() int { return s.is.Pending() }

// Credit returns how many messages the peer lets us send now. With ClientLibrary it
// may be negative after a peer took credit back.
func (s *Sender) Credit() int { return s.is.Credit() }

// Done is closed when the link is gone and everything was completed.
func (s *Sender) Done() <-chan struct{} { return s.is.Done() }

// Submit sends messages in order and returns how many it took: at least one
// unless there is an error, and fewer than given if credit or session window ran
// out after some. It sets Sent and Wait of those it took, and waits for credit, for
// the session's window and for the socket to take what was submitted before, but
// never for a settlement. Every message taken completes exactly once through the
// Sink, unless Close comes before.
//
// With ClientOwn up to 64 KiB of messages are encoded together and written in one
// call; they share the sent instant, which is read right before encoding begins.
//
// When ctx is done Submit returns with what it took so far and the context's
// error in the chain; a peer that takes no bytes for another 2 s loses its
// connection. With ClientLibrary a message that was cut off between two frames is
// not taken, and the link is closed.
func (s *Sender) Submit(ctx context.Context, messages []amqp.Message) (n int, err error) {
	return s.is.Submit(ctx, messages)
}

// Close detaches the link and ends its session, within 2 s. With ClientOwn it waits
// before, for at most 2 s more, until nothing is in flight: some brokers send no
// disposition after a detach. Messages that are still in flight then get no
// completion any more. The sink hears nothing more after Close has returned, and no
// Down if the link was alive.
func (s *Sender) Close(ctx context.Context) error { return s.is.Close(ctx) }

// Flush discharges a transaction that is not full, and waits until all transactions
// are done with, or ctx is. Without transactions it does nothing.
func (s *Sender) Flush(ctx context.Context) error { return s.is.Flush(ctx) }

// Receiver is a receiving link, by default on a session of its own. Receive is for
// one goroutine, Settle for one goroutine, which may be another.
type Receiver struct{ is receiving }

// receiving is what the two clients implement; see the methods of Receiver.
type receiving interface {
	Address() Address
	Subscription() string
	Queued() (waiting, unsettled int)
	Start()
	Receive(ctx context.Context, dst []amqp.Delivery) (int, error)
	Settle(first, last uint64, state amqp.State) (at int64, err error)
	Flush(ctx context.Context) error
	Stop(ctx context.Context) error
	Close(ctx context.Context) error
}

// NewReceiver begins a session, attaches a receiving link and grants credit.
// Errors are *[Error] with the peer's condition.
func (c *Conn) NewReceiver(ctx context.Context, cfg ReceiverConfig) (*Receiver, error) {
	if cfg.Credit < 1 {
		return nil, fmt.Errorf("link: credit %d: at least 1", cfg.Credit)
	}
	address, warning, err := ResolveAddress(cfg.Address, c.peer.Product, c.peer.Version, c.cfg.Style, RoleReceiver)
	if err != nil {
		return nil, &Error{Op: "attach", Address: printable(cfg.Address), Description: err.Error()}
	}
	if err := cfg.check(c, address); err != nil {
		return nil, &Error{Op: "attach", Address: printable(cfg.Address), Description: err.Error()}
	}
	if c.plane == nil {
		r, err := c.newLibraryReceiver(ctx, cfg, address, warning)
		return receiver(r, err)
	}
	ctx, cancel := c.deadline(ctx)
	defer cancel()
	r, err := c.newOwnReceiver(ctx, cfg, address, warning)
	return receiver(r, err)
}

func receiver(r receiving, err error) (*Receiver, error) {
	if err != nil {
		return nil, err
	}
	return &Receiver{r}, nil
}

// Address returns the address as attached.
func (r *Receiver) Address() Address { return r.is.Address() }

// Subscription returns what tells this receiver's copies of a topic's messages
// from those of others, container-id/link-name; "" on a queue.
func (r *Receiver) Subscription() string { return r.is.Subscription() }

// Queued returns how many messages wait to be received, and how many are handed
// out and not settled.
func (r *Receiver) Queued() (waiting, unsettled int) { return r.is.Queued() }

// Receive waits for at least one message and fills dst with as many as are there.
// Bodies are valid until the next Receive. After the link has ended it hands out
// what had arrived, then the cause. When ctx is done its error is in the chain.
//
// With ClientOwn all deliveries that one socket read completed share one Received.
func (r *Receiver) Receive(ctx context.Context, dst []amqp.Delivery) (int, error) {
	return r.is.Receive(ctx, dst)
}

// Settle answers the deliveries first…last (inclusive) with Accepted, Rejected,
// Released, Modified (delivery-failed) or Undeliverable and returns the instant at which the
// last disposition was written. Deliveries that are settled already are skipped.
// With ClientOwn a range is one disposition; the library writes one per message.
func (r *Receiver) Settle(first, last uint64, state amqp.State) (at int64, err error) {
	return r.is.Settle(first, last, state)
}

// Flush discharges a transaction that is not full and waits for the answer, or until
// ctx is done. Without transactions it does nothing.
func (r *Receiver) Flush(ctx context.Context) error { return r.is.Flush(ctx) }

// Stop grants no more credit. What was granted may still arrive; what is not
// wanted of it can be settled as [amqp.Released], best when nothing more has come
// for a while: released earlier it comes again for what is left of the credit.
func (r *Receiver) Stop(ctx context.Context) error { return r.is.Stop(ctx) }

// Close detaches the link and ends its session within 2 s. Messages that are not
// settled go back to the broker's queue: with ClientOwn they are released.
func (r *Receiver) Close(ctx context.Context) error { return r.is.Close(ctx) }
