package format

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"golang.org/x/sys/unix"
)

// spoolFile reads one stream of a spool. Whatever makes it end early (it was
// cut, or a power failure left garbage) ends it: what came before is kept, and
// broken says what it was.
type spoolFile struct {
	f      *os.File
	in     *input
	st     *ipcStream
	def    *Schema
	want   []string // columns, nil for all
	rows   int64    // read so far
	last   int64    // rows of the last read
	broken error
}

// openSpoolFile opens a stream of the spool; nil if the spool does not have it
// or it is cut before its first row can be read.
func openSpoolFile(dir, name string, def *Schema) (*spoolFile, error) {
	f, err := os.OpenFile(filepath.Join(dir, name), os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil //nolint:nilnil // absent is no error: most files of a spool are optional
	}
	if err != nil {
		return nil, err
	}
	s := &spoolFile{f: f, def: def}
	if s.in, err = newFileInput(f); err == nil && s.in.file == nil {
		err = fmt.Errorf("%s is no regular file", f.Name())
	}
	if err == nil {
		err = s.rewind()
	}
	if err == nil {
		return s, nil
	}
	_ = f.Close() // only read
	if errors.Is(err, io.EOF) || errors.Is(err, errCut) {
		return nil, nil //nolint:nilnil // nothing had been written
	}
	return nil, fmt.Errorf("%s: %w", name, err)
}

// rewind starts over.
func (s *spoolFile) rewind() error {
	s.in.pos, s.rows, s.broken = 0, 0, nil
	st, err := openIPC(s.in)
	if err != nil {
		return err
	}
	if s.def == nil {
		if s.def, err = streamSchema(st.schema.meta); err != nil {
			return err
		}
	}
	if name := st.schema.meta[KeySchema]; name != s.def.Name {
		return fmt.Errorf("%w: %s is %q", ErrNotLog, KeySchema, name)
	}
	if _, err := st.bind(s.def); err != nil {
		return err
	}
	if s.st != nil {
		st.share(s.st)
	}
	s.st = st
	if s.want != nil {
		return st.selectColumns(s.want)
	}
	return nil
}

// selectColumns limits reading to these columns.
func (s *spoolFile) selectColumns(names []string) error {
	s.want = append([]string{}, names...)
	return s.st.selectColumns(s.want)
}

// read fills b with the next rows, io.EOF after the last that can be read.
func (s *spoolFile) read(b Batch) error {
	if s.broken != nil {
		return io.EOF
	}
	err := s.st.fill(b)
	if err == nil {
		s.last = int64(b.Len())
		s.rows += s.last
		return nil
	}
	truncateBatch(b)
	if !errors.Is(err, io.EOF) {
		s.broken = err
	}
	return io.EOF
}

// peek returns the number of rows that read will fill, 0 at the end.
func (s *spoolFile) peek() int {
	if s.broken != nil {
		return 0
	}
	if s.st.next >= s.st.batch.rows {
		if err := s.st.advance(); err != nil {
			if !errors.Is(err, io.EOF) {
				s.broken = err
			}
			return 0
		}
	}
	return int(min(s.st.batch.rows-s.st.next, BatchRows))
}

func (s *spoolFile) close() error {
	if s == nil {
		return nil
	}
	return s.f.Close()
}
