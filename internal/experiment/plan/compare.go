package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"amqpperf/internal/experiment/scenario"
)

// Comparisons are the commands that compare the variants, one for each combination
// of the parameters; none if there is only one variant, or if nothing could come of
// them. runs are those that count.
func (p *Plan) Comparisons(runs []Run) []Command {
	s := p.Scenario
	if len(s.Variants) < 2 || s.Search != nil || p.SweepOnly() {
		return nil
	}
	baseline := first(s.Baseline, s.Variants[0].Label)
	var all []Command
	for _, params := range combinations(s.Parameters) {
		var logs []string
		seen := map[string]bool{}
		for _, r := range runs {
			if !slices.Equal(r.Params, params) {
				continue
			}
			seen[r.Variant] = true
			logs = append(logs, p.logs(r)...)
		}
		if !seen[baseline] || len(seen) < 2 {
			continue
		}
		name := p.comparisonName(params)
		c := Command{Role: "report", Name: name, Program: "perf-report"}
		c.Args = append(c.Args, "-q", "-f", "markdown", "-o", filepath.Join(p.Dir, "compared", name+".md"),
			"--compare", "variant="+baseline)
		for _, key := range p.ignored() {
			c.Args = append(c.Args, "--ignore", key)
		}
		options, err := p.words(Run{Params: params, Variant: baseline}, p.programs.Report, s.Report)
		if err != nil { // New has tried them all
			continue
		}
		c.Args = slices.Concat(c.Args, options, logs)
		all = append(all, c)
	}
	return all
}

// SweepOnly reports whether variants are swept over parameters with a run of each:
// a table, and as many comparisons as it has cells, none of which could be significant.
func (p *Plan) SweepOnly() bool {
	s := p.Scenario
	return s.Repetitions == 1 && len(s.Variants) > 1 && len(p.varied(combinations(s.Parameters)[0])) > 0
}

// Pictures are the commands that draw a run of each variant beside one of the
// baseline, or, without variants, of each value of the one parameter that varies
// beside one of its first: the first of both sides, since a picture shows two runs.
// Their results are text files beside folders of the same names.
func (p *Plan) Pictures(runs []Run) []Command {
	s := p.Scenario
	if s.Search != nil || s.Pictures == scenario.DrawNone {
		return nil
	}
	var all []Command
	for _, x := range p.sides() {
		first := func(y side) int {
			return slices.IndexFunc(runs, func(r Run) bool { return r.Variant == y.variant && slices.Equal(r.Params, y.params) })
		}
		base, other := first(x.base), first(x.other)
		if base < 0 || other < 0 {
			continue
		}
		c := Command{Role: "report", Name: x.name, Program: "perf-report"}
		c.Args = append(c.Args, "-q", "-o", filepath.Join(p.Dir, "compared", x.name+".txt"), "--png", filepath.Join(p.Dir, "compared", x.name))
		for _, log := range p.logs(runs[base]) {
			c.Args = append(c.Args, "--baseline", log)
		}
		options, err := p.words(runs[other], p.programs.Report, s.Report)
		if err != nil { // New has tried them all
			continue
		}
		c.Args = slices.Concat(c.Args, options, p.logs(runs[other]))
		all = append(all, c)
	}
	return all
}

// side is what runs have in common that are shown by one of them.
type side struct {
	variant string
	params  []Setting
}

// pair is a side to be drawn beside another.
type pair struct {
	name        string
	base, other side
}

// sides lists what is drawn beside what.
func (p *Plan) sides() (all []pair) {
	s := p.Scenario
	combined := combinations(s.Parameters)
	if len(s.Variants) < 2 {
		if varied := p.varied(combined[0]); len(varied) != 1 {
			return nil
		}
		base := combined[0]
		variant := ""
		if len(s.Variants) == 1 {
			variant = s.Variants[0].Label
		}
		for _, other := range combined[1:] {
			all = append(all, pair{p.comparisonName(other), side{variant, base}, side{variant, other}})
		}
		return all
	}
	baseline := first(s.Baseline, s.Variants[0].Label)
	for _, params := range combined {
		for _, v := range s.Variants {
			if v.Label != baseline {
				name := p.comparisonName(append([]Setting{{"variant", v.Label}}, params...))
				all = append(all, pair{name, side{baseline, params}, side{v.Label, params}})
			}
		}
	}
	return all
}

// logs are the logs of a run.
func (p *Plan) logs(r Run) (all []string) {
	for _, g := range slices.Concat(p.Scenario.Send, p.Scenario.Recv) {
		all = append(all, filepath.Join(p.folder(r), g.Name+".parquet"))
	}
	return all
}

// comparisonName names the files of the comparison at one combination.
func (p *Plan) comparisonName(params []Setting) string {
	params = p.varied(params)
	if len(params) == 0 {
		return "variants"
	}
	var parts []string
	for _, x := range params {
		parts = append(parts, x.Name+"="+strings.ReplaceAll(x.Value, "/", "_"))
	}
	return strings.Join(parts, "-")
}

// senders are all options of perf-send that the scenario has somewhere.
func (p *Plan) senders() (all []scenario.Flag) {
	for _, g := range p.Scenario.Send {
		all = append(all, g.Flags...)
	}
	for _, v := range p.Scenario.Variants {
		all = append(all, v.Send...)
	}
	return all
}

// ignored are settings that may differ between the runs of a side: the names of
// fresh queues, and where a hook has started a broker, and its process.
func (p *Plan) ignored() []string {
	all := []string{}
	if !p.Scenario.Shared {
		all = append(all, "addresses", "attached")
	}
	if slices.ContainsFunc(slices.Concat(p.Scenario.Send, p.Scenario.Recv), func(g scenario.Group) bool { return strings.Contains(g.URL, "${") }) ||
		strings.Contains(p.Scenario.URL, "${") || slices.ContainsFunc(p.Scenario.Variants, func(v scenario.Variant) bool { return strings.Contains(v.URL, "${") }) {
		all = append(all, "url")
	}
	if slices.ContainsFunc(p.senders(), func(f scenario.Flag) bool { return f.Name == "watch-pid" && strings.Contains(f.Value, "${") }) {
		all = append(all, "watch")
	}
	return all
}
