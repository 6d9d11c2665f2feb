package produce

import (
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/pace"
)

// due is a run of the pacer in the producer's own numbers, with what the
// producer had waited for until then.
type due struct {
	pace.Run
	snap spent
	// open says that a Submit was going on, whose wait is not known before it
	// ends; elapsed is how long it had been going on.
	open    bool
	elapsed int64
}

// backlog is a queue of runs: what is due and not registered yet.
type backlog struct {
	runs  []due
	head  int
	count int64 // messages
}

func (b *backlog) push(d due) {
	if b.head > 0 && len(b.runs) == cap(b.runs) {
		// Move down instead of growing for ever.
		n := copy(b.runs, b.runs[b.head:])
		b.runs, b.head = b.runs[:n], 0
	}
	b.runs = append(b.runs, d)
	b.count += d.Count
}

func (b *backlog) first() *due { return &b.runs[b.head] }

// pop takes the first message.
func (b *backlog) pop() {
	d := b.first()
	d.First++
	d.Count--
	b.count--
	if d.Count == 0 {
		b.head++
	}
	if b.head == len(b.runs) {
		b.runs, b.head = b.runs[:0], 0
	}
}

// instants is a queue of instants.
type instants struct {
	at   []int64
	head int
}

func (q *instants) push(at int64) {
	if q.head > 0 && len(q.at) == cap(q.at) {
		n := copy(q.at, q.at[q.head:])
		q.at, q.head = q.at[:n], 0
	}
	q.at = append(q.at, at)
}

// first returns the oldest; there must be one.
func (q *instants) first() int64 { return q.at[q.head] }

func (q *instants) pop() int64 {
	at := q.at[q.head]
	if q.head++; q.head == len(q.at) {
		q.at, q.head = q.at[:0], 0
	}
	return at
}

// before returns how many instants at the head are before end.
func (q *instants) before(end int64) int {
	pending := q.at[q.head:]
	if len(pending) == 0 || pending[len(pending)-1] < end {
		return len(pending)
	}
	for i, at := range pending {
		if at >= end {
			return i
		}
	}
	return len(pending)
}

// Offer takes a run of the pacer, in the producer's own numbers (see Split). It
// never waits for anything but the producer's own short lock.
func (p *Producer) Offer(run pace.Run) {
	p.mu.Lock()
	defer p.mu.Unlock()
	d := due{Run: run}
	d.snap, d.open, d.elapsed = p.waits.at(run.Ready)
	p.backlog.push(d)
	switch {
	case p.down != nil || p.window.free() > 0:
		p.notify()
	case p.waiting && p.waits.since == 0:
		// There is no use in waking it, but the wait begins here.
		p.waits.begin(amqp.WaitWindow, run.Ready)
	}
}

// Split hands a run of the whole schedule to the producers it belongs to:
// message i is message i/by of producer i mod by.
func Split(run pace.Run, by int64, offer func(producer int64, run pace.Run)) {
	touched := min(run.Count, by)
	for i := run.First; i < run.First+touched; i++ {
		offer(i%by, pace.Run{First: i / by, Count: (run.First+run.Count-1-i)/by + 1, Ready: run.Ready})
	}
}
