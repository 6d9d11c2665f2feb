package perfreport

import (
	"github.com/spf13/pflag"

	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/analysis/join"
	"amqpperf/internal/cli"
	"amqpperf/internal/units"
)

// joining says how send and receive logs are joined on the way, as in perf-merge.
type joining struct {
	clock  clock.Policy
	memory units.Size
	asked  string // the first of the flags that was given, "": none
}

// leastMemory is what batches and buffers of a join take at least.
const leastMemory = 64 << 20

func newJoining() joining { return joining{memory: join.DefaultMemory} }

func (j *joining) register(f *pflag.FlagSet) {
	f.Var(&j.clock, "clock", "how clocks are aligned: auto, none, or `HOST=OFFSET±BOUND` (repeatable), as in perf-merge")
	f.Var(&j.memory, "max-memory", "`SIZE` of what the join holds in memory at a time; the rest goes to temporary files")
}

// given notes whether flags were set: they mean nothing for logs that are joined already.
func (j *joining) given(f *pflag.FlagSet) {
	for _, name := range []string{"clock", "max-memory"} {
		if j.asked == "" && f.Changed(name) {
			j.asked = name
		}
	}
}

func (j *joining) validate() error {
	if j.memory < leastMemory {
		return cli.Usagef("--max-memory %s: at least %s is needed", j.memory.String(), units.Size(leastMemory).String())
	}
	return nil
}

// merged refuses the flags for a log that is joined already.
func (j *joining) merged(n named) error {
	if j.asked == "" {
		return nil
	}
	return cli.Usagef("--%s: %s is joined already: give the flag to perf-merge, or the send and receive logs to perf-report", j.asked, display(n.name))
}

func (j *joining) options(run string) join.Options {
	return join.Options{Run: run, Memory: int64(j.memory), Clock: j.clock}
}
