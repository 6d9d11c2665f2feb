package units

import (
	"fmt"
	"time"
)

// Latency prints a latency in ns with three significant digits and the unit
// that suits it, ASCII only: "850ns", "12.3us", "4.56ms", "1.20s".
func Latency(ns int64) string {
	v := float64(ns)
	abs := max(v, -v)
	switch {
	case abs < 999.5:
		return fmt.Sprintf("%dns", ns)
	case abs < 999.5e3:
		return significant(v/1e3) + "us"
	case abs < 999.5e6:
		return significant(v/1e6) + "ms"
	}
	return significant(v/1e9) + "s"
}

func significant(v float64) string {
	switch abs := max(v, -v); {
	case abs < 9.995:
		return fmt.Sprintf("%.2f", v)
	case abs < 99.95:
		return fmt.Sprintf("%.1f", v)
	}
	return fmt.Sprintf("%.0f", v)
}

// Seconds prints a span for people: whole seconds from one minute on.
func Seconds(d time.Duration) string {
	if d >= time.Minute {
		return d.Round(time.Second).String()
	}
	return d.Round(10 * time.Millisecond).String()
}
