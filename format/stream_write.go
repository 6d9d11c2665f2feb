package format

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
)

const streamBuffer = 256 << 10

// StreamWriter writes a log as Arrow streams one after the other: rows, then
// the side tables, then meta/1, whose absence says that the log is incomplete.
// It is what goes through a pipe. Side tables are kept in memory until Close.
//
// A StreamWriter is not safe for concurrent use. It implements [Writer].
type StreamWriter struct {
	buf    *bufio.Writer
	schema *Schema
	rows   *arrowWriter
	meta   Meta
	tables sideTables
	err    error // the first error: after it nothing is written
	closed bool
}

var _ Writer = (*StreamWriter)(nil)

// NewStreamWriter starts a log of the schema. The metadata known by the first
// Flush or Write stands in front of the rows, where a live reader finds it.
// The writer does not close w.
func NewStreamWriter(w io.Writer, schema *Schema, meta Meta) *StreamWriter {
	s := &StreamWriter{buf: bufio.NewWriterSize(w, streamBuffer), schema: schema, meta: Meta{}}
	s.SetMeta(meta)
	return s
}

// SetMeta implements [Writer].
func (s *StreamWriter) SetMeta(m Meta) {
	maps.Copy(s.meta, m)
	s.meta[KeySchema] = s.schema.Name
}

// start writes the schema of the rows with the metadata known by now.
func (s *StreamWriter) start() error {
	if s.rows != nil {
		return nil
	}
	early := s.meta.Clone()
	delete(early, KeyComplete) // known only at the end
	s.rows = newArrowWriter(s.buf, s.schema, early)
	return s.rows.start()
}

// Write implements [Writer].
func (s *StreamWriter) Write(b Batch) error {
	if s.err != nil {
		return s.err
	}
	if got := b.Schema().Name; got != s.schema.Name {
		return fmt.Errorf("rows of %s in a %s log", got, s.schema.Name)
	}
	if s.err = s.start(); s.err == nil {
		s.err = s.rows.write(b)
	}
	return s.err
}

// Flush hands everything written so far to the reader.
func (s *StreamWriter) Flush() error {
	if s.err != nil {
		return s.err
	}
	if s.err = s.start(); s.err == nil {
		s.err = s.buf.Flush()
	}
	return s.err
}

// Table implements [Writer].
func (s *StreamWriter) Table(b Batch) error { return s.tables.add(b) }

// Close implements [Writer]. After an error it writes nothing more, so that
// the reader sees an incomplete log, and returns that error.
func (s *StreamWriter) Close() error {
	if s.err != nil || s.closed {
		return s.err
	}
	s.closed = true
	s.err = s.finish()
	return s.err
}

func (s *StreamWriter) finish() error {
	if err := s.start(); err != nil {
		return err
	}
	if err := s.rows.close(); err != nil {
		return err
	}
	for _, b := range s.tables.batches() {
		if err := writeTable(s.buf, b); err != nil {
			return err
		}
	}
	var rows metaRows
	for _, k := range slices.Sorted(maps.Keys(s.meta)) {
		rows.add(k, s.meta[k])
	}
	if err := writeTable(s.buf, &rows); err != nil {
		return err
	}
	return s.buf.Flush()
}

// writeTable writes a whole side table as one stream.
func writeTable(w io.Writer, b Batch) error {
	aw := newArrowWriter(w, b.Schema(), nil)
	if err := aw.write(b); err != nil {
		return errors.Join(err, aw.close())
	}
	return aw.close()
}

// sideTables gathers side tables in memory: they are few rows.
type sideTables struct {
	event  Event
	sample Sample
	clock  ClockRow
	gather map[string]*gatherer
}

func (t *sideTables) batches() []Batch { return []Batch{&t.event, &t.sample, &t.clock} }

func (t *sideTables) add(b Batch) error {
	if t.gather == nil {
		t.gather = make(map[string]*gatherer)
		for _, own := range t.batches() {
			t.gather[own.Schema().Name] = newGatherer(own)
		}
	}
	g, ok := t.gather[b.Schema().Name]
	if !ok {
		return fmt.Errorf("%s is no side table", b.Schema().Name)
	}
	g.add(b, 0, b.Len())
	return nil
}

// copyTo fills b with the table of its schema.
func (t *sideTables) copyTo(b Batch) error {
	clearBatch(b)
	for _, own := range t.batches() {
		if own.Schema().Name == b.Schema().Name {
			newGatherer(b).add(own, 0, own.Len())
			return nil
		}
	}
	return fmt.Errorf("%s is no side table", b.Schema().Name)
}

// clearBatch empties a batch and its dictionaries.
func clearBatch(b Batch) {
	truncateBatch(b)
	for _, c := range b.Columns() {
		if s, ok := c.(*Strings); ok {
			s.Values = nil
		}
	}
}
