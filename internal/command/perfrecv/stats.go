package perfrecv

import (
	"fmt"
	"time"

	"amqpperf/internal/load/live"
)

// object prints one object about what happened since the last one.
func (t *totals) object(now *live.Recv) {
	r, at := t.r, t.r.clock.Now()
	s := live.NewStats(tool, live.KindSecond, r.clock.Time(at), time.Duration(at-r.start), time.Duration(at-t.at))
	s.Warmup = t.warm(t.at)
	counts := now.Since(&t.last)
	s.Counts, s.Totals = &counts, now
	transfer, e2e := together(now)
	t.fill(s, &counts, now, &transfer, &e2e)
	t.last, t.at = *now, at
	t.print(s)
}

// totalObject prints the object about the whole run.
func (t *totals) totalObject(reason string) {
	r := t.r
	took := time.Duration(max(1, t.stopped-r.start))
	s := live.NewStats(tool, live.KindSummary, r.clock.Time(t.stopped), took, took)
	s.Stop = reason
	s.Counts, s.Totals = &t.sum, &t.sum
	t.fill(s, &t.sum, &t.sum, &t.sum.Transfer, &t.sum.E2E)
	t.print(s)
}

// fill puts rates and latencies into an object.
func (t *totals) fill(s *live.Stats, counts, now *live.Recv, transfer, e2e *live.Histogram) {
	s.Now = map[string]int64{"unsettled": now.Unsettled, "waiting": now.Waiting}
	s.Rate("received_per_s", counts.Received)
	s.Metric("transit", transfer)
	s.Metric("e2e", e2e)
	s.Metric("queued", &now.Queued)
	s.Metric("work", &now.Work)
	s.Metric("commit", &now.Commit)
}

// print prints an object; when nobody takes them any more the run goes on without.
func (t *totals) print(s *live.Stats) {
	if t.mute {
		return
	}
	if err := t.r.o.stats.Print(t.r.env, t.r.target.Name, s); err != nil {
		t.mute = true
		fmt.Fprintf(t.r.env.Stderr, "%s: --stats json: %v; no more of them\n", tool, err)
	}
}
