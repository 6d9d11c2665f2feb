package chart

import (
	"math"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func labels(t ticker) string {
	var out []string
	for _, k := range t {
		if k.Label != "" {
			out = append(out, k.Label)
		}
	}
	return strings.Join(out, "|")
}

func TestTickLabels(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, got, want string }{
		{"percentiles", labels(percentileTicks(120_000)), "0 %|50 %|90 %|99 %|99.9 %|99.99 %|99.999 %"},
		{"few values", labels(percentileTicks(10)), "0 %|50 %|75 %|90 %"},
		{"latency", labels(latencyTicks(50e3, 5e6)), "50 µs|100 µs|200 µs|500 µs|1 ms|2 ms|5 ms"},
		{"seven decades", labels(latencyTicks(100, 1e9)), "100 ns|1 µs|10 µs|100 µs|1 ms|10 ms|100 ms|1 s"},
		{"a minute", labels(secondTicks(0, 60)), "0|5|10|15|20|25|30|35|40|45|50|55|60"},
		{"ten minutes", labels(secondTicks(0, 600)), "0|60|120|180|240|300|360|420|480|540|600"},
		{"a moment", labels(secondTicks(0, 0.5)), "0|0.05|0.1|0.15|0.2|0.25|0.3|0.35|0.4|0.45|0.5"},
		{"rates", labels(countTicks(0, 35_000)), "0|5,000|10,000|15,000|20,000|25,000|30,000|35,000"},
		{"below zero", labels(countTicks(-4, 4)), "-4|-3|-2|-1|0|1|2|3|4"},
	} {
		if c.got != c.want {
			t.Errorf("%s: %s, want %s", c.name, c.got, c.want)
		}
	}
}

func TestWriteNumbers(t *testing.T) {
	t.Parallel()
	for ns, want := range map[float64]string{0: "0 ns", 5: "5 ns", 999.4: "999 ns", 1e3: "1 µs", 22_860_000: "22.9 ms", 999_600: "1 ms", 993e6: "993 ms", 1.5e9: "1.5 s", 120e9: "120 s", -3.1e6: "-3.1 ms"} {
		if got := duration(ns); got != want {
			t.Errorf("%g ns is %q, want %q", ns, got, want)
		}
	}
	for v, want := range map[float64]string{0: "0", 1234567: "1,234,567", -5000: "-5,000", 0.5: "0.5", 999: "999"} {
		if got := count(v); got != want {
			t.Errorf("%g is %q, want %q", v, got, want)
		}
	}
}

// Axes hold their data, have at least two labels and never too many, whatever
// the data.
func TestAxesHoldTheData(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		lo := math.Pow(10, rapid.Float64Range(0, 12).Draw(t, "lo"))
		hi := lo * math.Pow(10, rapid.Float64Range(0, 7).Draw(t, "decades"))
		y0, y1 := latencyRange(lo, hi)
		if n := len(latencyTicks(y0, y1).majors()); y0 > lo || y1 < hi || n < 2 || n > 16 {
			t.Fatalf("latency %g to %g: axis %g to %g with %d labels", lo, hi, y0, y1, n)
		}
		end := math.Pow(10, rapid.Float64Range(-6, 8).Draw(t, "seconds"))
		x0, x1 := secondRange(limits{x0: end / 10, x1: end})
		if n := len(secondTicks(x0, x1)); x0 > 0 || x1 < end || n < 2 || n > 14 {
			t.Fatalf("0 to %g s: axis %g to %g with %d labels", end, x0, x1, n)
		}
		top := math.Pow(10, rapid.Float64Range(-3, 12).Draw(t, "top"))
		c0, c1 := countRange(limits{y0: -top * rapid.Float64Range(0, 1).Draw(t, "below"), y1: top})
		if n := len(countTicks(c0, c1)); c0 > 0 || c1 < top || n < 2 || n > 12 {
			t.Fatalf("count %g: axis %g to %g with %d labels", top, c0, c1, n)
		}
	})
}
