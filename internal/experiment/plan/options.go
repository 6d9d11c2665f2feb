package plan

import (
	"fmt"
	"slices"
	"strings"

	"amqpperf/internal/experiment/scenario"
)

// Options are the long names of a program's options. A nil map knows every name:
// nothing is checked.
type Options map[string]Value

// Value says whether an option has a value.
type Value int

// Optional values are written --name=value, since the next word would not be taken for one.
const (
	NoValue Value = iota
	NeedsValue
	OptionalValue
)

// Programs are the options of the programs that runs are made of, as those
// programs themselves say.
type Programs struct{ Send, Recv, Report Options }

// sides says which of the two loading programs an option goes to when nobody says.
func (p Programs) sides(name string) (send, recv bool) {
	_, send = p.Send[name]
	_, recv = p.Recv[name]
	// Options of this name mean different things to both: how much is sent decides.
	if send && recv && slices.Contains([]string{"count", "duration", "warmup", "rate", "durable", "presettled"}, name) {
		recv = false
	}
	return send, recv
}

// Route puts an option that nobody has given a side into a variant: to the sender,
// the receiver, both, or the report. send., recv. and report. before its name say which.
func (p Programs) Route(f scenario.Flag, v *scenario.Variant) error {
	side, name, has := strings.Cut(f.Name, ".")
	if !has {
		side, name = "", f.Name
	}
	f.Name = name
	_, send := p.Send[name]
	_, recv := p.Recv[name]
	_, report := p.Report[name]
	switch side {
	case "":
		send, recv = p.sides(name)
		report = report && !send && !recv
	case "send":
		recv, report = false, false
	case "recv":
		send, report = false, false
	case "report":
		send, recv = false, false
	default:
		return fmt.Errorf("option %s.%s: only send., recv. and report. can stand before a name", side, name)
	}
	if !send && !recv && !report {
		return fmt.Errorf("no program has an option --%s", name)
	}
	if send {
		v.Send = append(v.Send, f)
	}
	if recv {
		v.Recv = append(v.Recv, f)
	}
	if report {
		v.Report = append(v.Report, f)
	}
	return nil
}

// ours are the options that a run sets itself, with what to write instead.
func ours(name string) string {
	switch name {
	case "output", "force", "ready-file", "quiet", "progress":
		return "perf-run gives it itself"
	case "run", "name":
		return "perf-run names runs itself, by name, variant, parameters and repetition"
	case "start-at":
		return "perf-run prints it where hosts are given"
	case "url":
		return "write url, which is kept from command lines if it holds a secret"
	case "calibrate", "dry-run", "unsubscribe", "help", "version", "completion", "completions":
		return "it is no run"
	case "baseline", "compare", "format", "png":
		return "perf-run compares variants itself"
	case "fail-if":
		return "write it under gates"
	}
	return ""
}

// check reports options that a program does not have, that perf-run gives itself,
// and values that are missing or too many.
func check(s *scenario.Scenario, program string, known Options, flags []scenario.Flag) error {
	for _, f := range flags {
		if why := ours(f.Name); why != "" {
			return s.Errorf(f.Pos, "%s --%s: %s", program, f.Name, why)
		}
		if known == nil {
			continue
		}
		takes, ok := known[f.Name]
		switch {
		case !ok:
			return s.Errorf(f.Pos, "%s has no option --%s%s", program, f.Name, elsewhere(f.Name))
		case takes == NeedsValue && f.Bare:
			return s.Errorf(f.Pos, "%s --%s needs a value", program, f.Name)
		case takes == NoValue && !f.Bare && !f.Off:
			return s.Errorf(f.Pos, "%s --%s takes no value: write true or false", program, f.Name)
		}
	}
	return nil
}

// elsewhere helps with names that a user may look for.
func elsewhere(name string) string {
	if slices.Contains([]string{"u", "o", "r", "n", "d", "s", "q", "f"}, name) {
		return ": options are written by their long names"
	}
	return ""
}

// merge lets later options replace earlier ones of the same name: all values of a
// repeated option at once, except labels, which add up.
func merge(sets ...[]scenario.Flag) []scenario.Flag {
	var all []scenario.Flag
	for _, set := range sets {
		if len(all) > 0 {
			all = slices.DeleteFunc(all, func(old scenario.Flag) bool {
				return old.Name != "label" && slices.ContainsFunc(set, func(f scenario.Flag) bool { return f.Name == old.Name })
			})
		}
		all = append(all, set...)
	}
	return slices.DeleteFunc(all, func(f scenario.Flag) bool { return f.Off })
}
