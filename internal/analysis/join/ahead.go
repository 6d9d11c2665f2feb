package join

import (
	"errors"
	"io"

	"amqpperf/format"
)

// ahead reads a log in a goroutine of its own, a batch ahead of whoever uses
// the rows, because decoding takes about as long as what is done with them.
type ahead[B format.Batch] struct {
	log   *format.Log
	most  int // rows of a batch
	full  chan read[B]
	empty chan B
	stop  chan struct{}
	done  chan struct{}
	last  B
	lent  bool
	err   error
}

type read[B format.Batch] struct {
	b   B
	err error
}

// readAhead starts reading batches of at most so many rows; their memory is reused.
func readAhead[B format.Batch](log *format.Log, most int, batches ...B) *ahead[B] {
	a := &ahead[B]{log: log, most: most, full: make(chan read[B], len(batches)), empty: make(chan B, len(batches)),
		stop: make(chan struct{}), done: make(chan struct{})}
	for _, b := range batches {
		a.empty <- b
	}
	go a.run()
	return a
}

func (a *ahead[B]) run() {
	defer close(a.done)
	for {
		select {
		case b := <-a.empty:
			err := a.log.ReadRows(b, a.most)
			a.full <- read[B]{b, err} // there is room for all batches
			if err != nil {
				return
			}
		case <-a.stop:
			return
		}
	}
}

// next returns the next batch, io.EOF after the last. It is valid until the
// next call.
func (a *ahead[B]) next() (b B, err error) {
	if a.err != nil {
		return b, a.err
	}
	if a.lent {
		a.lent = false
		a.empty <- a.last
	}
	r := <-a.full
	if r.err != nil {
		a.err = r.err
		if !errors.Is(r.err, io.EOF) {
			return b, r.err
		}
		return b, io.EOF
	}
	a.last, a.lent = r.b, true
	return r.b, nil
}

// close ends the goroutine; the log stays open.
func (a *ahead[B]) close() {
	close(a.stop)
	<-a.done
}
