package join

import (
	"fmt"
	"strings"

	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/units"
)

// Check is the verdict of a check that the join makes.
type Check struct {
	ID     string       `json:"id"`
	Status clock.Status `json:"status"`
	Text   string       `json:"text"`
}

// check judges what is known of the clocks: C14 synchronisation, C15 steps, C16
// the bound against the median one-way time, C17 causality.
func (c *ClockAccount) check() {
	if c.Evidence == nil {
		return
	}
	add := func(id string, s clock.Status, text string, args ...any) {
		c.Checks = append(c.Checks, Check{id, s, fmt.Sprintf(text, args...)})
	}
	if worst, ppm, s := c.Evidence.Synchronised(); worst == nil {
		add("C14", s, "the logs have no state of the clocks")
	} else {
		add("C14", s, "maxerror %s, rate corrected by %.3g ppm", units.Latency(*worst), ppm)
	}
	if ns, s := c.Evidence.Steps(); s == clock.Skip {
		add("C15", s, "the logs have no state of the clocks")
	} else {
		add("C15", s, "largest step %s", units.Latency(ns))
	}
	switch {
	case c.Causality.Rows == 0:
		add("C16", clock.Skip, "no arrivals")
	case c.BoundNS == nil:
		add("C16", c.Evidence.Offset(-1, c.MedianTransitNS), "the bound is unknown")
	default:
		add("C16", c.Evidence.Offset(*c.BoundNS, c.MedianTransitNS), "bound %s, median one-way time %s", units.Latency(*c.BoundNS), units.Latency(c.MedianTransitNS))
	}
	add("C17", c.Causality.Status(), "%d of %d arrivals before they were sent, %d by more than the bound, %d with an unknown bound",
		c.Causality.Negative, c.Causality.Rows, c.Causality.Beyond, c.Causality.Unknown)
}

// table writes what is known of every process and pair of processes.
func (c *ClockAccount) table(b *strings.Builder) {
	e := c.Evidence
	if e == nil || len(e.Processes) < 2 {
		return
	}
	processText(b, e.Processes)
	for _, p := range e.Pairs {
		fmt.Fprintf(b, "probes between %s and %s: bound %s, median %s, %d limits in %d windows, %d of them bent, %d steps, slope %.3g ppm\n",
			printable(p.A), printable(p.B), units.Latency(p.BoundNS), units.Latency(p.MedianNS), p.Limits, p.Windows, p.Infeasible, len(p.Steps), p.SlopePPM)
	}
	for _, l := range e.Loops {
		fmt.Fprintf(b, "loop of %s and %s: residual %s of %s allowed\n", printable(l.A), printable(l.B), units.Latency(l.ResidualNS), units.Latency(l.BoundNS))
	}
	for _, k := range c.Checks {
		fmt.Fprintf(b, "%s %s: %s\n", k.ID, k.Status, k.Text)
	}
}

// eachProcess is up to how many processes get a line of their own.
const eachProcess = 32

// processText tells what is known of every clock, or of many how many share it.
func processText(b *strings.Builder, processes []clock.ProcessEvidence) {
	var texts []string
	count := map[string]int{}
	for i := range processes {
		text := processState(&processes[i])
		if len(processes) <= eachProcess {
			fmt.Fprintf(b, "clock of %s: %s\n", printable(processes[i].Name), text)
			continue
		}
		if count[text]++; count[text] == 1 {
			texts = append(texts, text)
		}
	}
	for _, text := range texts {
		fmt.Fprintf(b, "clocks of %d processes: %s\n", count[text], text)
	}
}

func processState(p *clock.ProcessEvidence) string {
	text := string(p.Source)
	if p.MaxErrorNS != nil {
		text += fmt.Sprintf(", maxerror %s, rate %.3g ppm", units.Latency(*p.MaxErrorNS), p.AdjustmentPPM)
	}
	if p.StepNS > 0 {
		text += fmt.Sprintf(", step %s", units.Latency(p.StepNS))
	}
	if p.Rejected > 0 {
		text += fmt.Sprintf(", %d impossible rows", p.Rejected)
	}
	return text
}
