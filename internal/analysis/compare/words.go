package compare

import (
	"fmt"
	"math"
	"strings"

	"amqpperf/internal/analysis/report/words"
	"amqpperf/internal/units"
)

// verdict is the comparison in a sentence or two.
func (r *Result) verdict() string {
	var better, worse, same []string
	compared := 0
	for _, row := range r.Rows {
		switch row.Verdict {
		case Better:
			better = append(better, row.short())
		case Worse:
			worse = append(worse, row.short())
		case NoDiff, TooSmall:
			same = append(same, row.Metric)
		}
		if row.P != nil {
			compared++
		}
	}
	head := fmt.Sprintf("%s against %s, %s against %s: ", r.New, r.Base, runs(r.Runs[1]), runs(r.Runs[0]))
	switch {
	case compared == 0:
		return head + "nothing could be compared"
	case r.Runs[0] == 1 && r.Runs[1] == 1:
		return head + "one run a side says nothing about the difference between runs; repeat them, in turns, five times or more"
	case r.Smallest > Alpha:
		return head + fmt.Sprintf("no difference can be significant with so few runs: the smallest adjusted p is %s for %s; use %d runs a side or more",
			probability(r.Smallest), numbers(compared), r.needed(compared))
	}
	var parts []string
	if len(better) > 0 {
		parts = append(parts, "better: "+strings.Join(better, ", "))
	}
	if len(worse) > 0 {
		parts = append(parts, "worse: "+strings.Join(worse, ", "))
	}
	if len(same) > 0 {
		parts = append(parts, "no difference found in "+strings.Join(same, ", ")+r.power())
	}
	return head + strings.Join(parts, "; ")
}

// needed is the least number of runs a side with which k numbers can be
// significant.
func (r *Result) needed(k int) int {
	for n := 4; ; n++ {
		if float64(k)*SmallestP(n, n) <= Alpha {
			return n
		}
	}
}

// power says which change would have been found in what shows none.
func (r *Result) power() string {
	lo, hi := math.Inf(1), 0.0
	for _, row := range r.Rows {
		if row.Verdict == NoDiff && row.Detectable != nil {
			lo, hi = min(lo, *row.Detectable), max(hi, *row.Detectable)
		}
	}
	switch {
	case hi == 0:
		return ""
	case hi-lo < 0.001:
		return fmt.Sprintf(" (a change of %s would have been found four times out of five)", unsigned(hi))
	}
	return fmt.Sprintf(" (changes of %s to %s would have been found four times out of five)", unsigned(lo), unsigned(hi))
}

// LeastDetectable is the smallest change that would be found in any of the
// numbers, 0 if none would.
func (r *Result) LeastDetectable() float64 {
	least := 0.0
	for _, row := range r.Rows {
		if row.Detectable != nil && (least == 0 || *row.Detectable < least) {
			least = *row.Detectable
		}
	}
	return least
}

func (r *Row) short() string {
	return fmt.Sprintf("%s %s %s", r.Metric, signed(*r.Change), r.interval())
}

// interval prints the 95 % interval of the change.
func (r *Row) interval() string {
	switch {
	case r.Change == nil:
		return ""
	case r.Low == nil && r.High == nil:
		return "[unlimited]"
	case r.Low == nil:
		return "[.. " + signed(*r.High) + "]"
	case r.High == nil:
		return "[" + signed(*r.Low) + " ..]"
	}
	return "[" + signed(*r.Low) + " .. " + signed(*r.High) + "]"
}

func runs(n int) string {
	if n == 1 {
		return "1 run"
	}
	return fmt.Sprintf("%d runs", n)
}

func numbers(n int) string {
	if n == 1 {
		return "1 number"
	}
	return fmt.Sprintf("%d numbers", n)
}

// signed prints a relative change with its sign.
func signed(f float64) string {
	if math.Abs(f) >= 10 {
		return fmt.Sprintf("%+.0f %%", f*100)
	}
	if math.Abs(f) < 0.0005 {
		return "0.0 %"
	}
	return fmt.Sprintf("%+.1f %%", f*100)
}

func unsigned(f float64) string {
	switch p := f * 100; {
	case p < 0.1:
		return fmt.Sprintf("%.2g %%", p)
	case p < 10:
		return fmt.Sprintf("%.1f %%", p)
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

func probability(p float64) string {
	if p < 0.001 {
		return fmt.Sprintf("%.1g", p)
	}
	return fmt.Sprintf("%.3f", p)
}

// amount prints a value in its unit.
func amount(v float64, unit string) string {
	if unit == "ns" {
		return units.Latency(int64(math.Round(v)))
	}
	return words.PerSecond(v)
}
