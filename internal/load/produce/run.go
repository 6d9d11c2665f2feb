package produce

import (
	"context"
	"errors"

	"amqpperf/format"
	"amqpperf/internal/amqp"
)

// Run sends until the schedule ends or Finish is called, then waits for the
// answers. When ctx ends (the drain is over), what is still due becomes unsent
// rows and what has no answer unsettled ones. After the link is gone an open
// loop goes on to take what the schedule intends, as unsent rows: the offered
// rate of the log stays true. Run returns why the link went, nil if it did
// not; it does not close the link.
func (p *Producer) Run(ctx context.Context, link Link) error {
	for {
		batch := p.take(ctx)
		if len(batch) == 0 {
			break
		}
		for done := 0; done < len(batch); {
			n, err := link.Submit(ctx, batch[done:])
			if err != nil && done+n < len(batch) {
				explain(link, &batch[done+n])
			}
			p.submitted(ctx, done, n, err)
			if err != nil {
				break
			}
			done += n
		}
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settling = true
	p.refill.stop()
	if !p.finished && p.cfg.Drain > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, p.cfg.Drain)
		defer cancel()
	}
	for p.window.outstanding > 0 && !p.lost && ctx.Err() == nil {
		p.sleep(ctx)
	}
	p.abandon()
	return p.down
}

// take waits until something is due and the window has room, registers as much
// of it as fits, and returns it; nil if there is nothing more to send.
func (p *Producer) take(ctx context.Context) []amqp.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ctx.Err() == nil {
		if p.down != nil {
			p.refuse()
		}
		due := p.due()
		switch {
		case due > 0 && p.hold():
		case due > 0 && p.window.free() > 0:
			return p.register(due)
		case due == 0 && p.exhausted():
			return nil
		case due > 0:
			p.waits.begin(amqp.WaitWindow, p.cfg.Clock.Now())
		}
		p.sleep(ctx)
		p.waits.end(p.cfg.Clock.Now())
	}
	return nil
}

// exhausted reports that nothing more will become due.
func (p *Producer) exhausted() bool {
	return p.finished || (p.closed() && (p.next == p.cfg.Count || p.down != nil))
}

// due returns the number of messages that are intended and not registered.
func (p *Producer) due() int64 {
	if !p.closed() {
		return p.backlog.count
	}
	n := int64(p.freed.before(p.end))
	if p.start < p.end {
		n += int64(p.initial)
	}
	return min(n, p.cfg.Count-p.next)
}

// register makes the next messages outstanding.
//
// Of a message of an open loop that had to wait for nothing but this program
// (for its goroutine to run, or for the encoding of what was due before),
// ready is now and not when the pacer woke: the way from the pacer to here is
// the tool's own lateness, so it belongs to lag, and with it to the bracket
// around the response time, and not to blocked. A message that did wait
// for the window, credit, session or socket keeps the instant of the pacer,
// because all of that wait is to be seen in blocked.
func (p *Producer) register(due int64) []amqp.Message {
	n := int(min(due, int64(p.window.free()), int64(p.most)))
	if n > cap(p.batch) {
		size := max(firstBatch, min(maxBatch, 2*n))
		p.batch, p.snaps = make([]amqp.Message, 0, size), make([]spent, 0, size)
	}
	p.batch, p.snaps = p.batch[:0], p.snaps[:0]
	now := p.cfg.Clock.Now()
	for range n {
		intended, ready, snap := p.claim()
		if !p.closed() && snap == p.waits.total {
			ready = now
		}
		r := p.window.add(p.next)
		r.intended, r.ready = intended, ready
		p.batch = append(p.batch, amqp.Message{ID: uint64(p.next), Intended: intended, Seq: p.next, Size: p.cfg.Size})
		p.snaps = append(p.snaps, snap)
		p.next++
	}
	p.refill.holding = p.closed() && p.window.free() == 0
	p.waits.submitting = now
	return p.batch
}

// claim takes the next message that is due: its instants, and what the producer
// had waited for when it became ready.
func (p *Producer) claim() (intended, ready int64, snap spent) {
	if p.closed() {
		at := p.start
		if p.initial > 0 {
			p.initial--
		} else {
			at = p.freed.pop()
		}
		snap = p.waits.total
		p.heldFor(at, &snap)
		return at, at, snap
	}
	d := p.backlog.first()
	intended, ready, snap = p.start+p.cfg.Schedule.At(d.First), d.Ready, d.snap
	p.backlog.pop()
	return intended, ready, snap
}

// submitted books the result of a Submit of p.batch[from:].
func (p *Producer) submitted(ctx context.Context, from, n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	began := p.waits.submitting
	for i := from; i < from+n; i++ {
		m := &p.batch[i]
		r := p.window.find(m.Seq)
		r.submitted = true
		r.storeSent(m.Sent)
		r.wait = p.waits.longest(&p.snaps[i], r.ready, m, began)
		p.countSent(r, m.Sent)
		if r.answered {
			p.finish(r)
		}
	}
	if n > 0 {
		p.waits.submit(&p.batch[from+n-1], &p.backlog)
	}
	p.waits.submitting = 0
	switch {
	case err == nil && from+n < len(p.batch):
		p.waits.submitting = p.cfg.Clock.Now()
	case err != nil:
		if n > 0 {
			began = p.batch[from+n-1].Sent
		}
		p.notSubmitted(from+n, began, err, ctx.Err() != nil && isContext(err))
	}
}

// explain says what the message waited for at which a Submit ended without
// taking it, if the link did not.
func explain(link Link, m *amqp.Message) {
	if l, ok := link.(interface{ Credit() int }); ok && m.Wait == amqp.WaitNone {
		m.Wait = amqp.WaitSocket
		if l.Credit() <= 0 {
			m.Wait = amqp.WaitCredit
		}
	}
}

func isContext(err error) bool {
	return errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded)
}

// notSubmitted finishes the registered messages that a failed Submit did not take.
func (p *Producer) notSubmitted(from int, began int64, err error, drained bool) {
	if !drained {
		p.gone(err)
	}
	if from == len(p.batch) {
		return
	}
	now := p.cfg.Clock.Now()
	stuck := &p.batch[from]
	stuck.Sent = now
	p.waits.submitting = began
	p.waits.submit(stuck, &p.backlog)
	for i := from; i < len(p.batch); i++ {
		m := &p.batch[i]
		r := p.window.find(m.Seq)
		if r.answered { // against the contract; the answer says more than the error
			p.finish(r)
			continue
		}
		row := p.begin(m.Seq, r.intended, r.ready)
		if drained {
			row.Wait = waitName(p.waits.sinceReady(&p.snaps[i], r.ready, now))
		} else {
			row.Wait, row.Error = format.WaitConnection, err.Error()
		}
		p.write()
		p.window.remove(r)
	}
}

// refuse turns everything that is due into unsent rows, and everything without
// an answer into failed ones if no more answers can come, because the link is gone.
func (p *Producer) refuse() {
	if p.closed() {
		return // what it would intend comes from answers, and those have ended
	}
	for p.backlog.count > 0 {
		intended, ready, _ := p.claim()
		row := p.begin(p.next, intended, ready)
		row.Wait, row.Error = format.WaitConnection, p.cause
		p.write()
		p.next++
	}
	if p.lost {
		p.fail()
	}
}

// fail ends the messages that wait for an answer.
func (p *Producer) fail() {
	for r := range p.window.all() {
		row := p.rowOf(r)
		row.Outcome = format.Unsettled
		if p.down != nil {
			row.Outcome, row.Error = format.Failed, p.cause
		}
		p.write()
	}
	p.window.clear()
}

// abandon ends the run: what has no answer is unsettled, or failed if the link
// is gone; what was due and not sent is unsent.
func (p *Producer) abandon() {
	p.fail()
	if p.down != nil {
		p.refuse()
	}
	now := p.cfg.Clock.Now()
	for n := p.due(); n > 0; n-- {
		intended, ready, snap := p.claim()
		row := p.begin(p.next, intended, ready)
		row.Wait = waitName(p.waits.sinceReady(&snap, ready, now))
		if p.down != nil {
			row.Wait, row.Error = format.WaitConnection, p.cause
		}
		p.write()
		p.next++
	}
}
