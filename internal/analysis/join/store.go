package join

// chunk is a stretch of the messages: some rows of a send log, or messages that
// no send log has. How many deliveries it gets is known from the first look at
// the receive logs, so it can be joined as soon as the last of them has been read.
type chunk struct {
	expect, got int64
	// order grows with seq within a producer; noOrder: reordering is not judged.
	order   int64
	next    *int32 // the chunk of its send log that is joined next; nil: no send log has it
	rows    *deliveries
	spilled []extent
}

const noOrder = int64(1<<63 - 1)

func (c *chunk) whole() bool { return c.got == c.expect }

// store holds deliveries by chunk until their chunk is whole. Beyond its budget
// it writes them to a temporary file.
type store struct {
	chunks []chunk
	budget int64 // bytes
	used   int64
	peak   int64   // of used
	open   []int32 // chunks with rows in memory
	free   []*deliveries
	spill  *spill
	opt    Options

	index []touched // rows of a batch by touched chunk
	which []int32   // the touched chunks
	of    []int32   // chunk → 1 + place in which
}

// touched is what a batch has for a chunk.
type touched struct {
	rows int
	in   []stretch
}

// stretch is some rows of a batch that follow one another.
type stretch struct{ from, to int32 }

// add takes the rows of a batch.
func (s *store) add(in *incoming) error {
	s.which = s.which[:0]
	for from := 0; from < len(in.chunk); {
		c, to := in.chunk[from], from+1
		for to < len(in.chunk) && in.chunk[to] == c {
			to++
		}
		if c >= 0 {
			t := &s.index[s.touch(c)]
			t.rows += to - from
			t.in = append(t.in, stretch{int32(from), int32(to)}) //nolint:gosec // a batch is small
		}
		from = to
	}
	for at, c := range s.which {
		s.of[c] = 0
		s.put(c, in, &s.index[at])
		s.index[at].rows, s.index[at].in = 0, s.index[at].in[:0]
	}
	s.peak = max(s.peak, s.used)
	for s.used > s.budget && len(s.open) > 0 {
		if err := s.relieve(); err != nil {
			return err
		}
	}
	return nil
}

func (s *store) touch(c int32) int {
	if s.of[c] > 0 {
		return int(s.of[c]) - 1
	}
	at := len(s.which)
	s.which = append(s.which, c)
	if at == len(s.index) {
		s.index = append(s.index, touched{})
	}
	s.of[c] = int32(at + 1)
	return at
}

func (s *store) put(n int32, in *incoming, t *touched) {
	c := &s.chunks[n]
	if c.rows == nil {
		c.rows = s.buffer()
		s.open = append(s.open, n)
	}
	before := c.rows.bytes()
	c.rows.grow(t.rows, int(min(c.expect-c.got, 1<<30))+c.rows.len())
	s.used += c.rows.bytes() - before
	c.rows.take(in, t)
	c.got += int64(t.rows)
}

// buffer returns empty deliveries, used ones if there are any.
func (s *store) buffer() *deliveries {
	if n := len(s.free); n > 0 {
		d := s.free[n-1]
		s.free = s.free[:n-1]
		return d
	}
	return &deliveries{}
}

// relieve writes the rows of one chunk to the temporary file: the largest one,
// but of whole ones that are due soon rather the others.
func (s *store) relieve() error {
	if n := len(s.free); n > 0 {
		s.used -= s.free[n-1].bytes()
		s.free = s.free[:n-1]
		return nil
	}
	best := 0
	for i, n := range s.open {
		if s.worth(n) > s.worth(s.open[best]) {
			best = i
		}
	}
	n := s.open[best]
	s.open[best] = s.open[len(s.open)-1]
	s.open = s.open[:len(s.open)-1]
	c := &s.chunks[n]
	if s.spill == nil {
		var err error
		if s.spill, err = newSpill(s.opt.TempDir); err != nil {
			return err
		}
	}
	e, err := s.spill.write(c.rows)
	if err != nil {
		return err
	}
	c.spilled = append(c.spilled, e)
	s.used -= c.rows.bytes()
	c.rows = nil
	return nil
}

// worth is how much there is to gain from writing a chunk out.
func (s *store) worth(n int32) int64 {
	size := s.chunks[n].rows.bytes()
	if next := s.chunks[n].next; next != nil && *next == n {
		return size / 64
	}
	return size
}

// take returns all rows of a chunk, which must be whole, and forgets them.
// They are to be given back with release.
func (s *store) take(n int32) (*deliveries, error) {
	c := &s.chunks[n]
	if c.rows != nil {
		for i, o := range s.open {
			if o == n {
				s.open[i] = s.open[len(s.open)-1]
				s.open = s.open[:len(s.open)-1]
				break
			}
		}
	}
	rows := c.rows
	c.rows = nil
	if len(c.spilled) == 0 {
		return rows, nil
	}
	all := s.buffer()
	before := all.bytes()
	all.grow(int(c.expect), int(c.expect))
	s.used += all.bytes() - before
	for _, e := range c.spilled {
		if err := s.spill.read(all, e); err != nil {
			return nil, err
		}
	}
	c.spilled = nil
	if rows != nil {
		all.appendAll(rows)
		s.release(rows)
	}
	return all, nil
}

// release takes rows back, to reuse their memory.
func (s *store) release(d *deliveries) {
	if d == nil {
		return
	}
	const kept = 4
	if len(s.free) == kept || d.bytes() > s.budget/8 {
		s.used -= d.bytes()
		return
	}
	d.empty()
	s.free = append(s.free, d)
}

// reset forgets all rows.
func (s *store) reset() {
	for i := range s.chunks {
		c := &s.chunks[i]
		c.got, c.rows, c.spilled = 0, nil, nil
	}
	s.open, s.free, s.used = s.open[:0], nil, 0
	if s.spill != nil {
		s.spill.end = 0
	}
}

func (s *store) close() error { return s.spill.close() }
