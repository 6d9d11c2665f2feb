package perfrecv

import (
	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
	"amqpperf/timestamp"
)

// prepare checks everything that can be checked without a broker.
func prepare(env *cli.Env, o *options, fs *pflag.FlagSet, addresses []string) (*run, error) {
	addresses, err := o.dests.Expand(fs.Changed, addresses)
	if err != nil {
		return nil, err
	}
	r := &run{env: env, o: o, addresses: addresses, consumers: o.consumers * len(addresses), runID: o.run.Run()}
	if err := o.validate(fs, r); err != nil {
		return nil, err
	}
	if err := o.validateClock(fs.Changed); err != nil {
		return nil, err
	}
	if err := o.link.validate(fs.Changed, o, addresses); err != nil {
		return nil, err
	}
	if err := o.live.Validate(); err != nil {
		return nil, err
	}
	if err := o.stats.Validate(&o.live); err != nil {
		return nil, err
	}
	for _, a := range addresses {
		if err := link.CheckAddress(a); err != nil {
			return nil, cli.Usagef("%w", err)
		}
	}
	if r.connections = o.connections; r.connections == 0 {
		r.connections = r.consumers
	}
	files := r.connections
	if tempo := r.tempo(1); !tempo.None() {
		files += 2 * r.consumers // its timers
	}
	if err := cli.CheckFiles(files); err != nil {
		return nil, err
	}
	return r, r.configure()
}

// validate reports flags that cannot be honoured or contradict each other.
func (o *options) validate(fs *pflag.FlagSet, r *run) error {
	given := fs.Changed
	switch {
	case given("count") && o.count < 1:
		return cli.Usagef("-n %d: at least 1; leave it out for no limit", o.count)
	case given("duration") && o.duration <= 0:
		return cli.Usagef("-d %v: must be above 0; leave it out for no limit", o.duration)
	case given("idle") && o.idle <= 0:
		return cli.Usagef("--idle %v: must be above 0; leave it out for never", o.idle)
	case given("wait") && o.wait <= 0:
		return cli.Usagef("--wait %v: must be above 0; leave it out for ever", o.wait)
	case o.warmup < 0:
		return cli.Usagef("--warmup %v: must not be negative", o.warmup)
	case o.duration > 0 && o.wait >= o.duration:
		return cli.Usagef("--wait %v is never reached within -d %v", o.wait, o.duration)
	case o.credit < 1 || o.credit > 1<<30:
		return cli.Usagef("--credit %d: 1 to %d", o.credit, 1<<30)
	case int(o.ackEvery) > o.credit:
		return cli.Usagef("--ack-every %d is more than --credit %d: the broker would stop before the first answer; raise --credit", int(o.ackEvery), o.credit)
	case o.consumers < 1:
		return cli.Usagef("--consumers %d: at least 1", o.consumers)
	case o.connections < 0 || o.connections > r.consumers:
		return cli.Usagef("--connections %d: 1 to the number of consumers, %d", o.connections, r.consumers)
	}
	if err := o.consumer.validate(given, o); err != nil {
		return err
	}
	return r.validRun()
}

// validRun reports what is wrong with --run.
func (r *run) validRun() error {
	if r.runID == "" {
		return nil
	}
	if err := timestamp.ValidRun(r.runID); err != nil {
		return cli.Usagef("--run: %w", err)
	}
	return nil
}

// configure makes the configuration of the connections.
func (r *run) configure() error {
	r.clock = r.env.NewClock()
	var err error
	if r.link, err = r.o.conn.Config(r.clock, r.events.Add); err != nil {
		return err
	}
	r.link.ContainerExact = r.o.link.durableSub != "" && r.o.link.shared == ""
	r.sessions = r.o.conn.Sessions()
	r.watch, err = r.o.watch.New(r.clock)
	return err
}

// newRun returns a run for a log in which nothing tells one.
func newRun() string { return uuid.NewString() }
