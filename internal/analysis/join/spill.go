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

	at, left int64 // of the extent being read: what is next
	taken    int   // of buf
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

// flushBytes is how much is gathered before it is written: a column of many
// rows, or all columns of a few.
const flushBytes = 256 << 10

func (s *spill) write(d *deliveries) (extent, error) {
	e := extent{at: s.end, rows: d.len()}
	s.buf = s.buf[:0]
	for _, c := range d.wide() {
		for _, v := range *c {
			s.buf = binary.LittleEndian.AppendUint64(s.buf, uint64(v))
		}
		if err := s.flush(flushBytes); err != nil {
			return e, err
		}
	}
	for _, c := range d.narrow() {
		for _, v := range *c {
			s.buf = binary.LittleEndian.AppendUint32(s.buf, uint32(v))
		}
		if err := s.flush(flushBytes); err != nil {
			return e, err
		}
	}
	return e, s.flush(1)
}

// flush writes what was gathered if it is at least so many bytes.
func (s *spill) flush(least int) error {
	if len(s.buf) < least {
		return nil
	}
	n, err := s.file.WriteAt(s.buf, s.end)
	s.end += int64(n)
	s.buf = s.buf[:0]
	if err != nil {
		return fmt.Errorf("temporary file of deliveries (its folder is $TMPDIR; more --max-memory needs less of it): %w", err)
	}
	return nil
}

// read appends the rows of an extent; there must be room.
func (s *spill) read(d *deliveries, e extent) error {
	s.at, s.left, s.buf = e.at, int64(e.rows)*deliveryBytes, s.buf[:0]
	s.taken = 0
	for _, c := range d.wide() {
		b, err := s.take(8 * e.rows)
		if err != nil {
			return err
		}
		for i := range e.rows {
			*c = append(*c, int64(binary.LittleEndian.Uint64(b[8*i:])))
		}
	}
	for _, c := range d.narrow() {
		b, err := s.take(4 * e.rows)
		if err != nil {
			return err
		}
		for i := range e.rows {
			*c = append(*c, int32(binary.LittleEndian.Uint32(b[4*i:])))
		}
	}
	return nil
}

// take returns the next n bytes of the extent that is read. What is small is
// read with what follows.
func (s *spill) take(n int) ([]byte, error) {
	if len(s.buf)-s.taken < n {
		if err := s.load(s.at, int(min(s.left, int64(max(n, flushBytes))))); err != nil {
			return nil, err
		}
		s.taken = 0
	}
	b := s.buf[s.taken : s.taken+n]
	s.taken += n
	s.at += int64(n)
	s.left -= int64(n)
	return b, nil
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
