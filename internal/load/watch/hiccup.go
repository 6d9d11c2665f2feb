package watch

import (
	"slices"
	"sync"
	"time"

	"amqpperf/timestamp"
)

// maxTicks is how many overshoots of one interval are kept. A process that was
// stopped for minutes missed more; the first ticks of a gap are the latest
// ones, so that what is left out is less late than what is kept.
const maxTicks = 1 << 16

// hiccups measures how late a goroutine is that has nothing to do but to wake
// every millisecond, which is what befalls every other goroutine at that time:
// a processor that another process or guest had, a collector's pause, a
// throttled cgroup, a stopped process.
//
// Subtleness ahead: the ticks are instants of a fixed grid, not "a millisecond
// after the last wake". When the goroutine sleeps through 80 ticks, each of
// them is counted with its own lateness (80 ms, 79 ms …), because work that was
// due at those instants was as late. And the timer must be finer than what is
// measured: time.Sleep is 0.6–1.1 ms late on an idle Linux host, since the
// runtime polls in whole milliseconds; a periodic timerfd in that poller
// is 25–100 µs late. What remains shows as tool.hiccup_p50_ns.
//
// It is not free. On a busy virtual machine of two processors, where a wake is
// dear, 1000 ticks a second took 3 to 6 % of a core (BenchmarkHiccups); a bare
// thread that blocks in read on the same timerfd took 4 %, so that this is the
// kernel's and the hypervisor's price of waking so often. All other sampling
// takes 0.02 % with 16 connections (BenchmarkSample). So the default is 10 ms,
// a tenth of that: what lasts longer is still seen always, what lasts d ms in d
// of 10 cases. 1 ms is for machines with cores to spare.
type hiccups struct {
	clock *timestamp.Clock
	every int64

	mu   sync.Mutex
	next int64 // the tick that is waited for, ns since the Unix epoch
	over []int64
	back []int64 // the other buffer; the sampler's
}

func newHiccups(clock *timestamp.Clock, every time.Duration) *hiccups {
	return &hiccups{clock: clock, every: int64(every)}
}

// start begins to tick. stop ends that; wg is done when the goroutine is.
func (h *hiccups) start(wg *sync.WaitGroup) (stop func(), err error) {
	h.next = h.clock.Now() + h.every
	t, err := newTicker(h.clock, h.next, h.every)
	if err != nil {
		return nil, err
	}
	wg.Go(func() { t.run(func() { h.tick(h.clock.Now()) }) })
	return t.stop, nil
}

// tick takes all ticks that were due until now.
func (h *hiccups) tick(now int64) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.next <= now && len(h.over) < maxTicks {
		h.over = append(h.over, now-h.next)
		h.next += h.every
	}
	if h.next <= now {
		h.next += (now - h.next + h.every) / h.every * h.every
	}
}

func (h *hiccups) sample(s *sampler) {
	h.mu.Lock()
	over := h.over
	h.over, h.back = h.back[:0], nil
	h.mu.Unlock()
	if n := len(over); n > 0 {
		slices.Sort(over)
		s.put("tool.hiccup_p50_ns", nearestRank(over, 500))
		s.put("tool.hiccup_p999_ns", nearestRank(over, 999))
		s.put("tool.hiccup_max_ns", over[n-1])
	}
	h.back = over
}

// nearestRank returns the smallest value with at least perMille of 1000 of the
// sorted values at or below it.
func nearestRank(sorted []int64, perMille int) int64 {
	const all = 1000
	return sorted[max(1, (len(sorted)*perMille+all-1)/all)-1]
}
