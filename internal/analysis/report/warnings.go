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
		warn(d.Counts.Intended, "no receive log: nothing is known of deliveries, and nothing counts as lost")
	}
	if d.Counts.Intended == 0 {
		warn(d.Counts.Received, "no send log: what the senders saw is not known")
	}
	if !joined {
		warn(d.OtherRuns, "%s rows of other runs were left out", count(d.OtherRuns))
	}
	warn(d.Counts.Outcomes[reduce.Unlogged], "%s messages arrived that no send log holds", count(d.Counts.Outcomes[reduce.Unlogged]))
	warn(i.NoneExpected, "%s messages were sent before a subscription for them was attached: they are not lost", count(i.NoneExpected))
	warn(i.SentEarly, "%s messages were sent before they were intended", count(i.SentEarly))
	warn(i.AckedEarly, "%s messages were acked before they were sent: negative service is kept as it is", count(i.AckedEarly))
	warn(d.Clock.Negative, "%s messages were received before they were sent: the rows are kept as they are", count(d.Clock.Negative))
	warn(i.Incomplete, "%s accepted messages lack an instant and are in no latency", count(i.Incomplete))
	warn(i.Strange, "%s messages have an outcome that this version does not know", count(i.Strange))
	warn(i.OutOfSeries, "%s instants lie before or far after the run and are not in the series", count(i.OutOfSeries))
	warn(d.Counts.Foreign, "%s messages without a stamp of ours came to the receivers", count(d.Counts.Foreign))
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
			b.r.Warnings = append(b.r.Warnings, fmt.Sprintf("the warm-up ended with %s messages %s: what follows still carries its backlog", count(c.level[end]), c.what))
		}
	}
}
