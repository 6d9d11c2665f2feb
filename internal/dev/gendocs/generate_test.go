package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"amqpperf/internal/cli"
)

// newFake is a command of the form that internal/command packages export.
func newFake(env *cli.Env) *cobra.Command {
	c := &cobra.Command{
		Use: "perf-fake [flags] FILE...", Short: "does nothing", Long: "perf-fake does nothing, at length.", Example: "  perf-fake x",
		Args: cobra.MinimumNArgs(1),
		RunE: func(*cobra.Command, []string) error { return nil },
	}
	c.Flags().StringP("url", "u", "amqp://127.0.0.1:5672", "the broker's `URL`; AMQP_URL is "+env.Getenv("AMQP_URL"))
	return c
}

func TestGenerate(t *testing.T) {
	t.Setenv("AMQP_URL", "amqp://secret")
	directory := t.TempDir()
	if err := generate(directory, []constructor{newFake}); err != nil {
		t.Fatal(err)
	}
	for name, parts := range map[string][]string{
		"man/perf-fake.1":            {".SH NAME", "does nothing, at length", `\fB-u\fP, \fB--url\fP`, `\fB-V\fP, \fB--version\fP`, ".SH EXAMPLE"},
		"completions/perf-fake.bash": {"__start_perf-fake"},
		"completions/_perf-fake":     {"#compdef perf-fake"},
		"completions/perf-fake.fish": {"complete -c perf-fake"},
	} {
		text, err := os.ReadFile(filepath.Join(directory, filepath.FromSlash(name)))
		if err != nil {
			t.Error(err)
			continue
		}
		for _, part := range parts {
			if !strings.Contains(string(text), part) {
				t.Errorf("%s does not contain %q:\n%.3000s", name, part, text)
			}
		}
		if strings.Contains(string(text), "secret") {
			t.Errorf("%s has a value of the environment that it was generated in", name)
		}
	}
}
