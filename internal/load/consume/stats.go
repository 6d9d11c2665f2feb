package consume

import (
	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/live"
	"amqpperf/internal/load/recorder"
	"amqpperf/timestamp"
)

// count adds a delivery to the statistics; mine is false for another run.
func (c *Consumer) count(d *amqp.Delivery, stamp *timestamp.Stamp, row *recorder.RecvRow, mine bool) {
	c.meet(stamp)
	if d.DeliveryCount > 0 {
		c.stats.Redelivery++
	}
	if !mine {
		c.stats.OtherRun++
		return
	}
	c.stats.Received++
	warm := c.cfg.Warmup > 0 && d.Received < c.cfg.Group.first.Load()+int64(c.cfg.Warmup)
	if c.tempo != nil && !warm {
		c.stats.Queued.Record(row.Started - row.Received)
	}
	// A sender of the same boot is aligned through the monotonic clock that both
	// count on (timestamp.Anchor); of any other the offset is not known here.
	if stamp.ClockID == 0 || stamp.ClockID != c.anchor.ClockID {
		c.stats.Unaligned++
		return
	}
	shift := c.anchor.Offset() - stamp.Offset
	transfer, e2e := &c.stats.Transfer, &c.stats.E2E
	if warm {
		transfer, e2e = &c.stats.WarmupTransfer, &c.stats.WarmupE2E
	}
	transfer.Record(d.Received - stamp.Sent - shift)
	e2e.Record(d.Received - stamp.Intended - shift)
}

// counted adds an answered delivery to the statistics.
func (c *Consumer) counted(d *delivery) {
	row := &d.row
	switch row.Outcome {
	case format.Accepted:
		c.stats.Accepted++
	case format.Rejected:
		c.stats.Rejected++
	case format.Modified:
		c.stats.Modified++
	case format.Released:
		c.stats.Returned++
	}
	if c.tempo == nil || row.Settled == format.Null {
		return
	}
	if c.cfg.Warmup <= 0 || row.Received >= c.cfg.Group.first.Load()+int64(c.cfg.Warmup) {
		c.stats.Work.Record(row.Settled - row.Started)
	}
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

// Collect adds the counters to r and moves what the histograms have counted
// since the last call into those of r.
func (c *Consumer) Collect(r *live.Recv) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Unsettled = int64(len(c.pending) + len(c.left) + len(c.foreign))
	r.Add(&c.stats)
	c.stats.ResetHistograms()
}

// UnsettledBytes returns how many bytes the bodies of the deliveries have that were
// taken and are not settled.
func (c *Consumer) UnsettledBytes() (n int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, list := range [][]delivery{c.pending, c.left} {
		for i := range list {
			if list[i].row.Outcome == format.Unsettled {
				n += int64(list[i].row.Size)
			}
		}
	}
	return n
}

// Provisional writes a provisional row, unsettled, of every delivery that was
// received before the instant and is not settled; one per delivery, however
// often this is called.
func (c *Consumer) Provisional(before int64, write func(*recorder.RecvRow)) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, list := range [][]delivery{c.pending, c.left} {
		for i := range list {
			if d := &list[i]; !d.told && d.row.Received < before {
				d.told = true
				write(&d.row)
			}
		}
	}
}
