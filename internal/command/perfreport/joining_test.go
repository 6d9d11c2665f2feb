package perfreport_test

import (
	"strings"
	"testing"

	joinsynth "amqpperf/internal/analysis/join/synth"
	"amqpperf/internal/cli"
)

// Raw logs are joined as perf-merge would do it with the same flags.
func TestJoiningFlags(t *testing.T) {
	t.Parallel()
	names, _, err := joinsynth.Spec{Messages: 1000, Producers: 1}.Write(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	with := func(args ...string) result {
		return perfReport(t, "", append(append([]string{"-q"}, args...), names...)...)
	}
	for name, args := range map[string][]string{
		"default": nil, "memory": {"--max-memory", "64MiB"}, "auto": {"--clock", "auto"}, "none": {"--clock", "none"},
	} {
		if r := with(args...); r.code != cli.ExitOK || !strings.Contains(r.stdout, "intended 1,000") {
			t.Errorf("%s: %d %s\n%s", name, r.code, r.stderr, r.stdout)
		}
	}
	aligned, alone := with("-f", "json"), with("-f", "json", "--clock", "none")
	if !strings.Contains(aligned.stdout, `"source":"same-boot"`) || strings.Contains(alone.stdout, `"source":"same-boot"`) {
		t.Errorf("--clock none does not reach the join:\n%.3000s\n%.3000s", aligned.stdout, alone.stdout)
	}
	if r := with("--max-memory", "1MiB"); r.code != cli.ExitUsage || !strings.Contains(r.stderr, "--max-memory 1MiB: at least 64MiB") {
		t.Errorf("%d %s", r.code, r.stderr)
	}
	if r := with("--clock", "sooner"); r.code != cli.ExitUsage || !strings.Contains(r.stderr, "HOST=OFFSET") {
		t.Errorf("%d %s", r.code, r.stderr)
	}
	for _, flag := range [][]string{{"--clock", "none"}, {"--max-memory", "1GiB"}} {
		r := perfReport(t, "", append([]string{"-q", parquet(t, "merged.parquet", stall())}, flag...)...)
		if r.code != cli.ExitUsage || !strings.Contains(r.stderr, flag[0]+": ") || !strings.Contains(r.stderr, "is joined already") {
			t.Errorf("%v: %d %s", flag, r.code, r.stderr)
		}
	}
}
