package report

import (
	"fmt"
	"math"

	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/stats"
	"amqpperf/internal/units"
)

// checks computes the soundness checks of a report. Those that need what a log
// does not hold yet are there as skipped, so that nobody takes their absence
// for a pass.
func (b *builder) checks() {
	if b.d.Empty() {
		return
	}
	for _, c := range checkTable() {
		check := Check{ID: c.id, Name: c.name, Limit: c.limit, Status: CheckSkip, Text: "not computed"}
		if c.run != nil {
			c.run(b, &check)
			if check.Status == CheckWarn || check.Status == CheckFail {
				check.Advice = c.advice
			}
		}
		b.r.Checks = append(b.r.Checks, check)
	}
}

type checkRow struct {
	id, name, limit, advice string
	run                     func(*builder, *Check)
}

func checkTable() []checkRow {
	return []checkRow{
		{"C1", "completeness", "lost or duplicate > 0 warn; accounting off fail", "quantiles above 1 − loss are infinite; raise --drain and --idle, look for prefetched messages and credit", (*builder).checkCompleteness},
		{"C2", "offered rate achieved", "> 0.1 % short warn; > 1 % fail", "lower the rate, or use more senders or hosts", (*builder).checkOffered},
		{"C3", "generator lag", "bracket > 2 % + 20 us warn; > 10 % fail", "", nil},
		{"C4", "back-pressure", "> 1 % of messages warn; > 20 % fail", "raise --max-pending or the broker's credit, or accept that the number is window over round trip", (*builder).checkBackPressure},
		{"C5", "window limit", "rate > 0.9 window/RTT warn", "raise --max-pending", (*builder).checkWindow},
		{"C6", "arrival process", "A*² > 1.96 warn; > 3.9 fail", "", nil},
		{"C7", "stability", "> 0.3 % warn; > 1 % in both of the last quarters fail", "overload: the capacity is the result, percentiles are of this run only; lower the rate", (*builder).checkStability},
		{"C8", "warm-up", "d*/n > 25 % warn; > 50 % fail", "", nil},
		{"C9", "stationarity", "trend p < 0.01 and > 5 % warn; > 20 % fail", "", nil},
		{"C10", "resolution of quantiles", "fewer than 10 events warn; fewer than 5 fail", "", nil},
		{"C11", "host hiccups", "> 10 % of p99.9 warn; > 50 % fail", "", nil},
		{"C12", "CPU headroom of the client", "> 60 % warn; > 85 % fail", "", nil},
		{"C13", "clock source", "> 200 ns a read warn", "", nil},
		{"C14", "clock synchronisation", "maxerror > 1 ms warn; ≥ 16 s fail", "", nil},
		{"C15", "clock steps", "> 20 us warn; > 1 ms fail", "", nil},
		{"C16", "offset between hosts", "bound > 10 % of p50 warn; > 25 % fail", "run sender and receiver on one host, or synchronise and probe the clocks", (*builder).checkOffset},
		{"C17", "causality", "received before sent warn; by more than the bound, or bound unknown, fail", "the clocks are not aligned: keep the rows, do not use one-way numbers", (*builder).checkCausality},
		{"C18", "Little's identity", "> 1e-6 warn; > 1e-3 fail", "the log is corrupt or was joined wrongly: do not publish", (*builder).checkLittle},
		{"C19", "decomposition identity", "> 1 ns fail", "a fault in the analysis: report it", (*builder).checkDecomposition},
		{"C20", "histogram log", "any record error fail", "the values are beyond what the log can hold, or negative: look at the clocks", (*builder).checkHDR},
		{"C21", "null-target floor", "> 20 % warn; > 50 % fail", "", nil},
		{"C22", "merge integrity", "any mismatch fail", "", nil},
		{"C23", "censoring", "unfinished > 0 warn; share above 1 − largest percentile fail", "raise --drain; quantiles among unfinished messages are infinite", (*builder).checkCensoring},
		{"C24", "retries and settlement", "rejected, released, modified or redelivered > 0 warn", "these messages are not in service and response: look at them on their own", (*builder).checkRetries},
		{"C25", "power of a comparison", "fewer than 4 runs a side warn", "", nil},
	}
}

// grade sets a value and the verdict of two limits.
func (c *Check) grade(value, warn, fail float64, text string) {
	c.Value, c.Text, c.Status = number(value), text, CheckOK
	switch {
	case value > fail:
		c.Status = CheckFail
	case value > warn:
		c.Status = CheckWarn
	}
}

func (c *Check) skip(why string) { c.Status, c.Text = CheckSkip, why }

func (b *builder) checkCompleteness(c *Check) {
	n := b.r.Counts
	sum := n.Accepted + n.Rejected + n.Released + n.Modified + n.Presettled + n.Unsettled + n.Failed + n.Unsent + b.d.Counts.Outcomes[reduce.Strange]
	off := math.Abs(float64(sum - n.Intended))
	if a := b.d.Accounted; a != nil {
		off += math.Abs(float64(a.Intended-n.Intended)) + math.Abs(float64(a.Received-n.Received)) +
			math.Abs(float64(a.Lost-n.Lost)) + math.Abs(float64(a.Duplicate-n.Duplicate))
	}
	if off > 0 {
		c.grade(off, 0, 0, fmt.Sprintf("the accounting is off by %.0f messages", off))
		return
	}
	c.grade(float64(n.Lost+n.Duplicate), 0, math.Inf(1), fmt.Sprintf("%s lost, %s duplicate, every message accounted for", count(n.Lost), count(n.Duplicate)))
}

func (b *builder) checkOffered(c *Check) {
	n := b.r.Counts
	if b.r.Loop == Closed {
		c.skip("closed loop: no rate was offered")
		return
	}
	if n.Intended == 0 {
		c.skip("no send log")
		return
	}
	short := float64(n.Intended-n.Sent) / float64(n.Intended)
	offered, sent := b.d.Rates.Offered, b.d.Rates.Sent
	if late := 1 - sent/offered; late > short { // false for NaN
		short = late
	}
	text := fmt.Sprintf("%s of %s sent", count(n.Sent), count(n.Intended))
	if b.r.Rates.Offered != nil && b.r.Rates.Sent != nil {
		text += fmt.Sprintf(", %s offered, %s sent", perSecond(offered), perSecond(sent))
	}
	c.grade(short, 0.001, 0.01, text)
}

func (b *builder) checkBackPressure(c *Check) {
	switch {
	case b.r.Loop == Closed:
		c.skip("closed loop: waiting for the window is the schedule")
		return
	case b.r.Metrics.Get("blocked").N == 0:
		c.skip("no message has both ready and sent")
		return
	}
	share := b.blockedShare()
	text := fmt.Sprintf("%s of the messages waited for more than 1 ms", percent(share))
	if t := b.r.Tail; t != nil && t.N > 0 && t.Response > 0 {
		text += fmt.Sprintf("; waiting is %s of the tail above p99", percent(t.blocked()/t.Response))
	}
	c.grade(share, 0.01, 0.2, text)
}

// blocked is the mean time blocked, all causes together.
func (t *Tail) blocked() (sum float64) {
	for _, w := range reduce.Waits() { // not over the map: the order of a sum of floats matters
		sum += t.Blocked[w.String()]
	}
	return sum
}

func (b *builder) checkWindow(c *Check) {
	d := b.d
	window, source := float64(d.MaxPending)*float64(d.Rates.Producers), "--max-pending × producers"
	if d.MaxPending == 0 {
		if d.Waits[reduce.WaitWindow] == 0 {
			c.skip("the window is not known and nobody waited for it")
			return
		}
		window, source = float64(d.Integrity.MaxInFlight), "the most that were in flight"
	}
	service := d.Metrics[reduce.Service]
	rtt, infinite, ok := service.Approx(stats.MustPercentiles("50")[0])
	if !ok || infinite || rtt <= 0 || math.IsNaN(d.Rates.Acked) || window == 0 {
		c.skip("no rate or no round trip")
		return
	}
	share := d.Rates.Acked / (window / (float64(rtt) / 1e9))
	c.grade(share, 0.9, math.Inf(1), fmt.Sprintf("%s are %s of window %.0f (%s) over round trip %s",
		perSecond(d.Rates.Acked), percent(share), window, source, units.Latency(rtt)))
}

func (b *builder) checkStability(c *Check) {
	s := b.d.Backlog
	if b.d.Delivery.Valid && (!s.Valid || b.d.Delivery.Deficit > s.Deficit) {
		s = b.d.Delivery
	}
	switch {
	case b.r.Loop == Closed:
		c.skip("closed loop: it cannot be overloaded")
	case !s.Valid:
		c.skip("too few messages")
	default:
		limit := max(unstable, float64(leastExcess)/float64(s.In))
		c.grade(s.Deficit, limit, math.Inf(1), fmt.Sprintf("%s more went in than came out over the last half", percent(s.Deficit)))
		if b.r.Overload != nil {
			c.Status = CheckFail
		}
	}
}

func (b *builder) checkOffset(c *Check) {
	k := b.d.Clock
	if k.Arrivals == 0 {
		c.skip("no arrivals")
		return
	}
	if k.Unknown > 0 {
		c.Status, c.Text = CheckFail, fmt.Sprintf("clock offset unknown for %s of %s arrivals: one-way numbers are withheld", count(k.Unknown), count(k.Arrivals))
		return
	}
	median, infinite, ok := b.d.Metrics[reduce.Transit].Approx(stats.MustPercentiles("50")[0])
	if !ok || infinite || median <= 0 {
		c.skip("no transit to compare the bound with")
		return
	}
	c.grade(float64(k.Bound)/float64(median), 0.1, 0.25, fmt.Sprintf("bound %s, transit p50 %s", units.Latency(k.Bound), units.Latency(median)))
}

func (b *builder) checkCausality(c *Check) {
	k := b.d.Clock
	if k.Arrivals == 0 {
		c.skip("no arrivals")
		return
	}
	c.grade(float64(k.Negative), 0, math.Inf(1), fmt.Sprintf("%s of %s arrivals before they were sent, smallest transit %s", count(k.Negative), count(k.Arrivals), units.Latency(k.MinTransit)))
	if k.Impossible > 0 {
		c.Status = CheckFail
	}
}

func (b *builder) checkLittle(c *Check) {
	i := b.d.Integrity
	if i.LittleRight == 0 && i.LittleLeft == 0 {
		c.skip("nothing was acked")
		return
	}
	off := math.Abs(i.LittleLeft-i.LittleRight) / max(math.Abs(i.LittleLeft), math.Abs(i.LittleRight))
	c.grade(off, 1e-6, 1e-3, fmt.Sprintf("time in flight: %.6g message seconds by backlog, %.6g by messages", i.LittleLeft, i.LittleRight))
}

func (b *builder) checkDecomposition(c *Check) {
	i := b.d.Integrity
	if i.Decomposed == 0 {
		c.skip("no message has all instants")
		return
	}
	c.grade(float64(i.Identity), 1, 1, fmt.Sprintf("response = lag + blocked + service within %s for %s", units.Latency(i.Identity), messages(i.Decomposed)))
}

func (b *builder) checkCensoring(c *Check) {
	i := b.d.Integrity
	if i.Answerable == 0 {
		c.skip("no message has an answer to wait for")
		return
	}
	share := float64(i.Unfinished) / float64(i.Answerable)
	text := fmt.Sprintf("%s of %s unfinished", count(i.Unfinished), count(i.Answerable))
	if i.Unfinished > 0 {
		text += fmt.Sprintf(", the oldest for %s", units.Latency(i.Oldest))
	}
	c.grade(share, 0, b.smallestTail(), text)
}

// smallestTail is 1 − the largest percentile shown.
func (b *builder) smallestTail() float64 {
	tail := 1.0
	for _, q := range b.d.Metrics[reduce.Response].Quantiles {
		if t := q.Percentile.Tail(); t > 0 {
			tail = min(tail, t)
		}
	}
	return tail
}

func (b *builder) checkHDR(c *Check) {
	h := b.o.HDR
	if h == nil {
		c.skip("no histogram log was written")
		return
	}
	c.grade(float64(h.Errors), 0, 0, fmt.Sprintf("%s values in the histogram log, %s that it could not hold", count(h.Recorded), count(h.Errors)))
}

func (b *builder) checkRetries(c *Check) {
	n := b.r.Counts
	c.grade(float64(n.Rejected+n.Released+n.Modified+n.Redelivered), 0, math.Inf(1), fmt.Sprintf(
		"%s rejected, %s released, %s modified, %s redelivered", count(n.Rejected), count(n.Released), count(n.Modified), count(n.Redelivered)))
}
