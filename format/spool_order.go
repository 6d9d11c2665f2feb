package format

import (
	"cmp"
	"errors"
	"math"
	"slices"
	"sort"
)

// The order of a log is restored chunk by chunk, with memory for two chunks.
// A first pass over the keys finds the stragglers: rows that come more than a
// whole chunk after a row that should follow them (the one message that was
// answered an hour later). They are put aside. For all others holds: once
// chunk c has been read, no row is still to come that belongs before a row of
// chunk c − 1; so the rows up to the highest key of chunks 0…c−1 can be
// written, together with the stragglers that belong among them.

const (
	chunkRows  = BatchRows // rows of a chunk at most; no batch has more
	lateMemory = 1 << 18   // stragglers kept in memory
)

// orderKey is the place of a row among those of its lane: (seq, attempt) of a
// producer, received of a consumer.
type orderKey struct {
	k       int64
	attempt int32
}

func (a orderKey) less(b orderKey) bool { return a.k < b.k || a.k == b.k && a.attempt < b.attempt }

func compareKeys(a, b orderKey) int {
	return cmp.Or(cmp.Compare(a.k, b.k), cmp.Compare(a.attempt, b.attempt))
}

var lowestKey = orderKey{math.MinInt64, math.MinInt32} //nolint:gochecknoglobals // a constant of a struct type

// orderColumns are the columns that order rows.
func orderColumns(def *Schema) []string {
	if def.Name == "recv/1" {
		return []string{"consumer", "received"}
	}
	return []string{"producer", "seq", "attempt"}
}

// orderOf returns the lanes and keys of a batch: attempts is nil if they play no part.
func orderOf(b Batch) (lanes []int32, keys []int64, attempts []int32) {
	switch b := b.(type) {
	case *Send:
		return b.Producer, b.Seq, b.Attempt
	case *Recv:
		return b.Consumer, b.Received, nil
	}
	return nil, nil, nil
}

// keyAt returns the key of row i.
func keyAt(keys []int64, attempts []int32, i int) orderKey {
	if attempts == nil {
		return orderKey{keys[i], 0}
	}
	return orderKey{keys[i], attempts[i]}
}

// laneOrder is what the first pass learns of a lane.
type laneOrder struct {
	id      int32 // dense
	max     orderKey
	history []laneMax // ascending in both
}

// laneMax is the highest key of the chunks up to one, where it changed.
type laneMax struct {
	chunk int
	max   orderKey
}

// upTo returns the highest key of the chunks 0…chunk.
func (l *laneOrder) upTo(chunk int) orderKey {
	i := sort.Search(len(l.history), func(i int) bool { return l.history[i].chunk > chunk })
	if i == 0 {
		return lowestKey
	}
	return l.history[i-1].max
}

// target returns in which step a straggler is written: the first one whose
// chunks before it reach its key.
func (l *laneOrder) target(k orderKey) int {
	i := sort.Search(len(l.history), func(i int) bool { return !l.history[i].max.less(k) })
	if i == len(l.history) {
		return math.MaxInt32
	}
	return l.history[i].chunk + 1
}

// survey is the result of the first pass.
type survey struct {
	chunk  int // rows of a chunk
	lanes  map[int32]*laneOrder
	chunks int
	late   *lateRows
}

func (s *survey) lane(n int32) *laneOrder {
	l := s.lanes[n]
	if l == nil {
		l = &laneOrder{id: int32(len(s.lanes)), max: lowestKey} //nolint:gosec // indices of lanes are int32
		s.lanes[n] = l
	}
	return l
}

// takeSurvey reads the keys of all rows and puts the stragglers aside.
func takeSurvey(rows *spoolFile, late *lateRows, chunk int) (*survey, error) {
	s := &survey{chunk: chunk, lanes: make(map[int32]*laneOrder), late: late}
	late.survey = s
	b, whole := newBatch(rows.def.Name), newBatch(rows.def.Name)
	var index []int32
	inChunk := 0
	for {
		n := rows.peek()
		if n == 0 || inChunk+n > chunk {
			s.endChunk()
			inChunk = 0
		}
		if n == 0 {
			return s, rows.broken
		}
		inChunk += n
		if err := rows.selectColumns(orderColumns(rows.def)); err != nil {
			return nil, err
		}
		if err := rows.read(b); err != nil {
			return nil, errors.Join(rows.broken, ignoreEOF(err))
		}
		index = s.note(b, index[:0])
		if len(index) == 0 {
			continue
		}
		if err := rows.again(whole); err != nil {
			return nil, err
		}
		if err := late.add(whole, index); err != nil {
			return nil, err
		}
	}
}

// note takes notice of the rows of a batch and appends the stragglers to index.
func (s *survey) note(b Batch, index []int32) []int32 {
	lanes, keys, attempts := orderOf(b)
	var l *laneOrder
	var known int32
	var limit orderKey
	for i, n := range lanes {
		if l == nil || n != known {
			l, known = s.lane(n), n
			limit = l.upTo(s.chunks - 2)
		}
		k := keyAt(keys, attempts, i)
		if k.less(limit) {
			index = append(index, int32(i)) //nolint:gosec // within a batch
		} else if l.max.less(k) {
			l.max = k
		}
	}
	return index
}

func (s *survey) endChunk() {
	for _, l := range s.lanes {
		if n := len(l.history); n == 0 || l.history[n-1].max.less(l.max) {
			l.history = append(l.history, laneMax{s.chunks, l.max})
		}
	}
	s.chunks++
}

// again reads the rows of the last read once more, with all columns.
func (s *spoolFile) again(b Batch) error {
	want := s.want
	s.want = nil
	if err := s.st.selectColumns(s.allColumns()); err != nil {
		return err
	}
	s.st.next -= s.last
	err := s.st.fill(b)
	s.want = want
	return err
}

func (s *spoolFile) allColumns() []string {
	names := make([]string, len(s.def.Columns))
	for i, c := range s.def.Columns {
		names[i] = c.Name
	}
	return names
}

// entry is a row to be sorted: its key and where it stands.
type entry struct {
	key orderKey
	at  int32
}

// sortEntries sorts by key and keeps rows of one key as they stand. Rows of a
// lane come almost in order, which insertion sorts at once; when it has to
// move too much, a radix sort takes over.
func sortEntries(e, scratch []entry) {
	moves, limit := 0, 4*len(e)
	for i := 1; i < len(e); i++ {
		x := e[i]
		j := i
		for ; j > 0 && x.key.less(e[j-1].key); j-- {
			e[j] = e[j-1]
		}
		e[j] = x
		if moves += i - j; moves > limit {
			radixSort(e, scratch)
			return
		}
	}
}

const (
	radixBits = 11
	radixSize = 1 << radixBits
)

// radixSort is a stable LSD radix sort over k; attempts other than 0 are rare
// and left to a comparing sort.
func radixSort(e, scratch []entry) {
	lo, hi := e[0].key.k, e[0].key.k
	for i := range e {
		if e[i].key.attempt != 0 {
			slices.SortStableFunc(e, func(a, b entry) int { return compareKeys(a.key, b.key) })
			return
		}
		lo, hi = min(lo, e[i].key.k), max(hi, e[i].key.k)
	}
	span := uint64(hi) - uint64(lo) //nolint:gosec // right modulo 2⁶⁴
	from, to := e, scratch[:len(e)]
	for shift := 0; shift < 64 && span>>shift > 0; shift += radixBits {
		var count [radixSize + 1]int
		for i := range from {
			count[(uint64(from[i].key.k)-uint64(lo))>>shift%radixSize+1]++ //nolint:gosec // right modulo 2⁶⁴
		}
		for i := range radixSize {
			count[i+1] += count[i]
		}
		for i := range from {
			d := (uint64(from[i].key.k) - uint64(lo)) >> shift % radixSize //nolint:gosec // right modulo 2⁶⁴
			to[count[d]] = from[i]
			count[d]++
		}
		from, to = to, from
	}
	if &from[0] != &e[0] {
		copy(e, from)
	}
}
