// Package consume receives through a link, answers, and makes a row of every
// delivery that carries a stamp of ours.
//
// A Consumer is one goroutine on one link. The instants of a delivery are:
// received, read by the link as the bytes left the socket; started, read here
// before anything is done with the message; settled, when the disposition was
// written. Consumers of a process share a Group, which knows when to stop.
//
// A Consumer outlives its link: Run may be called again with another one. What
// was not answered on the lost link stays unsettled in the log; the broker
// delivers it again, which makes another row.
package consume

import (
	"context"
	"errors"
	"sync"
	"time"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/live"
	"amqpperf/internal/load/recorder"
	"amqpperf/timestamp"
)

// Link is what a Consumer needs of a receiving link.
type Link interface {
	// Receive waits for at least one delivery and fills dst with as many as are
	// there. Their IDs are consecutive. When ctx ends its error is in the chain.
	Receive(ctx context.Context, dst []amqp.Delivery) (int, error)
	// Settle answers the deliveries first…last and returns when that was written.
	Settle(first, last uint64, state amqp.State) (at int64, err error)
	// Flush ends a transaction that is not full and waits for its end; without
	// transactions it does nothing.
	Flush(ctx context.Context) error
	// Stop grants no more credit.
	Stop(ctx context.Context) error
	Close(ctx context.Context) error
}

// Foreign says what to do with a message without a stamp of ours.
type Foreign string

// The policies.
const (
	// ForeignStop gives the message back and ends the run with an error: somebody
	// may have pointed the tool at a production queue.
	ForeignStop Foreign = "stop"
	// ForeignRelease keeps the message unsettled and gives it back at the end;
	// giving it back at once would bring it again and again.
	ForeignRelease Foreign = "release"
	// ForeignAccept accepts it, which removes it from the queue.
	ForeignAccept Foreign = "accept"
)

// Config is what a Consumer is made of.
type Config struct {
	Consumer    int32
	Destination string // as typed
	// Run, if not empty, is the only run that counts; deliveries of others are
	// accepted and logged at once, but neither counted nor do they keep the run from
	// being idle.
	Run     string
	Credit  int
	Foreign Foreign
	// AckEvery settles after so many messages; 0 (auto) settles what one Receive
	// brought together, at most half of the credit, and each message by itself if
	// there is a Tempo.
	AckEvery int
	// Tx is how many deliveries the transactions of the link have; 0: there are none.
	// They are answered by as many; AckEvery has no meaning then. What becomes of them is
	// told to Discharged and Ended.
	Tx int
	// Outcomes are the answers to messages that count.
	Outcomes Outcomes
	// UndeliverableHere says with each modified that the message is not to come to the
	// same link again.
	UndeliverableHere bool
	// Tempo slows the consumer down on messages that count.
	Tempo Tempo
	// Warmup is how long from the first message on deliveries are left out of the
	// aggregated statistics, never out of the log.
	Warmup time.Duration
	Clock  *timestamp.Clock
	Group  *Group
	// Write takes a finished row (a recorder's lane) and must not keep it.
	Write func(*recorder.RecvRow)
	// OnSender is told of every sender whose messages arrive, once for each
	// anchor. It may be nil.
	OnSender func(format.Sender)
}

// delivery is a delivery that is not settled yet, or settled and waiting for
// its turn: rows are written in the order of receipt.
type delivery struct {
	id      uint64
	row     recorder.RecvRow
	shift   int64    // receiver's clock − sender's, ns
	answer  int32    // in answers
	mine    bool     // of the run that counts
	aligned bool     // shift is known
	told    bool     // has a provisional row
	foreign *foreign // nil: it has a stamp of ours
}

// Consumer consumes from one link after the other.
type Consumer struct {
	cfg     Config
	anchor  timestamp.Anchor
	senders map[int32]timestamp.Anchor // of whoever receives
	parser  timestamp.Parser           // of whoever receives: one string for all rows of a run
	spread  spread                     // of Run alone
	mixed   bool                       // not all are accepted
	tempo   *tempo                     // of Run alone, nil: as fast as it goes
	came    chan struct{}              // a token when there is something in waiting, or it has ended
	room    chan struct{}              // a token when waiting became shorter

	mu           sync.Mutex
	conn         int32 // which connection of this consumer, from 0
	subscription string
	waiting      waiting    // received and not begun with, of a consumer with a Tempo
	pending      []delivery // begun with and not settled, IDs without gaps
	left         []delivery // never begun with: to be given back at the end
	foreign      []uint64   // likewise, without a stamp
	over         bool       // the rest is given back: its transactions do not count
	stats        live.Recv
}

// New returns a Consumer. An error means that there is no timer for its Tempo.
func New(cfg Config) (*Consumer, error) {
	c := &Consumer{cfg: cfg, anchor: cfg.Clock.Anchor(), senders: map[int32]timestamp.Anchor{}, spread: spread{shares: cfg.Outcomes.all()}, mixed: !cfg.Outcomes.AcceptsAll(),
		came: make(chan struct{}, 1), room: make(chan struct{}, 1)}
	var err error
	if !cfg.Tempo.None() {
		c.tempo, err = newTempo(cfg.Tempo, cfg.Clock, cfg.Consumer)
	}
	return c, err
}

// Close frees the timers, when no Run will follow.
func (c *Consumer) Close() {
	if c.tempo != nil {
		c.tempo.close()
	}
}

// batchSize is how many deliveries are taken at once.
const batchSize = 256

// Run receives until the Group stops, answers what it had begun with, gives
// back the rest and returns. It does not close the link. connection is the
// number of the link among those of this consumer, from 0, and subscription
// what it gets its copies by, "" on a queue. The error is that of the link, and
// not told to the Group: Run may be called with another link, or Group.Gone.
func (c *Consumer) Run(link Link, connection int32, subscription string) error {
	c.mu.Lock()
	c.conn, c.subscription = connection, subscription
	c.mu.Unlock()
	err := c.receive(link)
	if err == nil {
		err = c.finish(link)
	}
	if err != nil {
		c.broken()
	}
	return err
}

// receive takes deliveries until the Group stops.
func (c *Consumer) receive(link Link) error {
	if c.tempo != nil {
		return c.receiveSlowly(link)
	}
	dst := make([]amqp.Delivery, min(batchSize, c.cfg.Credit))
	ctx := c.cfg.Group.Context()
	for ctx.Err() == nil {
		n, err := link.Receive(ctx, dst)
		if err != nil {
			if ctx.Err() != nil && isContext(err) {
				break
			}
			return err
		}
		if err := c.handle(link, dst[:n], true); err != nil {
			return err
		}
		if c.cfg.AckEvery == 0 && c.cfg.Tx == 0 {
			if err := c.settle(link); err != nil {
				return err
			}
		}
	}
	return nil
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// broken writes what is not settled, and will not be: the link is gone.
func (c *Consumer) broken() {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, list := range c.held() {
		for i := range list {
			if list[i].foreign == nil {
				c.write(&list[i].row)
			}
		}
	}
	c.pending, c.left, c.foreign, c.waiting = c.pending[:0], nil, nil, waiting{}
}

// held lists what has a row and is not settled, in the order of receipt; mu is held.
func (c *Consumer) held() [3][]delivery {
	return [3][]delivery{c.pending, c.left, c.waiting.rest()}
}

// handle takes in what arrived; begin is false once the run is over.
func (c *Consumer) handle(link Link, batch []amqp.Delivery, begin bool) error {
	var next delivery
	for i := range batch {
		c.arrive(&next, &batch[i])
		if err := c.dispatch(link, &next, begin); err != nil {
			return err
		}
	}
	return nil
}

// dispatch puts a delivery where it belongs, and settles if it is time to.
func (c *Consumer) dispatch(link Link, next *delivery, begin bool) error {
	if next.foreign != nil {
		return c.handleForeign(link, next)
	}
	if _, full := c.take(next, begin); full {
		return c.settle(link)
	}
	return nil
}
