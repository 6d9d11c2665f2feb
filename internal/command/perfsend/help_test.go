package perfsend_test

import (
	"bytes"
	"regexp"
	"slices"
	"strings"
	"testing"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfsend"
)

// Who asks --help how to send durable messages of 300 bytes at a rate in transactions finds all of it in the examples, and among the
// ten flags that stand first.
func TestHelpHasFirstWhatMattersFirst(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	if code := cli.Run(&cli.Env{Stdout: &out, Stderr: &out, Getenv: func(string) string { return "" }}, perfsend.New, []string{"--help"}); code != 0 {
		t.Fatalf("exit %d: %s", code, &out)
	}
	usage := out.String()
	_, rest, ok := strings.Cut(usage, "\nLoad:\n")
	group, _, ok2 := strings.Cut(rest, "\n\n")
	if !ok || !ok2 {
		t.Fatalf("no group Load in\n%s", usage)
	}
	var first []string
	for _, m := range regexp.MustCompile(`(?m)^ +(?:-\w, )? *--([a-z-]+)`).FindAllStringSubmatch(group, -1) {
		first = append(first, m[1])
	}
	if want := []string{"rate", "duration", "count", "size", "durable", "tx", "max-pending", "producers", "connections", "num-destinations"}; !slices.Equal(first, want) {
		t.Errorf("the first flags are %v, want %v", first, want)
	}
	if !strings.Contains(usage, "perf-send -r 5k -s 300 --durable --tx 10 queue://bench") {
		t.Error("no example of durable messages in transactions")
	}
}
