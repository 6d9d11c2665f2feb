package perfreport

import (
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"

	"amqpperf/internal/cli"
)

// spool is a copy of a pipe in a temporary file: the rows are read twice.
type spool struct {
	file *os.File
	path string
	keep bool // the file has a name that must be removed
}

// spoolPipe copies standard input or a FIFO into $TMPDIR. On Linux the file has
// no name from the start, so that nothing is left behind however the process
// ends. While it copies, the first interrupt is ignored: one ^C reaches the
// whole pipeline, and what the recorders then still write belongs to the run.
func spoolPipe(env *cli.Env, name string) (s *spool, err error) {
	in := env.Stdin
	if name != "-" {
		f, err := os.Open(name)
		if err != nil {
			return nil, err
		}
		defer func() { err = errors.Join(err, f.Close()) }()
		in = f
	}
	stop := env.OnSignal(func(os.Signal) {})
	defer stop()
	file, err := os.CreateTemp("", "perf-report-*.arrow")
	if err != nil {
		return nil, fmt.Errorf("copying %s: %w", display(name), err)
	}
	s = &spool{file: file, path: file.Name(), keep: true}
	if runtime.GOOS == "linux" {
		if err := os.Remove(file.Name()); err != nil {
			return nil, errors.Join(err, s.close())
		}
		s.keep, s.path = false, fmt.Sprintf("/proc/self/fd/%d", file.Fd())
	}
	n, err := io.Copy(file, in)
	if err == nil && n == 0 {
		err = errors.New("no data")
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("copying %s: %w", display(name), err), s.close())
	}
	return s, nil
}

func (s *spool) close() error {
	err := s.file.Close()
	if s.keep {
		err = errors.Join(err, os.Remove(s.path))
	}
	return err
}
