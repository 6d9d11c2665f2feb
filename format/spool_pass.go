package format

import (
	"errors"
	"maps"
	"slices"
)

// orderPass is the second pass over the rows of a spool: it writes them in order.
type orderPass struct {
	rows    *spoolFile
	survey  *survey
	late    *lateRows
	out     *emitter
	ring    Batch   // two chunks of rows
	carry   []int32 // rows of the last chunk that were not yet written
	buckets map[int32]*bucket
	scratch []entry
	index   []int32
}

// bucket gathers the rows of one lane that are written in one step.
type bucket struct{ entries []entry }

func (p *orderPass) run() error {
	p.ring = newBatch(p.rows.def.Name)
	stretch(p.ring, 2*p.survey.chunk)
	for step := 0; ; step++ {
		n, err := p.readChunk(step % 2)
		if err != nil {
			return err
		}
		p.sort(step, n)
		if err := p.write(step); err != nil {
			return err
		}
		if n == 0 {
			return p.writeLate(lateAll)
		}
	}
}

// stretch gives every column n rows.
func stretch(b Batch, n int) {
	for _, c := range b.Columns() {
		switch s := c.(type) {
		case *[]int32:
			*s = make([]int32, n)
		case *[]int64:
			*s = make([]int64, n)
		case *[]bool:
			*s = make([]bool, n)
		case *Strings:
			s.Codes = make([]int32, n)
		}
	}
}

// window makes view stand on the rows from at on of b, without any rows yet.
func window(view, b Batch, at, end int) {
	cols := b.Columns()
	for i, c := range view.Columns() {
		switch v := c.(type) {
		case *[]int32:
			*v = (*cols[i].(*[]int32))[at:at:end]
		case *[]int64:
			*v = (*cols[i].(*[]int64))[at:at:end]
		case *[]bool:
			*v = (*cols[i].(*[]bool))[at:at:end]
		case *Strings:
			v.Codes = cols[i].(*Strings).Codes[at:at:end]
		}
	}
}

// keepValues copies the dictionaries of view to b.
func keepValues(b, view Batch) {
	cols := view.Columns()
	for i, c := range b.Columns() {
		if s, ok := c.(*Strings); ok {
			s.Values = cols[i].(*Strings).Values
		}
	}
}

// readChunk reads the next chunk into one half of the ring and returns the
// number of its rows. The chunks are those of the survey.
func (p *orderPass) readChunk(half int) (int, error) {
	view := newBatch(p.rows.def.Name)
	chunk := p.survey.chunk
	n := 0
	for {
		next := p.rows.peek()
		if next == 0 || n+next > chunk {
			return n, p.rows.broken
		}
		window(view, p.ring, half*chunk+n, (half+1)*chunk)
		if err := p.rows.read(view); err != nil {
			return 0, errors.Join(p.rows.broken, ignoreEOF(err))
		}
		keepValues(p.ring, view)
		n += view.Len()
	}
}

// sort puts the rows that this step writes into buckets: all that the last
// chunk left, and those of this chunk up to the highest key of the last one.
func (p *orderPass) sort(step, n int) {
	lanes, keys, attempts := orderOf(p.ring)
	for _, at := range p.carry {
		p.bucket(lanes[at]).add(keyAt(keys, attempts, int(at)), at)
	}
	p.carry = p.carry[:0]
	var b *bucket
	var known int32
	var gone, due orderKey
	from := step % 2 * p.survey.chunk
	for i := from; i < from+n; i++ {
		if b == nil || lanes[i] != known {
			known, b = lanes[i], p.bucket(lanes[i])
			l := p.survey.lane(known)
			gone, due = l.upTo(step-2), l.upTo(step-1)
		}
		k := keyAt(keys, attempts, i)
		switch {
		case k.less(gone): // a straggler, which was put aside
		case due.less(k):
			p.carry = append(p.carry, int32(i)) //nolint:gosec // within the ring
		default:
			b.add(k, int32(i)) //nolint:gosec // within the ring
		}
	}
}

func (p *orderPass) bucket(lane int32) *bucket {
	b := p.buckets[lane]
	if b == nil {
		b = &bucket{}
		p.buckets[lane] = b
	}
	return b
}

func (b *bucket) add(k orderKey, at int32) { b.entries = append(b.entries, entry{k, at}) }

// write writes the buckets, lane by lane, with the stragglers of this step.
func (p *orderPass) write(step int) error {
	for _, lane := range slices.Sorted(maps.Keys(p.buckets)) {
		e := p.buckets[lane].entries
		if len(e) == 0 {
			continue
		}
		p.scratch = slices.Grow(p.scratch[:0], len(e))[:len(e)]
		sortEntries(e, p.scratch)
		if err := p.writeLane(step, lane, e); err != nil {
			return err
		}
		p.buckets[lane].entries = e[:0]
	}
	return p.writeLate(latePos{target: step + 1, lane: minLane})
}

func (p *orderPass) writeLane(step int, lane int32, e []entry) error {
	p.index = p.index[:0]
	for i := range e {
		if r := p.late.first(); r != nil && r.pos.target <= step {
			if err := p.out.rows(p.ring, p.index); err != nil {
				return err
			}
			p.index = p.index[:0]
			if err := p.writeLate(latePos{target: step, lane: lane, key: e[i].key}); err != nil {
				return err
			}
		}
		p.index = append(p.index, e[i].at)
	}
	return p.out.rows(p.ring, p.index)
}

const minLane = -1 << 31

var lateAll = latePos{target: 1<<63 - 1} //nolint:gochecknoglobals // a constant of a struct type

// writeLate writes the stragglers that stand before a place.
func (p *orderPass) writeLate(before latePos) error {
	var index []int32
	for r := p.late.first(); r != nil && comparePos(r.pos, before) < 0; {
		index = append(index, int32(r.i)) //nolint:gosec // within a batch
		b, last := r.b, r.last()
		var err error
		if last { // the next row comes with another batch in the same memory
			err = p.out.rows(b, index)
			index = index[:0]
		}
		err = errors.Join(err, p.late.next(r))
		if err != nil {
			return err
		}
		next := p.late.first()
		if len(index) > 0 && (next != r || comparePos(r.pos, before) >= 0) {
			if err := p.out.rows(b, index); err != nil {
				return err
			}
			index = index[:0]
		}
		r = next
	}
	return nil
}

// emitter gathers rows into batches that another goroutine writes, because
// gathering and encoding take about as long.
type emitter struct {
	cur     *gatherer
	full    chan *gatherer
	empty   chan *gatherer
	done    chan struct{}
	err     error // of the writer; read after done
	failed  chan struct{}
	written int64
}

// emitRows is how many rows change hands at once.
const emitRows = 1 << 14

func newEmitter(w Writer, def *Schema) *emitter {
	const batches = 3
	e := &emitter{full: make(chan *gatherer, batches), empty: make(chan *gatherer, batches),
		done: make(chan struct{}), failed: make(chan struct{})}
	for range batches {
		b := newBatch(def.Name)
		stretch(b, emitRows)
		truncateBatch(b) // memory for a whole batch, without rows
		e.empty <- newGatherer(b)
	}
	go func() {
		defer close(e.done)
		for g := range e.full {
			if e.err == nil {
				if e.err = w.Write(g.dst); e.err != nil {
					close(e.failed)
				}
				e.written += int64(g.dst.Len())
			}
			g.reset()
			e.empty <- g
		}
	}()
	return e
}

// errEmitter stops the gathering when the writer has failed; close returns why.
var errEmitter = errors.New("writing stopped")

// rows appends the rows of b that index names.
func (e *emitter) rows(b Batch, index []int32) error {
	for len(index) > 0 {
		if e.cur == nil {
			select {
			case e.cur = <-e.empty:
			case <-e.failed:
				return errEmitter
			}
		}
		n := min(len(index), emitRows-e.cur.dst.Len())
		e.cur.pick(b, index[:n])
		index = index[n:]
		if e.cur.dst.Len() == emitRows {
			e.full <- e.cur
			e.cur = nil
		}
	}
	return nil
}

// close waits for the writer and returns the number of rows written.
func (e *emitter) close() (int64, error) {
	if e.cur != nil && e.cur.dst.Len() > 0 {
		e.full <- e.cur
	}
	close(e.full)
	<-e.done
	return e.written, e.err
}
