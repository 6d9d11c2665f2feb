package produce

import (
	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/recorder"
)

// Completed implements amqp.Sink.
func (p *Producer) Completed(batch []amqp.Completion) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i := range batch {
		c := &batch[i]
		// A range of a hostile peer is clipped to what was ever sent.
		last := min(c.Last, uint64(max(0, p.nextID-1)))
		for id := c.First; id <= last && p.nextID > 0; id++ {
			r := p.window.find(int64(id))
			if r == nil || r.answered {
				p.stats.Stray++
				continue
			}
			p.answered(r, c)
		}
	}
	if p.settling {
		if p.window.outstanding == 0 {
			p.notify()
		}
	} else if p.waiting && p.due() > 0 && !p.hold() {
		p.notify()
	}
}

// answered books one answer.
func (p *Producer) answered(r *record, c *amqp.Completion) {
	r.state, r.err = c.State, c.Error
	if c.State != amqp.Presettled && c.State != amqp.Failed && c.State != amqp.Unsettled {
		r.acked = c.At
		if p.counts(r.intended) {
			p.stats.Ack.Record(c.At - r.loadSent())
		} else {
			p.stats.WarmupAck.Record(c.At - r.loadSent())
		}
	}
	p.window.answer(r)
	p.stats.Completed++
	if !p.resends(c.State) {
		p.free(c.At)
	}
	if r.submitted {
		p.finish(r)
	}
}

// Down implements amqp.Sink.
func (p *Producer) Down(_ int64, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lost = true
	p.gone(err)
	p.notify()
}

// gone notes why the link is gone; the first cause stays.
func (p *Producer) gone(err error) {
	if p.down != nil {
		return
	}
	p.down, p.cause = err, err.Error()
	if p.cfg.OnDown != nil && !p.renewable() {
		p.cfg.OnDown(err)
	}
}

// finish writes the row of an answered message and forgets it.
func (p *Producer) finish(r *record) {
	row := p.rowOf(r)
	row.Outcome = outcomeName(r.state)
	row.Error = r.err
	p.write()
	if p.resends(r.state) {
		p.sendAgain(r)
	}
	p.window.remove(r)
}

// rowOf fills p.row from a record, but for what became of the message.
func (p *Producer) rowOf(r *record) *recorder.SendRow {
	row := p.begin(r.seq, r.intended, r.ready)
	row.Attempt, row.Sent, row.Acked, row.Wait = r.attempt, r.loadSent(), r.acked, waitName(r.wait)
	return row
}

// outcomeName returns the value of the column outcome.
func outcomeName(s amqp.State) string {
	switch s {
	case amqp.Accepted:
		return format.Accepted
	case amqp.Rejected:
		return format.Rejected
	case amqp.Released:
		return format.Released
	case amqp.Modified:
		return format.Modified
	case amqp.Presettled:
		return format.Presettled
	case amqp.Failed:
		return format.Failed
	}
	return format.Unsettled
}

// Provisional writes a provisional row of every message that was intended
// before the instant and has no final row yet: unsent or, once it was sent,
// unsettled. A message gets at most one of each, however often this is called.
func (p *Producer) Provisional(before int64, write func(*recorder.SendRow)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for r := range p.window.all() {
		sent := r.loadSent()
		if r.intended >= before || r.provisional || (sent == format.Null && r.seq < p.told) {
			continue
		}
		row := p.rowOf(r)
		if sent != format.Null {
			row.Outcome = format.Unsettled
			r.provisional = true
		}
		write(row)
		p.told = max(p.told, r.seq+1)
	}
	for i := range p.again {
		m := &p.again[i]
		if m.attempt == 0 && m.seq >= p.told && m.intended < before {
			write(p.begin(m.seq, m.intended, m.ready))
			p.told = m.seq + 1
		}
	}
	if p.closed() {
		return
	}
	p.backlogProvisional(before, write)
}

// backlogProvisional writes unsent rows of what is due and was not told yet.
func (p *Producer) backlogProvisional(before int64, write func(*recorder.SendRow)) {
	seq := p.next
	for i := p.backlog.head; i < len(p.backlog.runs); i++ {
		d := &p.backlog.runs[i]
		skip := min(d.Count, max(0, p.told-seq))
		for j := skip; j < d.Count; j++ {
			intended := p.start + p.cfg.Schedule.At(d.First+j)
			if intended >= before {
				return
			}
			write(p.begin(seq+j, intended, d.Ready))
			p.told = seq + j + 1
		}
		seq += d.Count
	}
}
