package main

import (
	"context"
	"errors"
	"fmt"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// perfBroker is the name of our own broker, which needs no script.
const perfBroker = "perf-broker"

// broker is a running broker of our own: either started through scripts/brokers, or perf-broker as a child.
type broker struct {
	name  string
	url   *url.URL
	group int // its process group
	end   func() error
}

// startBroker starts a broker that nobody else uses.
func (b *bench) startBroker(ctx context.Context, name string) (*broker, error) {
	if name == perfBroker {
		return b.startPerfBroker(ctx)
	}
	script := filepath.Join(b.root, "scripts", "brokers", name+".sh")
	output := func(verb string) (string, error) {
		c := exec.Command(script, verb)
		c.Env = append(os.Environ(), "INSTANCE="+instance)
		c.Stderr = os.Stderr
		out, err := c.Output()
		if err != nil {
			return "", fmt.Errorf("%s %s: %w", script, verb, err)
		}
		return strings.TrimSpace(string(out)), nil
	}
	text, err := output("start")
	if err != nil {
		return nil, err
	}
	end := func() error { _, err := output("stop"); return err }
	u, err := url.Parse(text)
	if err != nil {
		return nil, errors.Join(err, end())
	}
	group, err := groupOf(filepath.Join(cacheFolder(), "brokers", name, "run-"+instance+".pid"))
	if err != nil {
		return nil, errors.Join(err, end())
	}
	return &broker{name, u, group, end}, nil
}

// instance keeps our brokers apart from those of tests.
const instance = "bench"

func cacheFolder() string {
	dir, err := os.UserCacheDir()
	if err != nil {
		dir = filepath.Join(os.TempDir(), "cache")
	}
	return filepath.Join(dir, "amqpperf")
}

// groupOf reads the file in which a broker script keeps "PID START", where PID is also the process group.
func groupOf(path string) (int, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0, err
	}
	first, _, _ := strings.Cut(strings.TrimSpace(string(text)), " ")
	return strconv.Atoi(first)
}

func (b *bench) startPerfBroker(ctx context.Context) (*broker, error) {
	dir, err := b.folder("broker")
	if err != nil {
		return nil, err
	}
	ready := filepath.Join(dir, "ready")
	p, err := start(ctx, dir, perfBroker, nil, b.program(perfBroker), "--listen", "127.0.0.1:0", "--ready-file", ready)
	if err != nil {
		return nil, err
	}
	if err := appears(ctx, ready); err != nil {
		return nil, errors.Join(err, p.interrupt())
	}
	text, err := os.ReadFile(ready)
	if err != nil {
		return nil, errors.Join(err, p.interrupt())
	}
	first, _, _ := strings.Cut(string(text), "\n")
	u, err := url.Parse(first)
	if err != nil {
		return nil, errors.Join(err, p.interrupt())
	}
	return &broker{perfBroker, u, p.cmd.Process.Pid, p.interrupt}, nil
}

// appears waits until a file is there, for at most 30 s.
func appears(ctx context.Context, path string) error {
	ctx, cancel := context.WithTimeout(ctx, 30*time.Second)
	defer cancel()
	tick := time.NewTicker(20 * time.Millisecond)
	defer tick.Stop()
	for {
		if info, err := os.Stat(path); err == nil && info.Size() >= 0 {
			return nil
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s did not appear: %w", path, ctx.Err())
		case <-tick.C:
		}
	}
}

// stall stops a process, or with a negative number a process group, for a while.
type stall struct {
	target func(send *process) int // 0: there is nothing to stop
	length time.Duration
}

// freeze does it once, after a delay, and returns how long the target was really stopped.
func (s *stall) freeze(ctx context.Context, send *process, after time.Duration) (time.Duration, error) {
	select {
	case <-ctx.Done():
		return 0, ctx.Err()
	case <-time.After(after):
	}
	target := s.target(send)
	if target == 0 {
		return 0, errors.New("nothing to stop")
	}
	if err := syscall.Kill(target, syscall.SIGSTOP); err != nil {
		return 0, fmt.Errorf("stop %d: %w", target, err)
	}
	began := time.Now()
	select {
	case <-ctx.Done():
	case <-time.After(s.length):
	}
	err := syscall.Kill(target, syscall.SIGCONT)
	return time.Since(began), err
}

func (b *broker) stalled(length time.Duration) *stall {
	return &stall{func(*process) int { return -b.group }, length}
}
