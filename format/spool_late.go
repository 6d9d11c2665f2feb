package format

import (
	"bufio"
	"cmp"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"

	"golang.org/x/sys/unix"
)

// lateBatch is the number of rows per batch of stragglers on disk: what each
// run needs in memory.
const lateBatch = 1 << 11

// lateRows are the stragglers of a spool. Those that do not fit in memory go
// as sorted runs to temporary files, which are unlinked as soon as they are
// made; in the end all runs are merged.
type lateRows struct {
	dir    string
	def    *Schema
	survey *survey
	base   *ipcStream // whose dictionaries everything shares
	mem    *gatherer
	runs   []*lateRun
	head   *lateRun // with the row that comes first
	limit  int      // rows in memory
	open   int64    // unfinished provisional rows among them
}

// lateRun is one sorted run.
type lateRun struct {
	file *spoolFile // nil: b is all of it
	b    Batch
	i    int // row of b that comes next
	pos  latePos
}

// latePos is the place of a straggler in the log: in which step it is written,
// and where among the rows of that step.
type latePos struct {
	target int
	lane   int32
	key    orderKey
}

func comparePos(a, b latePos) int {
	return cmp.Or(cmp.Compare(a.target, b.target), cmp.Compare(a.lane, b.lane), compareKeys(a.key, b.key))
}

func newLateRows(dir string, rows *spoolFile, limit int) *lateRows {
	return &lateRows{dir: dir, def: rows.def, base: rows.st, mem: newGatherer(newBatch(rows.def.Name)), limit: limit}
}

// add takes the rows of b that index names.
func (l *lateRows) add(b Batch, index []int32) error {
	l.mem.pick(b, index)
	if l.mem.dst.Len() < l.limit {
		return nil
	}
	return l.spill()
}

func (l *lateRows) position(lanes []int32, keys []int64, attempts []int32, i int) latePos {
	k := keyAt(keys, attempts, i)
	return latePos{target: l.survey.lane(lanes[i]).target(k), lane: lanes[i], key: k}
}

// sorted returns the order of the rows in memory.
func (l *lateRows) sorted() []int32 {
	lanes, keys, attempts := orderOf(l.mem.dst)
	type placed struct {
		pos latePos
		at  int32
	}
	rows := make([]placed, len(lanes))
	for i := range rows {
		rows[i] = placed{l.position(lanes, keys, attempts, i), int32(i)} //nolint:gosec // at most lateMemory + BatchRows
	}
	slices.SortStableFunc(rows, func(a, b placed) int { return comparePos(a.pos, b.pos) })
	index := make([]int32, len(rows))
	for i := range rows {
		index[i] = rows[i].at
	}
	return index
}

// spill writes what is in memory as a run.
func (l *lateRows) spill() error {
	path := filepath.Join(l.dir, fmt.Sprintf("late-%d.arrows", len(l.runs)))
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE|os.O_EXCL|unix.O_NOFOLLOW, 0o600)
	if err != nil {
		return err
	}
	run, err := l.writeRun(f)
	if err = errors.Join(err, os.Remove(path)); err != nil {
		return errors.Join(err, f.Close())
	}
	l.runs = append(l.runs, run)
	l.mem.reset()
	return nil
}

func (l *lateRows) writeRun(f *os.File) (*lateRun, error) {
	buf := bufio.NewWriterSize(f, streamBuffer)
	w := newArrowWriter(buf, l.def, nil)
	part := newGatherer(newBatch(l.def.Name))
	for index := range slices.Chunk(l.sorted(), lateBatch) {
		part.reset()
		part.pick(l.mem.dst, index)
		if err := w.write(part.dst); err != nil {
			return nil, err
		}
	}
	if err := errors.Join(w.close(), buf.Flush()); err != nil {
		return nil, err
	}
	in, err := newFileInput(f)
	if err != nil {
		return nil, err
	}
	return &lateRun{file: &spoolFile{f: f, in: in, def: l.def}, b: newBatch(l.def.Name)}, nil
}

// begin makes the runs ready to be merged; nothing is added any more.
func (l *lateRows) begin() error {
	for _, r := range l.runs {
		if err := r.file.rewind(); err != nil {
			return err
		}
		r.file.st.share(l.base)
		if err := l.load(r); err != nil {
			return err
		}
	}
	if l.mem.dst.Len() > 0 {
		g := newGatherer(newBatch(l.def.Name))
		g.pick(l.mem.dst, l.sorted())
		r := &lateRun{b: g.dst}
		r.pos = l.at(r)
		l.runs = append(l.runs, r)
	}
	l.findFirst()
	return nil
}

// load reads the next batch of a run; b is empty after the last.
func (l *lateRows) load(r *lateRun) error {
	r.i = 0
	err := r.file.read(r.b)
	if errors.Is(err, io.EOF) {
		truncateBatch(r.b)
		return r.file.broken
	}
	if err == nil {
		r.pos = l.at(r)
	}
	return err
}

func (l *lateRows) at(r *lateRun) latePos {
	lanes, keys, attempts := orderOf(r.b)
	return l.position(lanes, keys, attempts, r.i)
}

// first returns the run with the row that comes first, nil if none is left.
func (l *lateRows) first() *lateRun { return l.head }

// findFirst sets head. Of equal rows the one that was written first comes
// first: runs are in that order.
func (l *lateRows) findFirst() {
	l.head = nil
	for _, r := range l.runs {
		if r.i < r.b.Len() && (l.head == nil || comparePos(r.pos, l.head.pos) < 0) {
			l.head = r
		}
	}
}

// last reports whether the next row of the run is the last of its batch, so
// that taking it will reuse the batch's memory.
func (r *lateRun) last() bool { return r.i+1 >= r.b.Len() }

// next goes on to the row after the next one.
func (l *lateRows) next(r *lateRun) error {
	var err error
	r.i++
	if r.i < r.b.Len() {
		r.pos = l.at(r)
	} else if r.file != nil {
		err = l.load(r)
	}
	l.findFirst()
	return err
}

func (l *lateRows) close() error {
	var err error
	for _, r := range l.runs {
		err = errors.Join(err, r.file.close())
	}
	return err
}
