// Package scenario is what an experiment is made of, read from a YAML file or put
// together from flags: what the programs are given, in which variants, with which
// parameters, how often, and what is done before and after.
//
// It is the first step of perf-run, before package plan makes runs of it. It
// starts nothing, reads no environment and knows no option of a program; it is the
// only importer of the YAML library.
package scenario

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// Scenario is one experiment. Texts may hold ${NAME}, a variable of the
// environment when a program is started; those of groups also {NAME}, a
// placeholder that stands for a parameter, variant, repetition or run.
type Scenario struct {
	File  string // where it was read from, "" if nowhere
	Name  string // of the experiment: names of runs, queues and the folder begin with it
	Title string
	About string

	URL       string   // the broker, "" is $AMQP_URL
	Addresses []string // of all groups that have none of their own
	Shared    bool     // no fresh queues: addresses are used as they are written
	Send      []Group
	Recv      []Group
	NoSend    bool // only receivers: somebody else sends, or has sent
	NoRecv    bool // only senders
	Report    []Flag
	Pictures  Pictures

	Variants    []Variant
	Baseline    string // label of a variant, "" is the first
	Parameters  []Parameter
	Repetitions int
	WarmUpRuns  int // of each variant and combination, made first, which do not count
	Order       Order
	Seed        *uint64 // nil: a new one each time
	CoolDown    time.Duration
	Drain       time.Duration // how long to take what a run left behind
	Timeout     time.Duration // after which a run is ended and counts as failed
	Gates       []string      // conditions of perf-report --fail-if
	Search      *Search
	Hooks       Hooks
}

// Pos is a place in a file; the zero value is no place.
type Pos struct{ Line, Column int }

// Flag is an option of a program: its long name without dashes. Bare is one
// without a value, such as durable; Off one that a variant takes away again.
type Flag struct {
	Name  string
	Value string
	Bare  bool
	Off   bool
	Pos   Pos
}

// Group is one process of perf-send or perf-recv.
type Group struct {
	Name      string // of its log: send, send-2, …
	URL       string
	Addresses []string
	Flags     []Flag
	Late      time.Duration // how long after the first sender it is started
	Host      string        // where it is typed; only for printing
	Pos       Pos
}

// Variant is one side of a comparison.
type Variant struct {
	Label  string
	URL    string
	Send   []Flag
	Recv   []Flag
	Report []Flag
	Env    []Flag // variables for hooks and ${NAME}
	Pos    Pos
}

// Parameter is something that is varied: an option of a program, or a placeholder.
type Parameter struct {
	Name   string
	Values []string
	Pos    Pos
}

// Order is in which order runs are made.
type Order string

// The orders. Interleaved shuffles parameters and variants for each second
// repetition and makes the next one backwards (AB BA): what drifts does so for
// all alike. Given makes them as written, which only hooks that build on one
// another need.
const (
	Interleaved Order = "interleaved"
	Given       Order = "given"
)

// Orders returns all orders.
func Orders() []Order { return []Order{Interleaved, Given} }

// Pictures says what is drawn.
type Pictures string

// Each run's pictures and those of comparisons, or only the latter, or none.
const (
	DrawEach     Pictures = "each"
	DrawCompared Pictures = "compared"
	DrawNone     Pictures = "none"
)

// Search looks for the highest rate at which a condition holds.
type Search struct {
	Condition string // as 'e2e.p99 < 10ms'
	From      string // rate of the first run
	Tolerance float64
	Runs      int // runs that decide a rate, by their majority
	Pos       Pos
}

// Hooks are shell commands. They run in the folder of the scenario file.
type Hooks struct{ BeforeAll, BeforeRun, AfterRun, AfterAll string }

// New returns a scenario with the defaults of all that a file may leave out.
func New() *Scenario {
	return &Scenario{
		Name: "perf-run", Repetitions: 1, Order: Interleaved, Pictures: DrawEach,
		CoolDown: time.Second, Drain: 10 * time.Second, Timeout: time.Hour,
	}
}

// Error is what is wrong with a scenario, and where.
type Error struct {
	File string
	Pos  Pos
	Msg  string
}

// Error implements error: FILE:LINE:COLUMN: message.
func (e *Error) Error() string {
	switch {
	case e.Pos.Line == 0 && e.File == "":
		return e.Msg
	case e.Pos.Line == 0:
		return e.File + ": " + e.Msg
	}
	return fmt.Sprintf("%s:%d:%d: %s", e.File, e.Pos.Line, e.Pos.Column, e.Msg)
}

// Errorf returns an error at a place of the scenario's file.
func (s *Scenario) Errorf(at Pos, format string, args ...any) error {
	return &Error{File: s.File, Pos: at, Msg: fmt.Sprintf(format, args...)}
}

// Check fills in what follows from the rest and reports what contradicts itself.
func (s *Scenario) Check() error {
	if len(s.Variants) == 0 {
		s.Variants = []Variant{{}}
	}
	s.nameGroups()
	for _, check := range []func() error{s.checkGroups, s.checkVariants, s.checkParameters, s.checkSearch} {
		if err := check(); err != nil {
			return err
		}
	}
	return s.checkSecrets()
}

func (s *Scenario) nameGroups() {
	switch {
	case s.NoSend:
		s.Send = nil
	case len(s.Send) == 0:
		s.Send = []Group{{}}
	}
	switch {
	case s.NoRecv:
		s.Recv = nil
	case len(s.Recv) == 0:
		s.Recv = []Group{{}}
	}
	for _, side := range []struct {
		name   string
		groups []Group
	}{{"send", s.Send}, {"recv", s.Recv}} {
		for i := range side.groups {
			g := &side.groups[i]
			if g.Name == "" && i == 0 {
				g.Name = side.name
			} else if g.Name == "" {
				g.Name = fmt.Sprintf("%s-%d", side.name, i+1)
			}
			if len(g.Addresses) == 0 {
				g.Addresses = s.Addresses
			}
		}
	}
}

func (s *Scenario) checkGroups() error {
	if s.NoSend && s.NoRecv {
		return s.Errorf(Pos{}, "send and recv are both none: nothing is left to do")
	}
	seen := map[string]bool{}
	for _, g := range slices.Concat(s.Send, s.Recv) {
		if len(g.Addresses) == 0 {
			return s.Errorf(g.Pos, "%s has no address: give addresses, such as queue://bench", g.Name)
		}
		if seen[g.Name] || !isName(g.Name) {
			return s.Errorf(g.Pos, "name %q: each process needs one of its own, of letters, digits, '-', '_' and '.'", g.Name)
		}
		seen[g.Name] = true
	}
	return nil
}

func (s *Scenario) checkVariants() error {
	seen := map[string]bool{}
	for _, v := range s.Variants {
		if len(s.Variants) > 1 && !isName(v.Label) {
			return s.Errorf(v.Pos, "label %q of a variant: it needs letters, digits, '-', '_' and '.'", v.Label)
		}
		if seen[v.Label] {
			return s.Errorf(v.Pos, "two variants have the label %q", v.Label)
		}
		seen[v.Label] = true
	}
	if s.Baseline != "" && !seen[s.Baseline] {
		return s.Errorf(Pos{}, "baseline %q is no variant", s.Baseline)
	}
	return nil
}

func (s *Scenario) checkParameters() error {
	seen := map[string]bool{"variant": true, "repetition": true, "run": true, "seq": true, "producer": true}
	for _, p := range s.Parameters {
		if seen[p.Name] || !isName(p.Name) {
			return s.Errorf(p.Pos, "parameter %q: each needs a name of its own; variant, repetition, run, seq and producer are taken", p.Name)
		}
		seen[p.Name] = true
		if len(p.Values) == 0 {
			return s.Errorf(p.Pos, "parameter %s has no values", p.Name)
		}
		for i, v := range p.Values {
			if slices.Contains(p.Values[:i], v) {
				return s.Errorf(p.Pos, "parameter %s has the value %s twice: use repetitions", p.Name, v)
			}
		}
	}
	return nil
}

func (s *Scenario) checkSearch() error {
	if s.Search == nil {
		return nil
	}
	if slices.ContainsFunc(s.Parameters, func(p Parameter) bool { return p.Name == "rate" }) {
		return s.Errorf(s.Search.Pos, "rate is what the search varies: it cannot be a parameter too")
	}
	if s.Repetitions != 1 {
		return s.Errorf(s.Search.Pos, "a search decides itself how often it repeats (runs): repetitions must be 1")
	}
	if s.WarmUpRuns != 0 {
		return s.Errorf(s.Search.Pos, "a search has no warm-up-runs: begin it at a lower rate")
	}
	return nil
}

// checkSecrets keeps passwords out of files and command lines, since both are copied.
func (s *Scenario) checkSecrets() error {
	type place struct {
		url string
		at  Pos
	}
	all := []place{{s.URL, Pos{}}}
	for _, g := range slices.Concat(s.Send, s.Recv) {
		all = append(all, place{g.URL, g.Pos})
	}
	for _, v := range s.Variants {
		all = append(all, place{v.URL, v.Pos})
	}
	for _, p := range all {
		if HasPassword(p.url) {
			return s.Errorf(p.at, "a password in a URL would be copied into the run directory: write ${NAME} and set NAME in the environment, or give it by --env")
		}
	}
	return nil
}

// HasPassword reports whether a URL has a password written out in it.
func HasPassword(url string) bool {
	_, rest, ok := strings.Cut(url, "://")
	if !ok {
		return false
	}
	authority, _, _ := strings.Cut(rest, "/")
	i := strings.LastIndex(authority, "@")
	if i < 0 {
		return false
	}
	_, password, ok := strings.Cut(authority[:i], ":")
	return ok && password != "" && !strings.HasPrefix(password, "${")
}

// isName reports whether a text can be part of a file's name as it is.
func isName(s string) bool {
	if s == "" || s[0] == '.' || s[0] == '-' || len(s) > 64 {
		return false
	}
	for _, r := range s {
		if !(r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || strings.ContainsRune("-_.", r)) {
			return false
		}
	}
	return true
}
