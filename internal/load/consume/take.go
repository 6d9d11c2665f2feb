package consume

import (
	"fmt"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/recorder"
	"amqpperf/timestamp"
)

// foreign is a message that carries no stamp of ours.
type foreign struct {
	cause       error
	contentType string
	size        int
	settled     bool
}

// arrive makes next of a delivery; nothing of d is kept. It meets the sender, so that
// whoever reads the row can align it.
func (c *Consumer) arrive(next *delivery, d *amqp.Delivery) {
	stamp, err := c.parser.Parse(stampOf(d))
	if err != nil {
		*next = delivery{id: d.ID, foreign: &foreign{cause: err, contentType: d.ContentType, size: len(d.Body), settled: d.Settled}}
		return
	}
	c.meet(&stamp)
	*next = delivery{
		id: d.ID, mine: c.cfg.Run == "" || stamp.Run == c.cfg.Run,
		// A sender of the same boot is aligned through the monotonic clock that both
		// count on (timestamp.Anchor); of any other the offset is not known here.
		aligned: stamp.ClockID != 0 && stamp.ClockID == c.anchor.ClockID, shift: c.anchor.Offset() - stamp.Offset,
		row: recorder.RecvRow{
			Run: stamp.Run, Sender: stamp.Sender, Producer: stamp.Producer, Attempt: stamp.Attempt, Seq: stamp.Seq,
			Consumer: c.cfg.Consumer, Size: int32(len(d.Body)), Connection: c.conn, DeliveryCount: int32(min(d.DeliveryCount, 1<<31-1)),
			Destination: c.cfg.Destination, Subscription: c.subscription,
			Intended: stamp.Intended, Sent: stamp.Sent, BrokerIn: d.BrokerIn, Received: d.Received,
			Started: format.Null, Settled: format.Null, Outcome: format.Unsettled,
		},
	}
	if d.Settled { // there is nothing to answer, or to give back
		next.row.Outcome = format.Presettled
	}
}

// stampOf returns where the stamp of a delivery is to be found.
func stampOf(d *amqp.Delivery) []byte {
	if d.Stamp != nil {
		return d.Stamp
	}
	return d.Body
}

// take puts a delivery with a stamp where it belongs. It reports whether the
// consumer has begun with it, and whether it is time to settle.
func (c *Consumer) take(next *delivery, begin bool) (begun, full bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if !begin || (next.mine && !c.cfg.Group.admit(next.row.Received)) {
		next.answer = release
		c.left = append(c.left, *next)
		return false, false
	}
	next.row.Started = c.cfg.Clock.Now()
	c.count(next)
	if c.mixed && next.mine && next.row.Outcome != format.Presettled {
		next.answer = int32(c.spread.next())
	}
	c.pending = append(c.pending, *next)
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
func (c *Consumer) handleForeign(link Link, d *delivery) error {
	what := d.foreign
	c.mu.Lock()
	c.stats.Foreign++
	c.mu.Unlock()
	if what.settled {
		return nil
	}
	// In between others: their IDs must stay without a gap.
	if err := c.settle(link); err != nil {
		return err
	}
	if c.cfg.Foreign == ForeignAccept {
		if _, err := link.Settle(d.id, d.id, amqp.Accepted); err != nil {
			return err
		}
		return c.conclude(link)
	}
	c.mu.Lock()
	c.foreign = append(c.foreign, d.id)
	kept := len(c.foreign)
	c.mu.Unlock()
	contentType := what.contentType
	if contentType == "" {
		contentType = "none"
	}
	switch {
	case c.cfg.Foreign != ForeignRelease:
		c.cfg.Group.Stop(StopError, fmt.Errorf("%s: a message without a stamp of perf-send arrived (content type %s, %d bytes): "+
			"it is given back; --foreign release or accept goes on: %w", c.cfg.Destination, contentType, what.size, what.cause))
	case 2*kept >= c.cfg.Credit && c.cfg.Credit > 1:
		c.cfg.Group.Stop(StopError, fmt.Errorf("%s: %d foreign messages are kept until the end and take half of the credit: "+
			"use another address, or --foreign accept to remove them", c.cfg.Destination, kept))
	}
	return nil
}

// meet tells OnSender of senders not met before.
func (c *Consumer) meet(stamp *timestamp.Stamp) {
	anchor := stamp.Anchor()
	if known, ok := c.senders[stamp.Sender]; ok && known == anchor {
		return
	}
	// A hostile queue must not fill the memory.
	if len(c.senders) >= format.MaxStrings {
		return
	}
	c.senders[stamp.Sender] = anchor
	if c.cfg.OnSender != nil {
		c.cfg.OnSender(format.Sender{Sender: stamp.Sender, Clock: anchor})
	}
}

// settled reports whether the broker had settled it: there is nothing to answer.
func (d *delivery) settled() bool {
	if d.foreign != nil {
		return d.foreign.settled
	}
	return d.row.Outcome == format.Presettled
}
