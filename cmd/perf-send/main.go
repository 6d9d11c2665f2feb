// Perf-send loads an AMQP 1.0 broker and logs every message sent.
package main

import (
	"os"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfsend"
)

func main() { os.Exit(cli.Main(perfsend.New)) }
