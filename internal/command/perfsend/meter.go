package perfsend

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"sync"
	"time"

	"amqpperf/format"
	"amqpperf/internal/load/pace"
	"amqpperf/internal/load/produce"
	"amqpperf/internal/load/recorder"
	"amqpperf/internal/load/schedule"
	"amqpperf/timestamp"
)

// What is measured: the floors at a rate at which nothing waits for anything,
// with bodies of 1 KiB; the maximum rate with 100 in flight.
const (
	meterRate   = 1000
	meterSize   = 1024
	meterWindow = 100
)

// meter measures one target after the other, with the parts that perf-send
// itself is made of.
type meter struct {
	clock *timestamp.Clock
	lasts time.Duration // of each measurement
	spins bool
	timer string // what the pacer waited with
}

// values are those of a metric, in ns, in the order of rows.
type values []int64

// floor leaves the first tenth out, as warm-up.
func (v values) floor() (format.Floor, error) {
	v = slices.Clone(v[len(v)/10:])
	if len(v) == 0 {
		return format.Floor{}, errors.New("no message was answered")
	}
	slices.Sort(v)
	rank := func(p float64) int64 { return v[int(math.Ceil(p*float64(len(v))))-1] }
	return format.Floor{P50: rank(0.5), P99: rank(0.99), Max: v[len(v)-1]}, nil
}

// sent is what the rows of a producer tell.
type sent struct {
	lag, service values // paced only
	acked        int64
	first, last  int64
}

func (s *sent) row(keep bool) func(*recorder.SendRow) {
	return func(row *recorder.SendRow) {
		if row.Outcome != format.Accepted {
			return
		}
		if s.acked++; s.acked == 1 {
			s.first = row.Acked
		}
		s.last = row.Acked
		if keep {
			s.lag, s.service = append(s.lag, row.Ready-row.Intended), append(s.service, row.Acked-row.Sent)
		}
	}
}

// rate returns messages per second.
func (s *sent) rate() float64 { return float64(s.acked-1) / (float64(s.last-s.first) / 1e9) }

// closedTries bounds the measurements of the maximum rate until there is one.
const closedTries = 20

// opener opens the link of a producer.
type opener func(ctx context.Context, p *produce.Producer) (produce.Link, error)

// both measures floors and maximum rate.
func (m *meter) both(ctx context.Context, open opener) (t format.Target, err error) {
	paced, err := m.paced(ctx, open)
	if err != nil {
		return t, err
	}
	// On a busy host it may happen that only one batch of answers falls into the time.
	closed := &sent{}
	for try := 0; try < closedTries && closed.last <= closed.first; try++ {
		if closed, err = m.closed(ctx, open); err != nil {
			return t, err
		}
	}
	if closed.acked < 2 || closed.last <= closed.first {
		return t, fmt.Errorf("%d messages were answered", closed.acked)
	}
	t = format.Target{Floors: map[string]format.Floor{}, MaxRate: closed.rate()}
	for metric, v := range map[string]values{"lag": paced.lag, "service": paced.service} {
		if t.Floors[metric], err = v.floor(); err != nil {
			return t, err
		}
	}
	return t, nil
}

func (m *meter) config(s *sent, keep bool) produce.Config {
	return produce.Config{
		Run: "calibration", Destination: "queue://calibration", Size: meterSize, Filler: produce.Filler(meterSize),
		Window: meterWindow, Clock: m.clock, Count: schedule.Unbounded, Drain: closingDrain, Write: s.row(keep),
	}
}

// closingDrain bounds the wait for the last answers.
const closingDrain = 5 * time.Second

func (m *meter) paced(ctx context.Context, open opener) (*sent, error) {
	plan, err := schedule.NewConstant(meterRate, 1, schedule.Unbounded)
	if err != nil {
		return nil, err
	}
	plan = plan.WithN(plan.Within(int64(m.lasts)))
	timer, err := newTimer(m.clock, m.spins)
	if err != nil {
		return nil, err
	}
	defer func() { _ = timer.Close() }() // nothing was written to it
	m.timer = timer.Precision()
	s := &sent{}
	c := m.config(s, true)
	c.Schedule = schedule.Stripe{Of: plan, K: 0, By: 1}
	p := produce.New(c)
	link, err := open(ctx, p)
	if err != nil {
		return nil, err
	}
	pacer := &pace.Pacer{Schedule: plan, Start: m.clock.Now() + int64(lead), Clock: m.clock, Timer: timer, Tick: tick(m.spins)}
	p.Begin(pacer.Start, pacer.Start)
	defer context.AfterFunc(ctx, pacer.Stop)()
	var failed error
	var pacing sync.WaitGroup
	pacing.Go(func() {
		_, failed = pacer.Run(func(run pace.Run) { produce.Split(run, 1, func(_ int64, run pace.Run) { p.Offer(run) }) })
		p.Finish(m.clock.Now())
	})
	err = p.Run(ctx, link)
	pacing.Wait()
	return s, errors.Join(err, failed, link.Close(ctx))
}

func (m *meter) closed(ctx context.Context, open opener) (*sent, error) {
	s := &sent{}
	p := produce.New(m.config(s, false))
	link, err := open(ctx, p)
	if err != nil {
		return nil, err
	}
	p.Begin(m.clock.Now(), 0)
	timer := time.AfterFunc(m.lasts, func() { p.Finish(m.clock.Now()) })
	defer timer.Stop()
	err = p.Run(ctx, link)
	return s, errors.Join(err, link.Close(ctx))
}
