package clock

import (
	"fmt"
	"sort"
	"strings"
	"time"
)

// Policy is the value of --clock: auto (the zero value), none, or for some
// hosts an offset that the user vouches for. It is a pflag.Value.
type Policy struct {
	// None leaves all instants as they are: every bound between processes is
	// unknown, even on one host.
	None bool
	// Given has the hosts with an offset from the user; the others are auto.
	Given map[string]Offset
}

// Offset is how far a host's clock is ahead of the reference's, and by how
// much that can be wrong, in ns.
type Offset struct{ Offset, Bound int64 }

// Set takes none, auto, or HOST=OFFSET±BOUND (also written HOST=OFFSET+-BOUND),
// durations as Go writes them: hostb=3ms±50us says that the clock of hostb is
// 2.95 ms to 3.05 ms ahead. Several of the latter add up, for different hosts.
func (p *Policy) Set(text string) error {
	switch text {
	case "none", "auto":
		if len(p.Given) > 0 || p.None && text == "auto" {
			return fmt.Errorf("%s cannot be combined with an earlier --clock", text)
		}
		p.None = text == "none"
		return nil
	}
	host, value, ok := strings.Cut(text, "=")
	if !ok || host == "" {
		return fmt.Errorf("%q is not none, auto or HOST=OFFSET±BOUND", text)
	}
	if p.None {
		return fmt.Errorf("%s cannot be combined with none", text)
	}
	o, err := parseOffset(value)
	if err != nil {
		return fmt.Errorf("%q: %w", text, err)
	}
	if _, ok := p.Given[host]; ok {
		return fmt.Errorf("two offsets for host %s", host)
	}
	if p.Given == nil {
		p.Given = map[string]Offset{}
	}
	p.Given[host] = o
	return nil
}

func parseOffset(text string) (Offset, error) {
	before, after, ok := strings.Cut(text, "±")
	if !ok {
		before, after, ok = strings.Cut(text, "+-")
	}
	if !ok {
		return Offset{}, fmt.Errorf("no ±BOUND: an offset without its error says nothing about one-way times")
	}
	offset, err := time.ParseDuration(before)
	if err != nil {
		return Offset{}, fmt.Errorf("offset %q is not a duration such as -3ms", before)
	}
	bound, err := time.ParseDuration(after)
	if err != nil || bound < 0 {
		return Offset{}, fmt.Errorf("bound %q is not a duration such as 50us", after)
	}
	if span(int64(offset), 0) == far || int64(bound) >= far/2 {
		return Offset{}, fmt.Errorf("%q is beyond 36 years", text)
	}
	return Offset{int64(offset), int64(bound)}, nil
}

// String returns the policy as it is typed, hosts in order.
func (p *Policy) String() string {
	switch {
	case p == nil || !p.None && len(p.Given) == 0:
		return "auto"
	case p.None:
		return "none"
	}
	var parts []string
	for host, o := range p.Given {
		parts = append(parts, fmt.Sprintf("%s=%s±%s", host, time.Duration(o.Offset), time.Duration(o.Bound)))
	}
	sort.Strings(parts)
	return strings.Join(parts, ",")
}

// Type names the value in help.
func (p *Policy) Type() string { return "none|auto|HOST=OFFSET±BOUND" }
