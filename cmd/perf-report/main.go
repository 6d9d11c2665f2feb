// Perf-report turns logs into numbers, histogram logs and pictures.
package main

import (
	"os"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfreport"
)

func main() { os.Exit(cli.Main(perfreport.New)) }
