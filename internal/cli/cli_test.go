package cli_test

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amqpperf/internal/cli"
)

func newEnv(vars map[string]string) (env *cli.Env, stdout, stderr *bytes.Buffer) {
	stdout, stderr = &bytes.Buffer{}, &bytes.Buffer{}
	return &cli.Env{
		Stdin: strings.NewReader(""), Stdout: stdout, Stderr: stderr,
		Getenv: func(k string) string { return vars[k] },
	}, stdout, stderr
}

func demo(run func(kind string, args []string) error) func(*cli.Env) *cobra.Command {
	return func(*cli.Env) *cobra.Command {
		kind := cli.NewEnum("kind", "a", "a", "b")
		labels := cli.Labels{}
		cmd := &cobra.Command{
			Use: "demo [flags] FILE...", Short: "Demonstrates.", Example: "  demo x", Args: cobra.MinimumNArgs(1),
			RunE: func(_ *cobra.Command, args []string) error { return run(kind.String(), args) },
		}
		cli.Group(cmd, "First", func(fs *pflag.FlagSet) { fs.Var(&kind, "kind", "which") })
		cli.Group(cmd, "Second", func(fs *pflag.FlagSet) { fs.Var(&labels, "label", "label") })
		cli.Group(cmd, "First", func(fs *pflag.FlagSet) { fs.Bool("more", false, "more") })
		cli.CompleteEnums(cmd)
		cli.CompleteFiles(cmd, "parquet")
		return cmd
	}
}

func TestExitStatus(t *testing.T) {
	t.Parallel()
	tests := []struct {
		args   string
		err    error
		code   int
		stderr string
	}{
		{"x", nil, 0, ""},
		{"x --kind b y", nil, 0, ""},
		{"x", errors.New("broken"), 1, "demo: broken\n"},
		{"x", &cli.ExitError{Code: 3}, 3, ""},
		{"x", &cli.ExitError{Code: 3, Err: errors.New("too few")}, 3, "demo: too few\n"},
		{"x", cli.Usagef("no %d", 1), 2, "demo: no 1\nTry 'demo --help' for more information.\n"},
		{"", nil, 2, "demo: requires at least 1 arg(s), only received 0\nTry"},
		{"x --nope", nil, 2, "demo: unknown flag: --nope\nTry"},
		{"x --kind c", nil, 2, `demo: invalid argument "c" for "--kind" flag: must be one of a, b`},
		{"x --label k", nil, 2, `demo: invalid argument "k" for "--label" flag: label "k": want KEY=VALUE`},
		{"x --label k=1 --label k=2", nil, 2, `label "k" is given twice: "1" and "2"`},
	}
	for _, tt := range tests {
		env, stdout, stderr := newEnv(nil)
		code := cli.Run(env, demo(func(string, []string) error { return tt.err }), strings.Fields(tt.args))
		if code != tt.code || !strings.Contains(stderr.String(), tt.stderr) || (tt.stderr == "") != (stderr.Len() == 0) || stdout.Len() > 0 {
			t.Errorf("demo %s: exit %d, stderr %q, stdout %q", tt.args, code, stderr, stdout)
		}
	}
}

func TestHelpAndVersion(t *testing.T) {
	t.Parallel()
	env, stdout, stderr := newEnv(nil)
	run := demo(func(string, []string) error { t.Error("it ran"); return nil })
	if code := cli.Run(env, run, []string{"--help"}); code != 0 || stderr.Len() > 0 {
		t.Errorf("exit %d, %s", code, stderr)
	}
	help := stdout.String()
	last := -1
	for _, part := range []string{"Demonstrates.", "Usage:\n  demo [flags] FILE...\n", "Examples:\n  demo x\n", "First:\n", "--kind", "--more", "Second:\n", "--label", "Other:\n", "--version", "--help"} {
		i := strings.Index(help, part)
		if i <= last {
			t.Errorf("%q is not there in order", part)
		}
		last = i
	}
	stdout.Reset()
	if code := cli.Run(env, run, []string{"--version"}); code != 0 || !strings.HasPrefix(stdout.String(), "demo ") {
		t.Errorf("exit %d, %s", code, stdout)
	}
	stdout.Reset()
	if code := cli.Run(env, run, []string{"--completion", "bash"}); code != 0 || !strings.Contains(stdout.String(), "__start_demo") {
		t.Errorf("exit %d, %d bytes", code, stdout.Len())
	}
	stdout.Reset()
	if code := cli.Run(env, run, []string{"__complete", "--kind", ""}); code != 0 || !strings.HasPrefix(stdout.String(), "a\nb\n") {
		t.Errorf("exit %d, %s", code, stdout)
	}
}

// The first signal is for the command, the second leaves at once.
func TestSignals(t *testing.T) {
	t.Parallel()
	env, _, _ := newEnv(nil)
	signals := make(chan os.Signal)
	left := make(chan int, 1)
	env.Signals, env.Exit = signals, func(code int) { left <- code }
	ctx, stop := env.Interruptible(t.Context())
	defer stop()
	signals <- syscall.SIGTERM
	<-ctx.Done()
	select {
	case code := <-left:
		t.Fatalf("left with %d after one signal", code)
	default:
	}
	signals <- os.Interrupt
	if code := <-left; code != cli.ExitInterrupted {
		t.Errorf("left with %d", code)
	}
}

func TestConnFlags(t *testing.T) {
	t.Parallel()
	secret := t.TempDir() + "/secret"
	if err := os.WriteFile(secret, []byte("s3cret\r\nmore"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct {
		vars          map[string]string
		args          []string
		url, password string
		fails         bool
	}{
		{nil, nil, cli.DefaultURL, "", false},
		{map[string]string{"AMQP_URL": "amqp://h"}, nil, "amqp://h", "", false},
		{map[string]string{"AMQP_URL": "amqp://h"}, []string{"-u", "amqp://g"}, "amqp://g", "", false},
		{map[string]string{"AMQP_PASSWORD": "p"}, []string{"--user", "u"}, cli.DefaultURL, "p", false},
		{nil, []string{"--user", "u", "--password-file", secret}, cli.DefaultURL, "s3cret", false},
		{nil, []string{"--password-file", secret}, cli.DefaultURL, "", true},
		{nil, []string{"--user", "u", "--password-file", secret + "x"}, cli.DefaultURL, "", true},
	} {
		env, _, _ := newEnv(tt.vars)
		var c cli.ConnFlags
		fs := pflag.NewFlagSet("", pflag.ContinueOnError)
		c.Register(fs, env)
		if err := fs.Parse(tt.args); err != nil {
			t.Fatal(err)
		}
		password, err := c.Password()
		if c.URL() != tt.url || password != tt.password || (err != nil) != tt.fails {
			t.Errorf("%v %v: %s, %q, %v", tt.vars, tt.args, c.URL(), password, err)
		}
	}
}

func TestTarget(t *testing.T) {
	t.Parallel()
	env, _, _ := newEnv(nil)
	start := time.Date(2026, 11, 30, 16, 2, 26, 70_900_000, time.UTC)
	for output, want := range map[string]string{"": "perf-send-20261130T160226.070Z.parquet", "-": "-", "x": "x"} {
		l := cli.LogFlags{Output: output}
		if name, made, err := l.Target(env, "perf-send", start); name != want || made != (output == "") || err != nil {
			t.Errorf("%q: %s, %v, %v", output, name, made, err)
		}
	}
}

func TestStartAt(t *testing.T) {
	t.Parallel()
	now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	for text, want := range map[string]time.Time{
		"":                          now,
		"+30s":                      now.Add(30 * time.Second),
		"2026-01-01T01:00:00+01:00": now,
		"2026-01-02T00:00:00.5Z":    now.Add(24*time.Hour + time.Second/2),
	} {
		var s cli.StartAt
		if text != "" {
			if err := s.Set(text); err != nil {
				t.Fatal(err)
			}
		}
		if got, asked := s.From(now); !got.Equal(want) || asked != (text != "") {
			t.Errorf("%q: %v, %v", text, got, asked)
		}
	}
	for _, bad := range []string{"30s", "+", "+-3s", "tomorrow", "2026-01-02"} {
		var s cli.StartAt
		if s.Set(bad) == nil {
			t.Errorf("%q was accepted", bad)
		}
	}
}

func TestParallel(t *testing.T) {
	t.Parallel()
	var running, most atomic.Int32
	seen := make([]atomic.Bool, 50)
	err := cli.Parallel(t.Context(), 50, 4, func(_ context.Context, i int) error {
		if n := running.Add(1); n > most.Load() {
			most.Store(n)
		}
		defer running.Add(-1)
		seen[i].Store(true)
		return nil
	})
	if err != nil || most.Load() > 4 {
		t.Errorf("%v, %d at a time", err, most.Load())
	}
	for i := range seen {
		if !seen[i].Load() {
			t.Errorf("%d was left out", i)
		}
	}
	broken := errors.New("third")
	var calls atomic.Int32
	err = cli.Parallel(t.Context(), 50, 1, func(context.Context, int) error {
		if calls.Add(1) == 3 {
			return broken
		}
		return nil
	})
	if !errors.Is(err, broken) || calls.Load() > 4 {
		t.Errorf("%v after %d calls", err, calls.Load())
	}
}

func TestProgressWithoutTerminal(t *testing.T) {
	t.Parallel()
	env, _, stderr := newEnv(nil)
	bar := cli.Progress(env, "merge", 100)
	bar.Add(10)
	bar.Stop()
	if bar != nil || stderr.Len() > 0 {
		t.Errorf("it wrote %q", stderr)
	}
}
