// Package perfbroker is the command perf-broker: its flags, and the wiring of
// the in-memory broker.
package perfbroker

import (
	"context"
	"time"

	"github.com/spf13/cobra"

	"amqpperf/internal/cli"
	"amqpperf/internal/units"
)

// PasswordEnv is the environment variable of the password of --user.
const PasswordEnv = "PERF_BROKER_PASSWORD"

// options are the flags of perf-broker.
type options struct {
	listen    string
	readyFile string
	log       string
	force     bool
	quiet     bool

	user         string
	passwordFile string
	requireUser  bool

	service           service
	seed              uint64
	stalls            stalls
	delay             time.Duration
	maxUnsettledBytes units.Size
	credit            uint32
	maxQueued         int

	noAutoCreate   bool
	addresses      []string
	forbidden      []string
	maxFrameSize   units.Size
	maxMessageSize units.Size
	idleTimeout    time.Duration
}

const long = `An AMQP 1.0 broker in memory whose behaviour is scripted: the null target that
calibrates perf-send and perf-recv, the target of the demo, and a peer whose
service times are known. Nothing is stored on disk; it is no product broker.

Queues and topics come into being with their first link: queue://NAME, whose
consumers compete, and topic://NAME, where every subscriber gets a copy; a NAME
alone is a queue. Each is one FIFO server: a message is accepted, and can be
delivered, when its service has ended. It runs until SIGINT or SIGTERM.

It knows browsers, durable and shared subscriptions (as long as it runs), local
transactions, and the ttl of messages. Priorities are ignored: a queue is FIFO.
Selectors and other filters are refused with amqp:not-implemented.`

const examples = `  perf-broker --listen 127.0.0.1:0 --ready-file url
  perf-broker --service-time 500us --stall 10s:100ms
  perf-broker --service-time exp:500us --seed 1 --log broker.csv
  PERF_BROKER_PASSWORD=... perf-broker --user demo --require-user`

// New returns the command.
func New(env *cli.Env) *cobra.Command {
	o := options{maxFrameSize: 64 * 1024, maxMessageSize: 128 << 20}
	cmd := &cobra.Command{
		Use:     "perf-broker [flags]",
		Short:   "in-memory AMQP 1.0 broker with scripted behaviour",
		Long:    long,
		Example: examples,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) > 0 {
				return cli.Usagef("unexpected argument %q: perf-broker takes flags only", args[0])
			}
			return o.validate(env)
		},
		RunE: func(cmd *cobra.Command, _ []string) error {
			ctx, stop := env.Interruptible(orBackground(cmd.Context()))
			defer stop()
			return serve(ctx, env, o)
		},
	}
	o.register(cmd)
	return cmd
}

func orBackground(ctx context.Context) context.Context {
	if ctx == nil {
		return context.Background()
	}
	return ctx
}

// validate checks what the values' own parsers cannot see.
func (o *options) validate(env *cli.Env) error {
	switch {
	case o.user == "" && o.requireUser:
		return cli.Usagef("--require-user without --user would refuse everybody")
	case o.user == "" && o.passwordFile != "":
		return cli.Usagef("--password-file needs --user")
	case o.user != "" && o.passwordFile == "" && env.Getenv(PasswordEnv) == "":
		return cli.Usagef("--user %s needs a password: in the environment variable %s or in --password-file", o.user, PasswordEnv)
	case o.seed != 0 && !o.service.Exponential:
		return cli.Usagef("--seed needs --service-time exp:MEAN: nothing else is random")
	case o.force && o.log == "":
		return cli.Usagef("--force needs --log")
	case o.maxFrameSize < 512 || o.maxFrameSize > 1<<31-1:
		return cli.Usagef("--max-frame-size %s: 512 bytes to 2 GiB", o.maxFrameSize)
	case o.maxMessageSize < 1:
		return cli.Usagef("--max-message-size %s: at least 1 byte", o.maxMessageSize)
	case o.maxUnsettledBytes < 0:
		return cli.Usagef("--max-unsettled-bytes %s is negative", o.maxUnsettledBytes)
	case o.idleTimeout < 0:
		return cli.Usagef("--idle-timeout %v is negative; 0 = never", o.idleTimeout)
	case o.credit == 0:
		return cli.Usagef("--credit 0: nobody could send")
	}
	return nil
}
