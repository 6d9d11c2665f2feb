package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a program under measurement: in a process group of its own, sampled ten times a second.
type process struct {
	name  string
	cmd   *exec.Cmd
	group bool // sample its whole process group
	lines *lineWatch
	began time.Time
	ended time.Time

	stop    chan struct{}
	sampled chan struct{}
	mu      sync.Mutex
	samples []usage // in order of time
	rss     float64 // MiB, the highest seen
}

// usage is the CPU time a process has used until an instant.
type usage struct {
	at  time.Time
	cpu time.Duration
}

// start runs a program with its standard output and error in dir/NAME.out and dir/NAME.err; watch sees each line of the
// output as it comes. A context that ends kills the whole process group.
func start(ctx context.Context, dir, name string, watch func(time.Time, string), command ...string) (*process, error) {
	return launch(ctx, &process{name: name}, dir, watch, command)
}

// startGroup is start for a program that leaves the work to children: the samples are of its whole process group.
func startGroup(ctx context.Context, dir, name string, watch func(time.Time, string), command ...string) (*process, error) {
	return launch(ctx, &process{name: name, group: true}, dir, watch, command)
}

func launch(ctx context.Context, p *process, dir string, watch func(time.Time, string), command []string) (*process, error) {
	p.stop, p.sampled = make(chan struct{}), make(chan struct{})
	name := p.name
	out, err := os.Create(filepath.Join(dir, name+".out"))
	if err != nil {
		return nil, err
	}
	// The child's copies stay open; a log that was cut short shows when it is parsed.
	defer func() { _ = out.Close() }()
	errs, err := os.Create(filepath.Join(dir, name+".err"))
	if err != nil {
		return nil, err
	}
	defer func() { _ = errs.Close() }()
	p.cmd = exec.CommandContext(ctx, command[0], command[1:]...)
	p.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.cmd.Cancel = func() error { return syscall.Kill(-p.cmd.Process.Pid, syscall.SIGKILL) }
	p.cmd.WaitDelay = 5 * time.Second
	p.cmd.Stdout, p.cmd.Stderr = out, errs
	if watch != nil {
		p.lines, err = newLineWatch(filepath.Join(dir, name+".out"), watch)
		if err != nil {
			return nil, err
		}
		p.cmd.Stdout = p.lines
	}
	if err := p.cmd.Start(); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	p.began = time.Now()
	go p.sample()
	return p, nil
}

func (p *process) sample() {
	defer close(p.sampled)
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		s, rss, err := p.usage()
		if err == nil {
			p.mu.Lock()
			p.samples = append(p.samples, s)
			p.rss = max(p.rss, rss)
			p.mu.Unlock()
		}
		select {
		case <-p.stop:
			return
		case <-tick.C:
		}
	}
}

func (p *process) usage() (usage, float64, error) {
	if p.group {
		return groupUsage(p.cmd.Process.Pid)
	}
	return readUsage(p.cmd.Process.Pid)
}

// wait waits for the program to end; an exit status other than 0 is an error with the end of its standard error.
func (p *process) wait() error {
	err := p.cmd.Wait()
	p.ended = time.Now()
	close(p.stop)
	<-p.sampled
	if p.lines != nil {
		err = errors.Join(err, p.lines.Close())
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.name, err)
	}
	return nil
}

// cpu is the user and system time of the program and of the children it waited for, from start to end.
func (p *process) cpu() time.Duration {
	return p.cmd.ProcessState.UserTime() + p.cmd.ProcessState.SystemTime()
}

// cpuBetween is the CPU time between two instants, interpolated between samples; 0 if there are not enough of them.
func (p *process) cpuBetween(from, to time.Time) time.Duration {
	p.mu.Lock()
	defer p.mu.Unlock()
	return interpolate(p.samples, to) - interpolate(p.samples, from)
}

func interpolate(samples []usage, at time.Time) time.Duration {
	for i, s := range samples {
		if s.at.Before(at) {
			continue
		}
		if i == 0 {
			return s.cpu
		}
		before := samples[i-1]
		share := float64(at.Sub(before.at)) / float64(s.at.Sub(before.at))
		return before.cpu + time.Duration(share*float64(s.cpu-before.cpu))
	}
	if len(samples) == 0 {
		return 0
	}
	return samples[len(samples)-1].cpu
}

// interrupt asks a program that runs until it is told to stop to end, and waits for it.
func (p *process) interrupt() error {
	if err := p.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return p.wait()
}

// tail is the end of a log file, for messages about a failure.
func tail(path string) string {
	text, err := os.ReadFile(path)
	if err != nil {
		return err.Error()
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	return strings.Join(lines[max(0, len(lines)-3):], " / ")
}

// lineWatch copies a program's output to a file and hands each line to a function with the instant of its arrival.
type lineWatch struct {
	file *os.File
	pipe *io.PipeWriter
	done chan struct{}
}

func newLineWatch(path string, watch func(time.Time, string)) (*lineWatch, error) {
	file, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	r, w := io.Pipe()
	l := &lineWatch{file: file, pipe: w, done: make(chan struct{})}
	go func() {
		defer close(l.done)
		in := bufio.NewReader(r)
		for {
			line, err := in.ReadString('\n')
			if line != "" {
				watch(time.Now(), strings.TrimRight(line, "\r\n"))
			}
			if err != nil {
				return
			}
		}
	}()
	return l, nil
}

func (l *lineWatch) Write(p []byte) (int, error) {
	if _, err := l.pipe.Write(p); err != nil {
		return 0, err
	}
	return l.file.Write(p)
}

// Close waits until the last line was handed over.
func (l *lineWatch) Close() error {
	_ = l.pipe.Close() // never fails
	<-l.done
	return l.file.Close()
}
