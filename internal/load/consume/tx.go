package consume

import (
	"context"
	"fmt"
	"time"

	"amqpperf/format"
	"amqpperf/internal/amqp"
)

// flushFor bounds the wait for the answer to the last discharge.
const flushFor = 30 * time.Second

// conclude ends a transaction that is not full, if there are transactions.
func (c *Consumer) conclude(link Link) error {
	if c.cfg.Tx == 0 {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), flushFor)
	defer cancel()
	return link.Flush(ctx)
}

// Discharged says what became of deliveries that were answered inside a
// transaction: Accepted, it was committed at that instant and the answers hold;
// Released, it was rolled back; anything else, nobody knows. connection is the
// number that Run was given with the link: what is told late of one that is gone is
// not taken for the next one's, which counts from 0 again. It may be called by any
// goroutine, before the Settle or Flush that caused it has returned.
func (c *Consumer) Discharged(connection int32, first, last uint64, at int64, state amqp.State) {
	list := answers()
	c.mu.Lock()
	defer c.mu.Unlock()
	if connection != c.conn {
		return
	}
	for _, held := range [][]delivery{c.pending, c.left} {
		for i := range held {
			d := &held[i]
			if d.id < first || d.id > last || d.row.Outcome != format.Unsettled {
				continue
			}
			switch state {
			case amqp.Accepted:
				d.row.Outcome, d.row.Settled = list[d.answer].outcome, at
			case amqp.Released:
				d.row.Outcome, d.row.Settled = format.Released, at
			default:
			}
		}
	}
}

// Ended counts a transaction, and reports whether it is one of the run: not of the
// rest that is given back after it. One that the broker did not commit stops the
// Group; one that ended with its link does not, because another may follow.
func (c *Consumer) Ended(tx amqp.Tx) (counted bool) {
	c.mu.Lock()
	counted = !c.over
	switch {
	case tx.Error != "":
		c.stats.TxFailed++
	case !counted:
	case tx.Rolledback:
		c.stats.RolledBack++
	default:
		c.stats.Committed++
	}
	if tx.Error == "" && counted {
		c.stats.Commit.Record(tx.At - tx.Discharged)
	}
	c.mu.Unlock()
	if tx.Error != "" && tx.At != 0 {
		c.cfg.Group.Stop(StopError, fmt.Errorf("%s: a transaction of %d deliveries failed: %s", c.cfg.Destination, tx.Count, tx.Error))
	}
	return counted && tx.Error == ""
}
