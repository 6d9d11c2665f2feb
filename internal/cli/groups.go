package cli

import (
	"fmt"
	"io"
	"strings"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"
)

// groupKey is the annotation that says under which heading --help lists a flag.
const groupKey = "amqpperf_group"

// Group registers flags that --help lists under a heading of their own. Groups
// appear in the order in which they are first used, flags in that of their
// definition.
func Group(cmd *cobra.Command, title string, register func(*pflag.FlagSet)) {
	fs := pflag.NewFlagSet(title, pflag.ContinueOnError)
	fs.SortFlags = false
	register(fs)
	fs.VisitAll(func(f *pflag.Flag) {
		if f.Annotations == nil {
			f.Annotations = map[string][]string{}
		}
		f.Annotations[groupKey] = []string{title}
	})
	cmd.Flags().SortFlags = false
	cmd.Flags().AddFlagSet(fs)
}

// GroupOf returns the heading of a flag, "Other" if it has none.
func GroupOf(f *pflag.Flag) string {
	if g := f.Annotations[groupKey]; len(g) > 0 {
		return g[0]
	}
	return "Other"
}

// NeedArgs is a cobra.Command.Args that wants at least one argument, called what.
func NeedArgs(what string) cobra.PositionalArgs {
	return func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return Usagef("no %s given", what)
		}
		return nil
	}
}

// setHelp makes --help print the groups.
func setHelp(cmd *cobra.Command) {
	// cobra would add it later, at the end and without a group.
	cmd.Flags().BoolP("help", "h", false, "print this help and exit")
	cmd.SetHelpFunc(func(c *cobra.Command, _ []string) { writeHelp(c.OutOrStdout(), c) })
	cmd.SetUsageFunc(func(c *cobra.Command) error { writeHelp(c.OutOrStderr(), c); return nil })
}

// untyped hides the type of a switch, which pflag would print as
// --flag[=true|false] each time.
type untyped struct{ pflag.Value }

// Type implements pflag.Value.
func (untyped) Type() string { return "" }

// helpWidth is where long descriptions of flags are wrapped.
const helpWidth = 100

func writeHelp(w io.Writer, c *cobra.Command) {
	var b strings.Builder
	about := c.Long
	if about == "" {
		about = c.Short
	}
	fmt.Fprintf(&b, "%s\n\nUsage:\n  %s\n", strings.TrimSpace(about), c.UseLine())
	if c.Example != "" {
		fmt.Fprintf(&b, "\nExamples:\n%s\n", strings.TrimRight(c.Example, "\n"))
	}
	var titles []string
	groups := map[string]*pflag.FlagSet{}
	c.Flags().VisitAll(func(f *pflag.Flag) {
		title := GroupOf(f)
		if groups[title] == nil {
			groups[title] = pflag.NewFlagSet(title, pflag.ContinueOnError)
			groups[title].SortFlags = false
			titles = append(titles, title)
		}
		shown := *f
		if f.Value.Type() == "bool" {
			shown.NoOptDefVal, shown.Value = "", untyped{f.Value}
		}
		groups[title].AddFlag(&shown)
	})
	if len(titles) == 1 {
		groups["Flags"], titles = groups[titles[0]], []string{"Flags"}
	}
	for _, title := range titles {
		fmt.Fprintf(&b, "\n%s:\n%s", title, groups[title].FlagUsagesWrapped(helpWidth))
	}
	_, _ = io.WriteString(w, b.String()) // nobody is left to tell
}
