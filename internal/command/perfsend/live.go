package perfsend

import (
	"fmt"
	"strings"
	"time"

	"amqpperf/internal/load/live"
	"amqpperf/internal/units"
)

// totals gathers what the producers count, for the live line and the SUMMARY.
type totals struct {
	r       *run
	sum     live.Send // counters as of now; histograms of the whole run
	last    live.Send // counters as of the last line
	at      int64     // when that was
	stopped int64
	mute    bool // --stats json has no reader any more
}

func newTotals(r *run) *totals { return &totals{r: r, at: r.start} }

// collect asks the producers; the histograms of the answer are those since the
// last call, and are added to the sum.
func (t *totals) collect() *live.Send {
	now := &live.Send{}
	for _, p := range t.r.list {
		p.Collect(now)
	}
	sum := t.sum
	sum.ResetCounters()
	t.sum = sum
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

// line prints what happened since the last line.
func (t *totals) line(now *live.Send) {
	at := t.r.clock.Now()
	elapsed := time.Duration(at - t.r.start)
	per := func(now, last int64) string {
		return units.Thousands(int64(float64(now-last)/(float64(at-t.at)/1e9) + 0.5))
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%5s", elapsed.Round(time.Second))
	if elapsed <= t.r.o.warmup {
		b.WriteString(" warm-up")
	}
	fmt.Fprintf(&b, "  sent %s/s  blocked %s/s  completed %s/s  in flight %s",
		per(now.Sent, t.last.Sent), per(now.Blocked, t.last.Blocked), per(now.Completed, t.last.Completed), units.Thousands(now.Outstanding))
	if now.Due > 0 {
		fmt.Fprintf(&b, "  due %s", units.Thousands(now.Due))
	}
	delay, ack := together(now)
	fmt.Fprintf(&b, "  send delay %s  send ack %s", delay.Short(), ack.Short())
	if now.Commit.N() > 0 {
		fmt.Fprintf(&b, "  commit %s", now.Commit.Short())
	}
	b.WriteString("\n")
	fmt.Fprint(t.r.env.Stderr, b.String())
	t.last, t.at = *now, at
}

// together returns the latencies of an interval, those of the warm-up too.
func together(now *live.Send) (delay, ack live.Histogram) {
	delay, ack = now.Delay, now.Ack
	delay.Merge(&now.WarmupDelay)
	ack.Merge(&now.WarmupAck)
	return delay, ack
}

// summary prints the totals of the whole run, and percentiles without the warm-up.
func (t *totals) summary(whole bool) {
	r, s := t.r, &t.sum
	var b strings.Builder
	took := time.Duration(max(1, t.stopped-r.start))
	rate := func(n int64) string { return units.Thousands(int64(float64(n)/took.Seconds() + 0.5)) }
	fmt.Fprintf(&b, "--- SUMMARY %s: %s, %s, stopped by %s after %s\n", tool, strings.Join(r.addresses, " "), r.load(), r.stop, units.Seconds(took))
	fmt.Fprintf(&b, "  sent       %12s  %s/s\n", units.Thousands(s.Sent), rate(s.Sent))
	fmt.Fprintf(&b, "  blocked    %12s  waited for window, credit, session, socket or connection\n", units.Thousands(s.Blocked))
	fmt.Fprintf(&b, "  completed  %12s  %s/s\n", units.Thousands(s.Completed), rate(s.Completed))
	for _, c := range []struct {
		name  string
		n     int64
		about string
	}{
		{"rejected", s.Rejected, ""}, {"released", s.Released, ""}, {"modified", s.Modified, ""},
		{"unsettled", s.Unsettled, "no answer until the end"}, {"failed", s.Failed, "the connection or link broke"},
		{"unsent", s.Unsent, "intended, and never sent"}, {"resent", s.Resent, "of sent: again, after they had failed"},
	} {
		if c.n > 0 {
			fmt.Fprintf(&b, "  %-10s %12s  %s\n", c.name, units.Thousands(c.n), c.about)
		}
	}
	if r.o.warmup > 0 {
		fmt.Fprintf(&b, "  without the %s of warm-up:\n", r.o.warmup)
	}
	fmt.Fprintf(&b, "  send delay %s  (lag + blocked: intended to sent)\n", s.Delay.Long())
	fmt.Fprintf(&b, "  send ack   %s  (service: sent to acked)\n", s.Ack.Long())
	if s.Commit.N() > 0 {
		fmt.Fprintf(&b, "  commit     %s  (%s transactions, %s rolled back)\n", s.Commit.Long(), units.Thousands(s.Committed+s.RolledBack), units.Thousands(s.RolledBack))
	}
	if r.pacer != nil {
		fmt.Fprintf(&b, "  paced by   %s\n", r.pacer.Timer.Precision())
	}
	if size := r.target.Size(); whole && size >= 0 {
		fmt.Fprintf(&b, "  log: %s, %s rows, run %s\n", r.target.Name, units.Thousands(s.Rows), r.runID)
	}
	fmt.Fprint(r.env.Stderr, b.String())
}
