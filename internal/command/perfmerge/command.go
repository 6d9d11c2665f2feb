// Package perfmerge is the command perf-merge: its flags, and the wiring of
// join and export.
package perfmerge

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"amqpperf/format"
	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/analysis/export"
	"amqpperf/internal/analysis/join"
	"amqpperf/internal/cli"
	"amqpperf/internal/units"
)

// options are the flags of perf-merge.
type options struct {
	output    string
	format    string
	run       string
	check     bool
	force     bool
	quiet     bool
	columns   []string
	selection *export.Selection
	from, to  time.Duration
	memory    units.Size
	clock     clock.Policy
}

// outputFormats returns the values of --format.
func outputFormats() []string { return []string{"parquet", "arrow", "csv", "jsonl", "log"} }

const long = `Join send and receive logs by message, move all instants onto one clock, and
account for every message: lost, unknown, duplicated, reordered, left over from
another run.

A LOG is a file that perf-send or perf-recv wrote, what a killed one left
behind (the .spool folder, or the name of the log it should have become), or
"-" for the output of "perf-recv -o -"; a pattern that the shell has left alone
('run/*.parquet'), or @FILE with one name or pattern a line, for more than fit a
command line. The order of the logs does not matter. A merged log is refused:
it has been joined already.

Memory is bounded, see --max-memory: what does not fit, because a subscription
or a queue is far behind, goes to temporary files in $TMPDIR that vanish with the
process.

Clocks of one boot are aligned through the monotonic clock. Between hosts the
probes in the logs (perf-send --clock-peer) give offset and bound, else what the
kernels say of their error, else nothing is known and one-way times are withheld.
--clock none leaves all instants alone; --clock HOST=OFFSET±BOUND (also +-) takes
your word for it: hostb=3ms±50us says that the clock of hostb is 2.95 to 3.05 ms
ahead of the reference, which is the sender with the lowest id.

The merged log goes to standard output as Arrow streams, for a pipe into
perf-report, or with -o into a file; its form follows --format, else the
extension (.parquet .arrow .csv .jsonl .log), else it is Parquet. The
accounting is printed on standard error, or with --check on standard output,
with what is known of the clocks (-f text or json) and without any rows. It is
that of the whole run, whatever --from and --to select.

--format log prints one line a delivery, fields separated by one blank:
  kind received_ns e2e_us transit_us sender producer seq consumer destination outcome
kind is D (delivered), L (lost) or E (event); "-" stands for NULL. A pipe from
perf-recv alone is printed live.`

const examples = `  perf-merge -o run.parquet send.parquet recv.parquet
  perf-merge send.parquet recv.parquet | perf-report --hlog run.hlog --png plots/
  perf-merge --check hosts/*/send.parquet hosts/*/recv.parquet
  perf-merge --check -f json @logs.txt | jq .lost
  perf-merge -o run.csv --select seq,sent,acked,received --from 10s --to 20s send.parquet recv.parquet
  perf-recv -o - queue://bench | perf-merge -f log - | awk '$1 == "D" && $3 > 10000'`

// New returns the command.
func New(env *cli.Env) *cobra.Command {
	o := options{memory: join.DefaultMemory}
	cmd := &cobra.Command{
		Use:     "perf-merge [flags] LOG...",
		Short:   "join send and receive logs by message",
		Long:    long,
		Example: examples,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return cli.Usagef("no LOG given")
			}
			return o.validate()
		},
		RunE: func(_ *cobra.Command, args []string) error {
			names, err := expand(args)
			if err != nil {
				return err
			}
			return run(env, o, names)
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"parquet", "arrow"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	f := cmd.Flags()
	f.StringVarP(&o.output, "output", "o", "-", "write the merged log to this `FILE`, \"-\" = standard output")
	f.StringVarP(&o.format, "format", "f", "", "`FORMAT` of the merged log: "+strings.Join(outputFormats(), ", ")+"; with --check text or json")
	f.BoolVar(&o.check, "check", false, "print the accounting and the state of the clocks, and write no rows")
	f.StringSliceVar(&o.columns, "select", nil, "write only these `COLUMNS`, separated by commas, in this order; such a log is for other programs")
	f.DurationVar(&o.from, "from", 0, "write only what was intended from this `TIME` after the first message on")
	f.DurationVar(&o.to, "to", 0, "write only what was intended before this `TIME` after the first message, 0s = to the end")
	f.Var(&o.clock, "clock", "how clocks are aligned: auto, none, or `HOST=OFFSET±BOUND` (repeatable)")
	f.Var(&o.memory, "max-memory", "`SIZE` of what is held in memory at a time; the rest goes to temporary files")
	f.StringVar(&o.run, "run", "", "join only this `RUN`, where the logs hold several")
	f.BoolVar(&o.force, "force", false, "replace an existing output file")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print neither accounting nor progress on standard error")
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(outputFormats(), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	return cmd
}

func (o *options) validate() error {
	if o.memory < leastMemory {
		return cli.Usagef("--max-memory %s: at least %s is needed", o.memory.String(), units.Size(leastMemory).String())
	}
	if o.from < 0 || o.to < 0 || o.to > 0 && o.to <= o.from {
		return cli.Usagef("--to %s is not after --from %s, or one is below 0", o.to, o.from)
	}
	if o.check {
		return o.validateCheck()
	}
	if o.format != "" && !slices.Contains(outputFormats(), o.format) {
		return cli.Usagef("--format %q: one of %s", o.format, strings.Join(outputFormats(), ", "))
	}
	if o.format == "" {
		o.format = formatOf(o.output)
	}
	if o.output == "-" && o.format == "parquet" {
		return cli.Usagef("a Parquet file cannot be written to a pipe: name it with -o, or use --format arrow")
	}
	if len(o.columns) == 0 {
		return nil
	}
	if o.format == "log" {
		return cli.Usagef("--select does not go with --format log, which has fixed fields")
	}
	var err error
	if o.selection, err = export.Select(format.MergedSchema(), o.columns); err != nil {
		return cli.Usagef("--select: %v", err)
	}
	return nil
}

// leastMemory is what batches and buffers take at least.
const leastMemory = 64 << 20

func (o *options) validateCheck() error {
	switch {
	case o.output != "-" || len(o.columns) > 0 || o.from != 0 || o.to != 0:
		return cli.Usagef("--check writes no rows: it does not go with -o, --select, --from and --to")
	case o.format != "" && o.format != "text" && o.format != "json":
		return cli.Usagef("--format %q: with --check text or json", o.format)
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
