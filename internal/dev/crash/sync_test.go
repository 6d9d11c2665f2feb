//go:build !race

package crash

import (
	"testing"

	"amqpperf/format"
)

// TestSync: --sync makes the spool reach the disk while recording, and is refused where it cannot be honoured.
func TestSync(t *testing.T) {
	t.Parallel()
	b := newBench(t)
	b.broker()
	for _, policy := range []string{"none", "second", "always"} {
		b.run(0, "perf-send", "-q", "-o", policy+"-send.parquet", "--sync", policy, "-n", "100", "queue://"+policy)
		b.run(0, "perf-recv", "-q", "-o", policy+"-recv.parquet", "--sync", policy, "-n", "100", "queue://"+policy)
		for _, log := range []string{policy + "-send.parquet", policy + "-recv.parquet"} {
			l, err := format.Open(b.path(log))
			b.must(err)
			var counters map[string]int64
			if _, err := l.Meta().JSON(format.KeyCounters, &counters); err != nil {
				t.Fatal(err)
			}
			if n := counters["recorder_syncs"]; (n > 0) != (policy != "none") {
				t.Errorf("%s: %d syncs", log, n)
			}
			b.must(l.Close())
		}
	}
	b.run(2, "perf-send", "--sync", "sometimes", "-n", "1", "queue://q").says("--sync")
	for name, args := range recorderArgs("-") {
		b.run(2, name, append([]string{"--sync", "second"}, args...)...).says("--sync second")
	}
	for name, args := range recorderArgs("/dev/null") {
		b.run(1, name, append([]string{"--sync", "second"}, args...)...).says("/dev/null cannot be synced")
	}
}
