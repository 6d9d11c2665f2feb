package perfmerge

import (
	"errors"
	"io"

	"amqpperf/format"
	"amqpperf/internal/analysis/join"
)

// pump passes all merged rows on. They are written in a goroutine of its own:
// joining and encoding take about as long.
func pump(j *join.Joiner, write func(*format.Merged) error) error {
	const batches = 2
	full, empty := make(chan *format.Merged, batches), make(chan *format.Merged, batches)
	for range batches {
		empty <- &format.Merged{}
	}
	failed := make(chan error, 1)
	done := make(chan struct{})
	go func() {
		defer close(done)
		for b := range full {
			if err := write(b); err != nil {
				failed <- err
				return
			}
			empty <- b
		}
	}()
	err := feed(j, full, empty, failed)
	close(full)
	<-done
	select {
	case werr := <-failed:
		return errors.Join(err, werr)
	default:
		return err
	}
}

// feed joins until the end, or until writing fails.
func feed(j *join.Joiner, full chan<- *format.Merged, empty <-chan *format.Merged, failed chan error) error {
	for {
		var b *format.Merged
		select {
		case b = <-empty:
		case err := <-failed:
			failed <- err // for the caller
			return nil
		}
		err := j.Next(b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		full <- b // there is room for all batches
	}
}
