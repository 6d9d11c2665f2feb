package checks

import (
	"fmt"
	"math"
	"slices"
	"strings"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/report/words"
	"amqpperf/internal/units"
)

// userSpace are the clock sources that are read without a system call.
func userSpace() []string {
	return []string{"tsc", "kvm-clock", "hyperv_clocksource_tsc_page", "arch_sys_counter"}
}

// clockSource looks at what the clocks are read from, and at the cost of a read
// where the logs have it. The width of the brackets around wall and monotonic
// clock is not that cost: one of the reads in it is a system call by choice.
func clockSource(in *Input, c *Check) {
	var sources []string
	for _, r := range in.Data.Side.Clocks {
		if r.Source != "" && !slices.Contains(sources, r.Source) {
			sources = append(sources, r.Source)
		}
	}
	reads := in.Data.Side.Matching("", "clock_read_ns")
	if len(sources) == 0 && len(reads) == 0 {
		c.skip("the logs do not name their clock source")
		return
	}
	slices.Sort(sources)
	c.Status = OK
	var said []string
	for _, s := range sources {
		if text := words.Plain(s); slices.Contains(userSpace(), s) {
			said = append(said, text)
		} else {
			c.atLeast(Warn)
			said = append(said, text+" (needs a system call)")
		}
	}
	if len(reads) > 0 {
		read := meanOf(reads)
		c.Value = &read
		said = append(said, units.Latency(int64(read))+" a read")
		if read > 200 {
			c.atLeast(Warn)
		}
	}
	c.Text = strings.Join(said, ", ")
}

// crossHost reports whether sender and receiver do not share a clock.
func crossHost(d *reduce.Data) bool {
	if d.Clock.Arrivals == 0 || d.ClockSource == "same-boot" || d.ClockSource == "same-process" {
		return false
	}
	first := ""
	for _, l := range d.Logs {
		if l.BootID == "" {
			return true
		}
		if first != "" && l.BootID != first {
			return true
		}
		first = l.BootID
	}
	return first == ""
}

// stepFloor is what two readings a second apart can differ by without a step.
const stepFloor = 20_000

const (
	unsynchronised = int64(16e9) // the kernel's maxerror when nobody keeps the clock
	nominalTick    = 10_000      // µs
)

// ratePPM is by how much a clock is made to run faster than its crystal.
func ratePPM(r reduce.ClockState) float64 {
	rate := 0.0
	if r.Freq != format.Null {
		rate += float64(r.Freq) / 65536
	}
	if r.Tick != format.Null && r.Tick != 0 {
		rate += float64(r.Tick-nominalTick) * 100
	}
	return rate
}

// clockSync looks at what the kernels say of their clocks. The error counts
// between hosts only: on one, everything is read from one clock, and only its
// rate matters.
func clockSync(in *Input, c *Check) {
	d := in.Data
	var worst int64
	var rate float64
	for _, r := range d.Side.Clocks {
		if r.MaxError != format.Null {
			worst = max(worst, r.MaxError)
		}
		rate = max(rate, math.Abs(ratePPM(r)))
	}
	if len(d.Side.Clocks) == 0 {
		c.skip("the logs have no state of the clocks")
		return
	}
	text := fmt.Sprintf("maxerror %s, rate corrected by %.3g ppm", units.Latency(worst), rate)
	if !crossHost(d) {
		c.grade(0, 0, 0, text+"; one host: the error does not matter")
	} else {
		c.grade(float64(worst), 1e6, math.Inf(1), text)
		if worst >= unsynchronised && d.ClockSource != "probes" {
			c.atLeast(Fail)
		}
	}
	if rate > 500 {
		c.atLeast(Warn)
	}
}

// clockSteps looks for jumps of wall − monotonic between two readings of one
// process, beyond what the rate of the clock and the readings explain.
func clockSteps(in *Input, c *Check) {
	d := in.Data
	var worst, at float64
	pairs := 0
	for i := 1; i < len(d.Side.Clocks); i++ {
		a, b := d.Side.Clocks[i-1], d.Side.Clocks[i]
		if a.Process != b.Process || a.WallOffset == format.Null || b.WallOffset == format.Null || b.At <= a.At {
			continue
		}
		pairs++
		allowed := math.Abs(ratePPM(b)) * 1e-6 * float64(b.At-a.At)
		for _, gap := range []int64{a.Gap, b.Gap} {
			if gap != format.Null {
				allowed += float64(gap)
			}
		}
		if jump := math.Abs(float64(b.WallOffset-a.WallOffset)) - allowed; jump > worst {
			worst, at = jump, float64(b.At-d.First)/1e9
		}
	}
	if pairs == 0 {
		c.skip("the logs have no state of the clocks")
		return
	}
	text := "no step of a wall clock"
	if worst > stepFloor {
		text = fmt.Sprintf("a wall clock stepped by %s at %.3f s", units.Latency(int64(worst)), at)
	}
	limit := 1e6
	if !crossHost(d) {
		limit = math.Inf(1) // stamps are monotonic: on one host a step is not in them
	}
	c.grade(worst, stepFloor, limit, text)
}

func offset(in *Input, c *Check) {
	k := in.Data.Clock
	if k.Arrivals == 0 {
		c.skip("no arrivals")
		return
	}
	if k.Unknown > 0 {
		c.Status, c.Text = Fail, fmt.Sprintf("clock offset unknown for %s of %s arrivals: one-way numbers are withheld", words.Count(k.Unknown), words.Count(k.Arrivals))
		return
	}
	transit, infinite, ok := in.Data.Metrics[reduce.Transit].Approx(median())
	if !ok || infinite || transit <= 0 {
		c.skip("no transit to compare the bound with")
		return
	}
	c.grade(float64(k.Bound)/float64(transit), 0.1, 0.25, fmt.Sprintf("bound %s, transit p50 %s", units.Latency(k.Bound), units.Latency(transit)))
}

func causality(in *Input, c *Check) {
	k := in.Data.Clock
	if k.Arrivals == 0 {
		c.skip("no arrivals")
		return
	}
	c.grade(float64(k.Negative), 0, math.Inf(1), fmt.Sprintf("%s of %s arrivals before they were sent, smallest transit %s", words.Count(k.Negative), words.Count(k.Arrivals), units.Latency(k.MinTransit)))
	if k.Impossible > 0 {
		c.Status = Fail
	}
}
