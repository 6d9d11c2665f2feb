package perfrecv

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"time"

	"github.com/spf13/pflag"

	"amqpperf/format"
	"amqpperf/internal/cli"
	"amqpperf/internal/command/connect"
	"amqpperf/internal/load/consume"
	"amqpperf/internal/load/recorder"
	"amqpperf/internal/units"
	"amqpperf/timestamp"
)

// validateWatchOnly reports flags and arguments that have no meaning when nothing is
// received.
func (o *options) validateWatchOnly(fs *pflag.FlagSet, addresses []string) error {
	if len(addresses) > 0 {
		return cli.Usagef("--watch-only receives nothing: leave out %s", strings.Join(addresses, " "))
	}
	kept := []string{"watch-only", "watch-pid", "watch-name", "watch-cgroup", "output", "force", "sync", "run", "name", "label", "quiet", "duration", "ready-file"}
	var bad error
	fs.Visit(func(f *pflag.Flag) {
		if bad == nil && !slices.Contains(kept, f.Name) {
			bad = cli.Usagef("--watch-only receives nothing: --%s has no meaning then", f.Name)
		}
	})
	if bad == nil && fs.Changed("duration") && o.duration <= 0 {
		bad = cli.Usagef("-d %v: must be above 0; leave it out for no limit", o.duration)
	}
	return bad
}

// watchConfig is perf.config of a log without rows.
type watchConfig struct {
	WatchOnly  bool     `json:"watch_only"`
	Watch      []string `json:"watch,omitempty"` // scopes of samples, beside tool and host
	DurationNS int64    `json:"duration_ns,omitempty"`
	StartNS    int64    `json:"start_ns"`
}

// watchOnly records samples of this host and what is watched on it, until -d or a
// signal: on a broker's own host, beside a run on others.
func (r *run) watchOnly(ctx context.Context) error {
	ctx, release := r.env.Interruptible(ctx)
	defer release()
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	if err := r.recordWatch(stop); err != nil {
		return err
	}
	if !r.o.live.Quiet {
		r.watch.Missing(r.env.Stderr, tool)
	}
	r.watch.Start(r.rec.Sample)
	r.start = r.clock.Now()
	remove, err := r.writeReady()
	defer remove()
	reason := consume.StopError
	if err == nil {
		reason = wait(ctx, r.o.duration)
	}
	if failed := r.rec.Err(); failed != nil {
		reason = consume.StopError
	}
	took := time.Duration(r.clock.Now() - r.start)
	err = errors.Join(err, r.watch.Stop())
	r.rec.Event(recorder.Event{At: r.clock.Now(), Kind: "stop", Connection: format.Null32, Text: reason})
	if err = errors.Join(err, r.rec.Close(reason, err == nil, map[string]int64{"rows": 0})); err != nil {
		return err
	}
	if !r.o.live.Quiet {
		fmt.Fprintf(r.env.Stderr, "--- SUMMARY %s --watch-only: stopped by %s after %s\n", tool, reason, units.Seconds(took))
		if r.target.Size() >= 0 {
			fmt.Fprintf(r.env.Stderr, "  log: %s, samples only\n", r.target.Name)
		}
	}
	if reason == consume.StopSignal && r.o.duration > 0 {
		return &cli.ExitError{Code: cli.ExitUnmet, Err: errors.New("interrupted before the end")}
	}
	return nil
}

// recordWatch starts the log.
func (r *run) recordWatch(onError func()) (err error) {
	if r.target, err = connect.OpenTarget(r.env, &r.o.log, tool, r.clock); err != nil {
		return err
	}
	run := r.runID
	if run == "" {
		run = newRun()
	}
	meta, err := cli.BaseMeta(tool, run, r.clock, &r.o.run)
	if err != nil {
		return err
	}
	meta[format.KeyOrder] = format.OrderReceived
	config := watchConfig{WatchOnly: true, Watch: r.o.watch.List(), DurationNS: int64(r.o.duration), StartNS: r.clock.Now()}
	// No subscription: nothing that was sent is missing here.
	if err := errors.Join(meta.SetJSON(format.KeyConfig, config), meta.SetJSON(format.KeySubscriptions, []format.Subscription{})); err != nil {
		return err
	}
	r.rec, err = recorder.NewRecv(recorder.Options{
		Target: r.target.Name, Stdout: r.env.Stdout, Force: r.o.log.Force, Sync: recorder.Sync(r.o.log.Sync.String()), CreatedBy: tool + " version " + cli.Version(),
		Process: r.receiverID, Meta: meta, Clock: r.clock, OnError: func(error) { onError() },
	})
	if err == nil && r.target.Made && !r.o.live.Quiet {
		fmt.Fprintf(r.env.Stderr, "%s: writing %s\n", tool, r.target.Name)
	}
	return err
}

// wait waits for the end of a duration, if it is not 0, or of ctx, and says which.
func wait(ctx context.Context, d time.Duration) (reason string) {
	if d <= 0 {
		<-ctx.Done()
		return consume.StopSignal
	}
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-t.C:
		return consume.StopDuration
	case <-ctx.Done():
		return consume.StopSignal
	}
}

// prepareWatch checks everything of --watch-only.
func prepareWatch(env *cli.Env, o *options, fs *pflag.FlagSet, addresses []string) (*run, error) {
	if err := o.validateWatchOnly(fs, addresses); err != nil {
		return nil, err
	}
	r := &run{env: env, o: o, runID: o.run.Run(), receiverID: rand.Int32(), clock: timestamp.NewClock()}
	if err := r.validRun(); err != nil {
		return nil, err
	}
	var err error
	r.watch, err = o.watch.New(r.clock)
	return r, err
}
