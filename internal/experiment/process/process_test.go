package process

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/experiment/plan"
)

func shell(t *testing.T, script string) (p *Process, dir string) {
	t.Helper()
	dir = t.TempDir()
	p, err := Start(Spec{Path: "/bin/sh", Args: []string{"-c", script}, Env: []string{"X=1", "PATH=" + os.Getenv("PATH")}, Dir: dir, Log: filepath.Join(dir, "log")})
	if err != nil {
		t.Fatal(err)
	}
	return p, dir
}

// TestErr: the last line that says something is part of the error.
func TestErr(t *testing.T) {
	t.Parallel()
	p, _ := shell(t, "echo first; echo \"what went wrong, $X\" >&2; echo \"Try 'x --help' for more information.\"; exit 3")
	<-p.Done()
	if p.Status() != 3 || p.Err() == nil || p.Err().Error() != "sh: exit status 3: what went wrong, 1" {
		t.Errorf("status %d, %v", p.Status(), p.Err())
	}
}

// TestWaitFile: a file, an end before it, and an end of waiting.
func TestWaitFile(t *testing.T) {
	t.Parallel()
	p, dir := shell(t, ": > ready; exec sleep 600")
	if err := p.WaitFile(context.Background(), filepath.Join(dir, "ready")); err != nil {
		t.Error(err)
	}
	ctx, stop := context.WithCancelCause(context.Background())
	stop(errors.New("the cause"))
	if err := p.WaitFile(ctx, filepath.Join(dir, "never")); err == nil || !strings.Contains(err.Error(), "the cause") {
		t.Errorf("got %v", err)
	}
	p.End(time.Minute)
	if p.Status() != -1 {
		t.Errorf("status %d", p.Status())
	}
	p, dir = shell(t, "exit 0")
	if err := p.WaitFile(context.Background(), filepath.Join(dir, "ready")); err == nil || !strings.Contains(err.Error(), "ended before it was ready") {
		t.Errorf("got %v", err)
	}
}

// TestEndByForce: a program, and what it started, that does not listen is ended all the same.
func TestEndByForce(t *testing.T) {
	t.Parallel()
	p, dir := shell(t, "trap '' TERM; : > ready; while :; do sleep 600; done")
	if err := p.WaitFile(context.Background(), filepath.Join(dir, "ready")); err != nil {
		t.Fatal(err)
	}
	p.End(10 * time.Millisecond)
	if p.Status() != -1 {
		t.Errorf("status %d", p.Status())
	}
}

func TestParseHelp(t *testing.T) {
	t.Parallel()
	got := ParseHelp(`about --this
Usage:
  x [flags]

Load:
  -r, --rate rate                messages
                                 more --text here
      --durable   durable messages
      --spin when[=auto]         busy-wait
      --resume DIR
  -h, --help      print this
`)
	want := plan.Options{"rate": plan.NeedsValue, "durable": plan.NoValue, "spin": plan.OptionalValue, "resume": plan.NeedsValue, "help": plan.NoValue}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}
