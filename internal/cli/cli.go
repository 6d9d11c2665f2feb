// Package cli is what all commands share: the wrapper that runs a cobra
// command and turns its error into an exit status, flag groups, progress,
// signals, and the refusal to write binary data to a terminal.
//
// A command package exports New(*Env) *cobra.Command; its main calls Main.
package cli

import (
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/spf13/cobra"

	"amqpperf/timestamp"
)

// The exit status of every command.
const (
	ExitOK          = 0
	ExitFailure     = 1   // an error: connection, file, data
	ExitUsage       = 2   // wrong flags or arguments
	ExitUnmet       = 3   // a --fail-if crossed, --strict with a failed check, fewer messages than -n, interrupted early
	ExitInterrupted = 130 // the second signal: left at once
)

// Env is everything that a command touches outside its own memory, so that
// tests can run it in-process.
type Env struct {
	Stdin  io.Reader
	Stdout io.Writer
	Stderr io.Writer
	Getenv func(string) string

	// Signals replaces the signals of the process, and Exit os.Exit for the
	// second of them. Nil are the real ones.
	Signals <-chan os.Signal
	Exit    func(int)

	// Clock makes the clock of a run. Nil is timestamp.NewClock.
	Clock func() *timestamp.Clock
}

// NewClock returns the clock that all stamps of a run are from.
func (e *Env) NewClock() *timestamp.Clock {
	if e.Clock != nil {
		return e.Clock()
	}
	return timestamp.NewClock()
}

// OSEnv returns the environment of the process.
func OSEnv() *Env {
	return &Env{Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Getenv: os.Getenv}
}

// ExitError carries an exit status other than ExitFailure. A nil Err prints nothing.
type ExitError struct {
	Code int
	Err  error
}

// Error implements error.
func (e *ExitError) Error() string {
	if e.Err == nil {
		return fmt.Sprintf("exit status %d", e.Code)
	}
	return e.Err.Error()
}

// Unwrap returns the cause.
func (e *ExitError) Unwrap() error { return e.Err }

// Usagef returns a usage error: exit status 2 and a pointer to --help.
func Usagef(format string, args ...any) error {
	return &ExitError{Code: ExitUsage, Err: fmt.Errorf(format, args...)}
}

// Main runs the command with the process's arguments and returns the exit
// status: os.Exit(cli.Main(perfsend.New)) is the whole of a main function.
func Main(newCommand func(*Env) *cobra.Command) int {
	return Run(OSEnv(), newCommand, os.Args[1:])
}

// Run runs the command with these arguments and returns the exit status.
func Run(env *Env, newCommand func(*Env) *cobra.Command, args []string) int {
	cmd := newCommand(env)
	prepare(cmd, env)
	cmd.SetArgs(args)
	err := cmd.Execute()
	if err == nil {
		return ExitOK
	}
	var exit *ExitError
	if !errors.As(err, &exit) {
		exit = &ExitError{Code: ExitFailure, Err: err}
	}
	if exit.Err != nil {
		fmt.Fprintf(env.Stderr, "%s: %v\n", cmd.Name(), err)
	}
	if exit.Code == ExitUsage {
		fmt.Fprintf(env.Stderr, "Try '%s --help' for more information.\n", cmd.Name())
	}
	return exit.Code
}

// prepare sets what is the same for all commands.
func prepare(cmd *cobra.Command, env *Env) {
	cmd.SilenceUsage = true
	cmd.SilenceErrors = true
	cmd.DisableFlagsInUseLine = true
	cmd.DisableAutoGenTag = true
	cmd.CompletionOptions.DisableDefaultCmd = true
	cmd.Flags().SortFlags = false
	cmd.SetIn(env.Stdin)
	cmd.SetOut(env.Stdout)
	cmd.SetErr(env.Stderr)
	cmd.SetFlagErrorFunc(func(_ *cobra.Command, err error) error { return Usagef("%w", err) })
	addVersion(cmd, env)
	addCompletion(cmd, env)
	setHelp(cmd)
}
