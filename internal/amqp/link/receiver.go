package link

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	goamqp "github.com/Azure/go-amqp"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/wire"
)

// ReceiverConfig describes a receiving link.
type ReceiverConfig struct {
	// Address as typed: queue://NAME, topic://NAME or the broker's own form.
	Address string
	// Credit is how many messages the broker may have under way to us or unsettled by
	// us. It is renewed when half of it was settled. At least 1.
	Credit int
	// Presettled asks the broker to send settled; it is an error if it does not agree.
	Presettled bool
	// Hold grants no credit before [Receiver.Start]: the link is attached, and a
	// subscription exists, but nothing is delivered.
	Hold bool
	// Browse leaves the messages where they are: distribution mode copy, on a queue. It
	// is an error if the broker does not agree. ClientOwn only.
	Browse bool
	// Selector is an expression in SQL-92 style over headers and properties
	// (apache.org:selector-filter:string). It is an error if the broker does not agree.
	Selector string
	// Subscription names the subscription to a topic; "": one that nobody else has and
	// that ends with the link.
	Subscription string
	// Durable keeps the subscription, with what arrives for it, while no link is attached
	// to it. It needs Subscription, and a Config.ContainerID with ContainerExact unless it
	// is shared, since both together are its name then.
	Durable bool
	// Shared lets links with the same Subscription, of whatever connection, compete for
	// the messages of the subscription.
	Shared bool
	// Unsubscribe has Close end a durable subscription for good; otherwise it stays.
	Unsubscribe bool
	// DurableQueue asks for a durable source, as SenderConfig.Durable does for the
	// target: whoever comes first to RabbitMQ makes the queue durable or not, and the
	// other kind is refused afterwards.
	DurableQueue bool
	// Tx is how many deliveries a transaction has; 0: there are none. ClientOwn only,
	// and not together with Presettled or Browse. Settle puts deliveries into
	// transactions of exactly that many, and waits for the disposition of each discharge
	// that it causes, as commit of a JMS session does. Flush discharges what is left.
	Tx int
	// TxRollback is the share of transactions that are rolled back, 0 to 1, spread evenly
	// (exact to a millionth): their deliveries come again.
	TxRollback float64
	// OnTx is told of each transaction that has ended, after OnSettled.
	OnTx func(amqp.Tx)
	// OnSettled is told what became of deliveries that were given to Settle inside
	// transactions: at is the instant of the discharge's disposition, err nil,
	// ErrRolledBack, or why there will be none. Each delivery is reported once. Both
	// functions are called by the connection's reader, and must not block.
	OnSettled func(first, last uint64, at int64, err error)
	// Session is the session to attach on; nil: one of its own.
	Session *Session

	session *ownSession // to attach on, with ClientOwn; nil: a new one
	second  bool        // asks for receiver settle mode second, with ClientOwn
}

// libraryReceiver is a receiving link of the library.
type libraryReceiver struct {
	conn    *Conn
	cfg     ReceiverConfig
	address Address
	name    string
	session *goamqp.Session
	inner   *goamqp.Receiver
	state   *linkState
	closing atomic.Bool
	once    sync.Once
	cancel  context.CancelFunc // ends the pump
	pumped  chan struct{}      // closed when the pump has ended

	mu        sync.Mutex
	arrived   []arrival     // waiting to be received
	wake      chan struct{} // a token when arrived or err has changed
	err       error         // why nothing arrives any more
	unsettled unsettled     // handed out
	next      uint64        // ID of the next delivery handed out
	granted   int           // credit that the broker has left
	freed     int           // settled since credit was granted
	careful   bool          // renew only when all that was granted has arrived
	stopped   bool          // grant no more
}

// arrival is a message as the library handed it over.
type arrival struct {
	message *goamqp.Message
	at      int64
}

func (c *Conn) newLibraryReceiver(ctx context.Context, cfg ReceiverConfig, address Address, warning string) (*libraryReceiver, error) {
	r := &libraryReceiver{conn: c, cfg: cfg, address: address, name: cfg.linkName(c),
		pumped: make(chan struct{}), wake: make(chan struct{}, 1), granted: cfg.Credit, careful: overdelivers(c.peer)}
	ctx, cancel := c.deadline(ctx)
	defer cancel()
	if r.cfg.Hold {
		r.granted, r.freed = 0, cfg.Credit
	}
	r.stopped = cfg.Hold
	r.state = c.watch.add(r.name, wire.RoleReceiver)
	if err := r.attach(ctx); err != nil {
		c.watch.remove(r.name, wire.RoleReceiver)
		return nil, c.attachFailed(cfg.Address, address, err)
	}
	theirs, _ := r.state.terminus()
	c.attached(theirs, address, warning)
	pump, stop := context.WithCancel(context.Background())
	r.cancel = stop
	c.running.Go(func() { r.pump(pump) })
	return r, nil
}

func (r *libraryReceiver) attach(ctx context.Context) (err error) {
	if r.session, err = r.conn.librarySession(ctx, r.cfg.Session); err != nil {
		return err
	}
	options := r.cfg.libraryOptions(r.name, r.address)
	if r.inner, err = r.session.NewReceiver(ctx, r.address.Text, options); err == nil {
		err = r.agreed(ctx)
	}
	if err == nil && !r.cfg.Hold {
		err = r.inner.IssueCredit(uint32(r.cfg.Credit))
	}
	if err != nil && r.cfg.Session == nil {
		r.conn.endSession(r.session)
	}
	return err
}

// agreed gives the link up if the peer's answer lacks what was asked for.
func (r *libraryReceiver) agreed(ctx context.Context) error {
	text := r.cfg.agreed(r.state.peerSource())
	if text == "" {
		return nil
	}
	if !r.cfg.Durable || r.cfg.Unsubscribe {
		_ = r.inner.Close(ctx) // what is wrong with it is the error that counts
	}
	return errors.New(text)
}

// Address returns the address as attached.
func (r *libraryReceiver) Address() Address { return r.address }

// Subscription returns what tells this receiver's copies of a topic's messages
// from those of others, container-id/link-name; "" on a queue.
func (r *libraryReceiver) Subscription() string {
	return r.cfg.subscription(r.conn, r.address, r.name)
}

// Queued returns how many messages wait to be received, and how many are handed
// out and not settled.
func (r *libraryReceiver) Queued() (waiting, unsettled int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	return len(r.arrived), r.unsettled.count
}

// pump takes messages from the library and stamps them, and does nothing else:
// the work of the consumer must not delay the stamp.
func (r *libraryReceiver) pump(ctx context.Context) {
	defer close(r.pumped)
	for {
		m, err := r.inner.Receive(ctx, nil)
		at := r.conn.library.lastRead()
		if err != nil {
			r.pumpEnded(err)
			return
		}
		r.mu.Lock()
		for m != nil {
			r.granted--
			r.arrived = append(r.arrived, arrival{m, at})
			m = r.inner.Prefetched()
			at = r.conn.library.lastRead()
		}
		r.renew()
		r.mu.Unlock()
		r.signal()
	}
}

// pumpEnded keeps why the link ended.
func (r *libraryReceiver) pumpEnded(err error) {
	var e *Error
	if cause := r.cause("receive"); cause != nil {
		e = cause
	} else if r.closing.Load() || r.conn.closing.Load() {
		e = &Error{Op: "receive", Address: r.cfg.Address, Description: "the link is closed"}
	} else {
		e = r.conn.failed("receive", r.cfg.Address, err)
	}
	r.mu.Lock()
	r.err = e
	r.mu.Unlock()
	r.conn.event(amqp.EventDetach, r.address.Text, r.eventCause(e))
	r.signal()
}

// eventCause is nil if we closed the link: that is no error.
func (r *libraryReceiver) eventCause(e *Error) error {
	if r.closing.Load() || r.conn.closing.Load() {
		return nil
	}
	return e
}

// cause returns why the link ended, nil if we ended it.
func (r *libraryReceiver) cause(op string) *Error {
	return r.conn.linkCause(op, r.cfg.Address, r.state, r.closing.Load())
}

func (r *libraryReceiver) signal() {
	select {
	case r.wake <- struct{}{}:
	default: // a token is there
	}
}

// Receive waits for at least one message and fills dst with as many as are there.
// Bodies are valid until the next Receive. After the link has ended it hands out
// what had arrived, then the cause. When ctx is done its error is in the chain.
func (r *libraryReceiver) Receive(ctx context.Context, dst []amqp.Delivery) (int, error) {
	if len(dst) == 0 {
		return 0, errors.New("link: receive into nothing")
	}
	for {
		r.mu.Lock()
		n := r.take(dst)
		err := r.err
		r.mu.Unlock()
		if n > 0 {
			return n, nil
		}
		if err != nil {
			return 0, err
		}
		select {
		case <-r.wake:
		case <-ctx.Done():
			return 0, &Error{Op: "receive", Address: r.cfg.Address, Description: "stopped waiting", cause: ctx.Err()}
		}
	}
}

// take hands out what has arrived; r.mu is held.
func (r *libraryReceiver) take(dst []amqp.Delivery) int {
	n := min(len(dst), len(r.arrived))
	for i, a := range r.arrived[:n] {
		dst[i] = deliver(r.next, a)
		dst[i].Settled = r.cfg.Presettled
		if dst[i].Settled {
			r.free(1)
		} else {
			r.unsettled.add(r.next, a.message)
		}
		r.next++
	}
	// Move the rest to the front: Receive is called with room for most of it.
	rest := copy(r.arrived, r.arrived[n:])
	clear(r.arrived[rest:])
	r.arrived = r.arrived[:rest]
	return n
}

// free counts settled messages; r.mu is held.
func (r *libraryReceiver) free(n int) {
	r.freed += n
	r.renew()
}

// renew grants as much credit as was settled, once that is half of the credit;
// r.mu is held.
//
// Subtleness ahead: a broker that sends more than was granted drives the
// library's unsigned credit below zero; what we then add gives no flow at all or
// one of four billion. So such a broker gets new credit only when all of the old
// has arrived, at the price of a round trip in every Credit messages.
func (r *libraryReceiver) renew() {
	if r.granted < 0 {
		r.careful = true
	}
	switch {
	case r.stopped || r.freed == 0 || 2*r.freed < r.cfg.Credit:
		return
	case r.careful && (r.granted > 0 || r.granted+r.freed <= 0):
		return
	}
	// It fails only while a drain is going on, and we never drain.
	if r.inner.IssueCredit(uint32(r.freed)) == nil {
		r.granted += r.freed
		r.freed = 0
	}
}

// overdelivers reports whether a broker takes new credit as additional to what
// is still on its way through it: RabbitMQ's plugin up to 3.x does.
func overdelivers(p Peer) bool {
	style, known := styleOf(p.Product, p.Version)
	return known && style == StyleRabbitMQ3
}

// Settle answers the deliveries first…last (inclusive) with Accepted, Rejected,
// Released, Modified (delivery-failed) or Undeliverable and returns the instant at which the
// last disposition was written. Deliveries that are settled already are skipped.
// The library writes one disposition per message.
func (r *libraryReceiver) Settle(first, last uint64, state amqp.State) (at int64, err error) {
	for id := first; id <= last; id++ {
		r.mu.Lock()
		m := r.unsettled.remove(id)
		r.mu.Unlock()
		if m == nil {
			continue
		}
		if err := r.settle(m, state); err != nil {
			return r.conn.cfg.Now(), err
		}
		r.mu.Lock()
		r.free(1)
		r.mu.Unlock()
	}
	return r.conn.cfg.Now(), nil
}

func (r *libraryReceiver) settle(m *goamqp.Message, state amqp.State) (err error) {
	ctx := context.Background() // the library bounds the write by 30 s
	switch state {
	case amqp.Accepted:
		err = r.inner.AcceptMessage(ctx, m)
	case amqp.Rejected:
		err = r.inner.RejectMessage(ctx, m, nil)
	case amqp.Released:
		err = r.inner.ReleaseMessage(ctx, m)
	case amqp.Modified, amqp.Undeliverable:
		err = r.inner.ModifyMessage(ctx, m, &goamqp.ModifyMessageOptions{DeliveryFailed: true, UndeliverableHere: state == amqp.Undeliverable})
	default:
		return fmt.Errorf("link: settle with state %d", state)
	}
	if err == nil {
		return nil
	}
	if e := r.cause("settle"); e != nil {
		return e
	}
	return r.conn.failed("settle", r.cfg.Address, err)
}

// Stop grants no more credit. What was granted may still arrive; what is not
// wanted of it can be settled as [amqp.Released], best when nothing more has come
// for a while: released earlier it comes again for what is left of the credit.
func (r *libraryReceiver) Stop(context.Context) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stopped = true
	return nil
}

// Close detaches the link and ends its session within 2 s. Messages that are not
// settled go back to the broker's queue.
func (r *libraryReceiver) Close(ctx context.Context) error {
	r.once.Do(func() {
		r.closing.Store(!r.state.isGone())
		if r.cfg.Durable && !r.cfg.Unsubscribe {
			end, cancel := r.conn.closeDeadline(ctx)
			defer cancel()
			_ = r.session.Close(end) // the library detaches for good or not at all
		} else {
			r.conn.detach(ctx, r.state, r.inner, r.session, r.cfg.Session == nil)
		}
		r.cancel()
		<-r.pumped
		r.conn.watch.remove(r.name, wire.RoleReceiver)
	})
	if e := r.cause("close"); e != nil {
		return e
	}
	return nil
}

// Flush implements receiving: there are no transactions.
func (r *libraryReceiver) Flush(context.Context) error { return nil }
