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

// setHelp makes --help print the groups.
func setHelp(cmd *cobra.Command) {
	// cobra would add it later, at the end and without a group.
	cmd.Flags().BoolP("help", "h", false, "print this help and exit")
	cmd.SetHelpFunc(func(c *cobra.Command, _ []string) { writeHelp(c.OutOrStdout(), c) })
	cmd.SetUsageFunc(func(c *cobra.Command) error { writeHelp(c.OutOrStderr(), c); return nil })
}

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
		groups[title].AddFlag(f)
	})
	for _, title := range titles {
		fmt.Fprintf(&b, "\n%s:\n%s", title, groups[title].FlagUsages())
	}
	_, _ = io.WriteString(w, b.String()) // nobody is left to tell
}
