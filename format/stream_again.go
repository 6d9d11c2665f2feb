package format

import (
	"errors"
	"fmt"
	"io"
)

// streamAgain reads the streams of a pipe, which come once, more than once: the
// wanted columns of the rows are kept in a Scratch as they are read. It implements
// source.
type streamAgain struct {
	*streamSource
	to    Scratch
	kept  *scratchRows // nil before the first row
	again bool         // the rows come from there
}

// OpenStreamAgain is OpenStream with a Log that can Rewind: what was read of the
// columns that Select names is kept in to, which must be empty, much narrower
// than it stands in the stream. The name is for messages.
func OpenStreamAgain(name string, r io.Reader, to Scratch) (*Log, error) {
	src, err := openStream(r)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return &Log{name: name, kind: Stream, src: &streamAgain{streamSource: src, to: to}}, nil
}

func (s *streamAgain) selectColumns(names []string) error {
	if s.kept != nil {
		return errors.New("columns must be selected before reading")
	}
	return s.streamSource.selectColumns(names)
}

func (s *streamAgain) read(b Batch) error { return s.readSome(b, BatchRows) }

func (s *streamAgain) readSome(b Batch, most int) error {
	if s.again {
		truncateBatch(b)
		return s.kept.read(b)
	}
	if s.kept == nil {
		s.kept = newScratchRows(s.to, s.rowsAt.cols)
	}
	if err := s.streamSource.readSome(b, most); err != nil {
		return err
	}
	return s.kept.write(b)
}

// rewind reads what is left of the pipe before it goes back.
func (s *streamAgain) rewind() error {
	b := newBatch(s.name)
	for !s.again {
		err := s.read(b)
		if errors.Is(err, io.EOF) {
			s.again = true
		} else if err != nil {
			return err
		}
	}
	s.kept.next = 0
	return nil
}
