package consume

import (
	"fmt"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/recorder"
	"amqpperf/timestamp"
)

// take puts a delivery where it belongs. It reports whether the consumer has
// begun with it, and whether it is time to settle.
func (c *Consumer) take(d *amqp.Delivery, stamp *timestamp.Stamp, mine, begin bool) (begun, full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	next := delivery{id: d.ID, row: recorder.RecvRow{
		Run: stamp.Run, Sender: stamp.Sender, Producer: stamp.Producer, Attempt: stamp.Attempt, Seq: stamp.Seq,
		Consumer: c.cfg.Consumer, Size: int32(len(d.Body)), Connection: c.conn, DeliveryCount: int32(min(d.DeliveryCount, 1<<31-1)),
		Destination: c.cfg.Destination, Subscription: c.subscription,
		Intended: stamp.Intended, Sent: stamp.Sent, BrokerIn: d.BrokerIn, Received: d.Received,
		Started: format.Null, Settled: format.Null, Outcome: format.Unsettled,
	}}
	if d.Settled { // there is nothing to answer, or to give back
		next.row.Outcome = format.Presettled
	}
	if !begin || (mine && !c.cfg.Group.admit(d.Received)) {
		next.answer = release
		c.left = append(c.left, next)
		return false, false
	}
	next.row.Started = c.cfg.Clock.Now()
	c.count(d, stamp, &next.row, mine)
	if c.mixed && mine && !d.Settled {
		next.answer = c.spread.next()
	}
	c.pending = append(c.pending, next)
	return true, len(c.pending) >= c.limit()
}

// limit returns how many deliveries are settled together at most.
func (c *Consumer) limit() int {
	switch {
	case c.cfg.Tx > 0:
		return c.cfg.Tx
	case c.cfg.AckEvery > 0:
		return c.cfg.AckEvery
	case c.tempo != nil:
		return 1
	}
	return max(1, c.cfg.Credit/2)
}

// handleForeign deals with a message that carries no stamp of ours.
func (c *Consumer) handleForeign(link Link, d *amqp.Delivery, cause error) error {
	c.mu.Lock()
	c.stats.Foreign++
	c.mu.Unlock()
	if d.Settled {
		return nil
	}
	// In between others: their IDs must stay without a gap.
	if err := c.settle(link); err != nil {
		return err
	}
	if c.cfg.Foreign == ForeignAccept {
		if _, err := link.Settle(d.ID, d.ID, amqp.Accepted); err != nil {
			return err
		}
		return c.conclude(link)
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
