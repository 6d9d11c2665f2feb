package connect

import (
	"fmt"
	"os"

	"amqpperf/format"
	"amqpperf/internal/cli"
	"amqpperf/timestamp"
)

// Target is where the log of a command goes.
type Target struct {
	Name string // a file, or - for standard output
	Made bool   // the name is ours, nobody asked for it
}

// OpenTarget decides where the log of a tool goes and refuses what is in the way
// before anything is done; the recorder does so again.
func OpenTarget(env *cli.Env, flags *cli.LogFlags, tool string, clock *timestamp.Clock) (Target, error) {
	name, made, err := flags.Target(env, tool, clock.Time(clock.Now()))
	if err != nil {
		return Target{}, err
	}
	t := Target{Name: name, Made: made}
	if name != "-" && !flags.Force && t.Size() >= 0 {
		return Target{}, fmt.Errorf("%s: %w (--force replaces it)", name, format.ErrExists)
	}
	return t, nil
}

// Size returns the size of the log in bytes, −1 if it is no regular file.
func (t Target) Size() int64 {
	if st, err := os.Lstat(t.Name); err == nil && st.Mode().IsRegular() {
		return st.Size()
	}
	return -1
}
