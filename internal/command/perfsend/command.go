// Package perfsend is the command perf-send: its flags, and the wiring of
// schedule, pacer, producers, links and recorder.
package perfsend

import (
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/connect"
	"amqpperf/internal/load/produce/size"
	"amqpperf/internal/units"
)

const tool = "perf-send"

// options are the flags.
type options struct {
	conn connect.Flags
	run  cli.RunFlags
	log  cli.LogFlags
	live cli.LiveFlags

	watch connect.WatchFlags
	clock connect.ClockFlags
	stats connect.StatsFlags

	shape     shapeFlags
	body      bodyFlags
	sections  sectionFlags
	tx        txFlags
	reconnect connect.Reconnect
	resend    bool

	count        int64
	duration     time.Duration
	maxPending   int
	producers    int
	destinations connect.Destinations
	connections  int
	warmup       time.Duration
	drain        time.Duration
	startAt      cli.StartAt
	spin         cli.Enum
	calibrate    bool
}

const long = `perf-send loads an AMQP 1.0 broker and logs every message: when it was
intended, ready, sent and acknowledged, what became of it and what it waited
for. It computes nothing: perf-merge joins its log with those of perf-recv,
perf-report makes the numbers and pictures.

With --rate, --schedule, --bursts or --replay the messages are intended at fixed
instants, whatever the broker does (open loop). Without, a message is intended
whenever a slot of --max-pending is free (closed loop): that measures the maximum
rate, and its latencies are those of a tool that waits for the broker. Slots that
were freed one by one wait for each other, up to a quarter of --max-pending or 1 ms.

An ADDRESS is queue://NAME, topic://NAME or the broker's own form. The broker is
that of -u or $AMQP_URL, the log is -o.`

const examples = `  perf-send -r 5k -d 30s queue://bench              5000 a second for 30 seconds, into perf-send-TIME.parquet
  perf-send -n 1M --max-pending 100 queue://bench   a million as fast as 100 in flight allow
  perf-send -r 5k -s 300 --durable --tx 10 queue://bench          durable messages in transactions of ten
  perf-send --schedule 5k:30s,0:5s,1k-50k:60s queue://bench       steps, pauses, ramps
  perf-send --replay production.parquet --speed 2x queue://bench  the arrivals of a recording
  perf-send -r 30/m -o - queue://bench | perf-merge -f log - recv.parquet
  perf-send --calibrate                             what of a latency is this host's own
  perf-send -u amqps://user@host --tls-ca ca.pem --producers 10 -r 1k -d 1m topic://prices`

func newOptions() *options {
	return &options{
		shape: newShapeFlags(), body: bodyFlags{size: size.Fixed(1024)}, sections: newSectionFlags(),
		spin: cli.NewEnum("when", spinNever, spinAuto, spinAlways, spinNever),
	}
}

// New returns the command.
func New(env *cli.Env) *cobra.Command {
	o := newOptions()
	cmd := &cobra.Command{
		Use:     "perf-send [flags] ADDRESS...",
		Short:   "Load an AMQP 1.0 broker and log every message sent",
		Long:    long,
		Example: examples,
		Args:    o.needArgs,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.calibrate {
				return calibrateHost(cmd.Context(), env, o, cmd.Flags())
			}
			r, err := prepare(env, o, cmd.Flags(), args)
			if err != nil {
				return err
			}
			if o.shape.dryRun {
				return r.dryRun(env.Stdout)
			}
			return r.run(cmd.Context())
		},
		ValidArgsFunction: cobra.NoFileCompletions,
	}
	o.register(cmd, env)
	cli.CompleteEnums(cmd)
	return cmd
}

func (o *options) register(cmd *cobra.Command, env *cli.Env) {
	cli.Group(cmd, "Load", o.registerLoad)
	cli.Group(cmd, "Schedule", o.shape.register)
	cli.Group(cmd, "Messages", func(fs *pflag.FlagSet) {
		o.sections.register(fs)
		o.body.register(fs)
	})
	cli.Group(cmd, "Run", o.registerRun)
	cli.Group(cmd, "Log", func(fs *pflag.FlagSet) {
		o.log.Register(fs, tool)
		o.run.Register(fs, env, "name of this run in every row (default $PERF_RUN, else a new UUID)")
		o.live.Register(fs, env)
		o.stats.Register(fs)
	})
	o.clock.Register(cmd, env)
	o.watch.Register(cmd)
	o.conn.Register(cmd, env)
}

// registerLoad defines the ten flags that matter first.
func (o *options) registerLoad(fs *pflag.FlagSet) {
	fs.VarP(&o.shape.rate, "rate", "r", "messages per second over all producers: 500, 30k, 0.5/s, 30/m, or max (closed loop)")
	fs.DurationVarP(&o.duration, "duration", "d", 0, "how long messages are intended (default no limit)")
	fs.VarP((*units.Count)(&o.count), "count", "n", "number of messages over all producers, such as 10000 or 1M (default no limit)")
	fs.VarP(&o.body.size, "size", "s", "size of a body in bytes: 1024, 64k, 1KiB; 100..4k (all equally often); lognormal(1k,2) (median, and the factor that two thirds are within)")
	fs.BoolVar(&o.sections.durable, "durable", false, "durable messages, to a durable target: RabbitMQ makes the queue durable only then")
	fs.IntVar(&o.tx.size, "tx", 0, "send in transactions of `N` messages; they are acknowledged by the commit")
	fs.IntVar(&o.maxPending, "max-pending", 1000, "messages of a producer without an answer at most; 0 is no limit but the broker's credit")
	fs.IntVar(&o.producers, "producers", 1, "producers for each ADDRESS")
	fs.IntVar(&o.connections, "connections", 0, "connections that the producers share (default one each)")
	o.destinations.Register(fs)
}

// registerRun defines the flags about the course of a run.
func (o *options) registerRun(fs *pflag.FlagSet) {
	fs.DurationVar(&o.warmup, "warmup", 0, "marks the first part of the run as warm-up: left out of SUMMARY and reports, never out of the log")
	fs.DurationVar(&o.drain, "drain", 10*time.Second, "at the end, how long to go on sending what is due and waiting for answers")
	fs.Var(&o.startAt, "start-at", "start at a TIME such as 2026-05-01T12:00:00Z, or +30s from now")
	o.reconnect.Register(fs)
	fs.BoolVar(&o.resend, "resend", false, "with --reconnect, send again what was under way when a connection was lost: at least once instead of at most once")
	fs.Var(&o.tx.rollback, "tx-rollback", "roll back that share of the transactions, such as 0.1: evenly spread; their messages count as released")
	fs.Var(&o.spin, "spin", "busy-wait just before messages are due: auto (with 4 processors or more), always, never (default). Without, messages of more than 10,000/s are handed over each 0.1 ms, with what that adds as lag")
	fs.Lookup("spin").NoOptDefVal = spinAuto
	fs.Lookup("spin").DefValue = ""
	fs.BoolVar(&o.calibrate, "calibrate", false, "measure this host against targets that answer at once, keep the result for later logs, and exit")
}
