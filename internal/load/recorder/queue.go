package recorder

import (
	"sync"

	"amqpperf/format"
)

// blockRows is the number of rows of a block: what one lane holds back at most
// between ticks, and how often it meets the queue's lock. A block begins with room
// for firstRows and grows on demand: a thousand lanes with ten rows a second each
// would touch 30 MiB in the first moments of a run otherwise, while it is measured.
const (
	blockRows = 256
	firstRows = 8
)

// block is a piece of one lane.
type block[R Row] struct{ rows []R }

// item is what the writer takes from the queue, exactly one of its fields set.
type item[R Row] struct {
	block       *block[R]
	provisional *block[R]
	table       format.Batch
	meta        format.Meta
	flush       bool
	stop        bool
}

// queue carries blocks from the lanes to the writer and back. The number of
// blocks is bounded, so that the memory is: a lane that needs one when all are
// under way waits, and giving one to the writer never blocks. (The other way
// round, waiting while giving, a lane would hold its lock while it waits.)
type queue[R Row] struct {
	mu      sync.Mutex
	some    sync.Cond // items is not empty
	back    sync.Cond // free is not empty, or closed
	items   []item[R]
	spare   []item[R] // the slice that the writer has emptied
	free    []*block[R]
	made    int
	limit   int
	closed  bool
	now     func() int64
	waited  int64 // ns that lanes waited for a block
	waits   int64
	dropped int64 // rows appended after the end
}

func newQueue[R Row](blocks int, now func() int64) *queue[R] {
	q := &queue[R]{limit: blocks, now: now}
	q.some.L, q.back.L = &q.mu, &q.mu
	return q
}

// grow adds room for one more lane.
func (q *queue[R]) grow() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.limit++
	q.back.Signal()
}

// take returns an empty block, nil once the queue is closed.
func (q *queue[R]) take() *block[R] {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.free) == 0 && q.made >= q.limit && !q.closed {
		from := q.now()
		for len(q.free) == 0 && q.made >= q.limit && !q.closed {
			q.back.Wait()
		}
		q.waited += q.now() - from
		q.waits++
	}
	if q.closed {
		return nil
	}
	if n := len(q.free); n > 0 {
		b := q.free[n-1]
		q.free = q.free[:n-1]
		return b
	}
	q.made++
	return &block[R]{rows: make([]R, 0, firstRows)}
}

// give hands an item to the writer.
func (q *queue[R]) give(it item[R]) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items = append(q.items, it)
	q.some.Signal()
}

// next returns all items that wait, at least one. They are valid until the
// next call.
func (q *queue[R]) next() []item[R] {
	q.mu.Lock()
	defer q.mu.Unlock()
	for len(q.items) == 0 {
		q.some.Wait()
	}
	items := q.items
	clear(q.spare)
	q.items, q.spare = q.spare[:0], items
	return items
}

// recycle gives a block back.
func (q *queue[R]) recycle(b *block[R]) {
	clear(b.rows) // its strings may go
	b.rows = b.rows[:0]
	q.mu.Lock()
	defer q.mu.Unlock()
	q.free = append(q.free, b)
	q.back.Signal()
}

// close lets everybody go who waits for a block.
func (q *queue[R]) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.back.Broadcast()
}

// release lets go of everything, after the end.
func (q *queue[R]) release() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.items, q.spare, q.free = nil, nil, nil
}

func (q *queue[R]) drop() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.dropped++
}

// blocked returns how long, in ns, and how often lanes waited until now.
func (q *queue[R]) blocked() (ns, times int64) {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waited, q.waits
}

// lost returns the number of rows appended after the end.
func (q *queue[R]) lost() int64 {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.dropped
}
