package execute

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"amqpperf/internal/experiment/plan"
	"amqpperf/internal/experiment/process"
)

// hook runs a shell command in the folder of the scenario file. Lines NAME=VALUE
// that it writes into the file $PERF_ENV become part of the environment of all that
// follows: the URL of a broker that it has started, or its process.
func (e *Executor) hook(ctx context.Context, name, command, folder string, settings []plan.Setting) (err error) {
	if command == "" {
		return nil
	}
	e.step(name)
	absolute, err := filepath.Abs(folder)
	if err != nil {
		return err
	}
	file, err := os.CreateTemp("", "perf-run-env-*") // it may get a secret: only for this user
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.Remove(file.Name())) }()
	if err := file.Close(); err != nil {
		return err
	}
	env := append(e.environ(), "PERF_ENV="+file.Name(), "PERF_DIR="+filepath.Dir(filepath.Dir(absolute)))
	if settings == nil {
		env[len(env)-1] = "PERF_DIR=" + absolute
	}
	for _, s := range settings {
		value := s.Value
		if s.Name == "PERF_RUN_DIR" {
			value = absolute
		}
		env = append(env, s.Name+"="+value)
	}
	p, err := process.Start(process.Spec{
		Path: "/bin/sh", Args: []string{"-euc", command}, Env: env, Dir: filepath.Dir(e.Plan.Scenario.File), Log: filepath.Join(folder, "hook-"+name+".log"),
	})
	if err != nil {
		return err
	}
	if err := wait(ctx, p); err != nil {
		return err
	}
	if err := p.Err(); err != nil {
		return fmt.Errorf("hook %s: %w", name, err)
	}
	return e.take(file.Name(), name)
}

// take reads NAME=VALUE lines.
func (e *Executor) take(file, hook string) error {
	text, err := os.ReadFile(file)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("hook %s removed $PERF_ENV", hook)
	}
	if err != nil {
		return err
	}
	vars, err := ParseEnv(string(text))
	if err != nil {
		return fmt.Errorf("hook %s: $PERF_ENV: %w", hook, err)
	}
	for name, value := range vars {
		e.Environment[name] = value
	}
	return nil
}

// ParseEnv reads lines NAME=VALUE; empty ones and comments (#) are left out.
func ParseEnv(text string) (map[string]string, error) {
	vars := map[string]string{}
	n := 0
	for line := range strings.Lines(text) {
		n++
		line = strings.TrimRight(line, "\r\n")
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, value, ok := strings.Cut(line, "=")
		if !ok || name == "" || strings.ContainsAny(name, " \t") {
			// The line may hold a secret: it is not repeated.
			return nil, fmt.Errorf("line %d is not NAME=VALUE", n)
		}
		vars[name] = value
	}
	return vars, nil
}
