package process

import (
	"context"
	"fmt"
	"os/exec"
	"regexp"
	"strings"

	"amqpperf/internal/experiment/plan"
)

// Options asks a program for its options, by its --help: the program at hand is
// the one that knows.
func Options(ctx context.Context, path string) (plan.Options, error) {
	out, err := exec.CommandContext(ctx, path, "--help").Output()
	if err != nil {
		return nil, fmt.Errorf("%s --help: %w", path, err)
	}
	known := ParseHelp(string(out))
	if len(known) == 0 {
		return nil, fmt.Errorf("%s --help: no options in what it prints", path)
	}
	return known, nil
}

// ParseHelp reads the lines of options in a help text: "  -r, --rate rate   text" has a
// value, "      --durable   text" none. One with a value that may be left out, as
// in "--spin when[=auto]", has one.
func ParseHelp(help string) plan.Options {
	line := regexp.MustCompile(`^ {2}(?:-\w, | {4})--([a-z0-9-]+)(?: (\S+))?(?: {2,}|$)`)
	known := plan.Options{}
	for text := range strings.Lines(help) {
		if m := line.FindStringSubmatch(strings.TrimRight(text, "\n")); m != nil {
			switch {
			case m[2] == "":
				known[m[1]] = plan.NoValue
			case strings.Contains(m[2], "[="):
				known[m[1]] = plan.OptionalValue
			default:
				known[m[1]] = plan.NeedsValue
			}
		}
	}
	return known
}
