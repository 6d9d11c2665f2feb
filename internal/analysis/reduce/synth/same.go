package synth

import (
	"slices"

	"amqpperf/internal/analysis/stats"
)

// SameDistribution reports whether two distributions, either of which may be nil,
// have the same moments and counts: reflect.DeepEqual would look at a hundred
// thousand counts that are 0.
func SameDistribution(a, b *stats.Distribution) bool {
	if a == nil || b == nil {
		return a == b
	}
	return a.Moments == b.Moments && a.Infinite() == b.Infinite() &&
		slices.Equal(slices.Collect(a.Histogram().Buckets), slices.Collect(b.Histogram().Buckets))
}
