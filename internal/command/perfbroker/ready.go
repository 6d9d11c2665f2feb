package perfbroker

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"amqpperf/internal/cli"
)

// readyFile is the file that says where the broker listens; "" is none.
type readyFile string

// writeReady makes the file appear at once with its whole content. What a killed
// broker left behind is replaced, anything else is not touched.
func writeReady(name, url string) (readyFile, error) {
	if name == "" {
		return "", nil
	}
	if err := checkReady(name); err != nil {
		return "", err
	}
	f, err := os.CreateTemp(filepath.Dir(name), "."+filepath.Base(name)+".*")
	if err != nil {
		return "", fmt.Errorf("--ready-file: %w", err)
	}
	_, err = fmt.Fprintf(f, "%s\npid %d\n", url, os.Getpid())
	err = errors.Join(err, f.Chmod(0o644), f.Close())
	if err == nil {
		err = os.Rename(f.Name(), name)
	}
	if err != nil {
		_ = os.Remove(f.Name()) // the first error counts
		return "", fmt.Errorf("--ready-file: %w", err)
	}
	return readyFile(name), nil
}

// checkReady refuses to replace a file that is not a ready file.
func checkReady(name string) error {
	info, err := os.Lstat(name)
	if errors.Is(err, os.ErrNotExist) {
		return nil
	} else if err != nil {
		return fmt.Errorf("--ready-file: %w", err)
	}
	if info.Mode().IsRegular() {
		if info.Size() == 0 {
			return nil // made by mktemp
		}
		f, err := os.Open(name)
		if err != nil {
			return fmt.Errorf("--ready-file: %w", err)
		}
		defer f.Close() //nolint:errcheck // only read
		if line, _ := bufio.NewReader(f).ReadString('\n'); strings.HasPrefix(line, "amqp://") {
			return nil
		}
	}
	return cli.Usagef("--ready-file %s exists and is not the ready file of a perf-broker", name)
}

// remove removes the file.
func (r readyFile) remove() error {
	if r == "" {
		return nil
	}
	if err := os.Remove(string(r)); err != nil && !errors.Is(err, os.ErrNotExist) {
		return fmt.Errorf("--ready-file: %w", err)
	}
	return nil
}
