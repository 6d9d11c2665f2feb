// Perf-broker is an in-memory AMQP 1.0 broker with scripted behaviour, for calibration and tests.
package main

import (
	"os"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfbroker"
)

func main() { os.Exit(cli.Main(perfbroker.New)) }
