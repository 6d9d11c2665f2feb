package perfrecv_test

import (
	"flag"
	"fmt"
	"os"
	"strings"
	"testing"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfrecv"
)

// asProcess has the arguments of a perf-recv that this binary is to be.
const asProcess = "PERF_RECV_TEST_ARGS"

// These tests wait for idle times most of the time: more of them than there are
// processors may do so together.
func TestMain(m *testing.M) {
	if args := os.Getenv(asProcess); args != "" {
		os.Args = append([]string{"perf-recv"}, strings.Fields(args)...)
		os.Exit(cli.Main(perfrecv.New))
	}
	flag.Parse()
	if err := flag.Set("test.parallel", "8"); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(m.Run())
}
