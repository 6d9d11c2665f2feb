// Package plan makes runs of a scenario and commands of a run: which programs are
// started with which arguments, and how one would type them.
//
// It is pure: it starts nothing, reads neither clock nor environment, and the same
// scenario and seed give the same plan. Package execute carries a plan out.
package plan

import (
	"fmt"
	"regexp"
	"slices"
	"strings"

	"amqpperf/internal/experiment/scenario"
)

// Plan is a scenario that fits the programs.
type Plan struct {
	Scenario *scenario.Scenario
	ID       string // of this execution; queues and runs are named by it
	Dir      string // the run directory
	programs Programs
}

// New checks the options of a scenario against the programs'. The errors name the
// place in the scenario's file.
func New(s *scenario.Scenario, programs Programs, id, dir string) (*Plan, error) {
	p := &Plan{Scenario: s, ID: id, Dir: dir, programs: programs}
	for _, g := range s.Send {
		if err := check(s, "perf-send", programs.Send, g.Flags); err != nil {
			return nil, err
		}
	}
	for _, g := range s.Recv {
		if err := check(s, "perf-recv", programs.Recv, g.Flags); err != nil {
			return nil, err
		}
	}
	if err := check(s, "perf-report", programs.Report, s.Report); err != nil {
		return nil, err
	}
	for _, v := range s.Variants {
		for _, part := range []struct {
			program string
			known   Options
			flags   []scenario.Flag
		}{{"perf-send", programs.Send, v.Send}, {"perf-recv", programs.Recv, v.Recv}, {"perf-report", programs.Report, v.Report}} {
			if err := check(s, part.program, part.known, part.flags); err != nil {
				return nil, err
			}
		}
	}
	if err := p.checkParameters(); err != nil {
		return nil, err
	}
	first := Order(s, 0)[0]
	if s.Search != nil {
		first.Params = append(first.Params, Setting{"rate", s.Search.From})
	}
	_, err := p.Commands(first) // placeholders that nobody fills
	return p, err
}

// checkParameters reports parameters that would change nothing.
func (p *Plan) checkParameters() error {
	s := p.Scenario
	var all []string
	for _, g := range slices.Concat(s.Send, s.Recv) {
		all = append(all, g.Addresses...)
		for _, f := range g.Flags {
			all = append(all, f.Value)
		}
	}
	for _, f := range s.Report {
		all = append(all, f.Value)
	}
	used := strings.Join(all, "\n")
	for _, x := range s.Parameters {
		var v scenario.Variant
		asOption := p.programs.Route(scenario.Flag{Name: x.Name, Value: "x"}, &v) == nil && ours(x.Name) == ""
		asHook := strings.Contains(s.Hooks.BeforeRun+s.Hooks.BeforeAll, EnvName(x.Name))
		if !asOption && !asHook && !strings.Contains(used, "{"+x.Name+"}") {
			return s.Errorf(x.Pos, "parameter %s changes nothing: it is no option of a program, {%s} stands nowhere, and no hook before a run reads $%s", x.Name, x.Name, EnvName(x.Name))
		}
	}
	return nil
}

// EnvName is the variable in which hooks find a parameter.
func EnvName(parameter string) string {
	return "PERF_PARAM_" + strings.Map(func(r rune) rune {
		if r == '-' || r == '.' {
			return '_'
		}
		return r
	}, strings.ToUpper(parameter))
}

// Folder is the name of a run's folder: number, variant, parameters, repetition, and
// which attempt it is, beyond the first.
func (p *Plan) Folder(r Run) string {
	parts := []string{fmt.Sprintf("%03d", r.N)}
	if r.Variant != "" {
		parts = append(parts, r.Variant)
	}
	for _, x := range p.varied(r.Params) {
		parts = append(parts, x.Name+"="+x.Value)
	}
	parts = append(parts, fmt.Sprint(r.Repetition))
	if r.Attempt > 0 {
		parts = append(parts, fmt.Sprintf("attempt-%d", r.Attempt+1))
	}
	return strings.Map(func(c rune) rune {
		if strings.ContainsRune(`/\ '"$*?&;|<>(){}`, c) || c < ' ' {
			return '_'
		}
		return c
	}, strings.Join(parts, "-"))
}

// RunID is what --run is given, the same for all programs of a run.
func (p *Plan) RunID(r Run) string { return p.Scenario.Name + "-" + p.serial(r) }

// serial is different for all runs and attempts of all experiments.
func (p *Plan) serial(r Run) string {
	if r.Attempt > 0 {
		return fmt.Sprintf("%s-%03d-%d", p.ID, r.N, r.Attempt+1)
	}
	return fmt.Sprintf("%s-%03d", p.ID, r.N)
}

// varied leaves out the parameters that have one value in the whole experiment.
func (p *Plan) varied(all []Setting) []Setting {
	return slices.DeleteFunc(slices.Clone(all), func(x Setting) bool {
		return slices.ContainsFunc(p.Scenario.Parameters, func(s scenario.Parameter) bool { return s.Name == x.Name && len(s.Values) == 1 })
	})
}

// Title names a run for people, without the repetition.
func (p *Plan) Title(r Run) string {
	var parts []string
	if r.Variant != "" {
		parts = append(parts, r.Variant)
	}
	for _, x := range p.varied(r.Params) {
		parts = append(parts, x.Name+" "+x.Value)
	}
	return strings.Join(parts, ", ")
}

func placeholder() *regexp.Regexp { return regexp.MustCompile(`\$?\{[A-Za-z][A-Za-z0-9_.-]*\}`) }

// fill replaces {NAME} by a parameter's value, {variant}, {repetition} or {run};
// ${NAME} and the templates of perf-send are left alone.
func (p *Plan) fill(r Run, at scenario.Pos, text string) (string, error) {
	var err error
	out := placeholder().ReplaceAllStringFunc(text, func(word string) string {
		if strings.HasPrefix(word, "$") {
			return word
		}
		name := word[1 : len(word)-1]
		switch name {
		case "variant":
			return r.Variant
		case "repetition":
			return fmt.Sprint(r.Repetition)
		case "run":
			return p.RunID(r)
		case "seq", "producer": // perf-send's own, in --property and the like
			return word
		}
		for _, x := range r.Params {
			if x.Name == name {
				return x.Value
			}
		}
		err = p.Scenario.Errorf(at, "%s in %q is no parameter", word, text)
		return word
	})
	return out, err
}
