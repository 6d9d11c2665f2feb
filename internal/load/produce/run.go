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
// not, or if another could be had; it does not close the link.
//
// With Reconnect, what is due waits for the next link instead, and with Resend
// what has failed is sent again on it.
func (p *Producer) Run(ctx context.Context, link Link) error {
	ctx, giveUp := context.WithCancel(ctx)
	defer giveUp()
	counted := false
	for {
		p.sendAll(ctx, link, giveUp)
		if !counted && p.countReached() {
			counted = true
			bounded, cancel := context.WithTimeout(ctx, p.cfg.Drain)
			defer cancel()
			ctx = bounded
		}
		if p.settle(ctx, link) {
			break
		}
		link = p.renew(ctx, link)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.refill.stop()
	p.abandon()
	if p.renewable() {
		return nil // there was nothing left for another link
	}
	return p.down
}

// sendAll submits what is due until nothing more will be, or the link is gone and
// another one is to be had.
func (p *Producer) sendAll(ctx context.Context, link Link, giveUp func()) {
	for {
		batch := p.take(ctx)
		if len(batch) == 0 {
			return
		}
		if p.countReached() {
			p.watchLast(ctx, giveUp)
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
}

// countReached reports the end of a closed loop by Count, after which the drain
// begins by itself.
func (p *Producer) countReached() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return !p.finished && p.cfg.Drain > 0 && p.closed() && p.next == p.cfg.Count && len(p.again) == 0
}

// flusher is a link with transactions: the last one is not full.
type flusher interface {
	Flush(ctx context.Context) error
}

// settle waits for the last answers. It returns false if the link is gone and
// there is something left for another one.
func (p *Producer) settle(ctx context.Context, link Link) bool {
	if f, ok := link.(flusher); ok && !p.renews(ctx) {
		_ = f.Flush(ctx) // an error is the end of the link: Down tells
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.settling = true
	for p.window.outstanding > 0 && !p.lost && ctx.Err() == nil {
		p.sleep(ctx)
	}
	p.settling = false
	return !p.mustRenew(ctx)
}

// take waits until something is due and the window has room, registers as much
// of it as fits, and returns it; nil if there is nothing more to send.
func (p *Producer) take(ctx context.Context) []amqp.Message {
	p.mu.Lock()
	defer p.mu.Unlock()
	for ctx.Err() == nil {
		if p.renewable() {
			return nil
		}
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
	again := int64(len(p.again))
	switch {
	case !p.closed():
		return again + p.backlog.count
	case p.cfg.Window == 0:
		if p.finished || p.down != nil {
			return again
		}
		return again + min(maxBatch, p.cfg.Count-p.next)
	}
	n := int64(p.freed.before(p.end))
	if p.start < p.end {
		n += int64(p.initial)
	}
	return again + min(n, p.cfg.Count-p.next)
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
	var m message
	for bytes := 0; len(p.batch) < n && bytes < batchBytes; {
		p.claim(now, &m)
		if m.fresh && !p.closed() && m.snap == p.waits.total {
			m.ready = now
		}
		r := p.window.add(p.nextID)
		r.seq, r.attempt, r.intended, r.ready = m.seq, m.attempt, m.intended, m.ready
		size := p.size(m.seq)
		bytes += int(size)
		p.batch = append(p.batch, amqp.Message{ID: uint64(p.nextID), Intended: m.intended, Seq: m.seq, Attempt: m.attempt, Size: size})
		p.snaps = append(p.snaps, m.snap)
		p.nextID++
	}
	p.refill.holding = p.closed() && p.window.free() == 0
	p.waits.submitting = now
	return p.batch
}

// message is one that is due.
type message struct {
	seq             int64
	attempt         int32
	fresh           bool // it was never taken before
	intended, ready int64
	snap            spent // what the producer had waited for when it became ready
}

// claim takes the next message that is due into m; now is the instant.
func (p *Producer) claim(now int64, m *message) {
	if len(p.again) > 0 {
		*m = p.again[0]
		p.again = p.again[1:]
		return
	}
	m.seq, m.attempt, m.fresh = p.next, 0, true
	p.next++
	if !p.closed() {
		d := p.backlog.first()
		m.intended, m.ready, m.snap = p.start+p.cfg.Schedule.At(d.First), d.Ready, d.snap
		p.backlog.pop()
		return
	}
	m.snap = p.waits.total
	switch {
	case p.cfg.Window == 0:
		m.intended = now
	case p.initial > 0:
		p.initial--
		m.intended = p.start
		p.heldFor(p.start, &m.snap)
	default:
		m.intended = p.freed.pop()
		p.heldFor(m.intended, &m.snap)
		p.cutOff(m.intended, &m.snap)
	}
	m.ready = m.intended
}

// submitted books the result of a Submit of p.batch[from:].
func (p *Producer) submitted(ctx context.Context, from, n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	began := p.waits.submitting
	for i := from; i < from+n; i++ {
		m := &p.batch[i]
		r := p.window.find(int64(m.ID))
		r.submitted = true
		r.storeSent(m.Sent)
		r.wait = amqp.WaitConnection // of a message that is sent again
		if m.Attempt == 0 {
			r.wait = p.waits.longest(&p.snaps[i], r.ready, m, began)
		}
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
		r := p.window.find(int64(m.ID))
		if r.answered { // against the contract; the answer says more than the error
			p.finish(r)
			continue
		}
		back := message{seq: r.seq, attempt: r.attempt, intended: r.intended, ready: r.ready, snap: p.snaps[i]}
		p.window.remove(r)
		switch {
		case drained:
			p.unsent(&back, p.waits.sinceReady(&back.snap, back.ready, now), "")
		case p.renewable():
			p.again = append(p.again, back)
		default:
			p.unsent(&back, amqp.WaitConnection, err.Error())
		}
	}
}

// unsent writes the row of a message that will not be sent. One that was to be
// sent again has the row of the attempt that failed.
func (p *Producer) unsent(m *message, wait amqp.Wait, cause string) {
	if m.attempt > 0 {
		return
	}
	row := p.begin(m.seq, m.intended, m.ready)
	row.Wait, row.Error = waitName(wait), cause
	p.write()
}

// refuse turns everything that is due into unsent rows, and everything without
// an answer into failed ones if no more answers can come, because the link is gone.
func (p *Producer) refuse() {
	now := p.cfg.Clock.Now()
	// What a closed loop would intend comes from answers, and those have ended.
	var m message
	for len(p.again) > 0 || !p.closed() && p.backlog.count > 0 {
		p.claim(now, &m)
		p.unsent(&m, amqp.WaitConnection, p.cause)
	}
	if p.lost && !p.closed() {
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
	if p.closed() && p.cfg.Window == 0 {
		return // nothing is intended before it is taken
	}
	var m message
	for n := p.due(); n > 0; n-- {
		p.claim(now, &m)
		if p.down != nil {
			p.unsent(&m, amqp.WaitConnection, p.cause)
		} else {
			p.unsent(&m, p.waits.sinceReady(&m.snap, m.ready, now), "")
		}
	}
}
