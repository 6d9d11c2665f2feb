package produce

import (
	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/live"
)

// counts reports whether a message counts in the aggregated statistics.
func (p *Producer) counts(intended int64) bool { return intended >= p.measured }

func (p *Producer) countSent(r *record, sent int64) {
	p.stats.Sent++
	if r.attempt > 0 {
		p.stats.Resent++
	}
	if r.wait != amqp.WaitNone {
		p.stats.Blocked++
	}
	switch {
	case r.attempt > 0: // it counts once, as of its first
	case p.counts(r.intended):
		p.stats.Delay.Record(sent - r.intended)
	default:
		p.stats.WarmupDelay.Record(sent - r.intended)
	}
}

// write hands over the row in p.row.
func (p *Producer) write() {
	p.stats.Rows++
	switch p.row.Outcome {
	case format.Accepted:
		p.stats.Accepted++
	case format.Rejected:
		p.stats.Rejected++
	case format.Released:
		p.stats.Released++
	case format.Modified:
		p.stats.Modified++
	case format.Presettled:
		p.stats.Presettled++
	case format.Unsettled:
		p.stats.Unsettled++
	case format.Failed:
		p.stats.Failed++
	case format.Unsent:
		p.stats.Unsent++
	}
	p.cfg.Write(&p.row)
}

// Free returns how many more messages the window takes now.
func (p *Producer) Free() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.window.free()
}

// Collect adds the counters to s and moves what the histograms have counted
// since the last call into those of s.
func (p *Producer) Collect(s *live.Send) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stats.Outstanding = int64(p.window.outstanding)
	p.stats.Due = p.due()
	s.Add(&p.stats)
	p.stats.ResetHistograms()
}

// Ended counts a transaction that has ended.
func (p *Producer) Ended(tx amqp.Tx) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case tx.Error != "":
		return
	case tx.Rolledback:
		p.stats.RolledBack++
	default:
		p.stats.Committed++
	}
	p.stats.Commit.Record(tx.At - tx.Discharged)
}
