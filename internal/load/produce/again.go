package produce

import (
	"cmp"
	"context"
	"slices"

	"amqpperf/format"
	"amqpperf/internal/amqp"
)

// renewable reports that the link is gone and another one is to be had. The lock
// is held, as below.
func (p *Producer) renewable() bool {
	return p.down != nil && p.cfg.Reconnect != nil && !p.stranded
}

// mustRenew reports that there is something to do on another link.
func (p *Producer) mustRenew(ctx context.Context) bool {
	return p.renewable() && ctx.Err() == nil &&
		(p.due() > 0 || !p.finished && !(p.closed() && p.next == p.cfg.Count) || p.cfg.Resend && p.window.outstanding > 0)
}

func (p *Producer) renews(ctx context.Context) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.mustRenew(ctx)
}

// resends reports whether a message that ended so is sent again.
func (p *Producer) resends(s amqp.State) bool {
	return s == amqp.Failed && p.cfg.Resend && p.cfg.Reconnect != nil && !p.stranded
}

// sendAgain keeps a message that has failed for the next attempt. Its ready is
// that of the first: whatever it has waited for since was not the tool.
func (p *Producer) sendAgain(r *record) {
	p.again = append(p.again, message{
		seq: r.seq, attempt: r.attempt + 1, intended: r.intended, ready: r.ready, snap: p.waits.total,
	})
}

// free gives the slot of a message back to a closed loop.
func (p *Producer) free(at int64) {
	if p.closed() && p.cfg.Window > 0 {
		p.freed.push(at)
	}
}

// renew waits for another link. What has no answer by then has failed with the
// old one. The wait is one for the connection, of everything that is due.
func (p *Producer) renew(ctx context.Context, old Link) Link {
	p.mu.Lock()
	cause := p.down
	began := p.cfg.Clock.Now()
	p.waits.begin(amqp.WaitConnection, began)
	p.refill.holding = false // from here on it is the connection
	if p.lost {
		p.failed(began)
	}
	p.mu.Unlock()
	link, err := p.cfg.Reconnect(ctx, old, cause)
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.cfg.Clock.Now()
	p.waits.end(now)
	p.outage.began, p.outage.ended = began, now
	if err != nil {
		p.stranded, p.lost = true, true
		if ctx.Err() == nil {
			p.down, p.cause = err, err.Error()
		}
		if p.cfg.OnDown != nil {
			p.cfg.OnDown(p.down)
		}
		return old
	}
	p.failed(now)
	slices.SortFunc(p.again, func(a, b message) int { return cmp.Compare(a.seq, b.seq) })
	p.down, p.cause, p.lost = nil, "", false
	p.conn++
	return link
}

// cutOff notes in snap what a slot of a closed loop that became free at an instant
// waited for the connection.
func (p *Producer) cutOff(at int64, snap *spent) {
	if wait := p.outage.ended - max(at, p.outage.began); wait > 0 {
		snap[amqp.WaitConnection] -= wait
	}
}

// failed ends the messages that the old link has left without an answer.
func (p *Producer) failed(now int64) {
	for r := range p.window.all() {
		row := p.rowOf(r)
		row.Outcome, row.Error = format.Failed, p.cause
		p.write()
		if p.resends(amqp.Failed) {
			p.sendAgain(r)
		} else {
			p.free(now)
		}
	}
	p.window.clear()
}
