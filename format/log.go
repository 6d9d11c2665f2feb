package format

import (
	"errors"
	"fmt"
	"io"
	"os"
)

// BatchRows is the number of rows that readers and writers aim at per batch.
const BatchRows = 1 << 16

// Kind says in which container a log came.
type Kind string

// The containers.
const (
	Parquet Kind = "parquet" // a finished log
	Stream  Kind = "stream"  // Arrow streams from a pipe or a file
	Spool   Kind = "spool"   // what a recorder leaves behind when it is killed
)

// ErrNotLog says that a sound file is not a log of ours.
var ErrNotLog = errors.New("not a perf log")

// RowError is a row that cannot be right. It is data, not the end of reading:
// callers count it and show the first few.
type RowError struct {
	File   string
	Row    int64 // from 0
	Column string
	Msg    string
}

// Error implements error.
func (e *RowError) Error() string {
	if e.File == "" {
		return fmt.Sprintf("row %d: column %s: %s", e.Row, e.Column, e.Msg)
	}
	return fmt.Sprintf("%s: row %d: column %s: %s", e.File, e.Row, e.Column, e.Msg)
}

// source is a container as Log reads it.
type source interface {
	// schema returns the schema name of the rows ("send/1").
	schema() string
	// meta returns the metadata; of a stream it is whole only after read returned io.EOF.
	meta() Meta
	// rows returns the number of rows, −1 if it is not known before the end.
	rows() int64
	// selectColumns limits reading to these columns of the schema; the others are
	// filled with NULL (or zero where a column cannot be NULL).
	selectColumns(names []string) error
	// read fills b with the next rows, io.EOF after the last. b.Schema() is the log's.
	read(b Batch) error
	// rewind starts over at the first row; errors.ErrUnsupported on a pipe.
	rewind() error
	// table fills b (*Event, *Sample or *ClockRow) with the whole side table, no
	// rows if the log has none; of a stream only after read returned io.EOF.
	table(b Batch) error
	// complete reports a clean end; recovered is the number of rows that an
	// incomplete log yielded so far.
	complete() bool
	// warnings returns what a user must know about the reading so far.
	warnings() []string
	close() error
}

// Log is an open log of any container. It is not safe for concurrent use.
type Log struct {
	name string
	kind Kind
	src  source
	read int64
}

// Open opens a log: a Parquet file, a spool (the folder, or the name of the
// log that it would have become), a file of Arrow streams, or "-" for Arrow
// streams on standard input. The kind is found by looking, not by the name. For
// a NAME.partial that a killed recorder did not finish its spool is read, which
// has all of the rows.
func Open(name string) (*Log, error) {
	if name == "-" {
		return OpenStream("standard input", os.Stdin)
	}
	kind, path, err := sniff(name)
	if err != nil {
		return nil, err
	}
	var src source
	switch kind {
	case Parquet:
		src, err = openParquet(path)
		if dir := spoolOfPartial(path); dir != "" && errors.Is(err, errNotClosed) {
			kind = Spool
			src, err = openSpool(dir)
		}
	case Spool:
		src, err = openSpool(path)
	case Stream:
		src, err = openStreamFile(path)
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Log{name: name, kind: kind, src: src}, nil
}

// OpenStream reads the Arrow streams of a pipe. The name is for messages.
func OpenStream(name string, r io.Reader) (*Log, error) {
	src, err := openStream(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Log{name: name, kind: Stream, src: src}, nil
}

// OpenParquet reads a Parquet log in r, which is not closed. The name is for messages.
func OpenParquet(name string, r io.ReaderAt, size int64) (*Log, error) {
	src, err := newParquetSource(r, size, "")
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Log{name: name, kind: Parquet, src: src}, nil
}

// Name returns the name the log was opened by.
func (l *Log) Name() string { return l.name }

// Kind returns the container.
func (l *Log) Kind() Kind { return l.kind }

// Schema returns the schema name of the rows, such as "send/1".
func (l *Log) Schema() string { return l.src.schema() }

// Meta returns the metadata. Of a stream what is known only at the end is
// there only after Read returned io.EOF.
func (l *Log) Meta() Meta { return l.src.meta() }

// NumRows returns the number of rows, −1 if it is known only at the end.
func (l *Log) NumRows() int64 { return l.src.rows() }

// RowsRead returns the number of rows read since opening or Rewind.
func (l *Log) RowsRead() int64 { return l.read }

// Select limits reading to the named columns; the others are NULL, or zero
// where a column cannot be NULL. It must be called before Read.
func (l *Log) Select(columns ...string) error { return l.wrap(l.src.selectColumns(columns)) }

// Read fills b, which must be of the log's schema, with the next rows. It
// returns io.EOF, and no rows, after the last. An incomplete log is read as
// far as it goes and then ends with io.EOF; Complete and Warnings say so.
func (l *Log) Read(b Batch) error {
	if got, want := b.Schema().Name, l.Schema(); got != want {
		return fmt.Errorf("%s: a %s log cannot be read as %s", l.name, want, got)
	}
	err := l.src.read(b)
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if err != nil {
		return l.wrap(err)
	}
	l.read += int64(b.Len())
	return nil
}

// chooser is a source whose reader may say how many rows it wants.
type chooser interface {
	readSome(b Batch, most int) error
}

// ReadRows is Read for at most so many rows (of a stream eight at least), where
// the container lets a reader choose (not a spool): for whoever has many logs open.
func (l *Log) ReadRows(b Batch, most int) error {
	p, ok := l.src.(chooser)
	if !ok || most >= BatchRows || b.Schema().Name != l.Schema() {
		return l.Read(b)
	}
	err := p.readSome(b, most)
	if errors.Is(err, io.EOF) {
		return io.EOF
	}
	if err != nil {
		return l.wrap(err)
	}
	l.read += int64(b.Len())
	return nil
}

// Rewind starts over at the first row; errors.ErrUnsupported on a pipe.
func (l *Log) Rewind() error {
	l.read = 0
	return l.wrap(l.src.rewind())
}

// Table fills b, an *Event, *Sample or *ClockRow, with that side table; no
// rows if the log has none. Of a stream it can be read only after Read
// returned io.EOF.
func (l *Log) Table(b Batch) error { return l.wrap(l.src.table(b)) }

// Complete reports whether the recorder ended cleanly. Of a stream or spool it
// is known only after Read returned io.EOF.
func (l *Log) Complete() bool { return l.src.complete() }

// Warnings returns what a user must know: a spool that was read in place of a
// log and its number of rows, a stream cut short, unknown columns.
func (l *Log) Warnings() []string { return l.src.warnings() }

// Close closes the log.
func (l *Log) Close() error { return l.wrap(l.src.close()) }

func (l *Log) wrap(err error) error {
	if err == nil {
		return nil
	}
	if e, ok := err.(*RowError); ok && e.File == "" { //nolint:errorlint // made by a container, which does not know its name
		return &RowError{File: l.name, Row: e.Row, Column: e.Column, Msg: e.Msg}
	}
	return fmt.Errorf("%s: %w", l.name, err)
}
