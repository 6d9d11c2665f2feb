package reduce

import (
	"errors"
	"io"
	"sync"
	"sync/atomic"

	"amqpperf/format"
)

// stage is one part of a pass. It sees every batch, in order, in a goroutine of
// its own, and has what it counts in to itself: what the stages of a pass find
// does not depend on how they are scheduled.
type stage func(*view)

// rowsInFlight is how many rows are in memory, some 180 bytes each, unless two
// batches have more.
const rowsInFlight = 1 << 16

// mostBatches is in how many batches these may be.
const mostBatches = 8

// shared is a batch that several stages look at.
type shared struct {
	view view
	rows format.Merged
	left atomic.Int32 // stages that have not seen it yet
}

// pipeline hands batches to stages.
type pipeline struct {
	free   chan *shared
	known  bool // the size of batches
	inputs []chan *shared
	done   sync.WaitGroup
}

func newPipeline(stages []stage) *pipeline {
	p := &pipeline{free: make(chan *shared, mostBatches)}
	for range 2 {
		p.free <- &shared{}
	}
	for _, s := range stages {
		in := make(chan *shared, mostBatches)
		p.inputs = append(p.inputs, in)
		p.done.Go(func() {
			for b := range in {
				s(&b.view)
				if b.left.Add(-1) == 0 {
					p.free <- b
				}
			}
		})
	}
	return p
}

// send hands a batch to all stages. As long as batches are of the size of the
// first one, so many are under way that no stage waits for the others.
func (p *pipeline) send(b *shared) {
	if !p.known {
		p.known = true
		for range min(mostBatches, rowsInFlight/b.rows.Len()) - 2 {
			p.free <- &shared{}
		}
	}
	b.left.Store(int32(len(p.inputs)))
	for _, in := range p.inputs {
		in <- b
	}
}

// finish waits until the stages have seen everything.
func (p *pipeline) finish() {
	for _, in := range p.inputs {
		close(in)
	}
	p.done.Wait()
}

// pass reads all rows once, and shows them to the stages.
func (r *reducer) pass(stages ...stage) error {
	p := newPipeline(stages)
	defer p.finish()
	for {
		b := <-p.free
		err := r.rows.Next(&b.rows)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		if b.rows.Len() == 0 {
			p.free <- b
			continue
		}
		if err := r.look(&b.view, &b.rows); err != nil {
			return err
		}
		p.send(b)
	}
}
