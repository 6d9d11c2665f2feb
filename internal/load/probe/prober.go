package probe

import (
	"context"
	"errors"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"amqpperf/internal/load/recorder"
)

// Options says whom to ask, how often, and where the rows go.
type Options struct {
	Address string // HOST:PORT of a Server
	Token   Token
	Clock   Clock
	// Emit takes the rows of clock/1, one call at a time, from a goroutine of
	// the prober.
	Emit func(recorder.ClockRow)

	// Rate is questions a second throughout; default 20.
	Rate int
	// Burst questions are asked within BurstTime before and after; default 200
	// within 2 s. A negative Burst means none.
	Burst     int
	BurstTime time.Duration
	// Patience is the silence after which the other transport is tried; default 1 s.
	Patience time.Duration
	// Dial opens a connection; default that of net.Dialer.
	Dial func(ctx context.Context, network, address string) (net.Conn, error)
}

func (o *Options) defaults() {
	if o.Rate <= 0 {
		o.Rate = 20
	}
	if o.Burst == 0 {
		o.Burst = 200
	}
	if o.BurstTime <= 0 {
		o.BurstTime = 2 * time.Second
	}
	if o.Patience <= 0 {
		o.Patience = time.Second
	}
	if o.Dial == nil {
		o.Dial = (&net.Dialer{}).DialContext
	}
}

// Prober asks one server for the time during a run. Its methods are safe for
// concurrent use; Run is called once.
type Prober struct {
	opt    Options
	ready  chan struct{}
	finish chan struct{}
	once   struct{ ready, finish sync.Once }

	asked, answered, late atomic.Int64
}

// Stats counts exchanges.
type Stats struct {
	Asked    int64
	Answered int64 // rows emitted
	Late     int64 // answers to no question that is open: late, twice, or forged
}

// New returns a prober.
func New(opt Options) (*Prober, error) {
	if host, port, err := net.SplitHostPort(opt.Address); err != nil {
		return nil, fmt.Errorf("clock probes: peer %q: %w", opt.Address, err)
	} else if host == "" || port == "" {
		return nil, fmt.Errorf("clock probes: peer %q names no host or no port", opt.Address)
	}
	if opt.Clock == nil || opt.Emit == nil {
		return nil, errors.New("clock probes: a prober needs a clock and somewhere to put rows")
	}
	opt.defaults()
	return &Prober{opt: opt, ready: make(chan struct{}), finish: make(chan struct{})}, nil
}

// Ready is closed when the questions before the run are over, or when nobody
// answers over UDP or TCP: the run may begin.
func (p *Prober) Ready() <-chan struct{} { return p.ready }

// Finish says that the run is over: Run asks its last questions and returns.
func (p *Prober) Finish() { p.once.finish.Do(func() { close(p.finish) }) }

// Stats returns the counts so far.
func (p *Prober) Stats() Stats {
	return Stats{Asked: p.asked.Load(), Answered: p.answered.Load(), Late: p.late.Load()}
}

func (p *Prober) setReady() { p.once.ready.Do(func() { close(p.ready) }) }

// Run asks until Finish, first over UDP, and over TCP when UDP is silent; when
// that is silent too, UDP is tried again. It returns the context's error, or an
// error if nobody ever answered.
func (p *Prober) Run(ctx context.Context) error {
	defer p.setReady()
	networks := []string{"udp", "tcp"}
	for i := 0; ; i++ {
		over, err := p.session(ctx, networks[i%len(networks)])
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case over && p.answered.Load() == 0:
			return fmt.Errorf("clock probes: no answer from %s over UDP or TCP: %w", p.opt.Address, cause(err))
		case over:
			return nil
		}
		if i%len(networks) == 1 && p.answered.Load() == 0 {
			p.setReady()
		}
		if err != nil && !p.pause(ctx) {
			// Finish during the pause: one more session asks the last questions.
			continue
		}
	}
}

func cause(err error) error {
	if err == nil {
		return errors.New("silence (is the token right?)")
	}
	return err
}

// pause waits before another dial; false if Finish or the context ended it.
func (p *Prober) pause(ctx context.Context) bool {
	t := time.NewTimer(p.opt.Patience)
	defer t.Stop()
	select {
	case <-t.C:
		return true
	case <-p.finish:
	case <-ctx.Done():
	}
	return false
}

func (p *Prober) finished() bool {
	select {
	case <-p.finish:
		return true
	default:
		return false
	}
}
