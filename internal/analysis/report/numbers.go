package report

import (
	"amqpperf/internal/analysis/report/words"
	"amqpperf/internal/units"
)

func count(n int64) string { return words.Count(n) }

func messages(n int64) string { return words.Messages(n) }

func perSecond(f float64) string { return words.PerSecond(f) }

func percent(share float64) string { return words.Percent(share) }

func plain(s string) string { return words.Plain(s) }

// latency prints a span of a float.
func latency(f float64) string { return units.Latency(int64(f)) }
