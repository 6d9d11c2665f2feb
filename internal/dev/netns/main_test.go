package netns_test

import (
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfrecv"
	"amqpperf/internal/command/perfsend"
	"amqpperf/timestamp"
)

// What a process that is this binary has to do: the program and its arguments, and how
// wrong its clock is, as "OFFSET PPM".
const (
	asProcess = "PERF_NETNS_TEST_ARGS"
	skewed    = "PERF_NETNS_TEST_SKEW"
)

func TestMain(m *testing.M) {
	if args := strings.Fields(os.Getenv(asProcess)); len(args) > 0 {
		os.Exit(program(args[0], args[1:]))
	}
	os.Exit(m.Run())
}

// program is perf-send or perf-recv, the real ones but for their clock.
func program(name string, args []string) int {
	env := cli.OSEnv()
	if text := os.Getenv(skewed); text != "" {
		var offset, ppm int64
		if _, err := fmt.Sscan(text, &offset, &ppm); err != nil {
			fmt.Fprintln(os.Stderr, err)
			return cli.ExitUsage
		}
		env.Clock = func() *timestamp.Clock { return timestamp.NewClock().Skewed(time.Duration(offset), float64(ppm)) }
	}
	if name == "perf-send" {
		return cli.Run(env, perfsend.New, args)
	}
	return cli.Run(env, perfrecv.New, args)
}
