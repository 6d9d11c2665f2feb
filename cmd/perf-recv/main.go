// Perf-recv receives from an AMQP 1.0 broker and logs every delivery.
package main

import (
	"os"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfrecv"
)

func main() { os.Exit(cli.Main(perfrecv.New)) }
