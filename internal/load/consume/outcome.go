package consume

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"amqpperf/format"
	"amqpperf/internal/amqp"
)

// whole is a share of all messages, in billionths: shares are exact decimals.
const whole = 1_000_000_000

// Outcomes says how deliveries are answered, in which shares. The zero value
// accepts all. It is a pflag.Value.
type Outcomes struct {
	// shares in billionths; accept has what the others leave.
	shares [numAnswers]int64
	given  bool
}

// answer is an outcome that can be asked for.
type answer struct {
	name    string // on the command line
	state   amqp.State
	outcome string // in the log
}

// The indices of answers, in the order in which one wins when two are due at the
// same time.
const (
	accept = iota
	release
	reject
	modify
	numAnswers
)

func answers() [numAnswers]answer {
	return [numAnswers]answer{
		accept:  {"accept", amqp.Accepted, format.Accepted},
		release: {"release", amqp.Released, format.Released},
		reject:  {"reject", amqp.Rejected, format.Rejected},
		modify:  {"modify", amqp.Modified, format.Modified},
	}
}

// Set parses OUTCOME[=SHARE], several with commas between them: "reject",
// "reject=0.1", "release=0.05,reject=0.05". What is left of 1 is accepted.
func (o *Outcomes) Set(text string) error {
	next := Outcomes{given: true}
	left := int64(whole)
	seen := [numAnswers]bool{}
	for _, part := range strings.Split(text, ",") {
		name, share, shared := strings.Cut(part, "=")
		i := answerOf(name)
		if i < 0 {
			return fmt.Errorf("%q: must be one of accept, release, reject, modify, or such as reject=0.1", name)
		}
		if seen[i] {
			return fmt.Errorf("%q is there twice", name)
		}
		seen[i] = true
		n := int64(whole)
		if shared {
			var err error
			if n, err = parseShare(share); err != nil {
				return err
			}
		}
		if left -= n; left < 0 {
			return fmt.Errorf("%q: the shares are more than 1 together", text)
		}
		next.shares[i] = n
	}
	if seen[accept] && left > 0 {
		return fmt.Errorf("%q: the shares are less than 1 together; leave accept out, it gets the rest", text)
	}
	next.shares[accept] += left
	*o = next
	return nil
}

func answerOf(name string) int {
	list := answers()
	return slices.IndexFunc(list[:], func(a answer) bool { return a.name == name })
}

// parseShare reads a decimal above 0 and up to 1, exactly, in billionths.
func parseShare(text string) (int64, error) {
	bad := fmt.Errorf("share %q: must be above 0 and at most 1, such as 0.1, with at most 9 decimals", text)
	units, decimals, _ := strings.Cut(text, ".")
	if len(decimals) > 9 || len(units) > 1 || len(units)+len(decimals) == 0 {
		return 0, bad
	}
	n, err := strconv.ParseUint(units+decimals+strings.Repeat("0", 9-len(decimals)), 10, 62)
	if err != nil || n == 0 || n > whole {
		return 0, bad
	}
	return int64(n), nil
}

// String returns the text that Set reads.
func (o *Outcomes) String() string {
	var parts []string
	for i, n := range o.all() {
		switch {
		case n == whole:
			return answers()[i].name
		case n > 0 && i != accept:
			share := strings.TrimRight(fmt.Sprintf("%d.%09d", n/whole, n%whole), "0")
			parts = append(parts, answers()[i].name+"="+share)
		}
	}
	return strings.Join(parts, ",")
}

// Type implements pflag.Value.
func (o *Outcomes) Type() string { return "outcome" }

// Returning reports whether all messages come back: then it never ends. With
// undeliverableHere what is modified comes once to each link.
func (o *Outcomes) Returning(undeliverableHere bool) bool {
	shares := o.all()
	if undeliverableHere {
		return shares[release] == whole
	}
	return shares[release]+shares[modify] == whole
}

// Modifies reports whether some messages are answered with modified.
func (o *Outcomes) Modifies() bool { return o.all()[modify] > 0 }

// AcceptsAll reports whether nothing but accept was asked for.
func (o *Outcomes) AcceptsAll() bool { return o.all()[accept] == whole }

func (o *Outcomes) all() [numAnswers]int64 {
	if !o.given {
		return [numAnswers]int64{accept: whole}
	}
	return o.shares
}

// spread deals the outcomes out as evenly as can be: no random choice, so that
// one message in ten is exactly one in every ten. After each message the
// number of every outcome is less than one (with two outcomes: at most one half)
// away from its share. It is the smooth weighted round robin of nginx: each
// outcome earns its share with every message, and the richest pays for it.
type spread struct {
	shares [numAnswers]int64
	earned [numAnswers]int64
}

func (s *spread) next() int {
	best := 0
	for i := range s.shares {
		s.earned[i] += s.shares[i]
		if s.earned[i] > s.earned[best] {
			best = i
		}
	}
	s.earned[best] -= whole
	return best
}
