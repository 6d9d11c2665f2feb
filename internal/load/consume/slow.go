package consume

import (
	"context"
	"sync"

	"amqpperf/internal/amqp"
)

// waiting are deliveries that were received and not begun with, in the order of
// receipt. Only their rows are kept, some 200 bytes each, not their bodies: a consumer that
// is slower than what arrives needs credit × that, however large the messages are.
type waiting struct {
	list []delivery
	head int   // those before it were begun with
	end  error // why nothing follows, nil as long as something may
}

func (w *waiting) len() int { return len(w.list) - w.head }

func (w *waiting) rest() []delivery { return w.list[w.head:] }

func (w *waiting) add(d *delivery) {
	if w.head > 0 && len(w.list) == cap(w.list) {
		n := copy(w.list, w.list[w.head:])
		clear(w.list[n:])
		w.list, w.head = w.list[:n], 0
	}
	w.list = append(w.list, *d)
}

func (w *waiting) take(d *delivery) {
	*d = w.list[w.head]
	w.list[w.head] = delivery{}
	if w.head++; w.head == len(w.list) {
		w.list, w.head = w.list[:0], 0
	}
}

// receiveSlowly is receive for a consumer with a Tempo: what arrives is taken from the
// link at once, so that the log knows of it while it waits, and is begun with when it is
// its turn.
func (c *Consumer) receiveSlowly(link Link) error {
	group := c.cfg.Group.Context()
	stop := context.AfterFunc(group, c.tempo.toBegin.Interrupt)
	defer stop()
	ctx, cancel := context.WithCancel(group)
	defer cancel()
	var fetching sync.WaitGroup
	fetching.Go(func() { c.fetch(ctx, link) })
	err := c.serve(link)
	cancel()
	fetching.Wait()
	if err == nil {
		err = c.dispatchWaiting(link)
	}
	return err
}

// fetch takes deliveries from the link until ctx ends or the link does.
func (c *Consumer) fetch(ctx context.Context, link Link) {
	dst := make([]amqp.Delivery, min(batchSize, c.cfg.Credit))
	for {
		n, err := 0, c.awaitRoom(ctx)
		if err == nil {
			n, err = link.Receive(ctx, dst)
		}
		for i := range n {
			var next delivery
			c.arrive(&next, &dst[i])
			c.mu.Lock()
			c.waiting.add(&next)
			c.mu.Unlock()
		}
		if err != nil {
			c.mu.Lock()
			c.waiting.end = err
			c.mu.Unlock()
		}
		signal(c.came)
		if err != nil {
			return
		}
	}
}

// awaitRoom waits until fewer deliveries wait than there is credit. What the broker has
// not settled takes credit until it is answered; of what it has, nothing else is a limit.
func (c *Consumer) awaitRoom(ctx context.Context) error {
	for c.Waiting() >= c.cfg.Credit {
		select {
		case <-c.room:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	return nil
}

// serve begins with what waits, one after the other, until the Group stops or the link
// is gone.
func (c *Consumer) serve(link Link) error {
	var next delivery
	ctx := c.cfg.Group.Context()
	for ctx.Err() == nil {
		found, err := c.next(&next)
		switch {
		case err != nil && isContext(err) && ctx.Err() != nil:
			return nil
		case err != nil:
			return err
		case !found:
			select {
			case <-c.came:
			case <-ctx.Done():
			}
			continue
		}
		signal(c.room)
		if next.foreign == nil && next.mine {
			err = c.work(link, &next)
		} else {
			err = c.dispatch(link, &next, true)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// next takes what has waited longest. When the link is gone only what the broker
// had settled is still of use: an answer to the rest would reach nobody.
func (c *Consumer) next(d *delivery) (found bool, err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.waiting.len() == 0 {
		return false, c.waiting.end
	}
	if c.waiting.end != nil && !c.waiting.list[c.waiting.head].settled() {
		return false, c.waiting.end
	}
	c.waiting.take(d)
	return true, nil
}

// dispatchWaiting gives up what waits when the run is over.
func (c *Consumer) dispatchWaiting(link Link) error {
	c.mu.Lock()
	rest := c.waiting.rest()
	c.waiting = waiting{}
	c.mu.Unlock()
	for i := range rest {
		if err := c.dispatch(link, &rest[i], false); err != nil {
			return err
		}
	}
	return nil
}

// work works on a delivery when it is its turn.
func (c *Consumer) work(link Link, next *delivery) error {
	g := c.cfg.Group
	g.busy.Add(1) // whoever waits for a turn or works is not idle
	defer g.rest()
	if err := c.tempo.begin(next.row.Received); err != nil {
		return err
	}
	begun, full := c.take(next, g.Context().Err() == nil)
	if !begun {
		return nil
	}
	if err := c.tempo.finish(); err != nil || !full {
		return err
	}
	return c.settle(link)
}

// signal leaves a token, unless there is one.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
