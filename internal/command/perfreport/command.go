// Package perfreport is the command perf-report: its flags, and the wiring of
// join, reduce, report, hdr and chart.
package perfreport

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amqpperf/internal/analysis/chart"
	"amqpperf/internal/analysis/foreign"
	"amqpperf/internal/analysis/gate"
	"amqpperf/internal/analysis/stats"
	"amqpperf/internal/analysis/where"
	"amqpperf/internal/cli"
)

// options are the flags of perf-report.
type options struct {
	output      string
	format      string
	hlog, hgrm  string
	png         string
	plotArgs    []string
	dashboard   string
	sizeText    string
	dpi         int
	size        chart.Options
	plots       []*plot
	force       bool
	quiet       bool
	run         string
	name        string
	percentiles string
	ps          []stats.Percentile
	warmup      warmup
	from, to    offset
	interval    time.Duration
	negative    bool
	where       string
	predicate   *where.Predicate
	by          string
	baseline    []string
	compare     string
	ignore      []string
	failIf      []string
	gates       []*gate.Gate
	resources   string
	tag         string
	tagged      bool
	unit        string
	expected    time.Duration
	strict      bool
	junit       string
	joining     joining
}

// outputFormats returns the values of --format.
func outputFormats() []string {
	return []string{"text", "markdown", "summary", "json", "csv", "benchfmt"}
}

const long = `Turn a run into numbers: counts, rates, and every latency with exact quantiles
and what may be said about them; histogram logs and pictures beside them.

A LOG is a merged log of perf-merge, or the send and receive logs themselves,
which are joined on the way. Without a LOG, or with "-", a merged log comes from
standard input; what a report needs of a pipe is kept in a temporary file, since
the rows are read twice. Several logs of one run are one report; of several runs,
one report each.

An .hlog or .hgrm of another tool can stand in place of logs, or as --baseline: it
knows service times only.

service is what a closed loop sees (sent to acked), response what a client feels
(intended to acked) and e2e the way to the receiver; the report says what a
difference between them comes from. A quantile in parentheses must not be relied
on: the report says why, and how long a run it needs.

--where chooses rows: columns of the merged log (destination, size, outcome,
wait, attempt, consumer, ...) and spans (lag, blocked, service, response,
transit, e2e, queued, work, handled) are compared by == != < <= > >= with
"strings", numbers, sizes (1KiB) and durations (5ms), and joined by && || ! ( ).
A comparison with NULL is false; "acked is null" and "acked is not null" ask.
--by makes a report for each group of rows, or with name sorts runs by name.

--baseline and --compare compare runs. The run is the unit: repeat both sides, in
turns, five times or more; fewer cannot show a significant difference. Runs of a
side must have the same labels and settings.

--fail-if CONDITION ends with exit status 3 when the condition holds, or when the
number is withheld: METRIC.STAT as in response.p99, e2e.max, service.mean or
response.infinite, counts.NAME, rates.NAME, checks.ID (checks.C3 == fail), and
.change after a metric or a rate, in percent of the baseline.`

const examples = `  perf-report run.parquet
  perf-report send.parquet recv.parquet
  perf-merge send.parquet recv.parquet | perf-report --hlog run.hlog --png plots/
  perf-report -o run.md --png plots/ --baseline trunk.parquet patched.parquet
  perf-report --dashboard run.png run.parquet > run.md
  perf-report --plot heatmap=heat.svg --plot-size 1200x700 run.parquet
  perf-report --by destination --plot multiples=queues.png run.parquet
  perf-report -f json --percentiles 50,99,99.9 --warmup 10s run.parquet | jq .metrics.e2e
  perf-report --from 20s --to 40s run.parquet
  perf-report --where 'destination == "q1" && size > 1000' --by consumer run.parquet
  perf-report --compare build=trunk runs/*.parquet
  perf-report -f benchfmt runs/*.parquet | benchstat -col build -ignore name -
  perf-report --fail-if 'response.p99 > 5ms' --fail-if 'counts.lost > 0' --junit perf.xml run.parquet
  perf-report --baseline 'trunk-*.parquet' --fail-if 'response.p99.change > 5%' patched-*.parquet`

// New returns the command.
func New(env *cli.Env) *cobra.Command {
	o := options{joining: newJoining()}
	cmd := &cobra.Command{
		Use:     "perf-report [flags] [LOG...]",
		Short:   "turn logs into numbers, histogram logs and pictures",
		Long:    long,
		Example: examples,
		Args:    cobra.ArbitraryArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			o.tagged = cmd.Flags().Changed("tag")
			o.joining.given(cmd.Flags())
			logs, err := o.validate(env, args)
			if err != nil {
				return err
			}
			return run(env, &o, logs)
		},
	}
	cli.Group(cmd, "Output", o.registerOutput)
	cli.Group(cmd, "What is looked at", o.registerSelection)
	cli.Group(cmd, "Joining of send and receive logs", o.joining.register)
	cli.Group(cmd, "Comparison of runs", o.registerComparison)
	cli.Group(cmd, "Verdicts", o.registerVerdicts)
	cli.Group(cmd, "Logs of other tools", o.registerForeign)
	_ = cmd.RegisterFlagCompletionFunc("by", cobra.FixedCompletions(append([]string{byName}, where.Keys()...), cobra.ShellCompDirectiveNoFileComp)) // the flag exists
	_ = cmd.RegisterFlagCompletionFunc("format", cobra.FixedCompletions(outputFormats(), cobra.ShellCompDirectiveNoFileComp))                       // the flag exists
	_ = cmd.RegisterFlagCompletionFunc("unit", cobra.FixedCompletions(foreign.Units(), cobra.ShellCompDirectiveNoFileComp))                         // the flag exists
	cli.CompleteFiles(cmd, "parquet", "arrow", "hlog", "hgrm")
	return cmd
}

func (o *options) registerOutput(f *pflag.FlagSet) {
	f.StringVarP(&o.output, "output", "o", "-", "write the report to this `FILE`, \"-\" = standard output")
	f.StringVarP(&o.format, "format", "f", "", "`FORMAT` of the report: "+strings.Join(outputFormats(), ", ")+" (default by the extension of -o, else text)")
	f.StringVar(&o.hlog, "hlog", "", "write an HDR histogram log to this `FILE`")
	f.StringVar(&o.hgrm, "hgrm", "", "write the percentile distribution of the headline latency to this `FILE`, as HdrHistogram prints it")
	f.StringVar(&o.png, "png", "", "draw the pictures that --plot lists and the logs have something for into this `DIR`, as NAME.png")
	f.StringArrayVar(&o.plotArgs, "plot", nil, "draw one picture, `NAME=FILE` or NAME=- for standard output in place of the report, repeatable: "+strings.Join(plotNames(), ", ")+"; a FILE.svg is SVG")
	f.StringVar(&o.dashboard, "dashboard", "", "draw percentiles, latency, rates and backlog together into this `FILE`; without -f the report is a short one in Markdown to be pasted above it")
	f.StringVar(&o.sizeText, "plot-size", "", "`WIDTHxHEIGHT` of pictures in pixels (default 1600x900, 1600x1500 of --dashboard)")
	f.IntVar(&o.dpi, "plot-dpi", 0, "dots per inch of pictures: scales type and lines (default 144)")
	f.BoolVar(&o.force, "force", false, "replace existing files")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "no progress on standard error")
}

func (o *options) registerSelection(f *pflag.FlagSet) {
	f.Var(&o.warmup, "warmup", "leave out of rates and latencies what was intended in this `TIME` from the start, 0s = nothing, auto = what MSER-5 finds (default what perf-send marked)")
	f.Var(&o.from, "from", "look only at what was intended from this `TIME` after the first message on")
	f.Var(&o.to, "to", "look only at what was intended before this `TIME` after the first message")
	f.StringVar(&o.percentiles, "percentiles", "50,90,99,99.9,99.99", "`LIST` of percentiles, 0 to 100")
	f.DurationVar(&o.interval, "interval", 0, "interval of series and of the HDR log (default 1s; series of short runs are finer)")
	f.BoolVar(&o.negative, "all-outcomes", false, "count rejected, released and modified messages in service and response too")
	f.StringVar(&o.where, "where", "", "look only at rows for which this `EXPRESSION` is true")
	f.StringVar(&o.by, "by", "", "one report for each group of rows with the same `KEY`: name (of the run), "+strings.Join(where.Keys(), ", "))
	f.StringVar(&o.resources, "resources", "", "`FILE` of what the broker's host used: a log of perf-recv --watch-only, or CSV or Parquet with time (RFC 3339 or a timestamp, or since 1970 in s or ns), cpu_percent, rss_bytes")
	f.StringVar(&o.run, "run", "", "report only this `RUN`, where the logs hold several")
	f.StringVar(&o.name, "name", "", "`NAME` of the run in the report (default what perf-send was given)")
}

func (o *options) registerComparison(f *pflag.FlagSet) {
	f.StringArrayVar(&o.baseline, "baseline", nil, "`LOG` or pattern of the runs to compare with, repeatable; one run stands beside this one in numbers and pictures too")
	f.StringVar(&o.compare, "compare", "", "group the runs by the value of this `LABEL` and compare the groups; LABEL=VALUE names the baseline (default the group that ran first)")
	f.StringArrayVar(&o.ignore, "ignore", nil, "label or setting `KEY` in which the runs of a side may differ, repeatable")
}

func (o *options) registerVerdicts(f *pflag.FlagSet) {
	f.StringArrayVar(&o.failIf, "fail-if", nil, "exit with status 3 when this `CONDITION` holds, repeatable: 'response.p99 > 5ms'")
	f.BoolVar(&o.strict, "strict", false, "exit with status 3 when a check fails")
	f.StringVar(&o.junit, "junit", "", "write conditions and checks as test cases to this `FILE`, in the XML form of JUnit")
}

func (o *options) registerForeign(f *pflag.FlagSet) {
	f.StringVar(&o.tag, "tag", "", "`TAG` of the .hlog's series that is the baseline or that conditions are about (default the untagged one)")
	f.StringVar(&o.unit, "unit", "", "`UNIT` of an .hgrm's values: "+strings.Join(foreign.Units(), ", ")+" (the file does not say)")
	f.DurationVar(&o.expected, "expected-interval", 0, "correct an .hlog for coordinated omission as HdrHistogram does; refused for logs that have intended instants")
}

// validate checks the flags and returns the logs.
func (o *options) validate(env *cli.Env, logs []string) ([]string, error) {
	if len(logs) == 0 {
		if cli.IsTerminal(env.Stdin) {
			return nil, cli.Usagef("no LOG given, and standard input is a terminal")
		}
		logs = []string{"-"}
	}
	if slices.Contains(logs, "") {
		return nil, cli.Usagef("LOG is empty")
	}
	if err := o.validateOutput(); err != nil {
		return nil, err
	}
	if err := o.joining.validate(); err != nil {
		return nil, err
	}
	var err error
	if o.ps, err = stats.ParsePercentiles(o.percentiles); err != nil {
		return nil, cli.Usagef("--percentiles: %w", err)
	}
	for _, p := range o.ps {
		if p.LooksLikeFraction() {
			fmt.Fprintf(env.Stderr, "perf-report: warning: percentile %s is below 1: percentiles go from 0 to 100\n", p)
		}
	}
	if o.to.set && o.to.d <= o.from.d {
		return nil, cli.Usagef("--to %s is not after --from %s", o.to.d, o.from.d)
	}
	if o.interval != 0 && (o.interval < time.Millisecond || o.interval%time.Millisecond != 0) {
		return nil, cli.Usagef("--interval %s: whole milliseconds", o.interval)
	}
	if o.baseline, err = expand(o.baseline); err != nil {
		return nil, err
	}
	if err := o.validateRows(); err != nil {
		return nil, err
	}
	if err := o.validatePlots(); err != nil {
		return nil, err
	}
	if err := o.validateVerdicts(); err != nil {
		return nil, err
	}
	if slices.Contains(logs, "-") && slices.Contains(o.baseline, "-") {
		return nil, cli.Usagef("standard input cannot be both the run and the baseline")
	}
	return logs, nil
}

// namedFile is a file that a flag names; "" without.
type namedFile struct{ flag, name string }

// files are the outputs but pictures.
func (o *options) files() []namedFile {
	return []namedFile{{"-o", o.output}, {"--hlog", o.hlog}, {"--hgrm", o.hgrm}, {"--junit", o.junit}}
}

func (o *options) validateOutput() error {
	if o.format == "" {
		o.format = formatOf(o.output)
		if o.dashboard != "" && (o.output == "-" || o.format == "markdown") {
			o.format = summary
		}
	}
	if o.format == "md" {
		o.format = "markdown"
	}
	if !slices.Contains(outputFormats(), o.format) {
		return cli.Usagef("--format %q: one of %s", o.format, strings.Join(outputFormats(), ", "))
	}
	seen := map[string]string{}
	for _, f := range o.files() {
		switch {
		case f.name == "-" && f.flag != "-o":
			return cli.Usagef("%s -: name a file, the report goes to standard output", f.flag)
		case f.name == "" && f.flag == "-o":
			return cli.Usagef("-o is empty")
		case f.name == "" || f.name == "-":
			continue
		}
		name := filepath.Clean(f.name)
		if seen[name] != "" {
			return cli.Usagef("%s and %s are one file: %s", seen[name], f.flag, f.name)
		}
		seen[name] = f.flag
	}
	return nil
}

// formatOf returns the format that an output name asks for.
func formatOf(output string) string {
	switch strings.ToLower(filepath.Ext(output)) {
	case ".md", ".markdown":
		return "markdown"
	case ".json":
		return "json"
	case ".csv":
		return "csv"
	case ".bench":
		return "benchfmt"
	}
	return "text"
}

// expand replaces patterns by the files that match.
func expand(patterns []string) ([]string, error) {
	var out []string
	for _, p := range patterns {
		if !strings.ContainsAny(p, "*?[") {
			out = append(out, p)
			continue
		}
		files, err := filepath.Glob(p)
		if err != nil {
			return nil, cli.Usagef("--baseline %q: %w", p, err)
		}
		if len(files) == 0 {
			return nil, cli.Usagef("--baseline %q: no such file", p)
		}
		out = append(out, files...)
	}
	return out, nil
}
