package format

import (
	"bufio"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"time"

	"golang.org/x/sys/unix"
)

// spoolFlushEvery is how long a row stays in this process at most, as long as
// rows keep coming; a recorder also calls Flush when none come.
const spoolFlushEvery = time.Second

// SpoolWriter records a log so that a kill loses at most what came after the
// last Flush: Arrow streams in the folder NAME.spool, made into one Parquet
// file by Finish. Of a spool that was never finished [Open] reads every row
// that was flushed.
//
// A SpoolWriter is not safe for concurrent use. After an error of the disk it
// writes nothing more; what is there stays readable.
type SpoolWriter struct {
	target  string
	dir     string
	schema  *Schema
	force   bool
	meta    Meta
	pending metaRows // metadata not yet written
	streams map[string]*spoolStream
	flushed time.Time
	rows    int64
	named   int // files whose names the last Syncer sees to
	err     error
	closed  bool
}

// spoolStream is one file of a spool being written.
type spoolStream struct {
	f   *os.File
	buf *bufio.Writer
	out *arrowWriter
}

// CreateSpool starts the recording of the log target (as given to -o), whose
// schema is send/1 or recv/1. An existing target, partial file or spool is
// refused with an error that wraps [ErrExists]; with force a spool that no
// other process is writing is removed, and the target replaced by Finish.
func CreateSpool(target string, schema *Schema, meta Meta, force bool) (*SpoolWriter, error) {
	if err := checkTarget(target, force); err != nil {
		return nil, err
	}
	if err := checkPartial(target+PartialSuffix, force); err != nil {
		return nil, err
	}
	s := &SpoolWriter{target: target, dir: SpoolName(target), schema: schema, force: force,
		meta: Meta{}, streams: map[string]*spoolStream{}, flushed: time.Now()}
	if err := makeSpoolDir(s.dir, force); err != nil {
		return nil, err
	}
	if err := s.begin(meta); err != nil {
		return nil, errors.Join(err, s.discard())
	}
	return s, nil
}

// checkPartial reports at the start what would otherwise be in the way at the end.
func checkPartial(partial string, force bool) error {
	st, err := os.Lstat(partial)
	switch {
	case err != nil:
		return nil //nolint:nilerr // nothing is there, or creating it will say what is wrong
	case !st.Mode().IsRegular():
		return fmt.Errorf("%s is a %s: %w", partial, fileKind(st.Mode()), ErrExists)
	case !force:
		return fmt.Errorf("%s is there, from a writer that is running or was killed; remove it if none is running: %w", partial, ErrExists)
	}
	return nil
}

// makeSpoolDir makes the folder; with force it clears a left-over one first.
func makeSpoolDir(dir string, force bool) error {
	err := os.Mkdir(dir, 0o777)
	if !errors.Is(err, fs.ErrExist) {
		return err
	}
	if !force {
		return fmt.Errorf("%s is there, from a recorder that is running or was killed; read it as a log, or remove it: %w", dir, ErrExists)
	}
	st, err := os.Lstat(dir)
	if err != nil {
		return err
	}
	if !st.IsDir() {
		return fmt.Errorf("%s is no folder: %w", dir, ErrExists)
	}
	if err := spoolUnused(dir); err != nil {
		return err
	}
	if err := os.RemoveAll(dir); err != nil {
		return err
	}
	return os.Mkdir(dir, 0o777)
}

// spoolUnused reports an error if a process is writing the spool: its lock on
// the rows goes with the process.
func spoolUnused(dir string) error {
	f, err := os.OpenFile(filepath.Join(dir, spoolRows), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	locked := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB) != nil
	if err := f.Close(); err != nil {
		return err
	}
	if locked {
		return fmt.Errorf("%s is being written by another process: %w", dir, ErrExists)
	}
	return nil
}

func (s *SpoolWriter) begin(meta Meta) error {
	rows, err := s.stream(spoolRows, s.schema)
	if err != nil {
		return err
	}
	if err := unix.Flock(int(rows.f.Fd()), unix.LOCK_EX|unix.LOCK_NB); err != nil {
		return fmt.Errorf("lock %s: %w", rows.f.Name(), err)
	}
	if err := rows.out.start(); err != nil {
		return err
	}
	s.SetMeta(meta)
	return s.Flush()
}

// stream returns a stream of the spool and creates it when it is first used.
func (s *SpoolWriter) stream(name string, schema *Schema) (*spoolStream, error) {
	if st, ok := s.streams[name]; ok {
		return st, nil
	}
	f, err := createExclusive(filepath.Join(s.dir, name))
	if err != nil {
		return nil, err
	}
	st := &spoolStream{f: f, buf: bufio.NewWriterSize(f, streamBuffer)}
	st.out = newArrowWriter(st.buf, schema, nil)
	s.streams[name] = st
	return st, nil
}

// Dir returns the name of the folder.
func (s *SpoolWriter) Dir() string { return s.dir }

// Rows returns the number of finished rows written so far.
func (s *SpoolWriter) Rows() int64 { return s.rows }

// SetMeta adds metadata; of several values of one key the last holds.
func (s *SpoolWriter) SetMeta(m Meta) {
	for _, k := range slices.Sorted(maps.Keys(m)) {
		old, ok := s.meta[k]
		if k == KeySchema || k == KeyComplete || ok && old == m[k] {
			continue // complete is what a spool never is
		}
		s.meta[k] = m[k]
		s.pending.add(k, m[k])
	}
}

// Write appends finished rows. Rows of one producer may come in any order;
// Finish puts them by (seq, attempt). Rows of one consumer with equal received
// must come in order of receipt; Finish restores the order of all others.
func (s *SpoolWriter) Write(b Batch) error {
	err := s.append(spoolRows, s.schema, b)
	if err == nil {
		s.rows += int64(b.Len())
	}
	return err
}

// Provisional appends rows of messages that are still outstanding. They count
// only if no row of that key is ever written, and then the last of a key does.
// The key of a send log is the identity; of a receive log it is the identity
// together with consumer and received, so that a redelivery is another row.
func (s *SpoolWriter) Provisional(b Batch) error {
	if b.Len() == 0 {
		return s.err
	}
	return s.append(spoolProvisional, s.schema, b)
}

// Table appends rows to a side table: b is an *Event, *Sample or *ClockRow.
func (s *SpoolWriter) Table(b Batch) error {
	name, ok := spoolTables()[b.Schema().Name]
	if !ok {
		return fmt.Errorf("%s is no side table", b.Schema().Name)
	}
	if b.Len() == 0 {
		return s.err
	}
	return s.append(name, b.Schema(), b)
}

func (s *SpoolWriter) append(name string, schema *Schema, b Batch) error {
	if s.err != nil {
		return s.err
	}
	if s.closed {
		return errors.New("write to a closed spool")
	}
	if got := b.Schema().Name; got != schema.Name {
		return fmt.Errorf("a %s batch cannot be written to a %s spool", got, schema.Name)
	}
	st, err := s.stream(name, schema)
	if err == nil {
		err = st.out.write(b)
	}
	if err == nil && time.Since(s.flushed) >= spoolFlushEvery {
		return s.Flush()
	}
	s.err = err
	return s.err
}

// Flush hands everything written so far to the operating system: it survives
// the end of this process, though not a power cut (see Sync).
func (s *SpoolWriter) Flush() error {
	if s.err == nil && s.pending.Len() > 0 {
		var st *spoolStream
		if st, s.err = s.stream(spoolMeta, MetaSchema()); s.err == nil {
			s.err = st.out.write(&s.pending)
			s.pending = metaRows{}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(s.streams)) {
		if s.err == nil {
			s.err = s.streams[name].buf.Flush()
		}
	}
	s.flushed = time.Now()
	return s.err
}

// Sync flushes and waits until the disk has it.
func (s *SpoolWriter) Sync() error {
	if err := s.Flush(); err != nil {
		return err
	}
	return s.Syncer()()
}

// Syncer returns a function that waits until the disk has everything flushed
// so far, and the names of the files. Unlike the methods it may run in another
// goroutine, while rows go on being written; it must have returned before
// Finish or Close is called.
func (s *SpoolWriter) Syncer() func() error {
	files := make([]*os.File, 0, len(s.streams))
	for _, name := range slices.Sorted(maps.Keys(s.streams)) {
		files = append(files, s.streams[name].f)
	}
	named := len(files) == s.named
	s.named = len(files)
	return func() error {
		for _, f := range files {
			if err := f.Sync(); err != nil {
				return err
			}
		}
		if named {
			return nil
		}
		return errors.Join(syncDir(s.dir), syncDir(filepath.Dir(s.dir)))
	}
}

// Close ends the recording without making a log of it: the spool stays, and
// can be read. It does nothing after Finish.
func (s *SpoolWriter) Close() error {
	if s.closed {
		return nil
	}
	return errors.Join(s.closeStreams(), s.unlock())
}

// closeStreams ends the streams and closes all files but the one that holds the lock.
func (s *SpoolWriter) closeStreams() error {
	s.closed = true
	err := s.Flush()
	for _, name := range slices.Sorted(maps.Keys(s.streams)) {
		st := s.streams[name]
		if err == nil {
			if err = st.out.close(); err == nil {
				err = st.buf.Flush()
			}
		}
		if name != spoolRows {
			err = errors.Join(err, st.f.Close())
		}
	}
	return err
}

// unlock lets others at the spool.
func (s *SpoolWriter) unlock() error { return s.streams[spoolRows].f.Close() }

// discard removes a spool that could not even begin.
func (s *SpoolWriter) discard() error {
	for _, st := range s.streams {
		_ = st.f.Close() // nothing in it is wanted
	}
	return os.RemoveAll(s.dir)
}
