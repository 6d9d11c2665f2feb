package connect

import (
	"io"

	"github.com/spf13/pflag"

	"amqpperf/internal/cli"
	"amqpperf/internal/load/live"
)

// The values of --stats.
const (
	statsText = "text"
	statsJSON = "json"
)

// StatsFlags are about the form of what is printed while a command runs.
type StatsFlags struct{ form cli.Enum }

// Register defines the flag.
func (f *StatsFlags) Register(fs *pflag.FlagSet) {
	f.form = cli.NewEnum("form", statsText, statsText, statsJSON)
	fs.Var(&f.form, "stats", "live lines and SUMMARY as text for people, or one JSON object each second and one at the end, on standard output (on standard error with -o -): text, json")
}

// JSON reports whether objects are wanted in place of lines.
func (f *StatsFlags) JSON() bool { return f.form.String() == statsJSON }

// Validate reports flags that contradict each other.
func (f *StatsFlags) Validate(l *cli.LiveFlags) error {
	switch {
	case f.JSON() && l.Quiet:
		return cli.Usagef("--stats json and --quiet contradict each other")
	case f.JSON() && l.Progress:
		return cli.Usagef("--stats json is printed in any case: leave --progress out, which is about lines of text")
	}
	return nil
}

// Print prints an object in one write: on standard output, unless the log goes there.
func (f *StatsFlags) Print(env *cli.Env, log string, s *live.Stats) error {
	line, err := s.Line()
	if err != nil {
		return err
	}
	w := io.Writer(env.Stdout)
	if log == "-" {
		w = env.Stderr
	}
	_, err = w.Write(line)
	return err
}
