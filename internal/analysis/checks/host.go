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

func meanOf(samples []reduce.Sample) float64 {
	if len(samples) == 0 {
		return math.NaN()
	}
	var sum float64
	for _, s := range samples {
		sum += float64(s.Value) / float64(len(samples))
	}
	return sum
}

// perProcess divides samples by process, in order.
func perProcess(samples []reduce.Sample) (all [][]reduce.Sample) {
	for _, s := range samples {
		for len(all) <= s.Process {
			all = append(all, nil)
		}
		all[s.Process] = append(all[s.Process], s)
	}
	return slices.DeleteFunc(all, func(p []reduce.Sample) bool { return len(p) == 0 })
}

// during keeps what was sampled while the selected messages were under way.
func during(d *reduce.Data, samples []reduce.Sample) []reduce.Sample {
	var out []reduce.Sample
	for _, s := range samples {
		if s.At >= d.Window.First && s.At <= d.Integrity.LastInstant+int64(time.Second) {
			out = append(out, s)
		}
	}
	return out
}

// hiccups compares how late an idle goroutine wakes with the headline's p99.9.
// The log has a p99.9 for each second; that of the run is at least their median
// (half of the seconds with two of a thousand ticks above it make one of a
// thousand of all), which is what is graded. The worst second is told.
func hiccups(in *Input, c *Check) {
	d := in.Data
	late := during(d, d.Side.Samples["tool.hiccup_p999_ns"])
	steal := during(d, d.Side.Samples["host.cpu_steal_ppm"])
	if len(late) == 0 && len(steal) == 0 {
		c.skip("the logs have no samples of hiccups")
		return
	}
	var said []string
	var level, longest float64
	for _, p := range perProcess(late) {
		var values []float64
		for _, s := range p {
			values = append(values, float64(s.Value))
		}
		level = max(level, stats.Median(values))
	}
	for _, s := range during(d, d.Side.Samples["tool.hiccup_max_ns"]) {
		longest = max(longest, float64(s.Value))
	}
	m := headline(d)
	c.Status = OK
	top, infinite, ok := d.Metrics[m].Approx(stats.MustPercentiles("99.9")[0])
	share := math.NaN()
	if len(late) > 0 && ok && !infinite && top > 0 {
		share = level / float64(top)
		said = append(said, fmt.Sprintf("hiccups p99.9 %s of a second (longest %s), %s of %s p99.9 %s",
			units.Latency(int64(level)), units.Latency(int64(longest)), words.Percent(share), m, units.Latency(top)))
	}
	stolen := math.NaN()
	if len(steal) > 0 {
		stolen = meanOf(steal) / 1e6
		said = append(said, fmt.Sprintf("%s of the CPU stolen by other guests", words.Percent(stolen)))
	}
	if len(said) == 0 {
		c.skip("no latency to compare hiccups with")
		return
	}
	c.grade(share, 0.1, 0.5, strings.Join(said, "; "))
	switch {
	case stolen > 0.05:
		c.atLeast(Fail)
	case stolen > 0.005:
		c.atLeast(Warn)
	}
}

// headroom is the CPU of a tool's process over the processors it may use.
func headroom(in *Input, c *Check) {
	d := in.Data
	cores := perProcess(d.Side.Samples["tool.gomaxprocs_count"])
	var worst float64
	seen := 0
	for i, p := range perProcess(during(d, d.Side.Samples["tool.cpu_ns"])) {
		first, last := p[0], p[len(p)-1]
		if last.At-first.At < int64(time.Second)/2 || last.Value < first.Value {
			continue
		}
		n := 1.0
		if i < len(cores) && len(cores[i]) > 0 {
			n = float64(max(1, cores[i][0].Value))
		}
		seen++
		worst = max(worst, float64(last.Value-first.Value)/float64(last.At-first.At)/n)
	}
	if seen == 0 {
		c.skip("the logs have no samples of the tool's CPU")
		return
	}
	c.grade(worst, 0.6, 0.85, fmt.Sprintf("the busiest of %d processes used %s of its processors", seen, words.Percent(worst)))
}

const calibrationAge = 7 * 24 * time.Hour

// floor compares the latencies with what the tool measures of a peer that
// answers at once, as a calibration on the same host found it.
func floor(in *Input, c *Check) {
	var worst float64
	var at string
	var notes []string
	known := false
	for _, l := range in.Data.Logs {
		if l.Calibration == nil {
			continue
		}
		known = true
		notes = append(notes, outdated(l, in.Data.First)...)
		for _, m := range reduce.Metrics() {
			low, ok := l.Calibration.Floors[m.String()]
			if !ok {
				continue
			}
			for p, ns := range map[string]int64{"50": low.P50, "99": low.P99} {
				share, text := floorShare(in.Data, m, p, ns)
				if share > worst || (share == worst && text < at) {
					worst, at = share, text
				}
			}
		}
	}
	if !known {
		c.skip("the logs carry no calibration")
		return
	}
	if at == "" {
		at = "the calibration has no metric of this run"
	}
	slices.Sort(notes)
	notes = slices.Compact(notes)
	c.grade(worst, 0.2, 0.5, strings.Join(append([]string{at}, notes...), "; "))
	if len(notes) > 0 {
		c.atLeast(Warn)
	}
}

// floorShare returns how much of a quantile of the run the tool's floor is; 0 if the run
// has no such quantile.
func floorShare(d *reduce.Data, m reduce.Metric, p string, floor int64) (share float64, text string) {
	if d.Metrics[m].Distribution == nil {
		return 0, ""
	}
	v, infinite, ok := d.Metrics[m].Approx(stats.MustPercentiles(p)[0])
	if !ok || infinite || v <= 0 {
		return 0, ""
	}
	return float64(floor) / float64(v), fmt.Sprintf("of %s p%s %s the tool's own floor is %s", m, p, units.Latency(v), units.Latency(floor))
}

// outdated says why a calibration may not hold for a log.
func outdated(l reduce.Source, first int64) (notes []string) {
	k := l.Calibration
	if k.Host != "" && l.Host != "" && k.Host != l.Host {
		notes = append(notes, "it was made on another host")
	}
	if made, err := time.Parse(time.RFC3339, k.At); err != nil || time.Unix(0, first).Sub(made) > calibrationAge {
		notes = append(notes, "it is older than seven days")
	}
	if len(k.Differs) > 0 {
		notes = append(notes, "since then changed: "+strings.Join(k.Differs, ", "))
	}
	return notes
}
