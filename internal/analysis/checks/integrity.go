package checks

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/report/words"
	"amqpperf/internal/units"
)

func little(in *Input, c *Check) {
	i := in.Data.Integrity
	if i.AckedEarly > 0 {
		c.Status, c.Text = Fail, fmt.Sprintf("%s acked before sent", words.Messages(i.AckedEarly))
		return
	}
	if i.LittleRight == 0 && i.LittleLeft == 0 {
		c.skip("nothing was acked")
		return
	}
	off := math.Abs(i.LittleLeft-i.LittleRight) / max(math.Abs(i.LittleLeft), math.Abs(i.LittleRight))
	c.grade(off, 1e-6, 1e-3, fmt.Sprintf("time in flight: %.6g message seconds by backlog, %.6g by messages", i.LittleLeft, i.LittleRight))
}

func decomposition(in *Input, c *Check) {
	i := in.Data.Integrity
	if i.Decomposed == 0 {
		c.skip("no message has all instants")
		return
	}
	c.grade(float64(i.Identity), 1, 1, fmt.Sprintf("response = lag + blocked + service within %s for %s", units.Latency(i.Identity), words.Messages(i.Decomposed)))
}

func histogram(in *Input, c *Check) {
	h := in.HDR
	if h == nil {
		c.skip("no histogram log was written")
		return
	}
	said := []string{fmt.Sprintf("%s values in the histogram log, %s that it could not hold", words.Count(h.Recorded), words.Count(h.Errors))}
	bad, worst := h.Errors, 0.0
	for _, s := range h.Series {
		if missing := s.Rows - s.N; missing != 0 && h.Errors == 0 {
			bad += max(missing, -missing)
			said = append(said, fmt.Sprintf("%s: %s values, the rows have %s", s.Name, words.Count(s.N), words.Count(s.Rows)))
		}
		if s.Difference > worst {
			worst = s.Difference
			if worst > hdrDifference {
				said = append(said, fmt.Sprintf("%s p%s is %.2g %% off the rows", s.Name, s.At, 100*worst))
			}
		}
	}
	if len(h.Series) > 0 && worst <= hdrDifference {
		said = append(said, fmt.Sprintf("quantiles within %.2g %% of the rows", 100*worst))
	}
	c.grade(float64(bad), 0, 0, strings.Join(said, "; "))
	if worst > hdrDifference {
		c.atLeast(Warn)
	}
}

// hdrDifference is how far three significant digits may be off: a bucket is at
// most 1/1024 of its values wide, and values are reported at its upper edge.
const hdrDifference = 0.001

// merge looks at whether the logs belong together: senders of one run have one
// schedule and one configuration. Loads that differ on purpose are different
// runs, each with numbers of its own.
func merge(in *Input, c *Check) {
	logs := in.Data.Logs
	if len(logs) == 0 || logs[0].Schema == "" || logs[0].Schema == "merged/1" {
		c.skip("the log does not say what it was joined from")
		return
	}
	var bad []string
	var loads, shares []string
	senders, of := 0, int64(0)
	for _, l := range logs {
		if l.Schema != "send/1" {
			continue
		}
		senders++
		if l.Run != in.Data.Run && l.Run != "" {
			bad = append(bad, "a send log is of run "+words.Plain(l.Run))
		}
		if l.Load != "" && !slices.Contains(loads, l.Load) {
			loads = append(loads, l.Load)
		}
		if l.ShareCount > 0 {
			of = max(of, l.ShareCount)
			share := fmt.Sprintf("%d/%d", l.ShareIndex, l.ShareCount)
			if slices.Contains(shares, share) {
				bad = append(bad, "two senders have share "+share)
			}
			shares = append(shares, share)
		}
	}
	if len(loads) > 1 {
		bad = append(bad, fmt.Sprintf("the senders have %d different loads", len(loads)))
	}
	if of > 0 && int64(len(shares)) != of {
		bad = append(bad, fmt.Sprintf("%d of %d shares are there", len(shares), of))
	}
	if who := apart(in.Data); who != "" {
		bad = append(bad, who)
	}
	slices.Sort(bad)
	bad = slices.Compact(bad)
	text := fmt.Sprintf("%d send and %d receive logs of one run", senders, len(logs)-senders)
	if len(bad) > 0 {
		text = strings.Join(bad, "; ")
	}
	c.grade(float64(len(bad)), 0, 0, text)
}

// apart names sending processes that had ended before another one began: they
// were not one run.
func apart(d *reduce.Data) string {
	type span struct{ first, last int64 }
	processes := map[int32]span{}
	for _, k := range d.Rates.Clients {
		if !k.Sender || k.N == 0 {
			continue
		}
		s, known := processes[k.Process]
		if !known {
			s = span{k.First, k.Last}
		}
		processes[k.Process] = span{min(s.first, k.First), max(s.last, k.Last)}
	}
	begin, end := int64(math.MinInt64), int64(math.MaxInt64)
	for _, s := range processes {
		begin, end = max(begin, s.first), min(end, s.last)
	}
	if len(processes) > 1 && begin > end {
		return "a sending process had ended before another one began"
	}
	return ""
}

func censoring(in *Input, c *Check) {
	i := in.Data.Integrity
	if i.Answerable == 0 {
		c.skip("no message has an answer to wait for")
		return
	}
	share := float64(i.Unfinished) / float64(i.Answerable)
	text := fmt.Sprintf("%s of %s unfinished", words.Count(i.Unfinished), words.Count(i.Answerable))
	if i.Unfinished > 0 && i.Oldest > 0 {
		text += fmt.Sprintf(", the oldest for %s", units.Latency(i.Oldest))
	}
	tail := 1.0 // 1 − the largest percentile shown
	for _, q := range in.Data.Metrics[reduce.Response].Quantiles {
		if t := q.Percentile.Tail(); t > 0 {
			tail = min(tail, t)
		}
	}
	c.grade(share, 0, tail, text)
	if slices.Contains(in.Data.Incomplete, "perf-send log") {
		c.Text += "; a perf-send log did not end cleanly: messages of its last second may be in no row"
		c.atLeast(Warn)
	}
}

func retries(in *Input, c *Check) {
	n := in.Data.Counts
	rejected, released, modified := n.Outcomes[reduce.Rejected], n.Outcomes[reduce.Released], n.Outcomes[reduce.Modified]
	c.grade(float64(rejected+released+modified+n.Redelivered), 0, math.Inf(1), fmt.Sprintf(
		"%s rejected, %s released, %s modified, %s redelivered", words.Count(rejected), words.Count(released), words.Count(modified), words.Count(n.Redelivered)))
}

func power(in *Input, c *Check) {
	k := in.Comparison
	if k == nil {
		c.skip("no runs are compared")
		return
	}
	text := fmt.Sprintf("%d and %d runs", k.RunsA, k.RunsB)
	if k.SmallestP > 0.05 {
		text += fmt.Sprintf(": cannot be significant, the smallest attainable p is %.2g", k.SmallestP)
	}
	if k.Detectable > 0 {
		text += fmt.Sprintf("; detectable from %s on", words.Percent(k.Detectable))
	}
	n := min(k.RunsA, k.RunsB)
	c.grade(float64(n), math.Inf(1), math.Inf(1), text)
	if n < 4 || k.SmallestP > 0.05 {
		c.Status = Warn
	}
}
