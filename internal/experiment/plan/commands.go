package plan

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"amqpperf/internal/experiment/scenario"
)

// Command is a program with its arguments. They may hold ${NAME} of the environment.
type Command struct {
	Role    string // send, recv, report or drain
	Name    string // of its log, without extension
	Program string
	Args    []string
	URL     string // given by $AMQP_URL, "" if it is inherited or among Args
	Ready   string // a file that appears when it is ready, "" if none does
	Late    time.Duration
	Host    string
}

// Commands are those of one run, receivers first.
func (p *Plan) Commands(r Run) ([]Command, error) {
	s := p.Scenario
	i := slices.IndexFunc(s.Variants, func(v scenario.Variant) bool { return v.Label == r.Variant })
	if i < 0 {
		return nil, fmt.Errorf("run %d is of the variant %q, which there is not", r.N, r.Variant)
	}
	v := s.Variants[i]
	var params scenario.Variant
	for _, x := range r.Params {
		if ours(x.Name) == "" {
			// A parameter that no program knows is a placeholder only.
			_ = p.programs.Route(scenario.Flag{Name: x.Name, Value: x.Value}, &params)
		}
	}
	var all []Command
	for _, g := range s.Recv {
		c, err := p.load(r, g, "recv", v.URL, merge(g.Flags, v.Recv, params.Recv))
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	for _, g := range s.Send {
		c, err := p.load(r, g, "send", v.URL, merge(g.Flags, v.Send, params.Send))
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	report, err := p.report(r, merge(s.Report, v.Report, params.Report))
	return append(all, report), err
}

// load is a command of perf-send or perf-recv.
func (p *Plan) load(r Run, g scenario.Group, role, variantURL string, flags []scenario.Flag) (Command, error) {
	dir := p.folder(r)
	c := Command{Role: role, Name: g.Name, Program: "perf-" + role, Late: g.Late, Host: g.Host}
	c.Args = append(c.Args, "-o", filepath.Join(dir, g.Name+".parquet"), "--run", p.RunID(r))
	if title := p.Title(r); title != "" {
		c.Args = append(c.Args, "--name", title)
	}
	if r.Variant != "" {
		c.Args = append(c.Args, "--label", "variant="+r.Variant)
	}
	for _, x := range r.Params {
		c.Args = append(c.Args, "--label", x.Name+"="+x.Value)
	}
	if role == "recv" && p.onHosts() == (g.Host != "") {
		c.Ready = filepath.Join(dir, g.Name+".ready")
		c.Args = append(c.Args, "--ready-file", c.Ready)
	}
	if role == "send" && p.onHosts() {
		c.Args = append(c.Args, "--start-at", "${START}")
	}
	url := first(g.URL, variantURL, p.Scenario.URL)
	if url != "" && !strings.Contains(url, "${") {
		c.Args = append(c.Args, "-u", url)
	} else {
		c.URL = url
	}
	known := p.programs.Send
	if role == "recv" {
		known = p.programs.Recv
	}
	options, err := p.words(r, known, slices.Concat(flags, ends(role, flags)))
	if err != nil {
		return c, err
	}
	c.Args = append(c.Args, options...)
	for _, a := range g.Addresses {
		address, err := p.fill(r, g.Pos, a)
		if err != nil {
			return c, err
		}
		c.Args = append(c.Args, p.fresh(r, address))
	}
	return c, nil
}

// words are options as they are typed, with their placeholders filled.
func (p *Plan) words(r Run, known Options, flags []scenario.Flag) (all []string, err error) {
	for _, f := range flags {
		value, err := p.fill(r, f.Pos, f.Value)
		switch {
		case err != nil:
			return nil, err
		case f.Bare:
			all = append(all, "--"+f.Name)
		case known[f.Name] == OptionalValue || strings.HasPrefix(value, "-"):
			all = append(all, "--"+f.Name+"="+value)
		default:
			all = append(all, "--"+f.Name, value)
		}
	}
	return all, nil
}

func (p *Plan) folder(r Run) string { return filepath.Join(p.Dir, "runs", p.Folder(r)) }

func (p *Plan) onHosts() bool {
	return slices.ContainsFunc(slices.Concat(p.Scenario.Send, p.Scenario.Recv), func(g scenario.Group) bool { return g.Host != "" })
}

// ends are the options by which a program ends, if it has none that says so.
func ends(role string, flags []scenario.Flag) []scenario.Flag {
	has := func(names ...string) bool {
		return slices.ContainsFunc(flags, func(f scenario.Flag) bool { return slices.Contains(names, f.Name) })
	}
	switch {
	case role == "send" && !has("count", "duration", "replay"):
		return []scenario.Flag{{Name: "duration", Value: "30s"}}
	case role == "recv" && !has("count", "duration", "idle", "wait"):
		return []scenario.Flag{{Name: "idle", Value: "5s"}, {Name: "wait", Value: "1m"}}
	case role == "recv" && !has("wait", "duration"):
		return []scenario.Flag{{Name: "wait", Value: "1m"}}
	}
	return nil
}

// fresh gives an address a name that no other run has; a verbatim one gets it only by {run}.
func (p *Plan) fresh(r Run, address string) string {
	if p.Scenario.Shared || !strings.HasPrefix(address, "queue://") && !strings.HasPrefix(address, "topic://") || strings.Contains(address, p.RunID(r)) {
		return address
	}
	return address + "-" + p.serial(r)
}

func (p *Plan) report(r Run, flags []scenario.Flag) (Command, error) {
	dir := p.folder(r)
	c := Command{Role: "report", Name: "report", Program: "perf-report"}
	c.Args = append(c.Args, "-q", "-f", "json", "-o", filepath.Join(dir, "report.json"))
	if p.Scenario.Pictures == scenario.DrawEach {
		c.Args = append(c.Args, "--png", filepath.Join(dir, "png"))
	}
	options, err := p.words(r, p.programs.Report, flags)
	if err != nil {
		return c, err
	}
	c.Args = append(c.Args, options...)
	for _, gate := range p.Scenario.Gates {
		c.Args = append(c.Args, "--fail-if", gate)
	}
	for _, g := range slices.Concat(p.Scenario.Send, p.Scenario.Recv) {
		c.Args = append(c.Args, filepath.Join(dir, g.Name+".parquet"))
	}
	return c, nil
}

// Drain are commands that take what a run left in its queues.
func (p *Plan) Drain(r Run) (all []Command, err error) {
	commands, err := p.Commands(r)
	if err != nil || p.Scenario.Drain == 0 {
		return nil, err
	}
	for i, g := range p.Scenario.Recv {
		c := Command{Role: "drain", Name: "drain-" + g.Name, Program: "perf-recv", URL: commands[i].URL}
		if j := slices.Index(commands[i].Args, "-u"); j >= 0 {
			c.Args = append(c.Args, commands[i].Args[j:j+2]...)
		}
		var queues []string
		for _, a := range commands[i].Args[len(commands[i].Args)-len(g.Addresses):] {
			if strings.HasPrefix(a, "queue://") && !p.Scenario.Shared {
				queues = append(queues, a)
			}
		}
		if len(queues) == 0 {
			continue
		}
		c.Args = append(c.Args, "-q", "-o", "/dev/null", "--foreign", "accept", "--idle", "1s", "--wait", "1s", "--duration", p.Scenario.Drain.String())
		c.Args = append(c.Args, queues...)
		all = append(all, c)
	}
	return all, nil
}

func first(texts ...string) string {
	for _, t := range texts {
		if t != "" {
			return t
		}
	}
	return ""
}
