package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"amqpperf/internal/experiment/scenario"
)

// Together are the commands that judge runs together which differ only in what a
// hook makes different, such as a round trip: what held them all, a cap in the broker,
// does not show in one of them. Their results are JSON, a line each run.
func (p *Plan) Together(runs []Run) []Command {
	s := p.Scenario
	if s.Search != nil {
		return nil
	}
	outside := func(name string) bool {
		return slices.ContainsFunc(s.Parameters, func(x scenario.Parameter) bool { return x.Name == name && len(x.Values) > 1 && p.ofHooks(x) })
	}
	groups := map[string][]string{}
	counts := map[string]int{}
	var names []string
	for _, r := range runs {
		inside := slices.DeleteFunc(slices.Clone(r.Params), func(x Setting) bool { return outside(x.Name) })
		if len(inside) == len(r.Params) {
			continue
		}
		name := strings.Join([]string{"together", r.Variant, p.comparisonName(inside)}, "-")
		if groups[name] == nil {
			names = append(names, name)
		}
		groups[name] = append(groups[name], p.logs(r)...)
		counts[name]++
	}
	var all []Command
	for _, name := range names {
		if counts[name] > 1 {
			args := append([]string{"-q", "-f", "json", "-o", filepath.Join(p.Dir, "compared", name+".json")}, groups[name]...)
			all = append(all, Command{Role: "report", Name: name, Program: "perf-report", Args: args})
		}
	}
	return all
}

// ofHooks reports whether only a hook before runs reads a parameter.
func (p *Plan) ofHooks(x scenario.Parameter) bool {
	var v scenario.Variant
	asOption := p.programs.Route(scenario.Flag{Name: x.Name, Value: "x"}, &v) == nil && ours(x.Name) == ""
	return !asOption && strings.Contains(p.Scenario.Hooks.BeforeRun+p.Scenario.Hooks.BeforeAll, EnvName(x.Name))
}
