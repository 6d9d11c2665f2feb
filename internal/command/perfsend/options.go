package perfsend

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/google/uuid"
	"github.com/spf13/pflag"

	"amqpperf/internal/cli"
	"amqpperf/timestamp"
)

// prepare checks everything that can be checked without a broker.
func prepare(env *cli.Env, o *options, fs *pflag.FlagSet, addresses []string) (*run, error) {
	r := &run{env: env, o: o, runID: o.run.Run()}
	if r.runID == "" && o.shape.share.given() {
		return nil, cli.Usagef("--share needs --run, the same everywhere")
	}
	if r.runID == "" {
		r.runID = uuid.NewString()
	}
	if err := o.validate(fs.Changed, r.runID); err != nil {
		return nil, err
	}
	if len(addresses) == 0 && fs.Changed("num-destinations") {
		return nil, cli.Usagef("--num-destinations %d: give an ADDRESS with %%d in it", o.destinations.N)
	}
	addresses, err := o.destinations.Expand(fs.Changed, addresses)
	if err != nil {
		return nil, err
	}
	if r.seed = o.shape.seed.V; !o.shape.seed.given() {
		r.seed = rand.Uint64()
	}
	if r.planned, err = o.shape.plan(o, env, int64(o.producers*max(1, len(addresses))), r.seed); err != nil {
		return nil, err
	}
	if r.layout, err = newLayout(r.planned, addresses, o.producers); err != nil {
		return nil, err
	}
	if r.bodies, err = o.body.plan(r, r.planned, fs.Changed); err != nil {
		return nil, err
	}
	if err := r.seeded(); err != nil {
		return nil, err
	}
	r.stop = stopCount
	if r.planned != nil {
		r.stop = r.planned.stops(o)
	}
	if o.shape.dryRun {
		return r, nil
	}
	return r, r.connectable()
}

// connectable checks what is about the connections, and the start.
func (r *run) connectable() error {
	o := r.o
	switch {
	case o.connections < 0 || o.connections > r.producers:
		return cli.Usagef("--connections %d: 1 to the number of producers, %d", o.connections, r.producers)
	case o.connections == 0:
		r.connections = r.producers
	default:
		r.connections = o.connections
	}
	if err := cli.CheckFiles(r.connections); err != nil {
		return err
	}
	if err := r.configure(); err != nil {
		return err
	}
	now := r.clock.Time(r.clock.Now())
	if at, asked := o.startAt.From(now); asked && at.Before(now) {
		return cli.Usagef("--start-at %s has passed", o.startAt.String())
	}
	return nil
}

// random reports whether anything is drawn.
func (r *run) random() bool {
	return r.bodies.random() || r.o.sections.random() || r.planned != nil && r.planned.spec.Random != ""
}

// seeded tells which seed was taken, and refuses one that nothing uses.
func (r *run) seeded() error {
	switch given := r.o.shape.seed.given(); {
	case given && !r.random():
		return cli.Usagef("--seed: there is nothing to draw: it goes with --arrivals poisson, --bursts, sizes such as 100..4k and {random:a|b}")
	case !given && r.random() && !r.o.live.Quiet:
		fmt.Fprintf(r.env.Stderr, "%s: --seed %d\n", tool, r.seed)
	}
	return nil
}

// validate reports flags that cannot be honoured or contradict each other.
func (o *options) validate(given func(string) bool, runID string) error {
	switch {
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
	case o.maxPending < 0:
		return cli.Usagef("--max-pending %d: at least 1, or 0 for no limit but the credit", o.maxPending)
	case o.maxPending > 1<<24:
		return cli.Usagef("--max-pending %d: at most %d", o.maxPending, 1<<24)
	case o.producers < 1:
		return cli.Usagef("--producers %d: at least 1", o.producers)
	case o.resend && !o.reconnect.Enabled():
		return cli.Usagef("--resend is about --reconnect: give both")
	case o.shape.share.given() && strings.HasPrefix(o.startAt.String(), "+"):
		return cli.Usagef("--share and --start-at %s contradict each other: give the same TIME everywhere, such as 2026-05-01T12:00:00Z", o.startAt.String())
	}
	if err := o.shape.validate(given); err != nil {
		return err
	}
	if o.spin.String() != spinNever && !o.shape.paced() {
		return cli.Usagef("--spin is about messages that are due at a time: give --rate")
	}
	if err := o.sections.validate(given); err != nil {
		return err
	}
	if err := o.tx.validate(o, given); err != nil {
		return err
	}
	if err := timestamp.ValidRun(runID); err != nil {
		return cli.Usagef("--run: %w", err)
	}
	if err := o.stats.Validate(&o.live); err != nil {
		return err
	}
	return o.live.Validate()
}

// configure makes the configuration of the connections.
func (r *run) configure() error {
	r.clock = r.env.NewClock()
	var err error
	if r.link, err = r.o.conn.Config(r.clock, r.events.Add); err != nil {
		return err
	}
	r.watch, err = r.o.watch.New(r.clock)
	return err
}

// loop returns the value of the configuration's key.
func (r *run) loop() string {
	if r.planned == nil {
		return "closed"
	}
	return "open"
}

// load names it for people: "5k/s over 2 producers".
func (r *run) load() string {
	what := fmt.Sprintf("as fast as %d in flight allow", r.o.maxPending)
	switch {
	case r.planned != nil:
		what = r.planned.describe()
	case r.o.maxPending == 0:
		what = "as fast as the broker's credit allows"
	}
	if r.producers > 1 {
		return fmt.Sprintf("%s over %d producers", what, r.producers)
	}
	return what
}
