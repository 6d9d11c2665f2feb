package perfrecv

import (
	"fmt"
	"strings"
	"time"

	"amqpperf/internal/load/live"
	"amqpperf/internal/units"
)

// totals gathers what the consumers count, for the live line and the SUMMARY.
type totals struct {
	r       *run
	sum     live.Recv // counters as of now; histograms of the whole run
	last    live.Recv // counters as of the last line
	at      int64     // when that was
	stopped int64
	mute    bool // --stats json found no reader
}

func newTotals(r *run) *totals { return &totals{r: r, at: r.start} }

// collect asks the consumers; the histograms of the answer are those since the
// last call, and are added to the sum.
func (t *totals) collect() *live.Recv {
	now := &live.Recv{}
	for _, c := range t.r.list {
		c.Collect(now)
	}
	t.sum.ResetCounters()
	t.sum.Add(now)
	return now
}

// tick prints a line every second of the run until the channel is closed.
func (t *totals) tick(done <-chan struct{}) {
	show := t.r.o.live.Live()
	for {
		// The next whole second of the run; a late line is not followed by others at once.
		now := t.r.clock.Now()
		second := max(0, now-t.r.start)/int64(time.Second) + 1
		timer := time.NewTimer(time.Duration(t.r.start + second*int64(time.Second) - now))
		select {
		case <-timer.C:
		case <-done:
			timer.Stop()
			t.collect()
			return
		}
		switch counted := t.collect(); {
		case t.r.o.stats.JSON():
			t.object(counted)
		case show:
			t.line(counted)
		}
	}
}

// unknown is printed where the sender's clock is not ours.
const unknown = "clock offset unknown"

// line prints what happened since the last line.
func (t *totals) line(now *live.Recv) {
	at := t.r.clock.Now()
	var b strings.Builder
	rate := float64(now.Received-t.last.Received) / (float64(at-t.at) / 1e9)
	fmt.Fprintf(&b, "%5s", time.Duration(at-t.r.start).Round(time.Second))
	if t.warm(t.at) {
		b.WriteString(" warm-up")
	}
	fmt.Fprintf(&b, "  received %s/s", units.Thousands(int64(rate+0.5)))
	if now.Waiting > 0 {
		fmt.Fprintf(&b, "  waiting %s", units.Thousands(now.Waiting))
	}
	if now.Unsettled > 0 {
		fmt.Fprintf(&b, "  unsettled %s", units.Thousands(now.Unsettled))
	}
	if n := now.OtherRun - t.last.OtherRun; n > 0 {
		fmt.Fprintf(&b, "  other runs %s", units.Thousands(n))
	}
	if now.Foreign > 0 {
		fmt.Fprintf(&b, "  foreign %s", units.Thousands(now.Foreign))
	}
	transfer, e2e := together(now)
	if transfer.N() == 0 && now.Unaligned > t.last.Unaligned {
		fmt.Fprintf(&b, "  transfer and e2e: %s\n", unknown)
	} else {
		fmt.Fprintf(&b, "  transfer %s  e2e %s\n", transfer.Short(), e2e.Short())
	}
	fmt.Fprint(t.r.env.Stderr, b.String())
	t.last, t.at = *now, at
}

// together returns the latencies of an interval, those of the warm-up too.
func together(now *live.Recv) (transfer, e2e live.Histogram) {
	transfer, e2e = now.Transfer, now.E2E
	transfer.Merge(&now.WarmupTransfer)
	e2e.Merge(&now.WarmupE2E)
	return transfer, e2e
}

// warm reports whether an instant is within the warm-up.
func (t *totals) warm(at int64) bool {
	if t.r.o.warmup <= 0 {
		return false
	}
	first, _ := t.r.group.Span()
	return first == 0 || at < first+int64(t.r.o.warmup)
}
