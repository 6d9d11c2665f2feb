package plan

import (
	"path/filepath"
	"slices"
	"strings"

	"amqpperf/internal/experiment/scenario"
)

// Comparisons are the commands that compare the variants, one for each combination
// of the parameters; none if there is only one variant. runs are those that count.
func (p *Plan) Comparisons(runs []Run) []Command {
	s := p.Scenario
	if len(s.Variants) < 2 || s.Search != nil {
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

// Pictures are the commands that draw a run of each variant beside one of the
// baseline: the first of both sides, since a picture shows two runs. Their results
// are text files beside folders of the same names.
func (p *Plan) Pictures(runs []Run) []Command {
	s := p.Scenario
	if len(s.Variants) < 2 || s.Search != nil || s.Pictures == scenario.DrawNone {
		return nil
	}
	baseline := first(s.Baseline, s.Variants[0].Label)
	var all []Command
	for _, params := range combinations(s.Parameters) {
		one := func(label string) int {
			return slices.IndexFunc(runs, func(r Run) bool { return r.Variant == label && slices.Equal(r.Params, params) })
		}
		base := one(baseline)
		for _, v := range s.Variants {
			other := one(v.Label)
			if v.Label == baseline || base < 0 || other < 0 {
				continue
			}
			name := p.comparisonName(append([]Setting{{"variant", v.Label}}, params...))
			c := Command{Role: "report", Name: name, Program: "perf-report"}
			c.Args = append(c.Args, "-q", "-o", filepath.Join(p.Dir, "compared", name+".txt"), "--png", filepath.Join(p.Dir, "compared", name))
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

// ignored are settings that may differ between the runs of a side: the names of
// fresh queues, and where a hook has started a broker.
func (p *Plan) ignored() []string {
	all := []string{}
	if !p.Scenario.Shared {
		all = append(all, "addresses", "attached")
	}
	if slices.ContainsFunc(slices.Concat(p.Scenario.Send, p.Scenario.Recv), func(g scenario.Group) bool { return strings.Contains(g.URL, "${") }) ||
		strings.Contains(p.Scenario.URL, "${") || slices.ContainsFunc(p.Scenario.Variants, func(v scenario.Variant) bool { return strings.Contains(v.URL, "${") }) {
		all = append(all, "url")
	}
	return all
}
