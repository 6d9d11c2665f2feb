package report

import (
	"fmt"

	"amqpperf/internal/analysis/reduce"
)

// warnings collects what a reader must know about the log and the numbers.
func (b *builder) warnings() {
	d := b.d
	warn := func(n int64, format string, args ...any) {
		if n > 0 {
			b.r.Warnings = append(b.r.Warnings, fmt.Sprintf(format, args...))
		}
	}
	b.r.Warnings = append(b.r.Warnings, d.Warnings...)
	joined := d.Accounted != nil && len(d.Accounted.Notes) > 0 // the join has told of missing logs and other runs
	for _, what := range d.Incomplete {
		warn(1, "a %s did not end cleanly: it may lack its last rows", what)
	}
	if d.Empty() {
		return
	}
	i := d.Integrity
	if !i.ReceiveLog && !joined {
		warn(d.Counts.Attempts, "no receive log: nothing is known of deliveries, and nothing counts as lost")
	}
	if d.Counts.Attempts == 0 {
		warn(d.Counts.Received, "no send log: what the senders saw is not known")
	}
	if d.Counts.Intended == 0 {
		warn(d.Counts.Attempts, "only repeated attempts are looked at: a message's latencies are those of the row of its first one")
	}
	if d.Counts.Attempts > 0 && d.Counts.Sent == 0 {
		warn(1, "nothing was sent: see the outcomes, and the errors of the senders")
	}
	if d.First == d.Last {
		warn(d.Window.N-1, "all messages were intended at one instant: there are no rates, and nothing is known over time")
	}
	if !joined {
		warn(d.OtherRuns, "rows of other runs that were left out: %s", count(d.OtherRuns))
	}
	warn(d.Counts.Outcomes[reduce.Unlogged], "arrived, but in no send log: %s", messages(d.Counts.Outcomes[reduce.Unlogged]))
	warn(i.NoneExpected, "sent before a subscription was attached that could have got them, and not lost: %s", messages(i.NoneExpected))
	warn(i.SentEarly, "sent before intended: %s", messages(i.SentEarly))
	warn(i.AckedEarly, "acked before sent: %s; negative service is kept as it is", messages(i.AckedEarly))
	warn(d.Clock.Negative, "received before sent: %s; the rows are kept as they are", messages(d.Clock.Negative))
	warn(i.Incomplete, "accepted, but lacking an instant and in no latency: %s", messages(i.Incomplete))
	warn(i.Strange, "with an outcome that this version does not know: %s", messages(i.Strange))
	warn(i.OutOfSeries, "instants before or far after the run, not in the series: %s", count(i.OutOfSeries))
	warn(d.Counts.Foreign, "without a stamp of ours, at the receivers: %s", messages(d.Counts.Foreign))
	b.warnOfBacklog()
}

// warnOfBacklog tells of a warm-up that left messages behind: they slow down
// what comes after it.
func (b *builder) warnOfBacklog() {
	s := &b.d.Series
	if b.d.Window.Warmup == 0 || s.Width == 0 {
		return
	}
	end := int(b.d.Window.Warmup/s.Width) - 1
	for _, c := range []struct {
		level []int64
		rate  float64
		what  string
	}{{s.InFlight, b.d.Rates.Acked, "in flight"}, {s.InBroker, b.d.Rates.Received, "in the broker"}} {
		// More than a second's worth is a backlog and not the messages under way.
		if end >= 0 && end < len(c.level) && float64(c.level[end]) > c.rate {
			b.r.Warnings = append(b.r.Warnings, fmt.Sprintf("the warm-up ended with %s %s: what follows still carries its backlog", messages(c.level[end]), c.what))
		}
	}
}
