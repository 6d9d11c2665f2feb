package consume

import (
	"context"
	"time"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/recorder"
)

// settle answers what is pending and writes its rows.
func (c *Consumer) settle(link Link) error {
	c.mu.Lock()
	batch := c.pending
	c.mu.Unlock()
	if len(batch) == 0 {
		return nil
	}
	if err := c.answer(link, batch); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range batch {
		c.counted(&batch[i])
		c.write(&batch[i].row)
	}
	c.pending = c.pending[:0]
	return nil
}

// answer answers the deliveries that the sender has not settled, neighbours with
// the same answer together, and puts into their rows when that was. With
// transactions Discharged does that; one that is not full is ended here, so that
// the next batch begins with the next one.
func (c *Consumer) answer(link Link, batch []delivery) error {
	list := answers()
	if c.cfg.UndeliverableHere {
		list[modify].state = amqp.Undeliverable
	}
	answered := 0
	for from := 0; from < len(batch); {
		to := from + 1
		first := &batch[from]
		presettled := first.row.Outcome == format.Presettled
		for to < len(batch) && batch[to].id == batch[to-1].id+1 && batch[to].answer == first.answer && (batch[to].row.Outcome == format.Presettled) == presettled {
			to++
		}
		if !presettled {
			is := list[first.answer]
			at, err := link.Settle(first.id, batch[to-1].id, is.state)
			if err != nil {
				return err
			}
			answered += to - from
			c.mu.Lock()
			for i := from; i < to && c.cfg.Tx == 0; i++ {
				batch[i].row.Outcome, batch[i].row.Settled = is.outcome, at
			}
			c.mu.Unlock()
		}
		from = to
	}
	if answered > 0 && answered != c.cfg.Tx {
		return c.conclude(link)
	}
	return nil
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
	c.over = true
	c.mu.Unlock()
	err := c.answer(link, left)
	for i := 0; err == nil && i < len(foreign); i++ {
		_, err = link.Settle(foreign[i], foreign[i], amqp.Released)
	}
	if err == nil && len(foreign) > 0 {
		err = c.conclude(link)
	}
	if err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range left {
		if left[i].row.Outcome == format.Presettled {
			c.stats.Discarded++ // they cannot be given back
		} else {
			c.stats.Released++
		}
		c.write(&left[i].row)
	}
	c.left, c.foreign = nil, nil
	return nil
}
