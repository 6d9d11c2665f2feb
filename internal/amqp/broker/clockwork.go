package broker

import (
	"container/heap"
	"time"
)

// clockwork runs nodes at their instants: one goroutine and one alarm for the
// whole broker.
type clockwork struct {
	alarm alarm
	nodes nodeHeap
	armed int64 // what the alarm is set to; 0: nothing
}

// nodeHeap orders nodes by the instant at which they want to run.
type nodeHeap []*node

func (h nodeHeap) Len() int           { return len(h) }
func (h nodeHeap) Less(i, j int) bool { return h[i].at < h[j].at }
func (h nodeHeap) Swap(i, j int) {
	h[i], h[j] = h[j], h[i]
	h[i].heap, h[j].heap = i, j
}

func (h *nodeHeap) Push(x any) {
	n, _ := x.(*node)
	n.heap = len(*h)
	*h = append(*h, n)
}

func (h *nodeHeap) Pop() any {
	old := *h
	n := old[len(old)-1]
	old[len(old)-1] = nil
	*h = old[:len(old)-1]
	return n
}

// schedule has the node run at an instant, or earlier if it was to already.
func (n *node) schedule(at int64) {
	switch {
	case n.at == 0:
		n.at = at
		heap.Push(&n.b.work.nodes, n)
	case at < n.at:
		n.at = at
		heap.Fix(&n.b.work.nodes, n.heap)
	}
}

// arm sets the alarm for the first node; it is called with the lock held, when all
// that is to be scheduled has been.
func (b *Broker) arm() {
	if len(b.work.nodes) == 0 || b.closed {
		return
	}
	if b.work.alarm == nil {
		b.work.alarm = newAlarm(b.cfg.CoarseTimers)
		b.wg.Go(b.tick)
	}
	if at := b.work.nodes[0].at; b.work.armed == 0 || at < b.work.armed {
		b.work.armed = at
		b.work.alarm.set(time.Duration(at - b.cfg.Now()))
	}
}

// tick is the clockwork's goroutine.
func (b *Broker) tick() {
	for b.work.alarm.wait() {
		b.mu.Lock()
		b.work.armed = 0
		now := b.cfg.Now()
		for len(b.work.nodes) > 0 && b.work.nodes[0].at <= now && !b.closed {
			n, _ := heap.Pop(&b.work.nodes).(*node)
			n.at = 0
			n.run(now)
		}
		b.unlock(now)
	}
}
