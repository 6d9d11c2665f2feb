package scenario

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
)

// Read reads a scenario. file is its name for errors. Unknown keys, values of the
// wrong kind, anchors and second documents are errors of type *Error.
func Read(file string, r io.Reader) (*Scenario, error) {
	data, err := io.ReadAll(io.LimitReader(r, maxFile+1))
	if err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	root, err := parse(file, data)
	if err != nil {
		return nil, err
	}
	s := New()
	s.File = file
	if err := s.decode(root); err != nil {
		return nil, err
	}
	return s, nil
}

func words(known map[string]func(node) error) string {
	return strings.Join(slices.Sorted(maps.Keys(known)), ", ")
}

func (s *Scenario) decode(root node) error {
	return root.fields("a scenario", map[string]func(node) error{
		"name": func(n node) error {
			if err := text(&s.Name)(n); err != nil {
				return err
			}
			if !isName(s.Name) {
				return n.errorf("name %q: it needs letters, digits, '-', '_' and '.'", s.Name)
			}
			return nil
		},
		"title":        text(&s.Title),
		"about":        text(&s.About),
		"url":          text(&s.URL),
		"addresses":    texts(&s.Addresses),
		"shared":       boolean(&s.Shared),
		"send":         groups(&s.Send, &s.NoSend),
		"recv":         groups(&s.Recv, &s.NoRecv),
		"report":       flags(&s.Report),
		"variants":     s.variants,
		"baseline":     text(&s.Baseline),
		"parameters":   s.parameters,
		"repetitions":  positive(&s.Repetitions),
		"warm-up-runs": positive(&s.WarmUpRuns),
		"order": func(n node) error {
			s.Order = Order(n.text)
			if !slices.Contains(Orders(), s.Order) {
				return n.errorf("order %q: interleaved or given", n.text)
			}
			return nil
		},
		"pictures": func(n node) error {
			s.Pictures = Pictures(n.text)
			if !slices.Contains([]Pictures{DrawEach, DrawCompared, DrawNone}, s.Pictures) {
				return n.errorf("pictures %q: each, compared or none", n.text)
			}
			return nil
		},
		"seed": func(n node) error {
			v, err := strconv.ParseUint(n.text, 10, 64)
			if err != nil {
				return n.errorf("seed %q: a whole number from 0 is needed", n.text)
			}
			s.Seed = &v
			return nil
		},
		"cool-down": duration(&s.CoolDown),
		"drain":     duration(&s.Drain),
		"timeout":   duration(&s.Timeout),
		"gates":     texts(&s.Gates),
		"search":    s.search,
		"hooks":     s.hooks,
	})
}

func (s *Scenario) hooks(n node) error {
	return n.fields("hooks", map[string]func(node) error{
		"before-all": text(&s.Hooks.BeforeAll), "before-run": text(&s.Hooks.BeforeRun),
		"after-run": text(&s.Hooks.AfterRun), "after-all": text(&s.Hooks.AfterAll),
	})
}

func (s *Scenario) search(n node) error {
	q := NewSearch("")
	q.Pos = n.pos
	err := n.fields("search", map[string]func(node) error{
		"condition": text(&q.Condition),
		"from":      text(&q.From),
		"tolerance": func(n node) (err error) {
			q.Tolerance, err = ParseShare(n.text)
			if err != nil {
				return n.errorf("tolerance: %v", err)
			}
			return nil
		},
		"runs": positive(&q.Runs),
	})
	if err == nil && q.Condition == "" {
		err = n.errorf("search has no condition, such as e2e.p99 < 10ms")
	}
	s.Search = q
	return err
}

// NewSearch returns a search with its defaults.
func NewSearch(condition string) *Search {
	return &Search{Condition: condition, From: "1k", Tolerance: 0.05, Runs: 3}
}

// ParseShare reads a share such as 5% or 0.05, above 0 and at most 1.
func ParseShare(text string) (float64, error) {
	number, percent := strings.CutSuffix(text, "%")
	v, err := strconv.ParseFloat(number, 64)
	if percent {
		v /= 100
	}
	if err != nil || !(v > 0 && v <= 1) {
		return 0, fmt.Errorf("%q: a share such as 5%% is needed", text)
	}
	return v, nil
}

func positive(to *int) func(node) error {
	return func(n node) error {
		v, err := strconv.Atoi(n.text)
		if n.kind != scalar || err != nil || v < 1 || v > 10_000 {
			return n.errorf("a whole number from 1 to 10000 is needed, not %q", n.text)
		}
		*to = v
		return nil
	}
}

func (s *Scenario) parameters(n node) error {
	if n.kind != mapping {
		return n.errorf("parameters is a mapping of names to lists, not %s", n.kind)
	}
	for _, e := range n.entries {
		p := Parameter{Name: e.key, Pos: e.pos}
		if err := texts(&p.Values)(e.val); err != nil {
			return err
		}
		s.Parameters = append(s.Parameters, p)
	}
	return nil
}

func (s *Scenario) variants(n node) error {
	if n.kind != list {
		return n.errorf("variants is a list, not %s", n.kind)
	}
	for _, i := range n.items {
		v := Variant{Pos: i.pos}
		err := i.fields("a variant", map[string]func(node) error{
			"label": text(&v.Label), "url": text(&v.URL),
			"send": flags(&v.Send), "recv": flags(&v.Recv), "report": flags(&v.Report), "env": flags(&v.Env),
		})
		if err != nil {
			return err
		}
		s.Variants = append(s.Variants, v)
	}
	return nil
}

// groups reads one process, or a list of them: its options, and beside them url,
// addresses, name, late and host, which are no options of the programs. The word
// none is no process.
func groups(to *[]Group, absent *bool) func(node) error {
	return func(n node) error {
		if n.kind == scalar && n.text == "none" {
			*absent = true
			return nil
		}
		items := n.items
		if n.kind == mapping {
			items = []node{n}
		}
		if len(items) == 0 {
			return n.errorf("a mapping of options is needed, or a list of them, not %s", n.kind)
		}
		for _, i := range items {
			g := Group{Pos: i.pos}
			own := map[string]func(node) error{
				"url": text(&g.URL), "addresses": texts(&g.Addresses), "name": text(&g.Name),
				"late": duration(&g.Late), "host": text(&g.Host),
			}
			if i.kind != mapping {
				return i.errorf("a mapping of options is needed, not %s", i.kind)
			}
			options := node{file: i.file, pos: i.pos, kind: mapping}
			for _, e := range i.entries {
				do := own[e.key]
				if do == nil {
					options.entries = append(options.entries, e)
				} else if err := do(e.val); err != nil {
					return err
				}
			}
			if err := flags(&g.Flags)(options); err != nil {
				return err
			}
			*to = append(*to, g)
		}
		return nil
	}
}

// flags reads options by their long names: true is a switch, false takes it away, a list repeats it.
func flags(to *[]Flag) func(node) error {
	return func(n node) error {
		if n.kind != mapping {
			return n.errorf("a mapping of options is needed, not %s", n.kind)
		}
		for _, e := range n.entries {
			name := e.key
			if strings.HasPrefix(name, "-") || !isName(name) {
				return &Error{File: n.file, Pos: e.pos, Msg: fmt.Sprintf("option %q: it is written by its long name, without dashes", name)}
			}
			if e.val.isBool {
				*to = append(*to, Flag{Name: name, Bare: e.val.text == "true", Off: e.val.text == "false", Pos: e.pos})
				continue
			}
			var values []string
			if err := texts(&values)(e.val); err != nil {
				return err
			}
			for _, v := range values {
				*to = append(*to, Flag{Name: name, Value: v, Pos: e.pos})
			}
		}
		return nil
	}
}
