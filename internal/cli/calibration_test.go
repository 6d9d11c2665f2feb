package cli_test

import (
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/spf13/pflag"

	"amqpperf/format"
	"amqpperf/internal/cli"
	"amqpperf/timestamp"
)

func cacheEnv(vars map[string]string) *cli.Env {
	return &cli.Env{Getenv: func(k string) string { return vars[k] }}
}

// What is kept is found again, by the same host only, and by BaseMeta too.
func TestCalibrationIsKept(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	env := cacheEnv(map[string]string{"XDG_CACHE_HOME": dir, "HOME": "/nowhere"})
	host, err := os.Hostname()
	if err != nil {
		t.Skip(err)
	}
	c := &format.Calibration{
		At: "2026-05-01T12:00:00Z", Host: host, Kernel: cli.Kernel(), Go: runtime.Version(), Version: cli.Version(), Timer: "timerfd",
		Target: format.Target{Floors: map[string]format.Floor{"lag": {P50: 1, P99: 2, Max: 3}}, MaxRate: 1000.5},
	}
	if got := cli.Calibration(env, host); got != nil {
		t.Errorf("before it was made: %+v", got)
	}
	path, err := cli.KeepCalibration(env, c)
	if err != nil || path != filepath.Join(dir, "amqpperf", "calibration.json") {
		t.Fatal(path, err)
	}
	if d := cmp.Diff(c, cli.Calibration(env, host)); d != "" {
		t.Error(d)
	}
	if got := cli.Calibration(env, host+"x"); got != nil {
		t.Errorf("on another host: %+v", got)
	}
	flags := &cli.RunFlags{}
	flags.Register(pflag.NewFlagSet("", pflag.ContinueOnError), env, "")
	m, err := cli.BaseMeta("perf-x", "r", timestamp.NewClock(), flags)
	if err != nil {
		t.Fatal(err)
	}
	got, err := m.Calibration()
	if d := cmp.Diff(c, got); d != "" || err != nil {
		t.Error(d, err)
	}

	c.Kernel, c.Go = "0.1", "go1.0"
	if _, err := cli.KeepCalibration(env, c); err != nil {
		t.Fatal(err)
	}
	if got := cli.Calibration(env, host); got == nil || !slices.Equal(got.Differs, []string{"kernel", "go"}) {
		t.Errorf("after an upgrade: %+v", got)
	}
	if list, err := os.ReadDir(filepath.Dir(path)); err != nil || len(list) != 1 {
		t.Errorf("%v, %v: want one file", list, err)
	}
}

func TestCalibrationThatCannotBeReadIsNone(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := os.MkdirAll(filepath.Join(dir, ".cache", "amqpperf"), 0o755); err != nil {
		t.Fatal(err)
	}
	env := cacheEnv(map[string]string{"HOME": dir})
	for _, text := range []string{"", "{", "[]", "{}", `{"at": 1}`} {
		if err := os.WriteFile(filepath.Join(dir, ".cache", "amqpperf", "calibration.json"), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := cli.Calibration(env, ""); got != nil {
			t.Errorf("%q: %+v", text, got)
		}
	}
	if _, err := cli.KeepCalibration(cacheEnv(nil), &format.Calibration{}); err == nil {
		t.Error("kept, and nobody knows where")
	}
	if got := cli.Calibration(nil, ""); got != nil {
		t.Errorf("without an environment: %+v", got)
	}
}
