package produce

import (
	"context"
	"time"
)

// watchLast gives up the last messages of a closed loop by Count when for a whole
// drain none of them left and none was answered: their link may have no credit and
// never get any. As long as there is progress they may take their time. It watches
// until ctx ends, which giveUp brings about.
func (p *Producer) watchLast(ctx context.Context, giveUp func()) {
	if p.watched {
		return // after a reconnect
	}
	p.watched = true
	seen := p.progress()
	go func() {
		tick := time.NewTicker(p.cfg.Drain)
		defer tick.Stop()
		for {
			select {
			case <-tick.C:
			case <-ctx.Done():
				return
			}
			now := p.progress()
			if now == seen {
				giveUp()
				return
			}
			seen = now
		}
	}()
}

// progress grows with every message that leaves or is answered.
func (p *Producer) progress() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.stats.Sent + p.stats.Completed
}
