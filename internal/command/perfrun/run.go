package perfrun

import (
	"context"
	"crypto/rand"
	"encoding/base32"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"amqpperf/internal/cli"
	"amqpperf/internal/experiment/execute"
	"amqpperf/internal/experiment/like"
	"amqpperf/internal/experiment/plan"
	"amqpperf/internal/experiment/process"
	"amqpperf/internal/experiment/rundir"
	"amqpperf/internal/experiment/scenario"
)

// job is one call of perf-run.
type job struct {
	env      *cli.Env
	o        *options
	paths    map[string]string
	plan     *plan.Plan
	dir      *rundir.Dir // nil with --print
	executor *execute.Executor
	show     *display
	text     []byte // of the scenario file
	seed     uint64
	// unanswered are searches without an answer.
	unanswered []string
	extra      map[string]string // environment that --like found on the command line
}

// prepare reads everything and finds what is wrong before anything is started.
func prepare(env *cli.Env, o *options, fs *pflag.FlagSet, args []string) (*job, error) {
	j := &job{env: env, o: o, paths: map[string]string{}, show: newDisplay(env, o.quiet)}
	programs, err := j.find()
	if err != nil {
		return nil, err
	}
	if o.resume != "" {
		return j, j.reopen(programs)
	}
	s, err := j.scenario(fs, args, programs)
	if err != nil {
		return nil, err
	}
	if err := checkVerdicts(s); err != nil {
		return nil, &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	if err := s.Check(); err != nil {
		return nil, &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	id, seed := identity()
	if s.Seed != nil {
		seed = *s.Seed
	}
	dir := o.dir
	if o.printing {
		id = "1"
	}
	if dir == "" {
		dir = tool
		if s.Name != tool { // which it is without a name
			dir += "-" + s.Name
		}
		if !o.printing {
			dir += "-" + time.Now().Format("20060102T150405.000")
		}
	}
	if j.plan, err = plan.New(s, programs, id, dir); err != nil {
		return nil, &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	j.seed = seed
	return j, nil
}

// find looks for the programs and asks them for their options.
func (j *job) find() (p plan.Programs, err error) {
	for _, x := range []struct {
		name string
		to   *plan.Options
	}{{"perf-send", &p.Send}, {"perf-recv", &p.Recv}, {"perf-report", &p.Report}} {
		path, err := process.Find(x.name)
		if err != nil {
			return p, err
		}
		j.paths[x.name] = path
		if *x.to, err = process.Options(context.Background(), path); err != nil {
			return p, err
		}
	}
	return p, nil
}

func (j *job) scenario(fs *pflag.FlagSet, args []string, programs plan.Programs) (s *scenario.Scenario, err error) {
	switch {
	case j.o.likeTool:
		result, err := like.Translate(args[0], args[1:])
		if err != nil {
			return nil, &cli.ExitError{Code: cli.ExitUsage, Err: err}
		}
		for _, n := range result.Notes {
			fmt.Fprintf(j.env.Stderr, "perf-run: %s\n", n)
		}
		j.extra = result.Env
		return result.Scenario, nil
	case isScenario(args[0]):
		s, j.text, err = j.o.fromFile(args[0], fs)
		return s, err
	}
	return j.o.fromFlags(args, programs, fs)
}

// identity returns a name that no other execution has, for queues, and a seed.
func identity() (id string, seed uint64) {
	var b [8]byte
	_, _ = rand.Read(b[:]) // it never fails
	id = strings.ToLower(base32.StdEncoding.EncodeToString(b[:])[:6])
	return id, binary.LittleEndian.Uint64(b[:]) % 1_000_000
}

// reopen takes up an interrupted experiment.
func (j *job) reopen(programs plan.Programs) (err error) {
	if j.dir, err = rundir.Open(j.o.resume); err != nil {
		return err
	}
	if j.plan, err = plan.New(j.dir.Scenario, programs, j.dir.ID, j.o.resume); err != nil {
		return err
	}
	j.seed = j.dir.Seed
	if j.o.retry {
		j.dir.Forget(rundir.Failed)
	}
	return nil
}

// run prints or executes.
func (j *job) run(parent context.Context) error {
	if j.o.printing {
		runs := plan.Order(j.plan.Scenario, j.seed)
		if q := j.plan.Scenario.Search; q != nil {
			for i := range runs {
				runs[i].Params = append(runs[i].Params[:len(runs[i].Params):len(runs[i].Params)], plan.Setting{Name: "rate", Value: q.From})
			}
		}
		return j.plan.Print(j.env.Stdout, runs)
	}
	for _, g := range append(j.plan.Scenario.Send[:len(j.plan.Scenario.Send):len(j.plan.Scenario.Send)], j.plan.Scenario.Recv...) {
		if g.Host != "" {
			return cli.Usagef("%s is to run on %s: perf-run starts programs on this host only, --print shows what to type where", g.Name, g.Host)
		}
	}
	j.show.plan = j.plan
	environment, err := j.environment()
	if err != nil {
		return err
	}
	if j.dir == nil {
		j.dir, err = rundir.Create(j.plan.Dir, rundir.Experiment{
			Version: cli.Version(), ID: j.plan.ID, Seed: j.seed, Start: time.Now().UTC().Truncate(time.Second), Scenario: j.plan.Scenario,
		}, j.text)
		if err != nil {
			return err
		}
	}
	if err := j.show.open(j.dir.Path); err != nil {
		return err
	}
	j.executor = &execute.Executor{Plan: j.plan, Dir: j.dir, Programs: j.paths, Environment: environment, Now: time.Now, Step: j.show.step}
	ctx, stop := j.env.Interruptible(parent)
	defer stop()
	err = errors.Join(j.all(ctx), j.show.close())
	return err
}

// environment is what programs and hooks get: the process's own and that of --env.
func (j *job) environment() (map[string]string, error) {
	all := map[string]string{}
	for _, entry := range os.Environ() {
		name, value, _ := strings.Cut(entry, "=")
		all[name] = value
	}
	if url := j.env.Getenv("AMQP_URL"); url != "" {
		all["AMQP_URL"] = url
	}
	maps.Copy(all, j.extra)
	if j.o.env == "" {
		return all, nil
	}
	in := j.env.Stdin
	if j.o.env != "-" {
		f, err := os.Open(j.o.env)
		if err != nil {
			return nil, err
		}
		defer func() { _ = f.Close() }() // it was only read
		in = f
	}
	text, err := io.ReadAll(io.LimitReader(in, 1<<20))
	if err != nil {
		return nil, fmt.Errorf("--env: %w", err)
	}
	vars, err := execute.ParseEnv(string(text))
	if err != nil {
		return nil, cli.Usagef("--env %s: %w", j.o.env, err)
	}
	for name, value := range vars {
		all[name] = value
	}
	return all, nil
}
