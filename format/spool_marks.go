package format

// marks are sets of seqs, one of each lane, as pages of bits: a run's seqs are
// almost without gaps, so a message takes little more than a bit.
type marks struct {
	lanes map[rowKey]*laneMarks
	known rowKey // of lane
	lane  *laneMarks
	pages int // in all lanes
	limit int // of pages
}

type laneMarks struct {
	pages  map[int64]*markPage
	number int64 // of page
	page   *markPage
}

const (
	markBits = 12 // of a seq, within a page
	// markPages bounds the memory: 32 MiB, for 268 million seqs without gaps.
	markPages = 1 << 16
)

type markPage [1 << markBits / 64]uint64

func newMarks(limit int) *marks { return &marks{lanes: map[rowKey]*laneMarks{}, limit: limit} }

// of returns the marks of the lane that a key belongs to.
func (m *marks) of(key *rowKey) *laneMarks {
	lane := *key
	lane.seq, lane.received = 0, 0
	if m.lane == nil || lane != m.known {
		l := m.lanes[lane]
		if l == nil {
			l = &laneMarks{pages: map[int64]*markPage{}}
			m.lanes[lane] = l
		}
		m.known, m.lane = lane, l
	}
	return m.lane
}

// find returns the page of a seq, nil if there is none.
func (l *laneMarks) find(seq int64) *markPage {
	n := seq >> markBits
	if l.page == nil || n != l.number {
		p := l.pages[n]
		if p == nil {
			return nil
		}
		l.number, l.page = n, p
	}
	return l.page
}

// add marks a key and reports whether it was marked before; ok is false if there
// is no room, because the seqs have too many gaps.
func (m *marks) add(key *rowKey) (was, ok bool) {
	l := m.of(key)
	p := l.find(key.seq)
	if p == nil {
		if m.pages >= m.limit {
			return false, false
		}
		m.pages++
		p = &markPage{}
		l.number, l.page = key.seq>>markBits, p
		l.pages[l.number] = p
	}
	word, bit := markPlace(key.seq)
	was = p[word]&bit != 0
	p[word] |= bit
	return was, true
}

// has reports whether a key is marked.
func (m *marks) has(key *rowKey) bool {
	p := m.of(key).find(key.seq)
	if p == nil {
		return false
	}
	word, bit := markPlace(key.seq)
	return p[word]&bit != 0
}

func markPlace(seq int64) (word int, bit uint64) {
	at := int(seq & (1<<markBits - 1))
	return at / 64, 1 << (at % 64)
}
