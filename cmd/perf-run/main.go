// Perf-run repeats, sweeps and interleaves runs of the other programs.
package main

import (
	"os"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfrun"
)

func main() { os.Exit(cli.Main(perfrun.New)) }
