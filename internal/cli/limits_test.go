package cli_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"golang.org/x/sys/unix"

	"amqpperf/internal/cli"
)

// More connections than the system allows are refused before the first is
// opened, with what to do about it.
func TestCheckFiles(t *testing.T) {
	t.Parallel()
	if err := cli.CheckFiles(1); err != nil {
		t.Errorf("one connection: %v", err)
	}
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		t.Skip(err)
	}
	if limit.Cur > math.MaxInt32 {
		t.Skipf("the limit of open files is %d", limit.Cur)
	}
	err := cli.CheckFiles(int(limit.Cur))
	var exit *cli.ExitError
	if !errors.As(err, &exit) || exit.Code != cli.ExitUsage || !strings.Contains(err.Error(), "ulimit -n") || !strings.Contains(err.Error(), "--connections") {
		t.Errorf("%d connections with a limit of %d: %v", limit.Cur, limit.Cur, err)
	}
}
