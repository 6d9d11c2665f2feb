package checks

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/report/words"
	"amqpperf/internal/analysis/stats"
	"amqpperf/internal/units"
)

func median() stats.Percentile { return stats.MustPercentiles("50")[0] }

func completeness(in *Input, c *Check) {
	n := in.Data.Counts
	var sum int64
	for o, count := range n.Outcomes {
		if reduce.Outcome(o) != reduce.Unlogged {
			sum += count
		}
	}
	off := math.Abs(float64(sum - n.Attempts))
	if a := in.Data.Accounted; a != nil {
		messages, attempts := n.Intended, a.Attempts
		if attempts == 0 { // an older log, whose accounting counts every attempt as intended
			messages, attempts = n.Attempts, n.Attempts
		}
		off += math.Abs(float64(a.Intended-messages)) + math.Abs(float64(attempts-n.Attempts)) + math.Abs(float64(a.Received-n.Received)) +
			math.Abs(float64(a.Lost-n.Lost)) + math.Abs(float64(a.Duplicate-n.Duplicate))
	}
	if off > 0 {
		c.grade(off, 0, 0, fmt.Sprintf("the accounting is off by %.0f messages", off))
		return
	}
	c.grade(float64(n.Lost+n.Duplicate), 0, math.Inf(1), fmt.Sprintf("%s lost, %s duplicate, every message accounted for", words.Count(n.Lost), words.Count(n.Duplicate)))
	if what := incomplete(in.Data); what != "" {
		c.Text += "; a " + what + " did not end cleanly: what its last second would have had may be missing there, and not lost"
		c.atLeast(Warn)
	}
}

// incomplete names the logs whose recorder did not end cleanly, "" if there are none.
func incomplete(d *reduce.Data) string {
	names := slices.Sorted(slices.Values(d.Incomplete))
	return strings.Join(slices.Compact(names), " and ")
}

func offered(in *Input, c *Check) {
	n := in.Data.Counts
	if in.Data.ClosedLoop {
		c.skip("closed loop: no rate was offered")
		return
	}
	if n.Intended == 0 {
		c.skip("no send log")
		return
	}
	short := float64(n.Intended-n.SentFirst) / float64(n.Intended)
	rate, sent := in.Data.Rates.Offered, in.Data.Rates.Sent
	if late := 1 - sent/rate; late > short { // false for NaN
		short = late
	}
	text := fmt.Sprintf("%s of %s sent", words.Count(n.SentFirst), words.Count(n.Intended))
	if !math.IsNaN(rate) && !math.IsNaN(sent) {
		text += fmt.Sprintf(", %s offered, %s sent", words.PerSecond(rate), words.PerSecond(sent))
	}
	c.grade(short, 0.001, 0.01, text)
}

// A bracket that is this much wider than its share of the quantile does not
// count: 20 µs is what a good timer costs, whatever it is measured on.
const lagFloor = 20_000

// lag compares the bracket with the quantile it is about, at each one that is
// headlined, and looks at how busy the reader of a receiving process was.
//
// A bracket can be wide because the system never empties: M is then the largest
// lateness so far, and one hiccup opens it for the rest of the run. That is not
// knowing, and no proof that the tool is at fault, so it fails only where the
// same quantile of the lag itself is beyond the limit as well. A stall that the
// generator carried is a warning however few messages it hit.
func lag(in *Input, c *Check) {
	d := in.Data
	if d.ClosedLoop {
		c.skip("closed loop: messages are intended when a slot is free")
		return
	}
	if !d.Bracket.Valid {
		c.skip("no message has both ready and a response")
		return
	}
	var worst float64
	var at string
	c.Status = OK
	for i, q := range d.Metrics[reduce.Response].Quantiles {
		if q.Status != stats.OK && q.Status != stats.Low || d.Bracket.Lower[i].Infinite || q.Observed <= 0 {
			continue
		}
		width := float64(q.Observed - d.Bracket.Lower[i].Value)
		share := width / float64(q.Observed)
		late, _, _ := d.Metrics[reduce.Lag].Approx(q.Percentile)
		beyond := func(v, share float64) bool { return v > share*float64(q.Observed)+lagFloor }
		if beyond(width, 0.1) && beyond(float64(late), 0.1) {
			c.atLeast(Fail)
			c.Spoils = lateIn(d)
		} else if beyond(width, 0.02) {
			c.atLeast(Warn)
		}
		if share >= worst {
			worst, at = share, fmt.Sprintf("%s of response p%s %s", words.Percent(share), q.Percentile, units.Latency(q.Observed))
		}
	}
	if at == "" {
		c.skip("no quantile can be relied on")
		return
	}
	status := c.Status
	c.grade(worst, math.Inf(1), math.Inf(1), fmt.Sprintf("the tool's lateness is at most %s; lag %s", at, lagQuantiles(d)))
	c.Status = status
	for _, s := range d.Stalls {
		if s.CarriedBy == reduce.ByGenerator && s.ShareOfTop >= 0.1 {
			c.atLeast(Warn)
			c.Text += fmt.Sprintf("; the generator was late in an episode of %s from %.3f s", units.Latency(s.Length), float64(s.Start)/1e9)
			break
		}
	}
	reader(in, c)
}

// lateIn returns the numbers that a late generator is a large part of: the
// response, and e2e unless the way to the receiver took so much longer that the
// lateness is none. Transit begins when the message is sent.
func lateIn(d *reduce.Data) []string {
	spoilt := []string{reduce.Response.String()}
	for _, q := range d.Metrics[reduce.E2E].Quantiles {
		late, _, _ := d.Metrics[reduce.Lag].Approx(q.Percentile)
		if q.N > 0 && q.Status != stats.Infinite && float64(late) > 0.1*float64(q.Observed)+lagFloor {
			return append(spoilt, reduce.E2E.String())
		}
	}
	return spoilt
}

func lagQuantiles(d *reduce.Data) string {
	m := d.Metrics[reduce.Lag]
	text := ""
	for _, q := range stats.MustPercentiles("50,99,99.9") {
		if v, infinite, ok := m.Approx(q); ok && !infinite {
			text += fmt.Sprintf("p%s %s, ", q, units.Latency(v))
		}
	}
	return text + "max " + units.Latency(m.Max())
}

// reader grades the share of time that the socket readers of a receiving
// process were busy between reads, where the log has it.
func reader(in *Input, c *Check) {
	samples := in.Data.Side.Matching("", "reader_busy_ppm")
	if len(samples) == 0 {
		return
	}
	busy := meanOf(samples) / 1e6
	c.Text += fmt.Sprintf("; readers busy %s of the time", words.Percent(busy))
	switch {
	case busy > 0.85:
		if c.Status != Fail {
			c.Spoils = []string{reduce.Transit.String(), reduce.E2E.String()}
		} else {
			c.Spoils = nil // all that the check can spoil
		}
		c.atLeast(Fail)
	case busy > 0.6:
		c.atLeast(Warn)
	}
}

// BlockedShare is the share of messages that waited for more than a
// millisecond before they were written.
func BlockedShare(d *reduce.Data) float64 {
	var blocked int64
	for _, n := range d.Waits {
		blocked += n
	}
	n := d.Metrics[reduce.Blocked]
	if n.Distribution == nil || n.N() == 0 {
		return 0
	}
	return float64(blocked) / float64(n.N())
}

func backPressure(in *Input, c *Check) {
	d := in.Data
	switch {
	case d.ClosedLoop:
		c.skip("closed loop: waiting for the window is the schedule")
		return
	case d.Metrics[reduce.Blocked].Distribution == nil || d.Metrics[reduce.Blocked].N() == 0:
		c.skip("no message has both ready and sent")
		return
	}
	share := BlockedShare(d)
	text := fmt.Sprintf("%s of the messages waited for more than 1 ms", words.Percent(share))
	if t := d.Tail; t.N > 0 && t.Response > 0 {
		var blocked float64
		for _, v := range t.Blocked {
			blocked += v
		}
		text += fmt.Sprintf("; waiting is %s of the tail above p99", words.Percent(blocked/t.Response))
	}
	c.grade(share, 0.01, 0.2, text)
}

func window(in *Input, c *Check) {
	d := in.Data
	limit, source := float64(d.MaxPending)*float64(d.Rates.Producers), "--max-pending × producers"
	if d.MaxPending == 0 {
		if d.Waits[reduce.WaitWindow] == 0 {
			c.skip("the window is not known and nobody waited for it")
			return
		}
		limit, source = float64(d.Integrity.MaxInFlight), "the most that were in flight"
	}
	rtt, infinite, ok := d.Metrics[reduce.Service].Approx(median())
	if !ok || infinite || rtt <= 0 || math.IsNaN(d.Rates.Acked) || limit == 0 {
		c.skip("no rate or no round trip")
		return
	}
	share := d.Rates.Acked / (limit / (float64(rtt) / 1e9))
	c.grade(share, 0.9, math.Inf(1), fmt.Sprintf("%s are %s of window %.0f (%s) over round trip %s",
		words.PerSecond(d.Rates.Acked), words.Percent(share), limit, source, units.Latency(rtt)))
}

// A regular schedule has next to no dispersion, and the ratio of two such
// numbers says nothing: what is compared are both, but at least half of a
// Poisson process's.
const leastDispersion = 0.5

// arrivals compares what was handed over with what was intended, in windows of
// 1 ms to 1 s. It looks at ready and not at sent: waiting for the broker is
// C4's matter, and another rate for the pacer would not help.
func arrivals(in *Input, c *Check) {
	d := in.Data
	if d.ClosedLoop {
		c.skip("closed loop: there is no schedule")
		return
	}
	worst := -1.0
	var text string
	for _, w := range d.Arrivals.Windows {
		if math.IsNaN(w.Intended) || math.IsNaN(w.Ready) {
			continue
		}
		ratio := max(w.Ready, leastDispersion) / max(w.Intended, leastDispersion)
		off := max(ratio, 1/ratio)
		if off > worst {
			worst, text = off, fmt.Sprintf("dispersion of counts in %s: %.2g handed over, %.2g intended", time.Duration(w.Window), w.Ready, w.Intended)
		}
	}
	if worst < 0 && d.Arrivals.Gaps == 0 {
		c.skip("fewer than 200 windows of a millisecond")
		return
	}
	c.grade(worst, 1.25, 2, text)
	if d.Arrivals.Gaps == 0 || !coarse(d) {
		return
	}
	a := d.Arrivals.GapTest
	c.Text += fmt.Sprintf("; A*² of %d gaps %.3g", d.Arrivals.Gaps, a)
	switch {
	case a > 3.9:
		c.atLeast(Fail)
	case a > 1.96:
		c.atLeast(Warn)
	}
}

// coarse reports gaps that are at least ten times what the pacer can tell
// apart: its median lag.
func coarse(d *reduce.Data) bool {
	lag, _, ok := d.Metrics[reduce.Lag].Approx(median())
	return ok && d.Rates.Offered > 0 && 1e9/d.Rates.Offered >= 10*float64(max(lag, 1))
}

// Limits of stability: below leastExcess messages a deficit is noise.
const (
	unstable    = 0.003
	leastExcess = 10
)

func stability(in *Input, c *Check) {
	d := in.Data
	s := d.Backlog
	if d.Delivery.Valid && (!s.Valid || d.Delivery.Deficit > s.Deficit) {
		s = d.Delivery
	}
	switch {
	case d.ClosedLoop:
		c.skip("closed loop: it cannot be overloaded")
	case !s.Valid:
		c.skip("too few messages")
	default:
		limit := max(unstable, float64(leastExcess)/float64(s.In))
		c.grade(s.Deficit, limit, math.Inf(1), fmt.Sprintf("%s more went in than came out over the last half", words.Percent(s.Deficit)))
		if in.Overloaded {
			c.Status = Fail
		}
	}
}
