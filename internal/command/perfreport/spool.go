package perfreport

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime"
	"sync"

	"amqpperf/format"
	"amqpperf/internal/cli"
)

// spool is what is kept of a pipe in a temporary file: the rows are read twice.
// Of merged rows that are the columns of a report, as they are read; anything else is
// copied as it comes.
type spool struct {
	file *os.File
	path string
	keep bool // the file has a name that must be removed

	log  *format.Log // merged rows, nil: path is a copy
	from *os.File    // a FIFO that is still to be read
	stop func()      // interrupts are no longer ignored
}

// spoolPipe begins to read standard input or a FIFO, with a temporary file in
// $TMPDIR. On Linux it has no name from the start, so that nothing is left behind
// however the process ends. Until the pipe ends the first interrupt is ignored:
// one ^C reaches the whole pipeline, and what the recorders then still write
// belongs to the run. Without waits, everything is copied at once: some other
// pipe may have nothing before this one ends.
func spoolPipe(env *cli.Env, name string, waits bool) (s *spool, err error) {
	in := env.Stdin
	s = &spool{stop: sync.OnceFunc(env.OnSignal(func(os.Signal) {}))}
	defer func() {
		if err != nil {
			err = errors.Join(err, s.close())
		}
	}()
	if name != "-" {
		if s.from, err = os.Open(name); err != nil {
			return s, err
		}
		in = s.from
	}
	if err := s.create(); err != nil {
		return s, fmt.Errorf("copying %s: %w", display(name), err)
	}
	widenPipe(in)
	head := &recording{Reader: in}
	if waits {
		log, err := format.OpenStreamAgain(display(name), head, s.file)
		if err == nil && log.Schema() == "merged/1" {
			s.log, head.done = log, true
			return s, nil
		}
	}
	n, err := io.Copy(s.file, io.MultiReader(&head.seen, in))
	s.stop()
	if err == nil && n == 0 {
		err = errors.New("no data")
	}
	if err != nil {
		return s, fmt.Errorf("copying %s: %w", display(name), err)
	}
	return s, nil
}

// create makes the temporary file.
func (s *spool) create() (err error) {
	if s.file, err = os.CreateTemp("", "perf-report-*.arrow"); err != nil {
		return err
	}
	s.path, s.keep = s.file.Name(), true
	if runtime.GOOS == "linux" {
		if err := os.Remove(s.path); err != nil {
			return err
		}
		s.keep, s.path = false, fmt.Sprintf("/proc/self/fd/%d", s.file.Fd())
	}
	return nil
}

// recording remembers what was read until it is done: it may turn out to be
// something else.
type recording struct {
	io.Reader
	seen bytes.Buffer
	done bool
}

// Read implements io.Reader.
func (r *recording) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if !r.done {
		r.seen.Write(p[:n])
	}
	return n, err
}

func (s *spool) close() error {
	s.stop()
	var err error
	if s.from != nil {
		err = s.from.Close()
	}
	if s.file == nil {
		return err
	}
	err = errors.Join(err, s.file.Close())
	if s.keep {
		err = errors.Join(err, os.Remove(s.path))
	}
	return err
}
