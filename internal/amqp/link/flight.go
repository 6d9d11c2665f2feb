package link

import (
	"context"
	"sync"
	"time"

	goamqp "github.com/Azure/go-amqp"

	"amqpperf/internal/amqp"
)

// flight keeps the messages that were sent and waits for what becomes of them.
//
// A goroutine waits for each message, since the library offers no other way to
// learn the instant of settlements that come out of order. The goroutines are
// kept and used again; there are as many as messages were in flight at once.
// What they find goes to the sink in batches: whoever finds the sink idle
// delivers, and the others leave their completions to him.
type flight struct {
	now  func() int64
	read func() int64 // when the socket was last read
	sink amqp.Sink
	jobs chan job
	down chan struct{} // closed when the sink hears no more
	ctx  context.Context
	stop context.CancelFunc

	mu         sync.Mutex
	idle       sync.Cond // count == 0 and nobody delivers
	count      int       // messages that are being sent or waited for
	ended      bool      // no more may begin
	delivering bool
	batch      []amqp.Completion
	spare      []amqp.Completion
	unsettled  func() (text string, failed bool) // set before stop is called
}

type job struct {
	id      uint64
	receipt *goamqp.SendReceipt
}

func newFlight(now, read func() int64, sink amqp.Sink, hint int) *flight {
	hint = min(max(hint, 16), 1<<16)
	f := &flight{now: now, read: read, sink: sink, jobs: make(chan job), down: make(chan struct{}),
		batch: make([]amqp.Completion, 0, hint), spare: make([]amqp.Completion, 0, hint)}
	f.idle.L = &f.mu
	f.ctx, f.stop = context.WithCancel(context.Background())
	return f
}

// begin makes room for one message; false: the link is gone.
func (f *flight) begin() bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.ended {
		return false
	}
	f.count++
	return true
}

// cancel takes a begin back: the message was not sent.
func (f *flight) cancel() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.leave()
}

// leave counts one message out; f.mu is held.
func (f *flight) leave() {
	f.count--
	if f.count == 0 {
		f.idle.Broadcast()
	}
}

func (f *flight) pending() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count
}

// track waits for the settlement of a message that was sent. Without a receipt
// the message was sent settled.
func (f *flight) track(id uint64, receipt *goamqp.SendReceipt) {
	if receipt == nil {
		f.complete(amqp.Completion{First: id, Last: id, State: amqp.Presettled, At: f.now()})
		return
	}
	j := job{id, receipt}
	select {
	case f.jobs <- j:
	default:
		go f.work(j)
	}
}

// work waits for one message after the other until the link is down.
func (f *flight) work(j job) {
	for {
		f.wait(j)
		select {
		case j = <-f.jobs:
		case <-f.down:
			return
		}
	}
}

// wait waits for one message.
func (f *flight) wait(j job) {
	state, err := j.receipt.Wait(f.ctx)
	at := f.read()
	// When the link goes down together with a settlement, the library's Wait
	// chooses between the two at random: ask until it would have shown up.
	for try := 0; err != nil && try < 32; try++ {
		state, err = j.receipt.Wait(f.ctx)
	}
	c := amqp.Completion{First: j.id, Last: j.id, At: at}
	if err == nil {
		c.State, c.Error = outcome(state)
		f.complete(c)
		return
	}
	c.At = f.now()
	text, failed := f.verdict(err)
	if !failed {
		f.cancel()
		return
	}
	c.State, c.Error = amqp.Failed, text
	f.complete(c)
}

// verdict waits until it is known why the link is gone, and says whether its
// messages failed or just remain unsettled because we closed it.
func (f *flight) verdict(err error) (string, bool) {
	f.mu.Lock()
	for f.unsettled == nil {
		f.idle.Wait()
	}
	why := f.unsettled
	f.mu.Unlock()
	text, failed := why()
	if failed && text == "" {
		text = err.Error()
	}
	return text, failed
}

// complete hands a completion to the sink and counts the message out.
func (f *flight) complete(c amqp.Completion) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.batch = append(f.batch, c)
	if f.delivering {
		f.leave()
		return
	}
	f.delivering = true
	for len(f.batch) > 0 {
		batch := f.batch
		f.batch, f.spare = f.spare[:0], nil
		f.mu.Unlock()
		f.sink.Completed(batch)
		f.mu.Lock()
		f.spare = batch
	}
	f.delivering = false
	f.leave()
	f.idle.Broadcast()
}

// finish lets nothing begin any more and waits until every message is counted
// out: for closeTimeout for the library, then it stops waiting for settlements.
// why says what becomes of messages without one.
func (f *flight) finish(why func() (text string, failed bool)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.ended = true
	f.unsettled = why
	f.idle.Broadcast()
	timer := time.AfterFunc(closeTimeout, f.stop)
	defer timer.Stop()
	for f.count > 0 || f.delivering {
		f.idle.Wait()
	}
}

// finished tells the sink that the link is down, unless we closed it: err is nil then.
func (f *flight) finished(err error) {
	f.stop()
	if err != nil {
		f.sink.Down(f.now(), err)
	}
	close(f.down)
}

// outcome translates a delivery state.
func outcome(s goamqp.DeliveryState) (amqp.State, string) {
	switch s := s.(type) {
	case *goamqp.StateAccepted:
		return amqp.Accepted, ""
	case *goamqp.StateRejected:
		if s.Error == nil {
			return amqp.Rejected, ""
		}
		e := Error{Condition: printable(string(s.Error.Condition)), Description: printable(s.Error.Description)}
		return amqp.Rejected, e.text()
	case *goamqp.StateReleased:
		return amqp.Released, ""
	case *goamqp.StateModified:
		return amqp.Modified, ""
	}
	return amqp.Failed, "settled without an outcome"
}
