package perfmerge

import (
	"bufio"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"amqpperf/internal/cli"
)

// expand turns the arguments into names of logs: a pattern that names no file
// itself into what it matches, @FILE into the lines of that file.
func expand(args []string) ([]string, error) {
	var names []string
	for _, arg := range args {
		list, isList := strings.CutPrefix(arg, "@")
		if !isList {
			more, err := match(arg)
			if err != nil {
				return nil, err
			}
			names = append(names, more...)
			continue
		}
		more, err := readList(list)
		if err != nil {
			return nil, err
		}
		names = append(names, more...)
	}
	return names, nil
}

// match expands a pattern. A file of that very name goes first.
func match(arg string) ([]string, error) {
	if arg == "" {
		return nil, cli.Usagef("LOG is empty")
	}
	if !strings.ContainsAny(arg, "*?[") {
		return []string{arg}, nil
	}
	if _, err := os.Lstat(arg); err == nil {
		return []string{arg}, nil
	}
	names, err := filepath.Glob(arg)
	if err != nil {
		return nil, cli.Usagef("%s: %v", arg, err)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("%s: no file matches", arg)
	}
	slices.Sort(names)
	return names, nil
}

// readList reads names, one a line; they may be patterns. Empty lines and those
// that begin with # are left out. "-" reads standard input.
func readList(list string) ([]string, error) {
	f := os.Stdin
	if list != "-" {
		var err error
		if f, err = os.Open(list); err != nil {
			return nil, fmt.Errorf("list of logs: %w", err)
		}
		defer func() { _ = f.Close() }() // only read
	}
	var names []string
	lines := bufio.NewScanner(f)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if line == "" || strings.HasPrefix(line, "#") {
			continue
		}
		more, err := match(line)
		if err != nil {
			return nil, fmt.Errorf("@%s: %w", list, err)
		}
		names = append(names, more...)
	}
	if err := lines.Err(); err != nil {
		return nil, fmt.Errorf("list of logs @%s: %w", list, err)
	}
	if len(names) == 0 {
		return nil, cli.Usagef("@%s names no log", list)
	}
	return names, nil
}
