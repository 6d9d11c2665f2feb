package perfsend

import (
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/pflag"

	"amqpperf/format"
	"amqpperf/internal/cli"
	"amqpperf/internal/units"
	"amqpperf/timestamp"
)

// calibrateFor is how long each of the four measurements of --calibrate takes
// without -d.
const calibrateFor = 2 * time.Second

// needArgs wants addresses, but for --calibrate, which has targets of its own.
func (o *options) needArgs(cmd *cobra.Command, args []string) error {
	switch {
	case o.shape.replay != "" && !o.calibrate:
		return nil // to what was recorded
	case !o.calibrate:
		return cli.NeedArgs("ADDRESS")(cmd, args)
	}
	if len(args) > 0 {
		return cli.Usagef("--calibrate measures this host against targets of its own: leave out %s", args[0])
	}
	return nil
}

// calibrateHost measures this host against targets that answer at once, prints
// the result and keeps it for the logs to come.
func calibrateHost(ctx context.Context, env *cli.Env, o *options, fs *pflag.FlagSet) (err error) {
	fs.Visit(func(f *pflag.Flag) {
		switch f.Name {
		case "calibrate", "duration", "spin", "quiet":
		default:
			err = cli.Usagef("--calibrate goes with -d, --spin and -q only, not with --%s", f.Name)
		}
	})
	switch {
	case err != nil:
		return err
	case o.duration < 0 || (fs.Changed("duration") && o.duration < 50*time.Millisecond):
		return cli.Usagef("-d %v: each measurement needs 50ms at least", o.duration)
	}
	m := &meter{clock: timestamp.NewClock(), lasts: o.duration, spins: (&run{env: env, o: o}).spins()}
	if m.lasts == 0 {
		m.lasts = calibrateFor
	}
	ctx, release := env.Interruptible(ctx)
	defer release()
	if !o.live.Quiet {
		fmt.Fprintf(env.Stderr, "%s: calibrating for %v\n", tool, 4*m.lasts)
	}
	c := format.Calibration{At: time.Now().UTC().Format(time.RFC3339), BootID: m.clock.Anchor().BootID, Kernel: cli.Kernel(), Go: runtime.Version(), Version: cli.Version()}
	if c.Host, err = os.Hostname(); err != nil {
		return fmt.Errorf("the name of this host: %w", err)
	}
	if c.InProcess, err = m.inProcess(ctx); err == nil {
		c.Target, err = m.loopback(ctx)
	}
	switch {
	case ctx.Err() != nil:
		return &cli.ExitError{Code: cli.ExitUnmet, Err: fmt.Errorf("interrupted: nothing is kept")}
	case err != nil:
		return fmt.Errorf("calibrate: %w", err)
	}
	c.Timer = m.timer
	if err := printCalibration(env.Stdout, &c); err != nil {
		return err
	}
	path, err := cli.KeepCalibration(env, &c)
	if err == nil && !o.live.Quiet {
		fmt.Fprintf(env.Stderr, "%s: kept in %s\n", tool, path)
	}
	return err
}

// printCalibration prints the table.
func printCalibration(w io.Writer, c *format.Calibration) error {
	_, err := fmt.Fprintf(w, "%-12s %-9s %10s %10s %10s\n", "target", "metric", "p50", "p99", "max")
	for _, t := range []struct {
		name   string
		target *format.Target
	}{{"in-process", &c.InProcess}, {"loopback", &c.Target}} {
		for _, metric := range []string{"lag", "service", "e2e"} {
			if f, ok := t.target.Floors[metric]; ok && err == nil {
				_, err = fmt.Fprintf(w, "%-12s %-9s %10s %10s %10s\n", t.name, metric, units.Latency(f.P50), units.Latency(f.P99), units.Latency(f.Max))
			}
		}
		if err == nil {
			_, err = fmt.Fprintf(w, "%-12s %-9s %10s\n", t.name, "rate", units.Thousands(int64(t.target.MaxRate))+"/s")
		}
	}
	if err == nil {
		_, err = fmt.Fprintf(w, "paced by %s; %s, kernel %s, %s\n", c.Timer, c.Host, c.Kernel, c.Go)
	}
	return err
}
