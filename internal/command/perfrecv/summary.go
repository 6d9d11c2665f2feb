package perfrecv

import (
	"fmt"
	"strings"
	"time"

	"amqpperf/internal/units"
)

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
		{"rejected", s.Rejected, "by --outcome"}, {"modified", s.Modified, "by --outcome"}, {"returned", s.Returned, "released by --outcome or --tx-rollback"}, {"released", s.Released, "came after the end and were given back"},
		{"discarded", s.Discarded, "came settled after the end: nobody has them"},
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
		fmt.Fprintf(&b, "  transfer   %s  (transit: sent to received)\n", s.Transfer.Long())
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
