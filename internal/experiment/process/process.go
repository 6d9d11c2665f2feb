// Package process starts the programs of a run and ends them: each in a process
// group of its own, with its output in a log, a file by which it says that it is
// ready, and no chance to outlive perf-run.
package process

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Spec is what is started.
type Spec struct {
	Path string // of the program
	Args []string
	Env  []string // NAME=VALUE, all of it
	Dir  string   // "" is the present one
	Log  string   // file that gets what it prints, appended
}

// Process is a started program.
type Process struct {
	name string
	log  string
	cmd  *exec.Cmd
	done chan struct{}
	err  error
}

// Start starts a program. Its end is told by Done; nobody but Signal ends it.
func Start(s Spec) (*Process, error) {
	log, err := os.OpenFile(s.Log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o666)
	if err != nil {
		return nil, err
	}
	p := &Process{name: filepath.Base(s.Path), log: s.Log, done: make(chan struct{})}
	p.cmd = exec.Command(s.Path, s.Args...)
	p.cmd.Env, p.cmd.Dir, p.cmd.Stdout, p.cmd.Stderr = s.Env, s.Dir, log, log
	p.cmd.SysProcAttr = attributes()
	if err := p.cmd.Start(); err != nil {
		return nil, errors.Join(fmt.Errorf("start %s: %w", p.name, err), log.Close())
	}
	go func() {
		p.err = errors.Join(p.cmd.Wait(), log.Close())
		close(p.done)
	}()
	return p, nil
}

// Done is closed when the program has ended.
func (p *Process) Done() <-chan struct{} { return p.done }

// Status returns the exit status after Done, -1 if a signal ended the program.
func (p *Process) Status() int {
	<-p.done
	return p.cmd.ProcessState.ExitCode()
}

// Err says how the program ended, nil for status 0, with the last line it printed. After Done.
func (p *Process) Err() error {
	<-p.done
	if p.err == nil {
		return nil
	}
	last := lastLine(p.log)
	if last != "" {
		last = ": " + last
	}
	return fmt.Errorf("%s: %w%s", p.name, p.err, last)
}

// Signal sends a signal to the program and what it has started.
func (p *Process) Signal(s syscall.Signal) {
	select {
	case <-p.done:
	default:
		_ = syscall.Kill(-p.cmd.Process.Pid, s) // it may end at this moment
	}
}

// End ends the program: gently, and after grace by force. It returns when it has ended.
func (p *Process) End(grace time.Duration) {
	p.Signal(syscall.SIGTERM)
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-p.done:
	case <-t.C:
		p.Signal(syscall.SIGKILL)
		<-p.done
	}
}

// poll is how often a file is looked for.
const poll = 5 * time.Millisecond

// WaitFile returns when the file is there, and an error if the program ends before,
// or with the context.
func (p *Process) WaitFile(ctx context.Context, file string) error {
	t := time.NewTicker(poll)
	defer t.Stop()
	for {
		if _, err := os.Stat(file); err == nil {
			return nil
		}
		select {
		case <-p.done:
			if err := p.Err(); err != nil {
				return err
			}
			return fmt.Errorf("%s ended before it was ready", p.name)
		case <-ctx.Done():
			return fmt.Errorf("%s was not ready: %w", p.name, context.Cause(ctx))
		case <-t.C:
		}
	}
}

// lastLine returns the last line of a file that says something, "" if there is none.
// What a program says of its help is not what went wrong.
func lastLine(file string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	if len(text) > 1<<16 {
		text = text[len(text)-1<<16:]
	}
	lines := strings.Split(strings.TrimSpace(string(text)), "\n")
	for _, l := range slices.Backward(lines) {
		if l = strings.TrimSpace(l); l != "" && !strings.HasPrefix(l, "Try '") {
			return l
		}
	}
	return ""
}

// Find returns the path of a program: beside the running one, else by $PATH.
func Find(name string) (string, error) {
	if self, err := os.Executable(); err == nil {
		beside := filepath.Join(filepath.Dir(self), name)
		if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return beside, nil
		}
	}
	path, err := exec.LookPath(name)
	if err != nil {
		return "", fmt.Errorf("%s is neither beside perf-run nor in $PATH: %w", name, err)
	}
	return path, nil
}
