package perfsend

import (
	"fmt"
	"math"
	"strings"

	"github.com/spf13/pflag"

	"amqpperf/internal/cli"
	"amqpperf/internal/load/schedule"
	"amqpperf/internal/load/schedule/text"
	"amqpperf/internal/load/schedule/trace"
	"amqpperf/internal/units"
)

// shapeFlags say when messages are intended.
type shapeFlags struct {
	rate        units.Rate
	perProducer units.Rate
	arrivals    cli.Enum
	seed        parsed[uint64]
	segments    parsed[[]schedule.Segment]
	repeat      parsed[int64]
	bursts      parsed[schedule.Burst]
	replay      string
	speed       parsed[schedule.Speed]
	loop        bool
	share       parsed[schedule.Part]
	dryRun      bool
}

// The values of --arrivals.
const (
	arrivalsConstant = "constant"
	arrivalsPoisson  = "poisson"
)

func newShapeFlags() shapeFlags {
	return shapeFlags{
		arrivals: cli.NewEnum("how", arrivalsConstant, arrivalsConstant, arrivalsPoisson),
		seed:     seedFlag(), segments: segmentsFlag(), repeat: repeatFlag(), bursts: burstFlag(), speed: speedFlag(), share: shareFlag(),
	}
}

func (f *shapeFlags) register(fs *pflag.FlagSet) {
	fs.Var(&f.perProducer, "rate-per-producer", "--rate for each producer, instead of all together")
	fs.Lookup("rate-per-producer").DefValue = ""
	fs.Var(&f.arrivals, "arrivals", "how messages follow each other at a rate or schedule: constant, or poisson (at random, independently)")
	fs.Var(&f.segments, "schedule", "a rate that changes: 5k:30s,0:5s,1k-50k:60s is 5000/s for 30 s, a pause of 5 s, and 1000/s rising to 50,000/s within 60 s")
	fs.Var(&f.repeat, "repeat", "how often to go through --schedule: a number, or forever (default once)")
	fs.Var(&f.bursts, "bursts", "random bursts: 10k:2s,500:5s is 10,000/s and 500/s in turn, at random times, 2 s and 5 s on average (MMPP2)")
	fs.StringVar(&f.replay, "replay", "", "send as recorded in `FILE` (- is standard input): instants, sizes and destinations of a send or merged log, or of CSV or JSON lines "+
		"with offset (ns, or 1.5ms), size, destination. An ADDRESS replaces the destinations, -s the sizes")
	fs.Var(&f.speed, "speed", "how many times faster than recorded: 2x, 0.5x, 1/3x")
	fs.BoolVar(&f.loop, "loop", false, "begin --replay again at its end")
	fs.Var(&f.seed, "seed", "for all that is drawn at random: arrivals, sizes, templates (default another one each time; it is printed and in the log)")
	fs.Var(&f.share, "share", "send only part K of N, such as 2/5, of the load, whose totals are those of all N processes; with --run and --start-at, and the same flags, everywhere")
	fs.BoolVar(&f.dryRun, "dry-run", false, "print the schedule and exit, without a broker")
}

// validate reports flags that contradict each other, naming both.
func (f *shapeFlags) validate(given func(string) bool) error {
	// What says when messages are intended: one of these at most.
	first := ""
	for _, name := range []string{"rate", "rate-per-producer", "schedule", "bursts", "replay"} {
		if given(name) && first != "" {
			return cli.Usagef("--%s and --%s contradict each other: give one", first, name)
		}
		if given(name) {
			first = name
		}
	}
	paced := f.paced()
	poisson := f.arrivals.String() == arrivalsPoisson
	for _, need := range []struct {
		flag string
		ok   bool
		text string
	}{
		{"repeat", given("schedule"), "--repeat is about --schedule: give both"},
		{"speed", given("replay"), "--speed is about --replay: give both"},
		{"loop", given("replay"), "--loop is about --replay: give both"},
		{"share", paced, "--share is a part of a schedule: give --rate, --schedule, --bursts or --replay"},
		{"dry-run", paced, "--dry-run shows a schedule: give --rate, --schedule, --bursts or --replay"},
		{"arrivals", first != "bursts" && first != "replay", "--arrivals and --" + first + " contradict each other: give one"},
		{"arrivals", paced || !poisson, "--arrivals poisson needs a mean rate: give --rate or --schedule"},
		{"share", first != "rate-per-producer", "--share and --rate-per-producer contradict each other: a share is a part of the whole --rate"},
		{"share", !poisson && first != "bursts" || given("seed"), "--share of random arrivals needs the same --seed everywhere"},
		{"share", given("start-at"), "--share needs --start-at, the same TIME everywhere"},
	} {
		if given(need.flag) && !need.ok {
			return cli.Usagef("%s", need.text)
		}
	}
	return nil
}

// paced reports whether messages are intended at instants of a schedule.
func (f *shapeFlags) paced() bool {
	return !f.rate.Max() || !f.perProducer.Max() || f.segments.given() || f.bursts.given() || f.replay != ""
}

// planned is what a run intends.
type planned struct {
	spec    *schedule.Spec
	whole   schedule.Schedule // of this process: the share
	trace   *trace.Trace      // of a replay
	arrival string            // for the log
	rate    string            // for the log
}

// plan makes the schedule; nil is a closed loop.
func (f *shapeFlags) plan(o *options, env *cli.Env, producers int64, seed uint64) (*planned, error) {
	p := &planned{arrival: f.arrivals.String()}
	var rows *schedule.Rows
	spec := schedule.Spec{N: o.count, WithinNS: int64(o.duration)}
	random := func() { spec.Seed, spec.Random = seed, schedule.RandomSource }
	switch {
	case f.replay != "":
		var err error
		if p.trace, err = trace.Read(f.replay, env.Stdin); err != nil {
			return nil, fmt.Errorf("--replay: %w", err)
		}
		rows = &p.trace.Rows
		speed := schedule.Speed{Num: 1, Den: 1}
		if f.speed.given() {
			speed = f.speed.V
		}
		of := schedule.ReplayOf(rows, speed, f.loop)
		of.N, of.WithinNS = spec.N, spec.WithinNS
		spec, p.arrival, p.rate = of, "replay", "replay "+p.trace.Name
	case f.bursts.given():
		burst := f.bursts.V
		spec.Kind, spec.Burst, p.arrival, p.rate = schedule.KindMMPP2, &burst, "bursts", f.bursts.text
		random()
	case f.segments.given():
		spec.Kind, spec.Segments, spec.Repeat, p.rate = schedule.KindShape, f.segments.V, 1, f.segments.text
		if f.repeat.given() {
			spec.Repeat = f.repeat.V
		}
	default:
		rate, err := f.total(producers)
		if err != nil || rate.Max() {
			return nil, err
		}
		spec.Kind, spec.RateNum, spec.RateDen, p.rate = schedule.KindConstant, rate.Num, rate.Den, rate.String()
	}
	if f.arrivals.String() == arrivalsPoisson {
		spec.Kind = schedule.KindPoisson
		random()
	}
	if f.share.given() {
		part := f.share.V
		spec.Share = &part
	}
	s, err := spec.Build(rows)
	if err != nil {
		return nil, cli.Usagef("%w", err)
	}
	p.spec, p.whole = &spec, s
	return p, nil
}

// total returns the rate over all producers.
func (f *shapeFlags) total(producers int64) (units.Rate, error) {
	rate := f.rate
	if !f.perProducer.Max() {
		rate = f.perProducer
		if rate.Num > math.MaxInt64/producers {
			return rate, cli.Usagef("--rate-per-producer %v: too much for %d producers", rate, producers)
		}
		rate.Num *= producers
	}
	if rate.PerSecond() > 1e9 {
		return rate, cli.Usagef("%v messages a second over all producers: at most 1G", rate)
	}
	return rate, nil
}

// describe names the load for people.
func (p *planned) describe() string {
	if p.spec.Kind != schedule.KindConstant {
		short := *p.spec
		short.N, short.WithinNS = 0, 0
		return text.Describe(short)
	}
	if strings.Contains(p.rate, "/") {
		return p.rate
	}
	return p.rate + "/s"
}

// stops returns why the schedule ends, as in perf.stop.
func (p *planned) stops(o *options) string {
	part := schedule.Part{K: 1, Of: 1}
	if p.spec.Share != nil {
		part = *p.spec.Share
	}
	counted := o.count > 0 && p.whole.N() == schedule.Share(o.count, part.K-1, part.Of)
	if p.spec.Random != "" && part.Of > 1 { // the share is drawn, too
		counted = o.count > 0 && o.duration == 0 && p.spec.Segments == nil
	}
	if counted || o.duration == 0 && p.spec.Segments == nil {
		return stopCount
	}
	return stopDuration
}
