package consume

import (
	"amqpperf/format"
	"amqpperf/internal/load/live"
	"amqpperf/internal/load/recorder"
)

// count adds a delivery that was begun with to the statistics.
func (c *Consumer) count(d *delivery) {
	row := &d.row
	if row.DeliveryCount > 0 {
		c.stats.Redelivery++
	}
	if !d.mine {
		c.stats.OtherRun++
		return
	}
	c.stats.Received++
	warm := c.cfg.Warmup > 0 && row.Received < c.cfg.Group.first.Load()+int64(c.cfg.Warmup)
	if c.tempo != nil && !warm {
		c.stats.Queued.Record(row.Started - row.Received)
	}
	if !d.aligned {
		c.stats.Unaligned++
		return
	}
	transfer, e2e := &c.stats.Transfer, &c.stats.E2E
	if warm {
		transfer, e2e = &c.stats.WarmupTransfer, &c.stats.WarmupE2E
	}
	transfer.Record(row.Received - row.Sent - d.shift)
	e2e.Record(row.Received - row.Intended - d.shift)
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

// Collect adds the counters to r and moves what the histograms have counted
// since the last call into those of r.
func (c *Consumer) Collect(r *live.Recv) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.stats.Unsettled = int64(len(c.pending) + len(c.left) + len(c.foreign))
	c.stats.Waiting = int64(c.waiting.len())
	r.Add(&c.stats)
	c.stats.ResetHistograms()
}

// Waiting returns how many deliveries were taken from the link and not begun with: only
// a consumer with a Tempo lets them wait here.
func (c *Consumer) Waiting() int {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.waiting.len()
}

// UnsettledBytes returns how many bytes the bodies of the deliveries have that were
// begun with and are not settled.
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
	for _, list := range c.held() {
		for i := range list {
			if d := &list[i]; !d.told && d.foreign == nil && d.row.Received < before {
				d.told = true
				write(&d.row)
			}
		}
	}
}
