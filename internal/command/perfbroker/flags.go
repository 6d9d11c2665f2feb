package perfbroker

import (
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/cli"
)

// register defines the flags, by group.
func (o *options) register(cmd *cobra.Command) {
	cli.Group(cmd, "Listening", o.listenFlags)
	cli.Group(cmd, "Users", o.userFlags)
	cli.Group(cmd, "Behaviour", o.behaviourFlags)
	cli.Group(cmd, "Addresses and limits", o.limitFlags)
	cli.Group(cmd, "Output", o.outputFlags)
}

func (o *options) listenFlags(f *pflag.FlagSet) {
	f.StringVar(&o.listen, "listen", "127.0.0.1:5672", "listen on `HOST:PORT`; port 0 takes a free one")
	f.StringVar(&o.readyFile, "ready-file", "", "write the broker's URL into `FILE` once it accepts connections; removed at the end")
}

func (o *options) userFlags(f *pflag.FlagSet) {
	f.StringVar(&o.user, "user", "", "let `NAME` in by SASL PLAIN, beside everybody by ANONYMOUS; the password is in $"+PasswordEnv)
	f.StringVar(&o.passwordFile, "password-file", "", "read the password of --user from the first line of `FILE`")
	f.BoolVar(&o.requireUser, "require-user", false, "refuse ANONYMOUS")
}

func (o *options) behaviourFlags(f *pflag.FlagSet) {
	f.Var(&o.service, "service-time", "serve each message for `TIME`: 500us, or exp:500us for exponential times of that mean")
	f.Uint64Var(&o.seed, "seed", 0, "`SEED` of the exponential times")
	f.Var(&o.stalls, "stall", "freeze for a while: `AT:FOR`, AT from the first message on (10s:100ms); repeatable")
	f.DurationVar(&o.delay, "delay", 0, "delay every frame by `TIME` in each direction, like a longer network")
	f.Var(&o.maxUnsettledBytes, "max-unsettled-bytes", "stop the deliveries to a connection at `SIZE` unsettled bytes; 0 = never")
	f.Uint32Var(&o.credit, "credit", 1000, "grant each producer's link credit for `N` messages, renewed at half")
	f.IntVar(&o.maxQueued, "max-queued", 0, "withhold credit from producers of an address that holds `N` messages; 0 = never")
}

func (o *options) limitFlags(f *pflag.FlagSet) {
	f.BoolVar(&o.noAutoCreate, "no-auto-create", false, "refuse addresses not named by --address")
	f.StringArrayVar(&o.addresses, "address", nil, "make this `ADDRESS` at the start; repeatable")
	f.StringArrayVar(&o.forbidden, "forbid", nil, "refuse links to this `ADDRESS`; repeatable")
	f.Var(&o.maxFrameSize, "max-frame-size", "accept frames up to `SIZE`")
	f.Var(&o.maxMessageSize, "max-message-size", "accept messages up to `SIZE`")
	f.DurationVar(&o.idleTimeout, "idle-timeout", time.Minute, "close connections that are silent for `TIME`; 0 = never")
}

func (o *options) outputFlags(f *pflag.FlagSet) {
	f.StringVar(&o.log, "log", "", "write a line per message with its arrival, service, departure and settlement to `FILE` (CSV; - = standard output)")
	f.BoolVar(&o.force, "force", false, "replace an existing --log file")
	f.BoolVarP(&o.quiet, "quiet", "q", false, "print neither the URL nor the summary on standard error")
}

// service is the value of --service-time.
type service struct{ broker.Service }

// String implements pflag.Value.
func (s *service) String() string {
	if s.Exponential {
		return "exp:" + s.Mean.String()
	}
	return s.Mean.String()
}

// Set implements pflag.Value.
func (s *service) Set(v string) error {
	text, exponential := strings.CutPrefix(v, "exp:")
	d, err := time.ParseDuration(text)
	if err != nil || d < 0 || (exponential && d == 0) {
		return fmt.Errorf("%q is neither a time (500us) nor exp: and a mean time (exp:500us)", v)
	}
	s.Mean, s.Exponential = d, exponential
	return nil
}

// Type implements pflag.Value.
func (s *service) Type() string { return "time" }

// stalls is the value of --stall, which may be repeated.
type stalls []broker.Stall

// String implements pflag.Value.
func (s *stalls) String() string {
	var texts []string
	for _, stall := range *s {
		texts = append(texts, stall.At.String()+":"+stall.For.String())
	}
	return strings.Join(texts, ",")
}

// Set implements pflag.Value: it adds one.
func (s *stalls) Set(v string) error {
	at, length, ok := strings.Cut(v, ":")
	a, err1 := time.ParseDuration(at)
	l, err2 := time.ParseDuration(length)
	if !ok || err1 != nil || err2 != nil || a < 0 || l <= 0 {
		return fmt.Errorf("%q is not AT:FOR, two times such as 10s:100ms", v)
	}
	*s = append(*s, broker.Stall{At: a, For: l})
	return nil
}

// Type implements pflag.Value.
func (s *stalls) Type() string { return "stall" }
