package recorder

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"time"

	"amqpperf/format"
)

// sink is where a log goes.
type sink interface {
	rows(b format.Batch) error
	provisional(b format.Batch) error
	wantsProvisional() bool
	table(b format.Batch) error
	setMeta(m format.Meta)
	flush() error
	// counters returns what the sink has counted, for the log.
	counters() map[string]int64
	// finish ends a log that is whole so far.
	finish(m format.Meta) error
	// abandon ends a log that could not be written because of err: what is there
	// is kept. It returns err, with what a user can do.
	abandon(err error) error
}

// openSink finds out what the target is and opens it.
func openSink(o *Options, schema *format.Schema) (sink, error) {
	if o.Target == "-" {
		var w io.Writer = os.Stdout
		if o.Stdout != nil {
			w = o.Stdout
		}
		return newStreamSink(w, nil, schema, o), nil
	}
	if isStream(o.Target) {
		if o.Sync.asked() {
			return nil, fmt.Errorf("%s cannot be synced, since it is no file: leave out --sync", o.Target)
		}
		f, err := os.OpenFile(o.Target, os.O_WRONLY, 0)
		if err != nil {
			return nil, err
		}
		return newStreamSink(f, f, schema, o), nil
	}
	w, err := format.CreateSpool(o.Target, schema, o.Meta, o.Force)
	if err != nil {
		return nil, err
	}
	return &spoolSink{
		w: w, opts: format.FinishOptions{CreatedBy: o.CreatedBy},
		sync: newSyncer(o.Sync, o.Clock.Now, w.Syncer),
	}, nil
}

// isStream reports whether a target is written as it comes: a FIFO, a device,
// or one of this process's own files.
func isStream(target string) bool {
	for _, p := range []string{"/dev/fd/", "/proc/self/fd/", "/dev/stdout", "/dev/stderr"} {
		if strings.HasPrefix(target, p) {
			return true
		}
	}
	st, err := os.Stat(target)
	return err == nil && !st.Mode().IsRegular() && !st.IsDir()
}

// streamHold is how long a stream without rows waits for metadata, which a
// live reader finds only in front of the rows: the subscriptions of a receiver
// are known when its links are attached.
const streamHold = int64(time.Second)

type streamSink struct {
	w     *format.StreamWriter
	f     io.Closer // nil: not ours to close
	clock Clock
	start int64 // instant until which nothing is written without rows
	begun bool
}

func newStreamSink(w io.Writer, c io.Closer, schema *format.Schema, o *Options) *streamSink {
	if f, ok := w.(*os.File); ok {
		widenPipe(f)
	}
	return &streamSink{w: format.NewStreamWriter(w, schema, o.Meta), f: c, clock: o.Clock, start: o.Clock.Now() + streamHold}
}

func (s *streamSink) rows(b format.Batch) error {
	s.begun = true
	return s.w.Write(b)
}

func (s *streamSink) provisional(format.Batch) error { return nil }
func (s *streamSink) wantsProvisional() bool         { return false }
func (s *streamSink) table(b format.Batch) error     { return s.w.Table(b) }
func (s *streamSink) setMeta(m format.Meta)          { s.w.SetMeta(m) }

func (s *streamSink) counters() map[string]int64 { return nil }

func (s *streamSink) flush() error {
	if !s.begun && s.clock.Now() < s.start {
		return nil
	}
	s.begun = true
	return s.w.Flush()
}

func (s *streamSink) finish(m format.Meta) error {
	s.w.SetMeta(m)
	return s.abandon(s.w.Close())
}

func (s *streamSink) abandon(err error) error {
	if s.f != nil {
		err = errors.Join(err, s.f.Close())
	}
	if errors.Is(err, syscall.EPIPE) {
		return fmt.Errorf("the log's reader has gone: %w", err)
	}
	return err
}

type spoolSink struct {
	w    *format.SpoolWriter
	opts format.FinishOptions
	sync *syncer
}

func (s *spoolSink) rows(b format.Batch) error        { return s.w.Write(b) }
func (s *spoolSink) provisional(b format.Batch) error { return s.w.Provisional(b) }
func (s *spoolSink) wantsProvisional() bool           { return true }
func (s *spoolSink) table(b format.Batch) error       { return s.w.Table(b) }
func (s *spoolSink) setMeta(m format.Meta)            { s.w.SetMeta(m) }

func (s *spoolSink) flush() error {
	if err := s.w.Flush(); err != nil {
		return err
	}
	return s.sync.flushed()
}

func (s *spoolSink) counters() map[string]int64 { return s.sync.counters() }

func (s *spoolSink) finish(m format.Meta) error {
	if err := s.sync.wait(); err != nil {
		return errors.Join(err, s.w.Close())
	}
	return s.w.Finish(m, s.opts)
}

func (s *spoolSink) abandon(err error) error {
	for _, other := range []error{s.sync.wait(), s.w.Close()} {
		if other != nil && !errors.Is(other, err) { // closing says again what broke it
			err = errors.Join(err, other)
		}
	}
	return fmt.Errorf("%w (the rows before that are in %s, which can be read as a log)", err, s.w.Dir())
}
