package perfrecv

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/link"
	"amqpperf/internal/load/consume"
)

// seat is where a consumer has its link: one after the other with --reconnect.
type seat struct {
	r *run
	k int // consumer

	mu   sync.Mutex
	link receiver
	n    int32 // which link, from 0
}

// get returns the present link and its number.
func (s *seat) get() (receiver, int32) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.link, s.n
}

// connection returns the index of its connection.
func (s *seat) connection() int { return s.k % s.r.connections }

// attach attaches link n of the consumer to a connection.
func (s *seat) attach(ctx context.Context, conn *link.Conn, n int32) (receiver, error) {
	cfg := s.r.receiverConfig(s.k)
	cfg.Hold = !s.r.begun.Load()
	if cfg.Tx > 0 {
		// Nothing is settled before there is a consumer.
		cfg.OnTx = s.ended
		cfg.OnSettled = func(first, last uint64, at int64, err error) {
			state := amqp.Accepted
			switch {
			case errors.Is(err, link.ErrRolledBack):
				state = amqp.Released
			case err != nil:
				state = amqp.Unsettled
			}
			s.r.list[s.k].Discharged(n, first, last, at, state)
		}
	}
	var err error
	if cfg.Session, err = s.r.sessions.Of(ctx, conn); err != nil {
		return nil, err
	}
	l, err := conn.NewReceiver(ctx, cfg)
	if err != nil {
		return nil, err
	}
	if cfg.Hold && s.r.begun.Load() {
		l.Start() // the delay ended meanwhile
	}
	return l, nil
}

// The quantities of sample/1 about transactions: how long one took to end, from the
// write of its discharge, a row each, at the instant of the broker's answer.
const (
	sampleCommit   = "tx.commit_ns"
	sampleRollback = "tx.rollback_ns"
)

// ended takes a transaction that has ended, from the connection's reader.
func (s *seat) ended(tx amqp.Tx) {
	if !s.r.list[s.k].Ended(tx) {
		return
	}
	what := sampleCommit
	if tx.Rolledback {
		what = sampleRollback
	}
	s.r.rec.Sample(tx.At, what, tx.At-tx.Discharged)
}

// consume consumes until the group stops or the link is gone for good.
func (s *seat) consume(c *consume.Consumer) {
	defer c.Close()
	r := s.r
	for {
		l, n := s.get()
		err := c.Run(l, n, l.Subscription())
		if err == nil {
			return
		}
		r.detach(s.k)
		over := r.group.Context().Err() != nil
		if !over && r.o.link.reconnect.Enabled() {
			if err = s.restore(err); err == nil {
				continue
			}
			over = r.group.Context().Err() != nil
			if over {
				return // the end came while it was away: what it had is in the log
			}
		}
		r.group.Gone(err)
		r.fail(err)
		return
	}
}

// restore attaches another link in place of the one that is gone because of cause.
func (s *seat) restore(cause error) error {
	r := s.r
	defer r.group.Away()()
	defer r.outage(cause)()
	old, n := s.get()
	ctx := r.group.Context()
	return r.lines.Restore(ctx, s.connection(), cause, func(ctx context.Context, conn *link.Conn) error {
		if old != nil {
			_ = old.Close(ctx) // it is gone; this ends its session if that is not
			r.sessions.Forget(conn)
			old = nil
		}
		l, err := s.attach(ctx, conn, n+1)
		if err != nil {
			return err
		}
		s.mu.Lock()
		s.link, s.n = l, n+1
		s.mu.Unlock()
		r.attach(s.k, l.Subscription())
		return nil
	})
}

// outage tells people of the first link that is lost, and when all are back.
func (r *run) outage(cause error) (back func()) {
	tell := func(change int, format string, args ...any) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.away += change
		if r.away == max(change, 0) && !r.o.live.Quiet {
			fmt.Fprintf(r.env.Stderr, format, args...)
		}
	}
	began := r.clock.Now()
	tell(1, "%s: lost: %v; connecting again\n", tool, cause)
	return func() {
		tell(-1, "%s: the outage is over after %v\n", tool, time.Duration(r.clock.Now()-began).Round(time.Millisecond))
	}
}

// attachment is the time of one link.
type attachment struct {
	k                  int
	subscription       string
	attached, detached int64 // detached is 0 as long as it lasts
}

// attach notes that a consumer is attached.
func (r *run) attach(k int, subscription string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.history = append(r.history, attachment{k: k, subscription: subscription, attached: r.clock.Now()})
}

// detach notes that the link of a consumer is gone.
func (r *run) detach(k int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for i := range r.history {
		if a := &r.history[i]; a.k == k && a.detached == 0 {
			a.detached = r.clock.Now()
		}
	}
}

// fail keeps the first failure of a link.
func (r *run) fail(err error) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.failure == nil {
		r.failure = err
	}
}

// subscriptions lists what is or was attached, for the log. Consumers that
// compete for a queue, or share a subscription, are one, which lasts from the first to
// the last of them; so does a durable one that was attached again.
func (r *run) subscriptions() []format.Subscription {
	r.mu.Lock()
	defer r.mu.Unlock()
	list := make([]format.Subscription, 0, len(r.history))
	known := map[[2]string]int{}
	for _, a := range r.history {
		s := format.Subscription{Destination: r.address(a.k), Attached: a.attached, Detached: a.detached}
		if a.subscription != "" {
			s.Name = &a.subscription
		}
		key := [2]string{s.Destination, a.subscription}
		i, ok := known[key]
		if !ok {
			known[key] = len(list)
			list = append(list, s)
			continue
		}
		was := &list[i]
		was.Attached = min(was.Attached, s.Attached)
		if s.Detached == 0 || was.Detached == 0 {
			was.Detached = 0
		} else {
			was.Detached = max(was.Detached, s.Detached)
		}
	}
	return list
}
