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
		if counted := t.collect(); show {
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
	fmt.Fprintf(&b, "%5s  received %s/s", time.Duration(at-t.r.start).Round(time.Second), units.Thousands(int64(rate+0.5)))
	if n := now.OtherRun - t.last.OtherRun; n > 0 {
		fmt.Fprintf(&b, "  other runs %s", units.Thousands(n))
	}
	if now.Foreign > 0 {
		fmt.Fprintf(&b, "  foreign %s", units.Thousands(now.Foreign))
	}
	transfer, e2e := now.Transfer, now.E2E
	transfer.Merge(&now.WarmupTransfer)
	e2e.Merge(&now.WarmupE2E)
	if transfer.N() == 0 && now.Unaligned > t.last.Unaligned {
		fmt.Fprintf(&b, "  transfer and e2e: %s\n", unknown)
	} else {
		fmt.Fprintf(&b, "  transfer %s  e2e %s\n", transfer.Short(), e2e.Short())
	}
	fmt.Fprint(t.r.env.Stderr, b.String())
	t.last, t.at = *now, at
}

// summary prints the totals of the whole run, and percentiles without the warm-up.
func (t *totals) summary(reason string, whole bool) {
	r, s := t.r, &t.sum
	var b strings.Builder
	took := time.Duration(max(1, t.stopped-r.start))
	fmt.Fprintf(&b, "--- SUMMARY %s: %s, stopped by %s after %s\n", tool, strings.Join(r.addresses, " "), reason, units.Seconds(took))
	fmt.Fprintf(&b, "  received   %12s", units.Thousands(s.Received))
	if first, last := r.group.Span(); s.Received > 1 && last > first {
		fmt.Fprintf(&b, "  %s/s from the first to the last", units.Thousands(int64(float64(s.Received-1)/(float64(last-first)/1e9)+0.5)))
	}
	b.WriteString("\n")
	for _, c := range []struct {
		name  string
		n     int64
		about string
	}{
		{"other runs", s.OtherRun, "settled, logged, not counted"}, {"foreign", s.Foreign, "without a stamp of perf-send"},
		{"redelivered", s.Redelivery, "had been delivered before"},
		{"rejected", s.Rejected, "by --outcome"}, {"modified", s.Modified, "by --outcome"}, {"returned", s.Returned, "released by --outcome"}, {"released", s.Released, "came after the end and were given back"},
	} {
		if c.n > 0 {
			fmt.Fprintf(&b, "  %-11s %11s  %s\n", c.name, units.Thousands(c.n), c.about)
		}
	}
	if r.o.warmup > 0 {
		fmt.Fprintf(&b, "  without the first %s:\n", r.o.warmup)
	}
	if s.Transfer.N() == 0 && s.Unaligned > 0 {
		fmt.Fprintf(&b, "  transfer, e2e: %s\n", unknown)
	} else {
		fmt.Fprintf(&b, "  transfer   %s  (sent to received)\n", s.Transfer.Long())
		fmt.Fprintf(&b, "  e2e        %s  (intended to received)\n", s.E2E.Long())
	}
	if s.Queued.N() > 0 {
		fmt.Fprintf(&b, "  queued     %s  (received to started)\n", s.Queued.Long())
	}
	if s.Work.N() > 0 {
		fmt.Fprintf(&b, "  work       %s  (started to settled)\n", s.Work.Long())
	}
	if s.Commit.N() > 0 {
		fmt.Fprintf(&b, "  commit     %s  (%s transactions, %s rolled back)\n", s.Commit.Long(), units.Thousands(s.Committed+s.RolledBack), units.Thousands(s.RolledBack))
	}
	if size := r.target.Size(); whole && size >= 0 {
		fmt.Fprintf(&b, "  log: %s, %s rows\n", r.target.Name, units.Thousands(s.Rows))
	}
	fmt.Fprint(r.env.Stderr, b.String())
}

// mostOften returns the run that most rows carry, "" without rows.
func (r *run) mostOften() string {
	for _, c := range r.counters {
		c.flush()
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	best, most := "", int64(0)
	for run, n := range r.runs {
		if n > most || (n == most && run < best) {
			best, most = run, n
		}
	}
	return best
}
