// Package consume receives through a link, answers, and makes a row of every
// delivery that carries a stamp of ours.
//
// A Consumer is one goroutine on one link. The instants of a delivery are:
// received, read by the link as the bytes left the socket; started, read here
// before anything is done with the message; settled, when the disposition was
// written. Consumers of a process share a Group, which knows when to stop.
package consume

import (
	"context"
	"errors"
	"fmt"
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
	Consumer     int32
	Connection   int32
	Destination  string // as typed
	Subscription string // "" on a queue
	// Run, if not empty, is the only run that counts; deliveries of others are
	// settled and logged, but neither counted nor do they keep the run from being idle.
	Run     string
	Credit  int
	Foreign Foreign
	// AckEvery settles after so many messages; 0 (auto) settles what one Receive
	// brought together, at most half of the credit.
	AckEvery int
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
	id   uint64
	row  recorder.RecvRow
	told bool // has a provisional row
}

// Consumer consumes from one link.
type Consumer struct {
	cfg     Config
	anchor  timestamp.Anchor
	senders map[int32]timestamp.Anchor // of Run alone
	parser  timestamp.Parser           // of Run alone: one string for all rows of a run

	mu      sync.Mutex
	pending []delivery // begun with and not settled, IDs without gaps
	left    []delivery // never begun with: to be given back at the end
	foreign []uint64   // likewise, without a stamp
	stats   live.Recv
}

// New returns a Consumer.
func New(cfg Config) *Consumer {
	return &Consumer{cfg: cfg, anchor: cfg.Clock.Anchor(), senders: map[int32]timestamp.Anchor{}}
}

// batchSize is how many deliveries are taken at once.
const batchSize = 256

// Run receives until the Group stops, answers what it had begun with, gives
// back the rest and returns. It does not close the link. The error is that of
// the link; without any consumer left the Group stops.
func (c *Consumer) Run(link Link) error {
	dst := make([]amqp.Delivery, min(batchSize, c.cfg.Credit))
	ctx := c.cfg.Group.Context()
	for ctx.Err() == nil {
		n, err := link.Receive(ctx, dst)
		if err != nil {
			if ctx.Err() != nil && isContext(err) {
				break
			}
			return c.broken(err)
		}
		if err := c.handle(link, dst[:n], true); err != nil {
			return c.broken(err)
		}
		if c.cfg.AckEvery == 0 {
			if err := c.settle(link); err != nil {
				return c.broken(err)
			}
		}
	}
	if err := c.finish(link); err != nil {
		return c.broken(err)
	}
	return nil
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// broken ends the consumer because its link is gone: what is not settled will not be.
func (c *Consumer) broken(err error) error {
	c.cfg.Group.gone(err)
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, list := range [][]delivery{c.pending, c.left} {
		for i := range list {
			c.write(&list[i].row)
		}
	}
	c.pending, c.left = nil, nil
	return err
}

// handle takes in what arrived; begin is false once the run is over.
func (c *Consumer) handle(link Link, batch []amqp.Delivery, begin bool) error {
	for i := range batch {
		d := &batch[i]
		stamp, err := c.parser.Parse(d.Body)
		if err != nil {
			if err := c.handleForeign(link, d, err); err != nil {
				return err
			}
			continue
		}
		c.mu.Lock()
		full := c.take(d, &stamp, begin)
		c.mu.Unlock()
		if full {
			if err := c.settle(link); err != nil {
				return err
			}
		}
	}
	return nil
}

// take puts a delivery where it belongs and reports whether it is time to settle.
func (c *Consumer) take(d *amqp.Delivery, stamp *timestamp.Stamp, begin bool) bool {
	row := recorder.RecvRow{
		Run: stamp.Run, Sender: stamp.Sender, Producer: stamp.Producer, Attempt: stamp.Attempt, Seq: stamp.Seq,
		Consumer: c.cfg.Consumer, Size: int32(len(d.Body)), Connection: c.cfg.Connection, DeliveryCount: int32(min(d.DeliveryCount, 1<<31-1)),
		Destination: c.cfg.Destination, Subscription: c.cfg.Subscription,
		Intended: stamp.Intended, Sent: stamp.Sent, BrokerIn: d.BrokerIn, Received: d.Received,
		Started: format.Null, Settled: format.Null, Outcome: format.Unsettled,
	}
	mine := c.cfg.Run == "" || stamp.Run == c.cfg.Run
	if !begin || (mine && !c.cfg.Group.admit(d.Received)) {
		c.leave(d, row)
		return false
	}
	row.Started = c.cfg.Clock.Now()
	c.count(d, stamp, mine)
	if d.Settled {
		row.Outcome = format.Presettled
	}
	c.pending = append(c.pending, delivery{id: d.ID, row: row})
	return len(c.pending) >= c.limit()
}

// limit returns how many deliveries are settled together at most.
func (c *Consumer) limit() int {
	if c.cfg.AckEvery > 0 {
		return c.cfg.AckEvery
	}
	return max(1, c.cfg.Credit/2)
}

// leave keeps a delivery to be given back. A presettled one cannot be.
func (c *Consumer) leave(d *amqp.Delivery, row recorder.RecvRow) {
	if d.Settled {
		row.Outcome = format.Presettled
	}
	c.left = append(c.left, delivery{id: d.ID, row: row})
}

// handleForeign deals with a message that carries no stamp of ours.
func (c *Consumer) handleForeign(link Link, d *amqp.Delivery, cause error) error {
	c.mu.Lock()
	c.stats.Foreign++
	c.mu.Unlock()
	if d.Settled {
		return nil
	}
	if c.cfg.Foreign == ForeignAccept {
		// In between others: their IDs must stay without a gap.
		if err := c.settle(link); err != nil {
			return err
		}
		_, err := link.Settle(d.ID, d.ID, amqp.Accepted)
		return err
	}
	if err := c.settle(link); err != nil {
		return err
	}
	c.mu.Lock()
	c.foreign = append(c.foreign, d.ID)
	kept := len(c.foreign)
	c.mu.Unlock()
	contentType := d.ContentType
	if contentType == "" {
		contentType = "none"
	}
	switch {
	case c.cfg.Foreign != ForeignRelease:
		c.cfg.Group.Stop(StopError, fmt.Errorf("%s: a message without a stamp of perf-send arrived (content type %s, %d bytes): "+
			"it is given back; --foreign release or accept goes on: %w", c.cfg.Destination, contentType, len(d.Body), cause))
	case 2*kept >= c.cfg.Credit && c.cfg.Credit > 1:
		c.cfg.Group.Stop(StopError, fmt.Errorf("%s: %d foreign messages are kept until the end and take half of the credit: "+
			"use another address, or --foreign accept to remove them", c.cfg.Destination, kept))
	}
	return nil
}

// settle accepts what is pending and writes its rows.
func (c *Consumer) settle(link Link) error {
	c.mu.Lock()
	batch := c.pending
	c.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	at, err := settleRange(link, batch, amqp.Accepted)
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range batch {
		c.answered(&batch[i].row, format.Accepted, at)
	}
	c.pending = c.pending[:0]
	return nil
}

// settleRange answers the deliveries that the sender has not settled.
func settleRange(link Link, batch []delivery, state amqp.State) (at int64, err error) {
	for from := 0; from < len(batch); {
		to := from + 1
		presettled := batch[from].row.Outcome == format.Presettled
		for to < len(batch) && batch[to].id == batch[to-1].id+1 && (batch[to].row.Outcome == format.Presettled) == presettled {
			to++
		}
		if !presettled {
			if at, err = link.Settle(batch[from].id, batch[to-1].id, state); err != nil {
				return at, err
			}
		}
		from = to
	}
	return at, nil
}

// answered completes a row and writes it.
func (c *Consumer) answered(row *recorder.RecvRow, outcome string, at int64) {
	if row.Outcome != format.Presettled {
		row.Outcome, row.Settled = outcome, at
	}
	c.write(row)
}

func (c *Consumer) write(row *recorder.RecvRow) {
	c.stats.Rows++
	c.cfg.Write(row)
}

// quiet is how long nothing must arrive at the end to be taken for the end:
// what was granted as credit may still be under way. At most stopFor is waited.
const (
	quiet   = 100 * time.Millisecond
	stopFor = 2 * time.Second
)

// finish answers what was begun with, waits for what is under way and gives it back.
func (c *Consumer) finish(link Link) error {
	ctx, cancel := context.WithTimeout(context.Background(), stopFor)
	defer cancel()
	if err := c.settle(link); err != nil {
		return err
	}
	if err := link.Stop(ctx); err != nil {
		return err
	}
	dst := make([]amqp.Delivery, batchSize)
	for ctx.Err() == nil {
		wait, done := context.WithTimeout(ctx, quiet)
		n, err := link.Receive(wait, dst)
		done()
		if err != nil {
			if isContext(err) {
				break
			}
			return err
		}
		if err := c.handle(link, dst[:n], false); err != nil {
			return err
		}
	}
	return c.giveBack(link)
}

// giveBack releases what was never begun with.
func (c *Consumer) giveBack(link Link) error {
	c.mu.Lock()
	left, foreign := c.left, c.foreign
	c.mu.Unlock()
	at, err := settleRange(link, left, amqp.Released)
	for i := 0; err == nil && i < len(foreign); i++ {
		_, err = link.Settle(foreign[i], foreign[i], amqp.Released)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range left {
		c.answered(&left[i].row, format.Released, at)
	}
	c.stats.Released += int64(len(left))
	c.left = nil
	return nil
}
