package cli

import (
	"fmt"
	"runtime"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is a package variable because the linker needs one. It is set by the linker in released binaries (-X amqpperf/internal/cli.version=…).
var version string

// Version returns the version of the tool: the release, else what the build
// information knows of the commit, else "devel".
func Version() string {
	if version != "" {
		return version
	}
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return "devel"
	}
	for _, s := range info.Settings {
		if s.Key == "vcs.revision" && len(s.Value) >= 12 {
			return "devel-" + s.Value[:12]
		}
	}
	return "devel"
}

// addVersion adds --version by hand: cobra's own would also take -v.
func addVersion(cmd *cobra.Command, env *Env) {
	show := cmd.Flags().BoolP("version", "V", false, "print the version and exit")
	run := cmd.RunE
	args := cmd.Args
	cmd.Args = func(c *cobra.Command, a []string) error {
		if *show || args == nil {
			return nil
		}
		if err := args(c, a); err != nil {
			return Usagef("%w", err)
		}
		return nil
	}
	cmd.RunE = func(c *cobra.Command, a []string) error {
		if *show {
			_, err := fmt.Fprintf(env.Stdout, "%s %s (%s %s/%s)\n", c.Name(), Version(), runtime.Version(), runtime.GOOS, runtime.GOARCH)
			return err
		}
		return run(c, a)
	}
}

// addCompletion adds a hidden --completion=SHELL. cobra's own subcommand would
// make "completion" impossible as a file name.
func addCompletion(cmd *cobra.Command, env *Env) {
	shell := cmd.Flags().String("completion", "", "print a completion script for bash, zsh or fish and exit")
	_ = cmd.Flags().MarkHidden("completion") // the flag exists
	run := cmd.RunE
	args := cmd.Args
	cmd.Args = func(c *cobra.Command, a []string) error {
		if *shell != "" {
			return nil
		}
		return args(c, a)
	}
	cmd.RunE = func(c *cobra.Command, a []string) error {
		switch *shell {
		case "":
			return run(c, a)
		case "bash":
			return c.GenBashCompletionV2(env.Stdout, true)
		case "zsh":
			return c.GenZshCompletion(env.Stdout)
		case "fish":
			return c.GenFishCompletion(env.Stdout, true)
		}
		return Usagef("--completion %q: bash, zsh or fish", *shell)
	}
}
