package perfsend

import (
	"fmt"
	"time"

	"amqpperf/internal/load/live"
)

// object prints what happened since the last object, for --stats json.
func (t *totals) object(now *live.Send) {
	at := t.r.clock.Now()
	s := live.NewStats(tool, live.KindSecond, t.r.clock.Time(at), time.Duration(at-t.r.start), time.Duration(at-t.at))
	s.Warmup = t.at < t.r.start+int64(t.r.o.warmup)
	counts := now.Since(&t.last)
	counters := *now
	counters.ResetHistograms()
	s.Counts, s.Totals = &counts, &counters
	s.Now = map[string]int64{"in_flight": now.Outstanding, "due": now.Due}
	rates(s, &counts)
	delay, ack := together(now)
	metrics(s, &delay, &ack, &now.Commit)
	t.print(s)
	t.last, t.at = *now, at
}

// final prints the object of the whole run; its metrics are without the warm-up.
func (t *totals) final() {
	took := time.Duration(max(1, t.stopped-t.r.start))
	s := live.NewStats(tool, live.KindSummary, t.r.clock.Time(t.stopped), took, took)
	s.Stop, s.Counts, s.Totals = t.r.stop, &t.sum, &t.sum
	rates(s, &t.sum)
	metrics(s, &t.sum.Delay, &t.sum.Ack, &t.sum.Commit)
	t.print(s)
}

func rates(s *live.Stats, counts *live.Send) {
	s.Rate("sent_per_s", counts.Sent)
	s.Rate("blocked_per_s", counts.Blocked)
	s.Rate("completed_per_s", counts.Completed)
}

// metrics names the latencies: send_delay is sent − intended, lag and blocked
// together.
func metrics(s *live.Stats, delay, ack, commit *live.Histogram) {
	s.Metric("send_delay", delay)
	s.Metric("service", ack)
	s.Metric("commit", commit)
}

// print prints an object. When nobody reads any more that is told once, and the run
// goes on.
func (t *totals) print(s *live.Stats) {
	if t.mute {
		return
	}
	if err := t.r.o.stats.Print(t.r.env, t.r.target.Name, s); err != nil {
		t.mute = true
		fmt.Fprintf(t.r.env.Stderr, "%s: --stats json: %v\n", tool, err)
	}
}
