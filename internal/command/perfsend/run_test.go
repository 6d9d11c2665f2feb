package perfsend

import (
	"errors"
	"testing"

	"amqpperf/timestamp"
)

// The links of a run may be gone before it has begun: it ends as soon as it does.
func TestEndBeforeBegin(t *testing.T) {
	t.Parallel()
	r := &run{o: newOptions(), layout: &layout{}, clock: timestamp.NewClock()}
	r.o.drain = 0
	gone := errors.New("gone")
	r.end(stopError, gone)
	drained := make(chan struct{})
	r.drained = func() { close(drained) }
	r.begin()
	<-drained
	if r.stop != stopError || !errors.Is(r.failure, gone) || !r.early {
		t.Errorf("stopped by %s, %v", r.stop, r.failure)
	}
}
