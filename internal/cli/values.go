package cli

import (
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// Enum is a flag value out of a few; the zero value is unusable, see NewEnum.
type Enum struct {
	value  string
	values []string
	what   string
}

// NewEnum returns an Enum with a default. what names the type in --help.
func NewEnum(what, value string, values ...string) Enum {
	return Enum{value: value, values: values, what: what}
}

// String implements pflag.Value.
func (e *Enum) String() string { return e.value }

// Set implements pflag.Value.
func (e *Enum) Set(s string) error {
	if !slices.Contains(e.values, s) {
		return fmt.Errorf("must be one of %s", strings.Join(e.values, ", "))
	}
	e.value = s
	return nil
}

// Type implements pflag.Value.
func (e *Enum) Type() string { return e.what }

// Values returns the possible values.
func (e *Enum) Values() []string { return e.values }

// CompleteEnums makes the shell complete the values of all Enum flags.
func CompleteEnums(cmd *cobra.Command) {
	cmd.Flags().VisitAll(func(f *pflag.Flag) {
		if e, ok := f.Value.(*Enum); ok {
			// It fails only for flags that do not exist.
			_ = cmd.RegisterFlagCompletionFunc(f.Name, cobra.FixedCompletions(e.Values(), cobra.ShellCompDirectiveNoFileComp))
		}
	})
}

// CompleteFiles makes the shell complete arguments with files of these
// extensions (without the dot).
func CompleteFiles(cmd *cobra.Command, extensions ...string) {
	cmd.ValidArgsFunction = func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
		return extensions, cobra.ShellCompDirectiveFilterFileExt
	}
}

// Labels is a repeatable flag K=V.
type Labels map[string]string

// String implements pflag.Value.
func (l *Labels) String() string {
	var out []string
	for k, v := range *l {
		out = append(out, k+"="+v)
	}
	slices.Sort(out)
	return strings.Join(out, ",")
}

// Set implements pflag.Value.
func (l *Labels) Set(s string) error {
	k, v, ok := strings.Cut(s, "=")
	if k = strings.TrimSpace(k); !ok || k == "" {
		return fmt.Errorf("label %q: want KEY=VALUE", s)
	}
	if old, ok := (*l)[k]; ok && old != v {
		return fmt.Errorf("label %q is given twice: %q and %q", k, old, v)
	}
	if *l == nil {
		*l = Labels{}
	}
	(*l)[k] = v
	return nil
}

// Type implements pflag.Value.
func (l *Labels) Type() string { return "key=value" }

// StartAt is when to start: at a time, or some time from now.
type StartAt struct {
	at   time.Time
	in   time.Duration
	text string
}

// Set implements pflag.Value: RFC 3339, or a duration with a plus sign.
func (s *StartAt) Set(text string) (err error) {
	*s = StartAt{text: text}
	if rest, ok := strings.CutPrefix(text, "+"); ok {
		s.in, err = time.ParseDuration(rest)
		if err != nil || s.in < 0 {
			return fmt.Errorf("%q: want +DURATION such as +30s", text)
		}
		return nil
	}
	s.at, err = time.Parse(time.RFC3339Nano, text)
	if err != nil {
		return fmt.Errorf("%q: want a time such as 2026-05-01T12:00:00Z, or +30s", text)
	}
	return nil
}

// String implements pflag.Value.
func (s *StartAt) String() string { return s.text }

// Type implements pflag.Value.
func (s *StartAt) Type() string { return "time" }

// From returns when to start, given the present; false if nothing was asked for.
func (s *StartAt) From(now time.Time) (time.Time, bool) {
	switch {
	case s.text == "":
		return now, false
	case s.at.IsZero():
		return now.Add(s.in), true
	}
	return s.at, true
}
