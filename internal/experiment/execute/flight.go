package execute

import (
	"context"
	"errors"
	"fmt"
	"syscall"
	"time"

	"amqpperf/internal/experiment/plan"
	"amqpperf/internal/experiment/process"
)

// flight is the programs of one run while they run.
type flight struct {
	executor *Executor
	folder   string
	report   plan.Command
	senders  []*process.Process
	receiver []*process.Process
}

// errCrossed is a report that was made and says that a gate was crossed.
var errCrossed = errors.New("not what was asked for")

// statusUnmet is the exit status of programs that ended in order but met a gate, or
// sent or received less than asked for.
const statusUnmet = 3

// fly starts the receivers, waits until they are attached, starts the senders and
// the late receivers, and waits for all. unmet says which program did less than
// asked for. All have ended when it returns.
func (f *flight) fly(ctx context.Context, commands []plan.Command) (unmet, err error) {
	defer f.end()
	if err := f.receive(ctx, commands); err != nil {
		return nil, err
	}
	f.executor.step("load")
	var late []plan.Command
	for _, c := range commands {
		switch {
		case c.Late > 0:
			late = append(late, c)
		case c.Role == "send":
			p, err := f.executor.start(c, f.folder)
			if err != nil {
				return nil, err
			}
			f.senders = append(f.senders, p)
		}
	}
	if err := f.startLate(ctx, late); err != nil {
		return nil, err
	}
	return f.wait(ctx)
}

// receive starts the receivers that are there from the start.
func (f *flight) receive(ctx context.Context, commands []plan.Command) error {
	f.executor.step("attach")
	var ready []string
	for _, c := range commands {
		if c.Role != "recv" || c.Late > 0 {
			continue
		}
		p, err := f.executor.start(c, f.folder)
		if err != nil {
			return err
		}
		f.receiver = append(f.receiver, p)
		ready = append(ready, c.Ready)
	}
	soon, stop := context.WithTimeoutCause(ctx, readyWithin, fmt.Errorf("it took longer than %v", readyWithin))
	defer stop()
	for i, p := range f.receiver {
		if err := p.WaitFile(soon, ready[i]); err != nil {
			return err
		}
	}
	return nil
}

// startLate starts what the scenario wants started late, in that order.
func (f *flight) startLate(ctx context.Context, commands []plan.Command) error {
	var passed time.Duration
	for len(commands) > 0 {
		next := 0
		for i, c := range commands {
			if c.Late < commands[next].Late {
				next = i
			}
		}
		c := commands[next]
		commands = append(commands[:next:next], commands[next+1:]...)
		t := time.NewTimer(c.Late - passed)
		select {
		case <-t.C:
		case <-ctx.Done():
			t.Stop()
			return context.Cause(ctx)
		}
		passed = c.Late
		p, err := f.executor.start(c, f.folder)
		if err != nil {
			return err
		}
		if c.Role == "send" {
			f.senders = append(f.senders, p)
		} else {
			f.receiver = append(f.receiver, p)
		}
	}
	return nil
}

// wait waits for senders, then for receivers. A sender that failed ends the receivers: nothing more will come.
func (f *flight) wait(ctx context.Context) (unmet, err error) {
	for _, p := range f.senders {
		if u, e := outcome(ctx, p); u != nil || e != nil {
			unmet, err = errors.Join(unmet, u), errors.Join(err, e)
		}
	}
	if err != nil {
		f.signal(syscall.SIGINT)
	} else {
		f.executor.step("wait for receivers")
	}
	for _, p := range f.receiver {
		u, e := outcome(ctx, p)
		if err == nil && e != nil {
			f.signal(syscall.SIGINT)
		}
		unmet, err = errors.Join(unmet, u), errors.Join(err, e)
	}
	return unmet, err
}

// outcome waits for a program.
func outcome(ctx context.Context, p *process.Process) (unmet, err error) {
	select {
	case <-p.Done():
	case <-ctx.Done():
		p.Signal(syscall.SIGINT)
		p.End(grace)
		return nil, context.Cause(ctx)
	}
	if p.Status() == statusUnmet {
		return p.Err(), nil
	}
	return nil, p.Err()
}

func (f *flight) signal(s syscall.Signal) {
	for _, p := range append(f.senders[:len(f.senders):len(f.senders)], f.receiver...) {
		p.Signal(s)
	}
}

// end sees to it that nothing outlives the run.
func (f *flight) end() {
	f.signal(syscall.SIGINT)
	for _, p := range append(f.senders[:len(f.senders):len(f.senders)], f.receiver...) {
		p.End(grace)
	}
}

// judge makes the report. errCrossed: it was made, and a gate was crossed.
func (f *flight) judge(ctx context.Context) error {
	p, err := f.executor.start(f.report, f.folder)
	if err != nil {
		return err
	}
	if err := wait(ctx, p); err != nil {
		return err
	}
	if p.Status() == statusUnmet {
		return fmt.Errorf("%w: %w", errCrossed, p.Err())
	}
	return p.Err()
}
