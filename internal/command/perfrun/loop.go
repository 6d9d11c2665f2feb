package perfrun

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"

	"amqpperf/internal/cli"
	"amqpperf/internal/experiment/index"
	"amqpperf/internal/experiment/plan"
	"amqpperf/internal/experiment/rundir"
	"amqpperf/internal/experiment/search"
	"amqpperf/internal/units"
)

// all makes the runs that are missing, compares, writes the index and returns the verdict.
func (j *job) all(ctx context.Context) error {
	s := j.plan.Scenario
	err := j.executor.BeforeAll(ctx)
	var answers []string
	total := 0
	switch {
	case err != nil:
	case s.Search != nil:
		answers, err = j.searches(ctx)
	default:
		runs := plan.Order(s, j.seed)
		total = len(runs)
		err = j.list(ctx, runs)
	}
	interrupted := ctx.Err() != nil
	if e := j.executor.AfterAll(); err == nil {
		err = e
	}
	page := index.Page{Dir: j.dir, Plan: j.plan, Answers: answers, Total: total}
	if !interrupted && err == nil {
		err = j.compare(ctx, &page)
	}
	err = errors.Join(err, page.Write())
	j.show.result("index: %s", filepath.Join(j.dir.Path, "index.md"))
	if interrupted {
		return &cli.ExitError{Code: cli.ExitUnmet, Err: fmt.Errorf("interrupted: perf-run --resume %s goes on", plan.Quote(j.dir.Path))}
	}
	if err != nil {
		return err
	}
	return j.verdict()
}

// list makes the runs of a list.
func (j *job) list(ctx context.Context, runs []plan.Run) error {
	first := true
	for _, r := range runs {
		if j.dir.Done(r) != nil {
			continue
		}
		if !first && !pause(ctx, j.plan.Scenario.CoolDown) {
			return nil
		}
		first = false
		if _, err := j.one(ctx, r, len(runs)); err != nil {
			return err
		}
		if ctx.Err() != nil {
			return nil
		}
	}
	return nil
}

// one makes a run and writes the index as it then is. A program that does not
// understand its command line ends the experiment: no further run would.
func (j *job) one(ctx context.Context, r plan.Run, total int) (rundir.Outcome, error) {
	j.show.begin(r, total)
	o, err := j.executor.Run(ctx, r)
	if ctx.Err() != nil {
		j.show.end(r, total, o)
		return o, nil
	}
	if err != nil {
		return o, err
	}
	j.show.end(r, total, o)
	if strings.Contains(o.Why, "exit status 2:") {
		return o, &cli.ExitError{Code: cli.ExitUsage, Err: errors.New(o.Why)}
	}
	return o, (index.Page{Dir: j.dir, Plan: j.plan, Total: total}).Write()
}

// pause waits; false if it was interrupted.
func pause(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// searches looks for the maximum rate of each variant and combination, in turns, so
// that the machine's drift is the same for all.
func (j *job) searches(ctx context.Context) (answers []string, err error) {
	s := j.plan.Scenario
	from, err := units.ParseRate(s.Search.From)
	if err != nil {
		return nil, err
	}
	cells := plan.Order(s, j.seed) // one repetition
	all := make([]*cell, len(cells))
	for i, c := range cells {
		all[i] = &cell{run: c, title: j.plan.Title(c), search: search.New(from.PerSecond(), s.Search.Tolerance, s.Search.Runs)}
	}
	n := 0
	for open := true; open && ctx.Err() == nil; {
		open = false
		for _, c := range all {
			rate, more := c.search.Next()
			if !more || ctx.Err() != nil || c.tooShort() {
				continue
			}
			open = true
			n++
			if err := j.try(ctx, c, n, rate); err != nil {
				return nil, err
			}
		}
	}
	for _, c := range all {
		answers = append(answers, c.answer(s.Search.Condition))
		j.show.result("%s", answers[len(answers)-1])
		if ctx.Err() == nil && (c.tooShort() || c.search.Answer().Held == 0) {
			j.unanswered = append(j.unanswered, answers[len(answers)-1])
		}
	}
	return answers, nil
}

// cell is the search of a variant and combination.
type cell struct {
	run    plan.Run
	title  string
	search *search.Search
	held   int
	short  []string // why runs whose number was withheld for want of events were
}

// tooShort says that the search makes no sense: no run has held, and several were
// too short for the quantile. Slower ones have even fewer messages.
func (c *cell) tooShort() bool { return c.held == 0 && len(c.short) >= 3 }

func (c *cell) answer(condition string) string {
	title := c.title
	if title != "" {
		title += ": "
	}
	if c.tooShort() {
		return fmt.Sprintf("%s%s: not decided, the runs are too short: %s", title, condition, c.short[0])
	}
	return fmt.Sprintf("%s%s: %s", title, condition, c.search.Answer())
}

// try makes the n-th run of a search, unless it was made before the experiment was interrupted.
func (j *job) try(ctx context.Context, c *cell, n int, rate float64) error {
	r := plan.Run{N: n, Variant: c.run.Variant, Params: append(c.run.Params[:len(c.run.Params):len(c.run.Params)], plan.Setting{Name: "rate", Value: search.Rate(rate)})}
	r.Repetition = j.repetition(r)
	o := j.dir.Done(r)
	if o == nil {
		if n > 1 && !pause(ctx, j.plan.Scenario.CoolDown) {
			return nil
		}
		made, err := j.one(ctx, r, 0)
		if err != nil || ctx.Err() != nil {
			return err
		}
		o = &made
	}
	held := j.held(*o)
	if held {
		c.held++
	} else if _, why, ok := strings.Cut(o.Why, "withheld: too uncertain, "); ok {
		c.short = append(c.short, why)
	}
	c.search.Add(rate, held)
	return nil
}

// repetition counts the earlier runs at the same rate.
func (j *job) repetition(r plan.Run) int {
	n := 1
	for _, o := range j.dir.Outcomes {
		if o.Run.N < r.N && o.Status != rundir.Interrupted && j.plan.Title(o.Run) == j.plan.Title(r) {
			n++
		}
	}
	return n
}

// held says whether a run passed: its gates did, and it reached its rate.
func (j *job) held(o rundir.Outcome) bool {
	overloaded, err := index.Overloaded(filepath.Join(j.dir.Path, o.Folder, "report.json"))
	return o.Status == rundir.OK && err == nil && !overloaded
}

// compare makes the comparisons of the variants and their pictures.
func (j *job) compare(ctx context.Context, page *index.Page) error {
	var runs []plan.Run
	for _, o := range j.dir.Outcomes {
		if o.Run.Counts() && (o.Status == rundir.OK || o.Status == rundir.Unmet) {
			runs = append(runs, o.Run)
		}
	}
	failed := 0
	for _, part := range []struct {
		commands []plan.Command
		names    *[]string
	}{{j.plan.Comparisons(runs), &page.Compared}, {j.plan.Pictures(runs), &page.Drawn}, {j.plan.Together(runs), &page.Together}} {
		for _, c := range part.commands {
			j.show.step("compare")
			if err := j.executor.Compare(ctx, c); err != nil {
				j.show.result("comparison %s: %v", c.Name, err)
				failed++
				continue
			}
			*part.names = append(*part.names, c.Name)
		}
	}
	if failed > 0 {
		return fmt.Errorf("%d comparisons could not be made: see compared/*.log in %s", failed, j.dir.Path)
	}
	return nil
}

// verdict is the exit status. In a search, a run that did not hold is an answer.
func (j *job) verdict() error {
	var failed, unmet []string
	for _, o := range j.dir.Outcomes {
		line := fmt.Sprintf("%s: %s", o.Folder, o.Why)
		switch o.Status {
		case rundir.Failed:
			failed = append(failed, line)
		case rundir.Unmet:
			if o.Run.Counts() || j.plan.Scenario.Search != nil {
				unmet = append(unmet, line)
			}
		case rundir.OK, rundir.Interrupted:
		}
	}
	if j.plan.Scenario.Search != nil {
		unmet = j.unanswered
	}
	switch {
	case len(failed) > 0:
		return fmt.Errorf("%d runs failed:\n  %s", len(failed), strings.Join(append(failed, unmet...), "\n  "))
	case len(unmet) > 0:
		return &cli.ExitError{Code: cli.ExitUnmet, Err: fmt.Errorf("%d not as asked for:\n  %s", len(unmet), strings.Join(unmet, "\n  "))}
	}
	return nil
}
