package reduce_test

import (
	"testing"

	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/reduce/synth"
)

// K13: both sides of Little's identity agree on the logs of the other known
// answers: a stall, a freeze, overload, a server that dies, a window.
func TestK13Little(t *testing.T) {
	t.Parallel()
	for name, q := range map[string]synth.Queue{
		"K1":  {N: 2000, Interval: 1e6, Service: ms / 2, StallAt: 500 * ms, StallFor: 100 * ms, Serial: true, Transit: ms},
		"K2":  {N: 2000, Interval: 1e6, StallAt: 500 * ms, StallFor: 100 * ms, Serial: true, Transit: ms},
		"K3":  {N: 1000, Interval: 1e6, Service: 10 * ms, Transit: ms},
		"K5":  {N: 2000, Interval: 1e6 / 1.2, Service: ms, Serial: true, Transit: ms},
		"K6":  {N: 2000, Interval: 1e6, Service: ms / 10, Serial: true, DieAt: 1500 * ms, Transit: ms},
		"K12": {N: 2000, Interval: 125_000, Service: 0, Network: ms, Window: 10, Transit: ms},
	} {
		d, err := reduce.Reduce(q.Run().Reader(1000), reduce.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if d.Integrity.LittleRight <= 0 {
			t.Errorf("%s: nothing in flight", name)
		}
		near(t, name, d.Integrity.LittleLeft, d.Integrity.LittleRight, 1e-9)
	}
}
