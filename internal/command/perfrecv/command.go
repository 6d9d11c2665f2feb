// Package perfrecv is the command perf-recv: its flags, and the wiring of
// links, consumers and recorder.
package perfrecv

import (
	"strconv"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/connect"
	"amqpperf/internal/load/consume"
	"amqpperf/internal/units"
)

const tool = "perf-recv"

// options are the flags.
type options struct {
	conn connect.Flags
	run  cli.RunFlags
	log  cli.LogFlags
	live cli.LiveFlags

	stats connect.StatsFlags

	watch     connect.WatchFlags
	onlyWatch bool

	consumer consumerFlags
	link     linkFlags

	count       int64
	duration    time.Duration
	idle        time.Duration
	wait        time.Duration
	warmup      time.Duration
	credit      int
	ackEvery    ackEvery
	consumers   int
	dests       connect.Destinations
	connections int
	foreign     cli.Enum
	readyFile   string
	clockListen string
}

const long = `perf-recv receives from an AMQP 1.0 broker and logs every delivery: whose
message it was, when it was intended and sent by the sender's clock, when it
was received, when the consumer began with it and when it was settled. It
computes nothing: perf-merge joins its log with those of perf-send.

It runs until -n messages, -d, --idle without a message, or ^C. A message that
perf-send did not send is given back and ends the run, unless --foreign says
otherwise: it may be an address in production.

An ADDRESS is queue://NAME, topic://NAME or the broker's own form. The broker is
that of -u or $AMQP_URL, the log is -o.`

const examples = `  perf-recv --idle 5s queue://bench                into perf-recv-TIME.parquet, until nothing came for 5 seconds
  perf-recv -n 1M --credit 2000 --ack-every 1000 -o recv.parquet queue://bench
  perf-recv -o - queue://bench | perf-merge -f log -   every delivery as a line of text, live
  perf-recv --work 'exp(5ms)' --credit 10 -d 1m queue://bench    a consumer as in production: 200 messages a second
  perf-recv --consumers 100 -d 1m topic://prices    100 subscribers, each of which gets every message
  perf-recv --watch-only --watch-name beam.smp -o broker.parquet    on the broker's host, beside a run on others`

// New returns the command.
func New(env *cli.Env) *cobra.Command {
	o := &options{foreign: cli.NewEnum("what", string(consume.ForeignStop),
		string(consume.ForeignStop), string(consume.ForeignRelease), string(consume.ForeignAccept))}
	cmd := &cobra.Command{
		Use:     "perf-recv [flags] ADDRESS...",
		Short:   "Receive from an AMQP 1.0 broker and log every delivery",
		Long:    long,
		Example: examples,
		RunE: func(cmd *cobra.Command, args []string) error {
			if o.onlyWatch {
				r, err := prepareWatch(env, o, cmd.Flags(), args)
				if err != nil {
					return err
				}
				return r.watchOnly(cmd.Context())
			}
			if err := cli.NeedArgs("ADDRESS")(cmd, args); err != nil {
				return err
			}
			r, err := prepare(env, o, cmd.Flags(), args)
			if err != nil {
				return err
			}
			if o.link.unsubscribe {
				return r.endSubscriptions(cmd.Context())
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
	cli.Group(cmd, "Receiving", func(fs *pflag.FlagSet) {
		fs.VarP((*units.Count)(&o.count), "count", "n", "stop after so many messages over all consumers, such as 10000 or 1M (default no limit)")
		fs.DurationVarP(&o.duration, "duration", "d", 0, "stop so long after everything was attached (default no limit)")
		fs.DurationVar(&o.idle, "idle", 0, "stop so long after the last message, from the first one on (default never)")
		fs.DurationVar(&o.wait, "wait", 0, "give up if the first message has not come by then (default never)")
		fs.IntVar(&o.credit, "credit", 1000, "messages that the broker may have under way to a consumer; with --work or --rate each that waits takes about 200 bytes of memory, whatever its size")
		fs.Var(&o.ackEvery, "ack-every", "settle after so many messages, or auto: what arrived together, at most half of the credit; each by itself with --work or --rate")
		fs.IntVar(&o.consumers, "consumers", 1, "consumers for each ADDRESS")
		o.dests.Register(fs)
		fs.IntVar(&o.connections, "connections", 0, "connections that the consumers share (default one each)")
	})
	o.consumer.register(cmd)
	o.link.register(cmd)
	cli.Group(cmd, "Run", func(fs *pflag.FlagSet) {
		fs.Var(&o.foreign, "foreign", "messages without a stamp of perf-send: stop (give back, exit 1), release (give back at the end), accept (remove)")
		fs.DurationVar(&o.warmup, "warmup", 0, "leave so much after the first message out of the SUMMARY, never out of the log")
		fs.StringVar(&o.readyFile, "ready-file", "", "create this file once all consumers are attached, with the URL in its first line; removed at the end")
	})
	cli.Group(cmd, "Log", func(fs *pflag.FlagSet) {
		o.log.Register(fs, tool)
		o.run.Register(fs, env, "count only messages of this run (default $PERF_RUN, else all)")
		o.live.Register(fs, env)
		o.stats.Register(fs)
	})
	cli.Group(cmd, "Clock", func(fs *pflag.FlagSet) {
		fs.StringVar(&o.clockListen, "clock-listen", "", "answer the clock probes of perf-send --clock-peer at `HOST:PORT`, UDP and TCP; the token that they need is the last word in the ready file's second line")
	})
	o.watch.Register(cmd)
	cli.Group(cmd, "Watching", func(fs *pflag.FlagSet) {
		fs.BoolVar(&o.onlyWatch, "watch-only", false, "receive nothing, connect to nothing: only sample this host and what is watched, as on the broker's own host; no ADDRESS")
	})
	o.conn.Register(cmd, env)
}

// ackEvery is a number of messages, or auto: 0.
type ackEvery int

// Set implements pflag.Value.
func (a *ackEvery) Set(s string) error {
	if s == "auto" {
		*a = 0
		return nil
	}
	n, err := units.ParseCount(s)
	if err != nil || n < 1 || n > 1<<30 {
		return cli.Usagef("want a number of messages from 1, or auto")
	}
	*a = ackEvery(n)
	return nil
}

// String implements pflag.Value.
func (a *ackEvery) String() string {
	if *a == 0 {
		return "auto"
	}
	return strconv.Itoa(int(*a))
}

// Type implements pflag.Value.
func (a *ackEvery) Type() string { return "count" }
