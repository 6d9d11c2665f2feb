// Package perfrun is the command perf-run: its flags, and the wiring of scenario,
// plan, execution and index.
package perfrun

import (
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amqpperf/internal/cli"
	"amqpperf/internal/experiment/like"
	"amqpperf/internal/experiment/scenario"
)

const tool = "perf-run"

// options are the flags of perf-run.
type options struct {
	dir      string
	resume   string
	retry    bool
	printing bool
	env      string
	quiet    bool
	likeTool bool

	url         string
	variants    []string
	baseline    string
	params      []string
	repetitions int
	warmUp      int
	order       cli.Enum
	seed        uint64
	coolDown    time.Duration
	drain       time.Duration
	timeout     time.Duration
	send, recv  string
	report      string
	sendHost    string
	recvHost    string
	shared      bool
	gates       []string
	find        string
	from        string
	tolerance   string
	findRuns    int
	pictures    cli.Enum
	hooks       scenario.Hooks
}

const long = `perf-run makes experiments of runs: it starts perf-recv, perf-send and perf-report
again and again, with what is varied between them, and ends in an index.md with the
table, the comparison and the pictures. It does nothing that cannot be typed by
hand: --print shows what, and starts nothing.

A SCENARIO is a YAML file (NAME.yaml). Without one, flags say what is varied, and
every ADDRESS is one for both sides. Variants are brokers or options; parameters
are options of perf-send or perf-recv with several values (rate, credit, ...), or
words {NAME} in options and addresses; all combinations are run, each as often as
--repetitions says. Runs are made in a random order whose seed is kept: each second
repetition goes backwards (AB BA), so that what drifts does so for all alike. Each
run has queues of its own, and receivers are attached before senders start.

Everything stays in a run directory. An interrupted experiment goes on with
--resume; a run that failed is kept, named in index.md, and made again with
--retry-failed.

--find-max-rate looks for the highest rate at which a CONDITION holds: whole runs,
doubled and then bisected, each rate decided by the majority of its runs. A run
whose number is withheld, or that did not reach its rate, has not passed.

--like takes the command line of another tool: artemis-client, artemis-producer,
artemis-consumer, qpid-send or qpid-receive. What cannot be done is refused with the
reason, what has no meaning here is said; docs/like.md lists every option.

A password is never taken from a scenario or a flag: write ${NAME} in a URL and set
NAME in the environment, or give NAME=VALUE lines by --env.`

const examples = `  perf-run scenarios/funnel.yaml
  perf-run --variant trunk=amqp://host-a --variant patched=amqp://host-b --repetitions 5 queue://bench
  perf-run --param rate=5k,10k --param credit=10,100 --send '--duration 30s' queue://bench
  perf-run --find-max-rate 'e2e.p99 < 10ms' --send '--duration 20s' queue://bench
  perf-run --print --send-host alice --recv-host bob --send '--rate 5k --duration 1m' queue://bench
  perf-run --like artemis-client --url tcp://localhost:61616 --rate 5000 --duration 30 queue://TEST`

// New returns the command.
func New(env *cli.Env) *cobra.Command {
	o := &options{pictures: cli.NewEnum("what", string(scenario.DrawEach), string(scenario.DrawEach), string(scenario.DrawCompared), string(scenario.DrawNone)), order: cli.NewEnum("order", string(scenario.Interleaved), string(scenario.Interleaved), string(scenario.Given))}
	cmd := &cobra.Command{
		Use:     "perf-run [flags] SCENARIO | ADDRESS...",
		Short:   "repeat, sweep and interleave runs of the other programs",
		Long:    long,
		Example: examples,
		Args:    func(cmd *cobra.Command, args []string) error { return o.validate(cmd, args) },
		RunE: func(cmd *cobra.Command, args []string) error {
			j, err := prepare(env, o, cmd.Flags(), args)
			if err != nil {
				return err
			}
			return j.run(cmd.Context())
		},
		ValidArgsFunction: func(*cobra.Command, []string, string) ([]string, cobra.ShellCompDirective) {
			return []string{"yaml", "yml"}, cobra.ShellCompDirectiveFilterFileExt
		},
	}
	cli.Group(cmd, "What is run", o.registerRuns)
	cli.Group(cmd, "Order and limits", o.registerOrder)
	cli.Group(cmd, "Verdicts", o.registerVerdicts)
	cli.Group(cmd, "Hooks (shell commands)", o.registerHooks)
	cli.Group(cmd, "Run directory", o.registerDir)
	cli.CompleteEnums(cmd)
	// What follows the tool's name is the tool's: parsing ends there.
	cmd.Flags().VarPF(&likeFlag{o, cmd.Flags()}, "like", "", "take the command line of another tool: `TOOL ARGS...` follow, TOOL is "+strings.Join(like.Tools(), ", ")).NoOptDefVal = "true"
	return cmd
}

// likeFlag ends the parsing of our flags at the next word.
type likeFlag struct {
	o  *options
	fs *pflag.FlagSet
}

// Set implements pflag.Value.
func (l *likeFlag) Set(text string) error {
	if text != "true" {
		return cli.Usagef("the tool and its arguments follow as words of their own: --like %s ARGS", text)
	}
	l.o.likeTool = true
	l.fs.SetInterspersed(false)
	return nil
}

// String implements pflag.Value.
func (l *likeFlag) String() string { return "" }

// Type implements pflag.Value.
func (l *likeFlag) Type() string { return "bool" }

func (o *options) registerRuns(f *pflag.FlagSet) {
	f.StringVarP(&o.url, "url", "u", "", "broker (default $AMQP_URL, else amqp://127.0.0.1:5672)")
	f.StringArrayVar(&o.variants, "variant", nil, "`LABEL=URL` or LABEL='OPTIONS': one side of a comparison; repeatable")
	f.StringVar(&o.baseline, "baseline", "", "`LABEL` of the variant that the others are compared with (default the first)")
	f.StringArrayVar(&o.params, "param", nil, "`NAME=VALUES`, such as rate=5k,10k: all combinations are run; repeatable")
	f.IntVar(&o.repetitions, "repetitions", 1, "runs of each variant and combination")
	f.IntVar(&o.warmUp, "warm-up-runs", 0, "runs of each that are made first and do not count: a broker that was just started is another one")
	f.StringVar(&o.send, "send", "", "`OPTIONS` of perf-send, by their long names, as one word: '--rate 5k --duration 30s'")
	f.StringVar(&o.recv, "recv", "", "`OPTIONS` of perf-recv")
	f.StringVar(&o.report, "report", "", "`OPTIONS` of perf-report")
	f.Var(&o.pictures, "pictures", "what is drawn: each run and the comparisons, compared: only these, none")
	f.StringVar(&o.sendHost, "send-host", "", "`HOST` on which --print says to type the sender's commands")
	f.StringVar(&o.recvHost, "recv-host", "", "`HOST` of the receiver's")
	f.BoolVar(&o.shared, "shared-addresses", false, "use the addresses as they are written, in all runs, instead of fresh ones made of them")
}

func (o *options) registerOrder(f *pflag.FlagSet) {
	f.Var(&o.order, "order", "interleaved, or given: as listed")
	f.Uint64Var(&o.seed, "seed", 0, "seed of the order (default a new one, which is kept)")
	f.DurationVar(&o.coolDown, "cool-down", time.Second, "pause between runs")
	f.DurationVar(&o.drain, "drain", 10*time.Second, "how long at most to take what a run left in its queues; 0 = not at all")
	f.DurationVar(&o.timeout, "run-timeout", time.Hour, "a run that takes longer has failed")
}

func (o *options) registerVerdicts(f *pflag.FlagSet) {
	f.StringArrayVar(&o.gates, "fail-if", nil, "exit with status 3 when this `CONDITION` of perf-report holds in a run; repeatable")
	f.StringVar(&o.find, "find-max-rate", "", "look for the highest rate at which a `CONDITION` such as 'e2e.p99 < 10ms' holds")
	f.StringVar(&o.from, "from-rate", "1k", "`RATE` at which that begins")
	f.StringVar(&o.tolerance, "tolerance", "5%", "`SHARE` by which the highest rate that held and the lowest that did not may differ at the end")
	f.IntVar(&o.findRuns, "find-runs", 3, "runs that decide a rate, by their majority")
}

func (o *options) registerHooks(f *pflag.FlagSet) {
	f.StringVar(&o.hooks.BeforeAll, "before-all", "", "`COMMAND` before the first run; lines NAME=VALUE that it writes into the file $PERF_ENV are set for all that follows")
	f.StringVar(&o.hooks.BeforeRun, "before-run", "", "`COMMAND` before each run; $PERF_VARIANT, $PERF_PARAM_NAME, $PERF_RUN, $PERF_RUN_DIR say which")
	f.StringVar(&o.hooks.AfterRun, "after-run", "", "`COMMAND` after each run")
	f.StringVar(&o.hooks.AfterAll, "after-all", "", "`COMMAND` after the last run, and after an interruption")
}

func (o *options) registerDir(f *pflag.FlagSet) {
	f.StringVarP(&o.dir, "output", "o", "", "run directory (default perf-run-NAME-TIME)")
	f.StringVar(&o.resume, "resume", "", "go on with this run directory `DIR`: make the runs that are missing")
	f.BoolVar(&o.retry, "retry-failed", false, "with --resume, make the runs that failed again, too")
	f.BoolVar(&o.printing, "print", false, "print the commands as one would type them, and start nothing")
	f.StringVar(&o.env, "env", "", "`FILE` with NAME=VALUE lines for programs and hooks, - = standard input")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print nothing but errors and the result")
}

// fromScenario are flags that may stand beside a scenario file.
func fromScenario(name string) bool {
	return slices.Contains([]string{"output", "resume", "retry-failed", "print", "env", "quiet", "seed", "repetitions", "warm-up-runs", "find-max-rate", "from-rate", "tolerance", "find-runs", "url", "param", "pictures", "version", "help", "completion"}, name)
}

func isScenario(arg string) bool {
	return strings.HasSuffix(arg, ".yaml") || strings.HasSuffix(arg, ".yml")
}

// validate checks how arguments and flags fit.
func (o *options) validate(cmd *cobra.Command, args []string) error {
	file := len(args) == 1 && isScenario(args[0])
	switch {
	case o.likeTool && len(args) == 0:
		return cli.Usagef("--like: one of %s, and its arguments, must follow", strings.Join(like.Tools(), ", "))
	case o.resume != "" && (len(args) > 0 || o.likeTool):
		return cli.Usagef("--resume goes on with what is in its folder: give no SCENARIO or ADDRESS")
	case o.retry && o.resume == "":
		return cli.Usagef("--retry-failed goes with --resume")
	case o.resume == "" && len(args) == 0:
		return cli.Usagef("no SCENARIO or ADDRESS given")
	case !file && !o.likeTool && slices.ContainsFunc(args, isScenario):
		return cli.Usagef("one SCENARIO, or ADDRESSes")
	case o.repetitions < 1 || o.findRuns < 1:
		return cli.Usagef("--repetitions and --find-runs are at least 1")
	case o.warmUp < 0:
		return cli.Usagef("--warm-up-runs cannot be negative")
	case o.coolDown < 0 || o.drain < 0 || o.timeout <= 0:
		return cli.Usagef("--cool-down, --drain and --run-timeout cannot be negative")
	}
	var wrong string
	cmd.Flags().Visit(func(f *pflag.Flag) {
		switch {
		case o.resume != "" && !slices.Contains([]string{"resume", "retry-failed", "env", "quiet", "print"}, f.Name):
			wrong = "--" + f.Name + " cannot change what an experiment was begun with"
		case file && !fromScenario(f.Name):
			wrong = "--" + f.Name + " is for experiments without a SCENARIO: write it into the file"
		}
	})
	if wrong != "" {
		return cli.Usagef("%s", wrong)
	}
	return nil
}
