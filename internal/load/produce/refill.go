package produce

import (
	"time"

	"amqpperf/internal/amqp"
)

// refill decides when a closed loop takes slots of a window that was full.
//
// A broker that answers messages one by one frees one slot at a time. Taken at
// once, each costs a wake, a write and a frame of its own, and perf-send then
// takes the processor that the broker would need. So slots wait for each other
// until a quarter of the window is free, or what goes into one write, and for no
// longer than holdFor. That wait is in the row as blocked, for the window. A paced
// run never does this: what is due goes at once.
type refill struct {
	limit    int         // free slots that are taken together
	holding  bool        // the window was full, and slots wait for each other
	released int64       // when they last ceased to
	timer    *time.Timer // nil: there was no wait yet
	armed    bool        // it will call
}

// holdFor bounds the wait of a free slot, against the round trip that makes a
// window worth having, which would be longer by it: with 100 messages in flight
// and 50 ms it is 2 %.
const holdFor = time.Millisecond

// leastRefill is the smallest number of messages that is worth a wait.
const leastRefill = 4

func newRefill(window, most int) refill {
	limit := min(window/4, most)
	if limit < leastRefill {
		limit = 1
	}
	return refill{limit: limit}
}

// hold reports whether free slots of the window are to wait for more. The lock
// is held.
func (p *Producer) hold() bool {
	f := &p.refill
	if !f.holding || len(p.again) > 0 {
		return false
	}
	wait := p.window.free() < f.limit && !p.finished && p.down == nil &&
		p.due() < p.cfg.Count-p.next && p.cfg.Clock.Now()-p.freed.first() < int64(holdFor)
	if !wait {
		f.holding = false
		f.released = p.cfg.Clock.Now()
		return false
	}
	if !f.armed {
		f.armed = true
		p.callBack(p.freed.first() + int64(holdFor))
	}
	return true
}

// stop ends the calls.
func (f *refill) stop() {
	if f.timer != nil {
		f.timer.Stop()
	}
}

// callBack has the slots looked at again at an instant. The lock is held.
func (p *Producer) callBack(at int64) {
	after := time.Duration(max(0, at-p.cfg.Clock.Now()))
	if p.refill.timer != nil {
		p.refill.timer.Reset(after)
		return
	}
	p.refill.timer = time.AfterFunc(after, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.refill.armed = false
		if p.due() > 0 && !p.hold() {
			p.notify()
		}
	})
}

// heldFor notes in snap what a slot that became free at an instant waited for
// the others.
func (p *Producer) heldFor(at int64, snap *spent) {
	if wait := p.refill.released - at; wait > 0 {
		snap[amqp.WaitWindow] -= wait
	}
}
