package perfrecv

import (
	"math/rand/v2"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amqpperf/internal/cli"
	"amqpperf/internal/load/consume"
	"amqpperf/internal/load/pace"
	"amqpperf/internal/units"
)

// consumerFlags say how the consumers of an experiment behave.
type consumerFlags struct {
	outcomes      consume.Outcomes
	undeliverable bool
	work          consume.Work
	rate          units.Rate
	seed          uint64
	startDelay    time.Duration
}

func (f *consumerFlags) register(cmd *cobra.Command) {
	cli.Group(cmd, "Consumer", func(fs *pflag.FlagSet) {
		fs.Var(&f.outcomes, "outcome", "answer with accept, release, reject or modify (delivery failed), or a share of them evenly: reject=0.1,release=0.05 accepts the rest")
		fs.BoolVar(&f.undeliverable, "undeliverable-here", false, "say so with modify: the broker is not to bring the message to the same consumer again; another one may get it")
		fs.Var(&f.work, "work", "time from started to settled of each message: 5ms, exp(5ms) with that mean, lognormal(5ms,2) with that median and factor of spread")
		fs.Lookup("work").DefValue = ""
		fs.Var(&f.rate, "rate", "begin with at most so many messages a second over all consumers; the rest waits in the credit (default max)")
		fs.Lookup("rate").DefValue = ""
		fs.Uint64Var(&f.seed, "seed", 0, "seed of the random times of --work, to repeat a run (default a random one, which the log tells)")
		fs.DurationVar(&f.startDelay, "start-delay", 0, "attach at once, but grant the first credit so long after: messages pile up in the broker (default none)")
	})
}

// validate reports flags that cannot be honoured or contradict others.
func (f *consumerFlags) validate(given func(string) bool, o *options) error {
	switch {
	case f.undeliverable && !f.outcomes.Modifies():
		return cli.Usagef("--undeliverable-here is about what is modified: give --outcome modify, or a share of it")
	case f.outcomes.Returning(f.undeliverable) && o.count == 0 && o.duration == 0:
		return cli.Usagef("--outcome %s gives every message back, and it comes again for ever: -n or -d must end the run", f.outcomes.String())
	case given("seed") && !f.work.Random():
		return cli.Usagef("--seed: nothing is random without --work exp(…) or lognormal(…)")
	case f.startDelay < 0:
		return cli.Usagef("--start-delay %v: must not be negative", f.startDelay)
	case o.duration > 0 && f.startDelay >= o.duration:
		return cli.Usagef("--start-delay %v leaves nothing of -d %v, which counts from the attach", f.startDelay, o.duration)
	case o.duration > 0 && o.wait > 0 && f.startDelay+o.wait >= o.duration:
		return cli.Usagef("--wait %v after --start-delay %v is never reached within -d %v", o.wait, f.startDelay, o.duration)
	}
	if f.work.Random() && !given("seed") {
		f.seed = uint64(rand.Uint32()) // what JSON numbers hold exactly
	}
	return nil
}

// tempo returns by what each of n consumers is slowed down.
func (r *run) tempo(n int) consume.Tempo {
	f := &r.o.consumer
	t := consume.Tempo{Work: f.work, Seed: f.seed, NewTimer: r.newTimer}
	if !f.rate.Max() {
		// Rounded up: at most so many.
		t.Interval = time.Duration((f.rate.Den*int64(n)*int64(time.Second) + f.rate.Num - 1) / f.rate.Num)
	}
	return t
}

// newTimer returns the most exact timer that there is.
func (r *run) newTimer() (pace.Timer, error) {
	t, err := pace.NewTimer(r.clock)
	if err != nil {
		return pace.NewRuntimeTimer(r.clock), nil
	}
	return t, nil
}

// precision says how exact the timers of a tempo are, "" without one.
func (r *run) precision() string {
	if tempo := r.tempo(1); tempo.None() {
		return ""
	}
	t, err := r.newTimer()
	if err != nil {
		return ""
	}
	defer t.Close() //nolint:errcheck // nothing is kept in a timer
	return t.Precision()
}

// consumerConfig is the part of perf.config about the consumers.
type consumerConfig struct {
	Outcome       string `json:"outcome"`
	Undeliverable bool   `json:"undeliverable_here,omitempty"`
	Work          string `json:"work,omitempty"`
	Seed          uint64 `json:"seed,omitempty"`
	Rate          string `json:"rate,omitempty"` // of all consumers together
	Timer         string `json:"timer,omitempty"`
	StartDelayNS  int64  `json:"start_delay_ns,omitempty"`
}

func (r *run) consumerConfig() consumerConfig {
	f := &r.o.consumer
	c := consumerConfig{Outcome: f.outcomes.String(), Undeliverable: f.undeliverable, Work: f.work.String(), Timer: r.precision(), StartDelayNS: int64(f.startDelay)}
	if f.work.Random() {
		c.Seed = f.seed
	}
	if !f.rate.Max() {
		c.Rate = f.rate.String()
	}
	return c
}

// startLate grants the first credit when the delay is over.
func (r *run) startLate() {
	delay := r.o.consumer.startDelay
	if delay <= 0 {
		return
	}
	timer := time.NewTimer(delay)
	defer timer.Stop()
	select {
	case <-timer.C:
	case <-r.group.Context().Done():
		return
	}
	r.begun.Store(true)
	for _, s := range r.seats {
		l, _ := s.get()
		l.Start()
	}
}
