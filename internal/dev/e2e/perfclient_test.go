package e2e

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"testing"

	"amqpperf/internal/cli"
)

// TestClientKnowsEveryFlag: whatever perf-send and perf-recv can be asked for can be asked of perf-client, but for what
// is no run of both.
func TestClientKnowsEveryFlag(t *testing.T) {
	t.Parallel()
	script, err := os.ReadFile(filepath.Join("..", "..", "..", "scripts", "perf-client"))
	if err != nil {
		t.Fatal(err)
	}
	without := []string{"calibrate", "watch-only", "unsubscribe", "version"}
	for _, name := range []string{"perf-send", "perf-recv"} {
		env := &cli.Env{Getenv: func(string) string { return "" }}
		usage := commands()[name](env).Flags().FlagUsages()
		flags := regexp.MustCompile(`(?m)^ +(?:-[a-zA-Z], |    )--([a-z0-9-]+)`).FindAllStringSubmatch(usage, -1)
		if len(flags) < 50 {
			t.Fatalf("%d flags of %s", len(flags), name)
		}
		for _, flag := range flags {
			known := regexp.MustCompile(`(?m)--(recv-)?` + regexp.QuoteMeta(flag[1]) + `([^a-z-]|$)`).Match(script)
			if !known && !slices.Contains(without, flag[1]) {
				t.Errorf("scripts/perf-client does not know --%s of %s", flag[1], name)
			}
		}
	}
}
