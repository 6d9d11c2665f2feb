// Package execute carries out the runs of a plan: hooks, receivers before senders,
// limits of time, reports, and what is left over. It writes the run directory as it
// goes, so that every run that ended is kept whatever happens to the next.
package execute

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"amqpperf/internal/experiment/index"
	"amqpperf/internal/experiment/plan"
	"amqpperf/internal/experiment/process"
	"amqpperf/internal/experiment/rundir"
)

// Executor makes runs, one at a time. It is used by one goroutine.
type Executor struct {
	Plan *plan.Plan
	Dir  *rundir.Dir
	// Programs are paths by name, such as perf-send.
	Programs map[string]string
	// Environment is what programs and hooks get, by name; hooks add to it.
	Environment map[string]string
	// Now is the clock, for the list of runs.
	Now func() time.Time
	// Step gets the names of what a run is busy with, for a display; may be nil.
	Step func(string)
}

// grace is how long a program has to end and write its log after a signal.
const grace = 20 * time.Second

// readyWithin is how long a receiver may take to attach, and a hook is not limited.
const readyWithin = time.Minute

// BeforeAll runs the hook before all runs.
func (e *Executor) BeforeAll(ctx context.Context) error {
	return e.hook(ctx, "before-all", e.Plan.Scenario.Hooks.BeforeAll, e.Dir.Path, nil)
}

// AfterAll runs the hook after all runs. It is meant for brokers to be stopped and
// runs after an interruption too.
func (e *Executor) AfterAll() error {
	return e.hook(context.Background(), "after-all", e.Plan.Scenario.Hooks.AfterAll, e.Dir.Path, nil)
}

// Run makes one run and records its outcome. The error is that of the run
// directory, or the cause of an interruption; a run that failed is an outcome.
func (e *Executor) Run(ctx context.Context, r plan.Run) (rundir.Outcome, error) {
	folder, err := e.Dir.Folder(e.Plan.Folder(r))
	for ; errors.Is(err, fs.ErrExist); folder, err = e.Dir.Folder(e.Plan.Folder(r)) {
		r.Attempt++
	}
	if err != nil {
		return rundir.Outcome{}, err
	}
	o := rundir.Outcome{Run: r, Start: e.Now().UTC().Truncate(time.Second), Folder: filepath.Join("runs", filepath.Base(folder))}
	o.Status, o.Why = e.run(ctx, r, folder)
	if ctx.Err() != nil && o.Status != rundir.OK {
		o.Status, o.Why = rundir.Interrupted, "interrupted"
	}
	if err := e.Dir.Add(o); err != nil {
		return o, err
	}
	if o.Status == rundir.Interrupted {
		return o, context.Cause(ctx)
	}
	return o, nil
}

func (e *Executor) run(ctx context.Context, r plan.Run, folder string) (rundir.Status, string) {
	settings := e.Plan.HookEnv(r)
	if err := e.hook(ctx, "before-run", e.Plan.Scenario.Hooks.BeforeRun, folder, settings); err != nil {
		return rundir.Failed, err.Error()
	}
	status, why := e.load(ctx, r, folder)
	if err := e.hook(ctx, "after-run", e.Plan.Scenario.Hooks.AfterRun, folder, settings); err != nil && status != rundir.Failed {
		status, why = rundir.Failed, err.Error()
	}
	return status, why
}

// load is what happens between the hooks.
func (e *Executor) load(ctx context.Context, r plan.Run, folder string) (rundir.Status, string) {
	commands, err := e.Plan.Commands(r)
	if err != nil {
		return rundir.Failed, err.Error()
	}
	if err := writeCommands(folder, commands); err != nil {
		return rundir.Failed, err.Error()
	}
	limited, stop := context.WithTimeoutCause(ctx, e.Plan.Scenario.Timeout, fmt.Errorf("it took longer than %v", e.Plan.Scenario.Timeout))
	defer stop()
	f := &flight{executor: e, folder: folder, report: commands[len(commands)-1]}
	unmet, err := f.fly(limited, commands[:len(commands)-1])
	e.step("report")
	reportErr := f.judge(ctx)
	if err != nil || unmet != nil || index.Left(filepath.Join(folder, "report.json")) {
		e.drain(ctx, r, folder)
	}
	switch {
	case err != nil:
		return rundir.Failed, err.Error()
	case reportErr != nil && !errors.Is(reportErr, errCrossed):
		return rundir.Failed, reportErr.Error()
	case reportErr != nil:
		return rundir.Unmet, reportErr.Error()
	case unmet != nil:
		return rundir.Unmet, unmet.Error()
	}
	return rundir.OK, ""
}

func writeCommands(folder string, commands []plan.Command) error {
	var b strings.Builder
	for _, c := range commands {
		fmt.Fprintln(&b, c.Typed())
	}
	return os.WriteFile(filepath.Join(folder, "commands.txt"), []byte(b.String()), 0o666)
}

func (e *Executor) step(what string) {
	if e.Step != nil {
		e.Step(what)
	}
}

// drain takes away what a run left, so that the next is not disturbed. It
// may find nothing, and a broker that is gone is no further failure.
func (e *Executor) drain(ctx context.Context, r plan.Run, folder string) {
	commands, err := e.Plan.Drain(r)
	if err != nil || ctx.Err() != nil {
		return
	}
	e.step("drain")
	for _, c := range commands {
		p, err := e.start(c, folder)
		if err != nil {
			return
		}
		select {
		case <-p.Done():
		case <-ctx.Done():
			p.End(grace)
		}
	}
}

// start starts a command with the environment as it is now.
func (e *Executor) start(c plan.Command, folder string) (*process.Process, error) {
	spec := process.Spec{Path: e.Programs[c.Program], Log: filepath.Join(folder, c.Name+".log")}
	if spec.Path == "" {
		return nil, fmt.Errorf("%s was not found", c.Program)
	}
	lookup := func(name string) string { return e.Environment[name] }
	for _, a := range c.Args {
		word, err := plan.Expand(a, lookup)
		if err != nil {
			return nil, err
		}
		spec.Args = append(spec.Args, word)
	}
	spec.Env = e.environ()
	if c.URL != "" {
		url, err := plan.Expand(c.URL, lookup)
		if err != nil {
			return nil, err
		}
		spec.Env = append(spec.Env, "AMQP_URL="+url)
	}
	return process.Start(spec)
}

// environ is the environment of programs. PERF_RUN would name runs a second time.
func (e *Executor) environ() []string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(e.Environment)) {
		if name != "PERF_RUN" {
			all = append(all, name+"="+e.Environment[name])
		}
	}
	return all
}

// Compare makes a comparison, or pictures of one.
func (e *Executor) Compare(ctx context.Context, c plan.Command) error {
	folder := filepath.Join(e.Dir.Path, "compared")
	if err := os.MkdirAll(folder, 0o777); err != nil {
		return err
	}
	c.Args = append([]string{"--force"}, c.Args...)
	p, err := e.start(c, folder)
	if err != nil {
		return err
	}
	if err := wait(ctx, p); err != nil {
		return err
	}
	if err := p.Err(); err != nil && p.Status() != statusUnmet {
		return err
	}
	return nil
}

// wait waits for the end of a program, which ctx brings about if it ends before.
func wait(ctx context.Context, p *process.Process) error {
	select {
	case <-p.Done():
		return nil
	case <-ctx.Done():
		p.End(grace)
		return context.Cause(ctx)
	}
}
