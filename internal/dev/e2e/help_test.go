package e2e

import (
	"bytes"
	"testing"

	"amqpperf/internal/cli"
	"amqpperf/internal/dev/golden"
)

// TestHelp shows what a change does to the help that users read.
func TestHelp(t *testing.T) {
	t.Parallel()
	for name, construct := range commands() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			var stdout, stderr bytes.Buffer
			env := &cli.Env{Stdin: &bytes.Buffer{}, Stdout: &stdout, Stderr: &stderr, Getenv: func(string) string { return "" }}
			if code := cli.Run(env, construct, []string{"--help"}); code != cli.ExitOK || stderr.Len() > 0 {
				t.Errorf("exit status %d, stderr %q", code, stderr.String())
			}
			golden.String(t, "help/"+name, stdout.String())
		})
	}
}
