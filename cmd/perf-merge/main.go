// Perf-merge joins send and receive logs by message and accounts for every message.
package main

import (
	"os"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfmerge"
)

func main() { os.Exit(cli.Main(perfmerge.New)) }
