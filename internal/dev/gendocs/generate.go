package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"github.com/spf13/cobra"
	"github.com/spf13/cobra/doc"

	"amqpperf/internal/cli"
)

type constructor = func(*cli.Env) *cobra.Command

// generate writes man/NAME.1 and the completion scripts of each command below directory.
func generate(directory string, commands []constructor) error {
	for _, construct := range commands {
		c, err := prepared(construct)
		if err != nil {
			return err
		}
		page, err := manPage(c)
		if err != nil {
			return fmt.Errorf("%s: man page: %w", c.Name(), err)
		}
		if err := write(filepath.Join(directory, "man", c.Name()+".1"), page); err != nil {
			return err
		}
		for shell, name := range map[string]string{"bash": c.Name() + ".bash", "zsh": "_" + c.Name(), "fish": c.Name() + ".fish"} {
			var script, trouble bytes.Buffer
			env := &cli.Env{Stdin: &bytes.Buffer{}, Stdout: &script, Stderr: &trouble, Getenv: noEnvironment}
			if code := cli.Run(env, construct, []string{"--completion=" + shell}); code != cli.ExitOK {
				return fmt.Errorf("%s --completion=%s: status %d: %s", c.Name(), shell, code, trouble.Bytes())
			}
			if err := write(filepath.Join(directory, "completions", name), script.Bytes()); err != nil {
				return err
			}
		}
	}
	return nil
}

// noEnvironment keeps the default values in the documentation those of the program, not those of whoever generates it.
func noEnvironment(string) string { return "" }

// prepared returns a command as cli runs it, with the flags that cli adds: a run that only prints the version leaves it.
func prepared(construct constructor) (*cobra.Command, error) {
	var c *cobra.Command
	env := &cli.Env{Stdin: &bytes.Buffer{}, Stdout: io.Discard, Stderr: io.Discard, Getenv: noEnvironment}
	capture := func(e *cli.Env) *cobra.Command {
		c = construct(e)
		return c
	}
	if code := cli.Run(env, capture, []string{"--version"}); code != cli.ExitOK || c == nil {
		return nil, errors.New("a command cannot print its version")
	}
	// The run has set it; it would be shown as the default.
	if err := c.Flags().Set("version", "false"); err != nil {
		return nil, err
	}
	return c, nil
}

// manPage returns the manual page in troff form, without a date, which would differ from build to build.
func manPage(c *cobra.Command) ([]byte, error) {
	var b bytes.Buffer
	header := &doc.GenManHeader{Title: c.Name(), Section: "1", Source: "amqpperf", Manual: "amqpperf", Date: &time.Time{}}
	if err := doc.GenMan(c, header, &b); err != nil {
		return nil, err
	}
	return bytes.ReplaceAll(b.Bytes(), []byte(`"Jan 0001"`), []byte(`""`)), nil
}

func write(path string, data []byte) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		return err
	}
	return os.WriteFile(path, data, 0o644)
}
