package connect

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amqpperf/internal/cli"
	"amqpperf/internal/load/probe"
	"amqpperf/internal/load/recorder"
)

// clockWord begins the line of a ready file that has the address and the token of
// a clock server.
const clockWord = "clock"

// ReadyClock returns the line about the clock server for a ready file:
// "clock HOST:PORT TOKEN", the token in hexadecimal.
func ReadyClock(s *probe.Server, t probe.Token) string {
	return fmt.Sprintf("%s %s %s", clockWord, s.Address(), t)
}

// longestToken is more than any ready file has.
const longestToken = 64 << 10

// readToken reads the token from a ready file of perf-recv, or from a file that
// has nothing else.
func readToken(name string) (probe.Token, error) {
	f, err := os.Open(name)
	if err != nil {
		return probe.Token{}, err
	}
	defer f.Close() //nolint:errcheck // it was read only
	text, err := io.ReadAll(io.LimitReader(f, longestToken))
	if err != nil {
		return probe.Token{}, err
	}
	for line := range strings.Lines(string(text)) {
		fields := strings.Fields(line)
		switch {
		case len(fields) == 3 && fields[0] == clockWord:
			return probe.ParseToken(fields[2])
		case len(fields) == 1:
			if t, err := probe.ParseToken(fields[0]); err == nil {
				return t, nil
			}
		}
	}
	return probe.Token{}, fmt.Errorf("%s: no clock token: perf-recv writes one with --clock-listen HOST:PORT and --ready-file FILE", name)
}

// ClockFlags are the flags by which a sender compares its clock with those of
// receivers.
type ClockFlags struct {
	peers  []string
	tokens []string // names of files
	token  string   // of the environment, for want of files
	// Burst is how long questions are asked before and after a run, for tests; 0: as long
	// as the prober does.
	Burst time.Duration
}

// Register defines the flags.
func (f *ClockFlags) Register(cmd *cobra.Command, env *cli.Env) {
	f.token = env.Getenv("PERF_CLOCK_TOKEN")
	cli.Group(cmd, "Clock", func(fs *pflag.FlagSet) {
		fs.StringArrayVar(&f.peers, "clock-peer", nil, "compare the clock with that of the perf-recv --clock-listen at `HOST:PORT` before, during and after the run; repeatable")
		fs.StringArrayVar(&f.tokens, "clock-token", nil, "`FILE` with the token of the --clock-peer: a copy of its --ready-file; one for all or one for each (default the token itself in $PERF_CLOCK_TOKEN)")
	})
}

// Peers lists the addresses, for the log.
func (f *ClockFlags) Peers() []string { return f.peers }

// New makes the probers; clock makes their instants, and emit takes the rows of
// clock/1 from several goroutines at a time. An error is about the flags.
func (f *ClockFlags) New(clock probe.Clock, emit func(recorder.ClockRow)) (*ClockPeers, error) {
	switch {
	case len(f.peers) == 0 && len(f.tokens) > 0:
		return nil, cli.Usagef("--clock-token: whose clock? name it with --clock-peer HOST:PORT")
	case len(f.peers) > 0 && len(f.tokens) != 1 && len(f.tokens) != len(f.peers) && (len(f.tokens) > 0 || f.token == ""):
		return nil, cli.Usagef("--clock-peer: %d peers and %d --clock-token: give one file for all, or one for each, in the same order; or the token in $PERF_CLOCK_TOKEN", len(f.peers), len(f.tokens))
	}
	p := &ClockPeers{}
	for i, address := range f.peers {
		token, err := f.tokenOf(i)
		if err != nil {
			return nil, err
		}
		one, err := probe.New(probe.Options{Address: address, Token: token, Clock: clock, Emit: emit, BurstTime: f.Burst})
		if err != nil {
			return nil, cli.Usagef("--clock-peer: %w", err)
		}
		p.list = append(p.list, one)
	}
	return p, nil
}

// tokenOf returns the token of peer i: from its file, or that for all; without files that
// of the environment.
func (f *ClockFlags) tokenOf(i int) (probe.Token, error) {
	if len(f.tokens) == 0 {
		token, err := probe.ParseToken(f.token)
		if err != nil {
			return token, cli.Usagef("$PERF_CLOCK_TOKEN: %w", err)
		}
		return token, nil
	}
	token, err := readToken(f.tokens[min(i, len(f.tokens)-1)])
	if err != nil {
		return token, fmt.Errorf("--clock-token: %w", err)
	}
	return token, nil
}

// ClockPeers asks receivers for the time during a run.
type ClockPeers struct {
	list   []*probe.Prober
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu   sync.Mutex
	errs []error
}

// Start asks the first questions and returns when they are answered, or when it is
// known of a peer that it is silent: 2 s, some seconds longer with a silent peer.
// ctx ends the wait, and everything else.
func (p *ClockPeers) Start(ctx context.Context) {
	if len(p.list) == 0 {
		return
	}
	ctx, p.cancel = context.WithCancel(ctx)
	for _, one := range p.list {
		p.done.Go(func() {
			if err := one.Run(ctx); err != nil {
				p.mu.Lock()
				defer p.mu.Unlock()
				p.errs = append(p.errs, err)
			}
		})
	}
	for _, one := range p.list {
		select {
		case <-one.Ready():
		case <-ctx.Done():
			return
		}
	}
}

// Silent lists the peers that have not answered so far.
func (p *ClockPeers) Silent() (n int) {
	for _, one := range p.list {
		if one.Stats().Answered == 0 {
			n++
		}
	}
	return n
}

// Finish asks the last questions, waits for the answers, some seconds at most, and
// returns what failed: a peer that never answered. It may be called without a
// Start.
func (p *ClockPeers) Finish(ctx context.Context) []error {
	if p.cancel == nil {
		return nil
	}
	stop := context.AfterFunc(ctx, p.cancel)
	defer stop()
	for _, one := range p.list {
		one.Finish()
	}
	p.done.Wait()
	p.cancel()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.errs
}
