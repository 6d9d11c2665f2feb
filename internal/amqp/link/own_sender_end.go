package link

import (
	"context"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// event implements attachment.
func (s *ownSender) event(e *endpoint.Event, at int64) {
	switch e.Kind {
	case endpoint.LinkAttached:
		s.attached = true
		s.poke()
	case endpoint.LinkFlow:
		if e.Drain && !s.submitting {
			s.ep.Drained()
		}
		s.poke()
	case endpoint.Settled:
		if s.tx != nil {
			s.tx.settled(e, at)
			return
		}
		state, text := ownOutcome(&e.State)
		s.complete(e, amqp.Completion{State: state, At: at, Error: text})
	case endpoint.Abandoned:
		if s.tx != nil {
			return // they are among those of its transactions
		}
		if s.closing || s.p.conn.closing.Load() && !s.p.conn.cutByUs.Load() {
			s.settled(int(e.Last - e.First + 1)) // without an answer
			return
		}
		s.complete(e, amqp.Completion{State: amqp.Failed, At: at})
	case endpoint.LinkDetached:
		if s.over { // without its coordinator it was of no use
			return
		}
		s.detached(e)
		if s.tx != nil {
			s.tx.over(at, s.because("send") == nil)
		}
		s.fell = true
		s.settled(0)
		s.soon()
	}
}

// complete queues a completion for the deliveries of an event.
func (s *ownSender) complete(e *endpoint.Event, c amqp.Completion) {
	s.ids.each(e.First, e.Last, func(first, last uint64) {
		c.First, c.Last = first, last
		s.batch = append(s.batch, c)
	})
	s.settled(int(e.Last - e.First + 1))
	s.soon()
}

// settled counts messages out.
func (s *ownSender) settled(n int) {
	s.inFlight -= n
	if s.inFlight > 0 && !s.over {
		return
	}
	select {
	case s.idle <- struct{}{}:
	default: // a token is there
	}
}

func (s *ownSender) soon() {
	if !s.queued {
		s.queued = true
		s.p.tellLater(s)
	}
}

// tell implements attachment.
func (s *ownSender) tell() {
	s.queued = false
	s.sinkMu.Lock()
	defer s.sinkMu.Unlock()
	var e *Error
	if s.fell {
		e = s.fall()
	}
	if s.tx != nil { // before the completions: who has all of those may take no more
		s.tx.tell(s.isDown.Load())
	}
	if len(s.batch) > 0 && !s.isDown.Load() {
		s.cfg.Sink.Completed(s.batch)
	}
	clear(s.batch)
	s.batch = s.batch[:0]
	if s.fell && !s.isDown.Swap(true) {
		s.report(e)
		if e != nil {
			s.cfg.Sink.Down(s.p.conn.cfg.Now(), e)
		}
		close(s.down)
	}
}

// fall says why in the completions of messages that failed with the link.
func (s *ownSender) fall() *Error {
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	e := s.because("send")
	if e == nil {
		return nil
	}
	for _, c := range s.paid { // whether they were written is not known
		c.State, c.At = amqp.Failed, s.p.conn.cfg.Now()
		s.batch = append(s.batch, c)
	}
	s.paid = nil
	for i := range s.batch {
		if c := &s.batch[i]; c.State == amqp.Failed && c.Error == "" {
			c.Error = e.text()
		}
	}
	return e
}

// payPresettled completes the presettled messages that were written.
func (s *ownSender) payPresettled(at int64) {
	s.sinkMu.Lock()
	defer s.sinkMu.Unlock()
	s.p.mu.Lock()
	paid := s.paid
	for i := range paid {
		paid[i].At = at
		s.settled(int(paid[i].Last - paid[i].First + 1))
	}
	s.p.mu.Unlock()
	if len(paid) > 0 && !s.isDown.Load() {
		s.cfg.Sink.Completed(paid)
	}
	s.p.mu.Lock()
	s.paid = paid[:0]
	s.p.mu.Unlock()
}

// ownOutcome translates a delivery state.
func ownOutcome(s *wire.State) (amqp.State, string) {
	switch s.Kind {
	case wire.CodeAccepted:
		return amqp.Accepted, ""
	case wire.CodeReleased:
		return amqp.Released, ""
	case wire.CodeModified:
		return amqp.Modified, ""
	case wire.CodeRejected:
		if s.Error == nil {
			return amqp.Rejected, ""
		}
		e := Error{Condition: printable(string(s.Error.Condition)), Description: printable(s.Error.Description)}
		return amqp.Rejected, e.text()
	}
	return amqp.Failed, "settled without an outcome"
}

// Close implements sending. It waits for what is in flight first: RabbitMQ sends
// no disposition after a detach.
func (s *ownSender) Close(ctx context.Context) error {
	s.once.Do(func() {
		ctx, cancel := s.p.conn.closeDeadline(ctx)
		defer cancel()
		_ = s.Flush(ctx) // what is in flight then has no completion
		s.calm(ctx)
		if s.tx != nil {
			s.tx.c.close(ctx)
		}
		s.p.mu.Lock()
		s.closing = !s.over
		s.poke() // a Submit that waits
		s.p.mu.Unlock()
		answer, stop := s.p.conn.closeDeadline(context.WithoutCancel(ctx))
		defer stop()
		s.shut(answer)
		s.mute()
	})
	<-s.down
	s.p.mu.Lock()
	defer s.p.mu.Unlock()
	if e := s.because("close"); e != nil {
		return e
	}
	return nil
}

// calm waits until nothing is in flight, the link is gone or ctx is done.
func (s *ownSender) calm(ctx context.Context) {
	for {
		s.p.mu.Lock()
		done := s.inFlight <= 0 || s.over
		s.p.mu.Unlock()
		if done {
			return
		}
		select {
		case <-s.idle:
		case <-ctx.Done():
			return
		}
	}
}

// mute ends the calls to the sink, if the peer's answer has not done that.
func (s *ownSender) mute() {
	s.p.mu.Lock()
	over := s.over
	s.p.mu.Unlock()
	if over {
		<-s.down // the reader is about to
		return
	}
	s.sinkMu.Lock()
	defer s.sinkMu.Unlock()
	if !s.isDown.Swap(true) {
		s.report(nil)
		close(s.down)
	}
}
