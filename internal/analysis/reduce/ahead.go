package reduce

import (
	"errors"
	"io"

	"amqpperf/format"
)

// ahead reads batches one step ahead of their use, in a goroutine of its own:
// decoding and adding up share two cores.
type ahead struct {
	full chan batch
	free chan *format.Merged
	quit chan struct{}
	done chan struct{}
}

// batch is what one call of Next returned.
type batch struct {
	rows *format.Merged
	err  error
}

// batchesAhead is how many batches are in memory.
const batchesAhead = 2

func readAhead(rows Rows) *ahead {
	a := &ahead{
		full: make(chan batch, batchesAhead), free: make(chan *format.Merged, batchesAhead),
		quit: make(chan struct{}), done: make(chan struct{}),
	}
	for range batchesAhead {
		a.free <- &format.Merged{}
	}
	go a.read(rows)
	return a
}

func (a *ahead) read(rows Rows) {
	defer close(a.done)
	for {
		var b *format.Merged
		select {
		case b = <-a.free:
		case <-a.quit:
			return
		}
		err := rows.Next(b)
		a.full <- batch{b, err} // there is room for all of them
		if err != nil {
			return
		}
	}
}

// stop ends the reading and waits for it; the rows may be used again then.
func (a *ahead) stop() {
	close(a.quit)
	<-a.done
}

// eachBatch calls use for all batches. A batch is used for something else after
// use has returned.
func eachBatch(rows Rows, use func(*format.Merged) error) error {
	a := readAhead(rows)
	defer a.stop()
	for {
		next := <-a.full
		if errors.Is(next.err, io.EOF) {
			return nil
		}
		if next.err != nil {
			return next.err
		}
		if err := use(next.rows); err != nil {
			return err
		}
		a.free <- next.rows
	}
}
