// Gendocs writes what is generated of the documentation: the manual page and the completion scripts of each command, from the
// flags that the command itself defines. Usage: gendocs FOLDER.
package main

import (
	"fmt"
	"os"

	"amqpperf/internal/command/perfbroker"
	"amqpperf/internal/command/perfmerge"
	"amqpperf/internal/command/perfrecv"
	"amqpperf/internal/command/perfreport"
	"amqpperf/internal/command/perfrun"
	"amqpperf/internal/command/perfsend"
)

func main() {
	if len(os.Args) != 2 {
		fmt.Fprintln(os.Stderr, "usage: gendocs FOLDER")
		os.Exit(2)
	}
	commands := []constructor{perfsend.New, perfrecv.New, perfmerge.New, perfreport.New, perfbroker.New, perfrun.New}
	if err := generate(os.Args[1], commands); err != nil {
		fmt.Fprintln(os.Stderr, "gendocs:", err)
		os.Exit(1)
	}
}
