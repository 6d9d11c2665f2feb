package compare

import (
	"bufio"
	"fmt"
	"io"
	"maps"
	"math"
	"slices"
	"strings"
	"unicode"

	"amqpperf/internal/analysis/report"
	"amqpperf/internal/analysis/report/words"
)

// Bench writes reports in the benchmark format of Go (golang.org/design/14313),
// so that benchstat reads them: a line for each run, the name and the labels as
// configuration (benchstat -col build -ignore name). Numbers
// that may not be used are left out, each with the reason in a line that
// benchstat passes over.
type Bench struct {
	w       *bufio.Writer
	started bool
	labels  map[string]string // as they stand in the output
}

// NewBench returns a writer.
func NewBench(w io.Writer) *Bench {
	return &Bench{w: bufio.NewWriter(w), labels: map[string]string{}}
}

// Add writes a run.
func (b *Bench) Add(r *report.Report) {
	if !b.started {
		b.started = true
		for _, name := range []string{"offered", "sent", "acked", "received"} {
			fmt.Fprintf(b.w, "Unit %s-msg/s better=higher\n", name)
		}
	}
	now := map[string]string{}
	if r.Name != "" {
		now["name"] = oneLine(r.Name)
	}
	for k, v := range r.Labels {
		now[configKey(k)] = oneLine(v)
	}
	for _, k := range slices.Sorted(maps.Keys(b.labels)) {
		if _, ok := now[k]; !ok {
			fmt.Fprintf(b.w, "%s:\n", k) // takes the setting back
		}
	}
	for _, k := range slices.Sorted(maps.Keys(now)) {
		if v, ok := b.labels[k]; !ok || v != now[k] {
			fmt.Fprintf(b.w, "%s: %s\n", k, now[k])
		}
	}
	b.labels = now
	values, left := benchValues(r)
	for _, l := range left {
		fmt.Fprintf(b.w, "# %s\n", l)
	}
	if len(values) == 0 {
		fmt.Fprintf(b.w, "# %s: no number to show\n", oneLine(r.Title()))
		return
	}
	n := max(1, r.Counts.Acked, r.Counts.Received)
	fmt.Fprintf(b.w, "Benchmark%s %d %s\n", benchName(r), n, strings.Join(values, " "))
}

// Flush ends the output.
func (b *Bench) Flush() error { return b.w.Flush() }

// benchName is the loop: the name of a run mostly tells the sides of a
// comparison apart, and benchstat compares benchmarks of one name.
func benchName(r *report.Report) string {
	if r.Loop == report.Closed {
		return "Closed"
	}
	return "Paced"
}

func benchValues(r *report.Report) (values, left []string) {
	for _, p := range []struct {
		name string
		v    *float64
	}{{"offered", r.Rates.Offered}, {"sent", r.Rates.Sent}, {"acked", r.Rates.Acked}, {"received", r.Rates.Received}} {
		if p.v != nil && (p.name != "offered" || r.Loop != report.Closed) {
			values = append(values, fmt.Sprintf("%.9g %s-msg/s", *p.v, p.name))
		}
	}
	for _, m := range r.Metrics {
		switch m.Name {
		case "service", "transit":
		case "response", "e2e":
			if r.Loop == report.Closed {
				continue
			}
		default:
			continue
		}
		for _, q := range m.Quantiles {
			unit := fmt.Sprintf("%s-p%s-ns", m.Name, q.P)
			switch {
			case q.Value != nil:
				values = append(values, fmt.Sprintf("%d %s", *q.Value, unit))
			case m.N > 0:
				left = append(left, fmt.Sprintf("%s: %s is left out: %s", oneLine(r.Title()), unit, q.Status))
			}
		}
		if m.Mean != nil && m.Infinite == 0 && !math.IsNaN(*m.Mean) {
			values = append(values, fmt.Sprintf("%.9g %s-mean-ns", *m.Mean, m.Name))
		}
	}
	return values, left
}

// configKey makes a key of the format: lower case, no blank.
func configKey(k string) string {
	k = strings.ToLower(word(k))
	if k == "" || k[0] < 'a' || k[0] > 'z' {
		k = "label-" + k
	}
	return strings.ReplaceAll(k, ":", "-")
}

// word takes blanks and control characters out.
func word(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsSpace(r) || !unicode.IsPrint(r) || r == '/' || r == unicode.ReplacementChar {
			return '_'
		}
		return r
	}, s)
}

func oneLine(s string) string { return strings.TrimSpace(words.Plain(s)) }
