package perfsend

import (
	"fmt"
	"math"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
	"amqpperf/internal/load/schedule"
	"amqpperf/timestamp"
)

// prepare checks everything that can be checked without a broker.
func prepare(env *cli.Env, o *options, fs *pflag.FlagSet, addresses []string) (*run, error) {
	r := &run{env: env, o: o, addresses: addresses, producers: o.producers * len(addresses), runID: o.run.Run()}
	if r.runID == "" {
		r.runID = uuid.NewString()
	}
	if err := o.validate(fs, r); err != nil {
		return nil, err
	}
	if err := o.live.Validate(); err != nil {
		return nil, err
	}
	for _, a := range addresses {
		if err := link.CheckAddress(a); err != nil {
			return nil, cli.Usagef("%w", err)
		}
	}
	if r.connections = o.connections; r.connections == 0 {
		r.connections = r.producers
	}
	if err := cli.CheckFiles(r.connections); err != nil {
		return nil, err
	}
	if err := r.plan(); err != nil {
		return nil, err
	}
	if err := r.configure(); err != nil {
		return nil, err
	}
	now := r.clock.Time(r.clock.Now())
	if at, asked := o.startAt.From(now); asked && at.Before(now) {
		return nil, cli.Usagef("--start-at %s has passed", o.startAt.String())
	}
	return r, nil
}

// validate reports flags that cannot be honoured or contradict each other.
func (o *options) validate(fs *pflag.FlagSet, r *run) error {
	given := fs.Changed
	switch {
	case given("rate") && given("rate-per-producer"):
		return cli.Usagef("--rate and --rate-per-producer contradict each other: give one")
	case o.spin.String() != spinNever && o.rate.Max() && o.perProducer.Max():
		return cli.Usagef("--spin is about messages that are due at a time: give --rate")
	case given("count") && o.count < 1:
		return cli.Usagef("-n %d: at least 1; leave it out for no limit", o.count)
	case given("duration") && o.duration <= 0:
		return cli.Usagef("-d %v: must be above 0; leave it out for no limit", o.duration)
	case o.drain < 0:
		return cli.Usagef("--drain %v: must not be negative", o.drain)
	case o.warmup < 0:
		return cli.Usagef("--warmup %v: must not be negative", o.warmup)
	case o.duration > 0 && o.warmup >= o.duration:
		return cli.Usagef("--warmup %v leaves nothing of -d %v: the duration includes the warm-up", o.warmup, o.duration)
	case o.maxPending < 1:
		return cli.Usagef("--max-pending %d: at least 1", o.maxPending)
	case o.maxPending > 1<<24:
		return cli.Usagef("--max-pending %d: at most %d", o.maxPending, 1<<24)
	case o.producers < 1:
		return cli.Usagef("--producers %d: at least 1", o.producers)
	case o.connections < 0 || o.connections > r.producers:
		return cli.Usagef("--connections %d: 1 to the number of producers, %d", o.connections, r.producers)
	}
	if err := timestamp.ValidRun(r.runID); err != nil {
		return cli.Usagef("--run: %w", err)
	}
	if least := timestamp.Size(r.runID); int(o.size) < least {
		return cli.Usagef("-s %d: a body holds a stamp of %d bytes for this run: give -s %d or more", int64(o.size), least, least)
	}
	return nil
}

// plan makes the schedule, and how many messages each limit allows.
func (r *run) plan() error {
	o := r.o
	rate := o.rate
	if !o.perProducer.Max() {
		rate = o.perProducer
		if rate.Num > math.MaxInt64/int64(r.producers) {
			return cli.Usagef("--rate-per-producer %v: too much for %d producers", rate, r.producers)
		}
		rate.Num *= int64(r.producers)
	}
	r.rate = rate
	r.count = schedule.Unbounded
	if o.count > 0 {
		r.count = o.count
	}
	r.stop = stopCount
	if rate.Max() {
		return nil
	}
	if rate.PerSecond() > 1e9 {
		return cli.Usagef("%v messages a second over all producers: at most 1G", rate)
	}
	s, err := schedule.NewConstant(rate.Num, rate.Den, r.count)
	if err != nil {
		return cli.Usagef("--rate: %w", err)
	}
	if o.duration > 0 {
		if within := s.Within(int64(o.duration)); within < r.count {
			s, r.stop = s.WithN(within), stopDuration
		}
	}
	r.schedule = &s
	return nil
}

// configure makes the configuration of the connections.
func (r *run) configure() error {
	r.clock = timestamp.NewClock()
	var err error
	if r.link, err = r.o.conn.Config(r.clock, r.events.Add); err != nil {
		return err
	}
	r.watch, err = r.o.watch.New(r.clock)
	return err
}

// loop returns the value of the configuration's key.
func (r *run) loop() string {
	if r.schedule == nil {
		return "closed"
	}
	return "open"
}

// load names it for people: "5k/s over 2 producers".
func (r *run) load() string {
	what := fmt.Sprintf("as fast as %d in flight allow", r.o.maxPending)
	if r.schedule != nil {
		what = r.rate.String()
		if !strings.Contains(what, "/") {
			what += "/s"
		}
	}
	if r.producers > 1 {
		return fmt.Sprintf("%s over %d producers", what, r.producers)
	}
	return what
}
