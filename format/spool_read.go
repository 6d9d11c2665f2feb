package format

import (
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
)

// spoolSource reads the spool of a recorder that did not finish, or is still
// at work: the finished rows as they were written, then the provisional rows
// of the messages that have none. It implements source.
type spoolSource struct {
	dir      string
	def      *Schema
	md       Meta
	file     *spoolFile // finished rows, nil if there is nothing to read
	open     *unfinishedRows
	gather   *gatherer
	scratch  Batch
	selected []string
	phase    spoolPhase
	finished int64
	pending  int64
	warns    []string
}

type spoolPhase int

const (
	phaseRows spoolPhase = iota
	phaseProvisional
	phaseEnd
)

func openSpool(dir string) (source, error) {
	s := &spoolSource{dir: filepath.Clean(dir)}
	if err := s.begin(); err != nil {
		return nil, errors.Join(err, s.close())
	}
	return s, nil
}

func (s *spoolSource) begin() error {
	s.phase, s.finished, s.pending, s.warns = phaseRows, 0, 0, nil
	var err error
	if s.file, err = openSpoolFile(s.dir, spoolRows, nil); err != nil {
		return err
	}
	first := s.file
	if first == nil { // cut before its first row: the other file has the same schema
		if first, err = openSpoolFile(s.dir, spoolProvisional, nil); err != nil {
			return err
		}
		if first == nil {
			return fmt.Errorf("%w: no spool of a recorder (%s)", ErrNotLog, spoolRows)
		}
		defer func() { _ = first.close() }() // only read
	}
	s.def = first.def
	if err := s.readMeta(); err != nil {
		return err
	}
	if s.selected != nil {
		return s.selectColumns(s.selected)
	}
	return nil
}

// readMeta reads the metadata; of several values of a key the last holds.
func (s *spoolSource) readMeta() error {
	s.md = Meta{KeySchema: s.def.Name}
	err := s.each(spoolMeta, &metaRows{}, func(b Batch) error {
		b.(*metaRows).copyTo(s.md)
		return nil
	})
	delete(s.md, KeyComplete)
	return err
}

// each calls f with the batches of a side table, as far as they can be read.
func (s *spoolSource) each(name string, b Batch, f func(Batch) error) error {
	file, err := openSpoolFile(s.dir, name, b.Schema())
	if err != nil || file == nil {
		return s.damage(name, err)
	}
	for err = file.read(b); err == nil; err = file.read(b) {
		if err := f(b); err != nil {
			return errors.Join(err, file.close())
		}
	}
	return errors.Join(s.damage(name, file.broken), file.close())
}

// damage notes that a side table is not whole. Being cut short is what happens
// to a file of a spool; anything else deserves a word.
func (s *spoolSource) damage(name string, err error) error {
	if err != nil && !errors.Is(err, errCut) {
		s.warns = append(s.warns, fmt.Sprintf("%s: unreadable from some point on: %v", name, err))
	}
	return nil
}

func (s *spoolSource) schema() string { return s.def.Name }

func (s *spoolSource) meta() Meta { return s.md.Clone() }

func (s *spoolSource) rows() int64 { return -1 }

func (s *spoolSource) selectColumns(names []string) error {
	s.selected = append([]string{}, names...)
	if s.file != nil {
		return s.file.selectColumns(s.selected)
	}
	return nil
}

func (s *spoolSource) read(b Batch) error {
	truncateBatch(b)
	if s.phase == phaseRows {
		if s.file != nil {
			if err := s.file.read(b); !errors.Is(err, io.EOF) {
				s.finished += int64(b.Len())
				return err
			}
			_ = s.damage(spoolRows, s.file.broken) // says it in the warnings
		}
		if err := s.openProvisional(); err != nil {
			return err
		}
	}
	if s.phase == phaseProvisional {
		if s.gather == nil || s.gather.dst != b {
			clearBatch(b)
			s.gather = newGatherer(b)
		}
		err := s.open.read(s.gather, s.scratch)
		if !errors.Is(err, io.EOF) {
			s.pending += int64(b.Len())
			return err
		}
		s.finish()
	}
	return io.EOF
}

// openProvisional goes on to the provisional rows.
func (s *spoolSource) openProvisional() error {
	u, err := openUnfinished(s.dir, s.def)
	if err != nil {
		_ = s.damage(spoolProvisional, err) // says it in the warnings
	}
	if u == nil {
		s.finish()
		return nil
	}
	s.open, s.phase, s.scratch = u, phaseProvisional, newBatch(s.def.Name)
	if s.file != nil {
		u.f.st.share(s.file.st)
	}
	if s.selected != nil {
		return u.f.selectColumns(s.selected)
	}
	return nil
}

func (s *spoolSource) finish() {
	s.phase = phaseEnd
	state := "its recorder did not finish"
	if spoolUnused(s.dir) != nil {
		state = "it is still being recorded"
	}
	s.warns = append(s.warns, fmt.Sprintf("a spool is read in place of %s, because %s: %d rows recovered, %d of them provisional",
		filepath.Base(strings.TrimSuffix(s.dir, SpoolSuffix)), state, s.finished+s.pending, s.pending))
}

func (s *spoolSource) rewind() error {
	if err := s.close(); err != nil {
		return err
	}
	return s.begin()
}

func (s *spoolSource) table(b Batch) error {
	clearBatch(b)
	name, ok := spoolTables()[b.Schema().Name]
	if !ok {
		return fmt.Errorf("%s is no side table", b.Schema().Name)
	}
	g := newGatherer(b)
	return s.each(name, newBatch(b.Schema().Name), func(part Batch) error {
		if b.Len() > maxSideRows {
			return fmt.Errorf("more than %d rows of %s", maxSideRows, b.Schema().Name)
		}
		g.add(part, 0, part.Len())
		return nil
	})
}

// complete is never true: a log that was finished is no spool any more.
func (s *spoolSource) complete() bool { return false }

func (s *spoolSource) warnings() []string { return append([]string(nil), s.warns...) }

func (s *spoolSource) close() error {
	err := errors.Join(s.file.close(), s.open.close())
	s.file, s.open = nil, nil
	return err
}
