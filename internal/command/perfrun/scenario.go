package perfrun

import (
	"bytes"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"amqpperf/internal/analysis/gate"
	"amqpperf/internal/cli"
	"amqpperf/internal/experiment/plan"
	"amqpperf/internal/experiment/scenario"
	"amqpperf/internal/units"
)

// fromFile reads a scenario and lets the flags that may stand beside it have their say.
func (o *options) fromFile(file string, fs *pflag.FlagSet) (*scenario.Scenario, []byte, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return nil, nil, err
	}
	s, err := scenario.Read(file, bytes.NewReader(text))
	if err != nil {
		return nil, nil, &cli.ExitError{Code: cli.ExitUsage, Err: err}
	}
	if o.url != "" {
		s.URL = o.url
	}
	if fs.Changed("repetitions") {
		s.Repetitions = o.repetitions
	}
	if fs.Changed("warm-up-runs") {
		s.WarmUpRuns = o.warmUp
	}
	if fs.Changed("seed") {
		s.Seed = &o.seed
	}
	if fs.Changed("pictures") {
		s.Pictures = scenario.Pictures(o.pictures.String())
	}
	for _, p := range o.params {
		parameter, err := scenario.ParseParameter(p)
		if err != nil {
			return nil, nil, cli.Usagef("--param %w", err)
		}
		replaced := false
		for i := range s.Parameters {
			if s.Parameters[i].Name == parameter.Name {
				s.Parameters[i].Values, replaced = parameter.Values, true
			}
		}
		if !replaced {
			s.Parameters = append(s.Parameters, parameter)
		}
	}
	return s, text, o.search(s, fs)
}

// fromFlags puts a scenario together.
func (o *options) fromFlags(addresses []string, programs plan.Programs, fs *pflag.FlagSet) (*scenario.Scenario, error) {
	s := scenario.New()
	s.URL, s.Addresses, s.Shared = o.url, addresses, o.shared
	s.Repetitions, s.Order, s.Baseline = o.repetitions, scenario.Order(o.order.String()), o.baseline
	s.WarmUpRuns = o.warmUp
	s.CoolDown, s.Drain, s.Timeout = o.coolDown, o.drain, o.timeout
	s.Gates, s.Hooks, s.Pictures = o.gates, o.hooks, scenario.Pictures(o.pictures.String())
	if fs.Changed("seed") {
		s.Seed = &o.seed
	}
	send, recv := scenario.Group{Host: o.sendHost}, scenario.Group{Host: o.recvHost}
	for _, part := range []struct {
		flag, text string
		to         *[]scenario.Flag
	}{{"send", o.send, &send.Flags}, {"recv", o.recv, &recv.Flags}, {"report", o.report, &s.Report}} {
		flags, err := scenario.ParseFlags(part.text)
		if err != nil {
			return nil, cli.Usagef("--%s: %w", part.flag, err)
		}
		*part.to = flags
	}
	s.Send, s.Recv = []scenario.Group{send}, []scenario.Group{recv}
	for _, text := range o.variants {
		v, err := scenario.ParseVariant(text, programs.Route)
		if err != nil {
			return nil, cli.Usagef("--variant %w", err)
		}
		s.Variants = append(s.Variants, v)
	}
	for _, text := range o.params {
		p, err := scenario.ParseParameter(text)
		if err != nil {
			return nil, cli.Usagef("--param %w", err)
		}
		s.Parameters = append(s.Parameters, p)
	}
	return s, o.search(s, fs)
}

// search takes the flags of --find-max-rate.
func (o *options) search(s *scenario.Scenario, fs *pflag.FlagSet) error {
	if o.find == "" && s.Search == nil {
		for _, name := range []string{"from-rate", "tolerance", "find-runs"} {
			if fs.Changed(name) {
				return cli.Usagef("--%s goes with --find-max-rate", name)
			}
		}
		return nil
	}
	if s.Search == nil {
		s.Search = scenario.NewSearch(o.find)
	}
	if o.find != "" {
		s.Search.Condition = o.find
	}
	if fs.Changed("from-rate") {
		s.Search.From = o.from
	}
	if fs.Changed("find-runs") {
		s.Search.Runs = o.findRuns
	}
	if fs.Changed("tolerance") {
		share, err := scenario.ParseShare(o.tolerance)
		if err != nil {
			return cli.Usagef("--tolerance %w", err)
		}
		s.Search.Tolerance = share
	}
	return nil
}

// inverted turns a condition that should hold into the one that perf-report fails by.
func inverted(condition string) (string, error) {
	for _, op := range []struct{ from, to string }{{"<=", ">"}, {">=", "<"}, {"<", ">="}, {">", "<="}} {
		if before, after, ok := strings.Cut(condition, op.from); ok {
			return strings.TrimSpace(before) + " " + op.to + " " + strings.TrimSpace(after), nil
		}
	}
	return "", fmt.Errorf("%q: METRIC.STAT < VALUE is needed, such as e2e.p99 < 10ms", condition)
}

// checkVerdicts lets faults in conditions be found before the first run.
func checkVerdicts(s *scenario.Scenario) error {
	for _, text := range s.Gates {
		g, err := gate.Parse(text)
		if err == nil && g.Change() {
			err = fmt.Errorf("a change is between variants: look at the comparison in index.md, or use perf-report --compare on the logs")
		}
		if err != nil {
			return s.Errorf(scenario.Pos{}, "gate %q: %v", text, err)
		}
	}
	if s.Search == nil {
		return nil
	}
	text, err := inverted(s.Search.Condition)
	if err == nil {
		_, err = gate.Parse(text)
	}
	if err != nil {
		return s.Errorf(s.Search.Pos, "condition %q: %v", s.Search.Condition, err)
	}
	if r, err := units.ParseRate(s.Search.From); err != nil || r.Max() {
		return s.Errorf(s.Search.Pos, "rate %q to begin the search with: a rate such as 1k is needed", s.Search.From)
	}
	if !slices.Contains(s.Gates, text) {
		s.Gates = append(s.Gates, text)
	}
	return nil
}
