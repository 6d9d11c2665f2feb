package live

import (
	"fmt"
	"strings"

	"amqpperf/internal/units"
)

// Short returns p50, p99 and maximum, "-" if there are no values.
func (h *Histogram) Short() string {
	if h.n == 0 {
		return "-"
	}
	return fmt.Sprintf("p50 %s p99 %s max %s", units.Latency(h.Quantile(0.5)), units.Latency(h.Quantile(0.99)), units.Latency(h.max))
}

// Long returns the mean, quantiles and the maximum, "-" if there are no values.
func (h *Histogram) Long() string {
	if h.n == 0 {
		return "-"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "mean %s", units.Latency(int64(h.Mean())))
	for _, q := range quantiles() {
		fmt.Fprintf(&b, " p%s %s", q.percent, units.Latency(h.Quantile(q.p)))
	}
	fmt.Fprintf(&b, " max %s", units.Latency(h.max))
	return b.String()
}

// quantile is a quantile that is shown.
type quantile struct {
	percent string
	p       float64
}

func quantiles() []quantile {
	return []quantile{{"50", 0.5}, {"90", 0.9}, {"99", 0.99}, {"99.9", 0.999}, {"99.99", 0.9999}}
}
