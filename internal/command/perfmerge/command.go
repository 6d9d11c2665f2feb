// Package perfmerge is the command perf-merge: its flags, and the wiring of
// join and export.
package perfmerge

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"amqpperf/internal/cli"
)

// options are the flags of perf-merge.
type options struct {
	output string
	format string
	run    string
	check  bool
	force  bool
	quiet  bool
}

// outputFormats returns the values of --format.
func outputFormats() []string { return []string{"parquet", "arrow", "csv", "jsonl", "log"} }

const long = `Join send and receive logs by message, move all instants onto one clock, and
account for every message: lost, unknown, duplicated, reordered, left over from
another run.

A LOG is a file that perf-send or perf-recv wrote, what a killed one left
behind (the .spool folder, or the name of the log it should have become), or
"-" for the output of "perf-recv -o -". The order of the logs does not matter.

The merged log goes to standard output as Arrow streams, for a pipe into
perf-report, or with -o into a file; its form follows --format, else the
extension (.parquet .arrow .csv .jsonl .log), else it is Parquet. The
accounting is printed on standard error, or with --check on standard output
and without any rows.

--format log prints one line a delivery, fields separated by one blank:
  kind received_ns e2e_us transit_us sender producer seq consumer destination outcome
kind is D (delivered), L (lost) or E (event); "-" stands for NULL. A pipe from
perf-recv alone is printed live.`

const examples = `  perf-merge -o run.parquet send.parquet recv.parquet
  perf-merge send.parquet recv.parquet | perf-report --hlog run.hlog --png plots/
  perf-merge --check hosts/*/send.parquet hosts/*/recv.parquet
  perf-recv -o - queue://bench | perf-merge -f log - | awk '$1 == "D" && $3 > 10000'`

// New returns the command.
func New(env *cli.Env) *cobra.Command {
	var o options
	cmd := &cobra.Command{
		Use:     "perf-merge [flags] LOG...",
		Short:   "join send and receive logs by message",
		Long:    long,
		Example: examples,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("no LOG given")
			}
			return o.validate(args)
		},
		RunE: func(_ *cobra.Command, args []string) error { return run(env, o, args) },
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"parquet", "arrow"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "-", "write the merged log to this `FILE`, \"-\" = standard output")
	f.StringVarP(&o.format, "format", "f", "", "`FORMAT` of the merged log: "+strings.Join(outputFormats(), ", "))
	f.BoolVar(&o.check, "check", false, "print the accounting and write no rows")
	f.StringVar(&o.run, "run", "", "join only this `RUN`, where the logs hold several")
	f.BoolVar(&o.force, "force", false, "replace an existing output file")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print neither accounting nor progress on standard error")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(outputFormats(), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return cmd
}

func (o *options) validate(logs []string) error {
	if o.format != "" && !slices.Contains(outputFormats(), o.format) {
		return cli.Usagef("--format %q: one of %s", o.format, strings.Join(outputFormats(), ", "))
	}
	if o.check && (o.output != "-" || o.format != "") {
		return cli.Usagef("--check writes no rows: it goes with neither -o nor --format")
	}
	if slices.Contains(logs, "") {
		return cli.Usagef("LOG is empty")
	}
	if o.format == "" && !o.check {
		o.format = formatOf(o.output)
	}
	if o.output == "-" && o.format == "parquet" {
		return cli.Usagef("a Parquet file cannot be written to a pipe: name it with -o, or use --format arrow")
	}
	return nil
}

// formatOf returns the format that an output name asks for.
func formatOf(output string) string {
	if output == "-" {
		return "arrow"
	}
	for _, f := range outputFormats() {
		if strings.HasSuffix(output, "."+f) {
			return f
		}
	}
	if strings.HasSuffix(output, ".arrows") {
		return "arrow"
	}
	return "parquet"
}
