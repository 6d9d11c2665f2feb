package format

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

// maxSideRows bounds the side tables of a stream, which are kept in memory.
const maxSideRows = 1 << 24

// streamSource reads Arrow streams that stand one after the other: rows, side
// tables, meta/1. It implements source.
type streamSource struct {
	in       *input
	file     *os.File // nil for a pipe
	rowsAt   *ipcStream
	name     string
	md       Meta
	selected []string
	tables   sideTables
	read_    int64
	ended    bool // everything is read
	whole    bool // meta/1 was there
	last     bool // nothing at all follows the streams that were read
	warns    []string
}

func openStream(r io.Reader) (*streamSource, error) {
	s := &streamSource{in: newPipeInput(r)}
	return s, s.begin()
}

func openStreamFile(path string) (source, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	in, err := newFileInput(f)
	if err != nil {
		return nil, errors.Join(err, f.Close())
	}
	s := &streamSource{in: in, file: f}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return s, nil
}

// begin reads the schema of the rows.
func (s *streamSource) begin() error {
	st, err := openIPC(s.in)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("empty: %w", ErrNotLog)
	}
	if err != nil {
		return err
	}
	def, err := streamSchema(st.schema.meta)
	if err != nil {
		return err
	}
	unknown, err := st.bind(def)
	if err != nil {
		return err
	}
	if unknown != nil {
		s.warns = append(s.warns, "unknown columns ignored: "+strings.Join(unknown, ", "))
	}
	s.rowsAt, s.name, s.md = st, def.Name, st.schema.meta
	if s.selected != nil {
		return st.selectColumns(s.selected)
	}
	return nil
}

// streamSchema returns the schema of the rows that the metadata names, if this
// program reads it.
func streamSchema(m Meta) (*Schema, error) {
	name, ok := m[KeySchema]
	if !ok {
		return nil, fmt.Errorf("%w: the metadata key %s is missing", ErrNotLog, KeySchema)
	}
	def, err := findSchema(name)
	if err != nil {
		return nil, err
	}
	if _, side := tableName(name); side {
		return nil, fmt.Errorf("%w: %s is a side table", ErrNotLog, name)
	}
	return def, nil
}

func (s *streamSource) schema() string { return s.name }

func (s *streamSource) meta() Meta { return s.md.Clone() }

func (s *streamSource) rows() int64 { return -1 }

func (s *streamSource) selectColumns(names []string) error {
	s.selected = append([]string{}, names...)
	return s.rowsAt.selectColumns(names)
}

func (s *streamSource) read(b Batch) error { return s.readSome(b, BatchRows) }

func (s *streamSource) readSome(b Batch, most int) error {
	truncateBatch(b)
	if s.ended {
		return io.EOF
	}
	err := s.rowsAt.fillSome(b, most)
	switch {
	case err == nil:
		s.read_ += int64(b.Len())
		return nil
	case errors.Is(err, io.EOF) && s.rowsAt.ended:
		err = s.rest()
		s.last = errors.Is(err, io.EOF)
	}
	truncateBatch(b)
	if err == nil || errors.Is(err, io.EOF) || errors.Is(err, errCut) {
		s.finish()
		return io.EOF
	}
	return fmt.Errorf("after %d rows: %w", s.read_, err)
}

// finish says what became of a stream that has ended.
func (s *streamSource) finish() {
	s.ended = true
	if !s.whole && !s.foreign() {
		s.warns = append(s.warns, fmt.Sprintf("incomplete: the stream ends after %d rows without the metadata that closes a log", s.read_))
	}
}

// rest reads what follows the rows.
func (s *streamSource) rest() error {
	for {
		st, err := openIPC(s.in)
		if err != nil {
			return err
		}
		b := newBatch(st.schema.meta[KeySchema])
		if _, isMeta := b.(*metaRows); b == nil || !isMeta && s.tables.copyTo(b) != nil {
			err = st.skip() // from a later version
		} else {
			err = s.table1(st, b)
		}
		if err != nil || s.whole {
			return err
		}
	}
}

// skip reads to the end of a stream that nobody knows.
func (s *ipcStream) skip() error {
	for {
		m, err := s.in.message()
		if err != nil || m == nil {
			return err
		}
	}
}

// table1 reads a side table, or the metadata, which are whole only if the
// stream has its end marker.
func (s *streamSource) table1(st *ipcStream, b Batch) error {
	if _, err := st.bind(b.Schema()); err != nil {
		return err
	}
	meta, isMeta := b.(*metaRows)
	for rows := 0; ; rows += b.Len() {
		err := st.fill(b)
		if errors.Is(err, io.EOF) && st.ended {
			s.whole = s.whole || isMeta
			return nil
		}
		switch {
		case err != nil:
			return err
		case rows > maxSideRows:
			return fmt.Errorf("more than %d rows of %s", maxSideRows, b.Schema().Name)
		case isMeta:
			meta.copyTo(s.md)
		default:
			err = s.tables.add(b)
		}
		if err != nil {
			return err
		}
	}
}

// copyTo adds the rows to m; the key perf.schema stays as the rows have it.
func (b *metaRows) copyTo(m Meta) {
	for i := range b.Len() {
		key, _ := b.Key.At(i)
		if value, ok := b.Value.At(i); ok && key != KeySchema {
			m[key] = value
		}
	}
}

func (s *streamSource) rewind() error {
	if s.in.file == nil {
		return fmt.Errorf("a pipe cannot be read twice: %w", errors.ErrUnsupported)
	}
	s.in.pos = 0
	old := s.rowsAt
	*s = streamSource{in: s.in, file: s.file, selected: s.selected}
	if err := s.begin(); err != nil {
		return err
	}
	s.rowsAt.share(old)
	return nil
}

func (s *streamSource) table(b Batch) error { return s.tables.copyTo(b) }

// complete: a log of ours says so at its end; a stream that names no tool was
// not recorded by ours, and is complete if its rows are.
func (s *streamSource) complete() bool {
	if !s.whole && s.foreign() {
		return s.ended
	}
	return s.whole && s.md[KeyComplete] == "true"
}

// foreign reports whether the stream is whole rows of some other writer.
func (s *streamSource) foreign() bool { return s.md[KeyTool] == "" && s.rowsAt.ended && s.last }

func (s *streamSource) warnings() []string { return append([]string(nil), s.warns...) }

func (s *streamSource) close() error {
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}
