package join

import (
	"encoding/binary"
	"errors"
	"fmt"
	"os"
)

// spill is a temporary file of deliveries, gone when it is closed.
type spill struct {
	file *os.File
	end  int64
	buf  []byte
}

// extent is where some rows stand in the file: column after column.
type extent struct {
	at   int64
	rows int
}

func newSpill(dir string) (*spill, error) {
	f, err := tempFile(dir)
	if err != nil {
		return nil, err
	}
	return &spill{file: f}, nil
}

func (s *spill) write(d *deliveries) (extent, error) {
	e := extent{at: s.end, rows: d.len()}
	for _, c := range d.wide() {
		s.buf = s.buf[:0]
		for _, v := range *c {
			s.buf = binary.LittleEndian.AppendUint64(s.buf, uint64(v))
		}
		if err := s.flush(); err != nil {
			return e, err
		}
	}
	for _, c := range d.narrow() {
		s.buf = s.buf[:0]
		for _, v := range *c {
			s.buf = binary.LittleEndian.AppendUint32(s.buf, uint32(v))
		}
		if err := s.flush(); err != nil {
			return e, err
		}
	}
	return e, nil
}

func (s *spill) flush() error {
	n, err := s.file.WriteAt(s.buf, s.end)
	s.end += int64(n)
	if err != nil {
		return fmt.Errorf("temporary file of deliveries (its folder is $TMPDIR; more --max-memory needs less of it): %w", err)
	}
	return nil
}

// read appends the rows of an extent; there must be room.
func (s *spill) read(d *deliveries, e extent) error {
	at := e.at
	for _, c := range d.wide() {
		if err := s.load(at, 8*e.rows); err != nil {
			return err
		}
		at += int64(8 * e.rows)
		for i := range e.rows {
			*c = append(*c, int64(binary.LittleEndian.Uint64(s.buf[8*i:])))
		}
	}
	for _, c := range d.narrow() {
		if err := s.load(at, 4*e.rows); err != nil {
			return err
		}
		at += int64(4 * e.rows)
		for i := range e.rows {
			*c = append(*c, int32(binary.LittleEndian.Uint32(s.buf[4*i:])))
		}
	}
	return nil
}

func (s *spill) load(at int64, n int) error {
	if cap(s.buf) < n {
		s.buf = make([]byte, n)
	}
	s.buf = s.buf[:n]
	if k, err := s.file.ReadAt(s.buf, at); k < n {
		return fmt.Errorf("temporary file of deliveries: %w", errors.Join(err, errShortSpill))
	}
	return nil
}

var errShortSpill = errors.New("shorter than what was written")

func (s *spill) close() error {
	if s == nil {
		return nil
	}
	return s.file.Close()
}
