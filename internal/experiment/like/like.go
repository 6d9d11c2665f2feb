// Package like reads the command lines of other tools and makes scenarios of them:
// Artemis's perf client, producer and consumer, and Qpid's qpid-send and
// qpid-receive. Every option is mapped, named as one without meaning here, or
// refused with the reason; none is ignored. Defaults are then those of the tool.
//
// It knows the other tools' options and what ours means in their place, and starts
// nothing. docs/like.md is written from its table.
package like

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"amqpperf/internal/experiment/scenario"
)

// Fate is what becomes of an option.
type Fate string

// The fates.
const (
	Mapped  Fate = "mapped"
	Nothing Fate = "no meaning here"
	Refused Fate = "refused"
)

// Option is an option of another tool.
type Option struct {
	Names []string // as typed, the long one first
	Takes bool     // a value
	Fate  Fate
	// Text says what is done instead, why nothing has to be done, or why it is refused.
	Text string

	apply func(c *call, value string) error // of Mapped
}

// tool is one of the other tools.
type tool struct {
	name      string
	what      string
	send      bool
	recv      bool
	options   []Option
	begin     func(c *call) // sets the tool's defaults
	end       func(c *call) error
	positions bool // it takes destinations as arguments
}

// call is a command line while it is translated.
type call struct {
	tool  *tool
	s     *scenario.Scenario
	send  scenario.Group
	recv  scenario.Group
	notes []string
	given map[string]string // by the option's first name
	env   map[string]string
	// What is only known when all options were read.
	addresses            []string
	destinations         int
	pending, tx, threads int
	shared, durable      bool
}

// Result is a translated command line.
type Result struct {
	Scenario *scenario.Scenario
	// Notes say what is different here; they are for standard error.
	Notes []string
	// Env are variables for the programs: a password that was on the command line.
	Env map[string]string
}

// Tools returns the names of the tools.
func Tools() (names []string) {
	for _, t := range tools() {
		names = append(names, t.name)
	}
	return names
}

// Options returns the options of a tool, nil if there is no such tool.
func Options(name string) []Option {
	for _, t := range tools() {
		if t.name == name {
			return t.options
		}
	}
	return nil
}

func tools() []*tool {
	return []*tool{artemisClient(), artemisProducer(), artemisConsumer(), qpidSend(), qpidReceive()}
}

// Translate reads the arguments of a tool: what stands behind its name, and behind perf client and the like.
func Translate(name string, args []string) (*Result, error) {
	i := slices.IndexFunc(tools(), func(t *tool) bool { return t.name == name })
	if i < 0 {
		return nil, fmt.Errorf("--like %s: the tools are %s", name, strings.Join(Tools(), ", "))
	}
	t := tools()[i]
	c := &call{tool: t, s: scenario.New(), given: map[string]string{}, env: map[string]string{}}
	c.s.Name = name
	c.s.NoSend, c.s.NoRecv = !t.send, !t.recv
	// They use the addresses as they are given; so what is there already is received.
	c.s.Shared = true
	c.s.Timeout = 1000 * time.Hour // theirs know no limit
	c.pending, c.destinations = 1, 1
	t.begin(c)
	if err := c.read(args); err != nil {
		return nil, fmt.Errorf("--like %s: %w", name, err)
	}
	if err := t.end(c); err != nil {
		return nil, fmt.Errorf("--like %s: %w", name, err)
	}
	c.s.Send, c.s.Recv, c.s.Addresses = []scenario.Group{c.send}, []scenario.Group{c.recv}, c.addresses
	return &Result{c.s, c.notes, c.env}, nil
}

func (c *call) note(format string, args ...any) {
	c.notes = append(c.notes, fmt.Sprintf(format, args...))
}

// read goes through the words.
func (c *call) read(args []string) error {
	for i := 0; i < len(args); i++ {
		word := args[i]
		if word == "--" {
			c.addresses = append(c.addresses, args[i+1:]...)
			return nil
		}
		if !strings.HasPrefix(word, "-") || word == "-" {
			if !c.tool.positions {
				return fmt.Errorf("%q: it takes no arguments but options", word)
			}
			c.addresses = append(c.addresses, word)
			continue
		}
		name, value, has := strings.Cut(word, "=")
		o, rest := c.find(name)
		if o == nil {
			return fmt.Errorf("it has no option %s", name)
		}
		if rest != "" && !has {
			value, has = rest, true
		}
		switch {
		case o.Takes && !has:
			i++
			if i == len(args) {
				return fmt.Errorf("option %s needs a value", name)
			}
			value = args[i]
		case !o.Takes && has:
			on, err := yes(value)
			if err != nil {
				return fmt.Errorf("option %s: %w", name, err)
			}
			if !on {
				continue
			}
		}
		if err := c.take(o, value); err != nil {
			return err
		}
	}
	return nil
}

// find returns the option of a word; of a short one the value may follow at once, as in -m100.
func (c *call) find(word string) (o *Option, rest string) {
	for i := range c.tool.options {
		for _, n := range c.tool.options[i].Names {
			if n == word {
				return &c.tool.options[i], ""
			}
		}
	}
	if len(word) > 2 && word[1] != '-' {
		for i := range c.tool.options {
			if o := &c.tool.options[i]; o.Takes && slices.Contains(o.Names, word[:2]) {
				return o, word[2:]
			}
		}
	}
	return nil, ""
}

func (c *call) take(o *Option, value string) error {
	c.given[o.Names[0]] = value
	switch o.Fate {
	case Refused:
		return fmt.Errorf("option %s: %s", o.Names[0], o.Text)
	case Nothing:
		c.note("%s has no meaning here: %s", o.Names[0], o.Text)
		return nil
	case Mapped:
	}
	if err := o.apply(c, value); err != nil {
		return fmt.Errorf("option %s: %w", o.Names[0], err)
	}
	return nil
}

func set(g *scenario.Group, name, value string) {
	g.Flags = append(g.Flags, scenario.Flag{Name: name, Value: value})
}

func turnOn(g *scenario.Group, name string) {
	g.Flags = append(g.Flags, scenario.Flag{Name: name, Bare: true})
}

// whole reads a number that is not negative.
func whole(value string) (int64, error) {
	n, err := strconv.ParseInt(value, 10, 64)
	if err != nil || n < 0 {
		return 0, fmt.Errorf("%q is no whole number", value)
	}
	return n, nil
}

func yes(value string) (bool, error) {
	switch strings.ToLower(value) {
	case "yes", "true", "1", "on":
		return true, nil
	case "no", "false", "0", "off":
		return false, nil
	}
	return false, fmt.Errorf("%q: yes or no is needed", value)
}

// Constructors of options, by what is done with the value.

func mapped(text string, takes bool, apply func(*call, string) error, names ...string) Option {
	return Option{Names: names, Takes: takes, Fate: Mapped, Text: text, apply: apply}
}

func nothing(text string, takes bool, names ...string) Option {
	return Option{Names: names, Takes: takes, Fate: Nothing, Text: text}
}

func refused(text string, takes bool, names ...string) Option {
	return Option{Names: names, Takes: takes, Fate: Refused, Text: text}
}

// number maps a whole number onto an option of ours, with a unit behind it; 0 is theirs for "not at all".
func number(side func(*call) *scenario.Group, ours, unit, text string, names ...string) Option {
	return mapped(text, true, func(c *call, value string) error {
		n, err := whole(value)
		if err == nil && n > 0 {
			set(side(c), ours, fmt.Sprint(n)+unit)
		}
		return err
	}, names...)
}

// word maps a text onto an option of ours.
func word(side func(*call) *scenario.Group, ours, text string, names ...string) Option {
	return mapped(text, true, func(c *call, value string) error {
		set(side(c), ours, value)
		return nil
	}, names...)
}

func sender(c *call) *scenario.Group   { return &c.send }
func receiver(c *call) *scenario.Group { return &c.recv }
