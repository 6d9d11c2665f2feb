package join

import (
	"cmp"
	"slices"

	"amqpperf/format"
)

// matcher joins one chunk at a time. Its memory is reused.
type matcher struct {
	slotOf []int32 // lane → 1 + slot in this chunk
	slots  []slot
	bucket []int32 // by send row: where its deliveries are
	row    []int32 // by bucket: send row, −1 behind the last of a producer
	start  []int32 // by bucket: first of its deliveries in sorted
	place  []int32 // by delivery: bucket
	sorted []int32 // deliveries by bucket

	at      []int64 // by delivery: received on the reference clock
	late    []bool  // by delivery
	anyLate bool
	oneSub  bool // all deliveries are of one subscription

	seen  []latest // by subscription: arrivals of later messages
	stamp []int32  // by subscription: slot that seen is about
	tick  int32
}

// slot is a producer in a chunk; its buckets are base…base+n, the last one for
// messages behind its last row.
type slot struct {
	lane    int32
	base, n int32
	next    int32 // while rows are counted
	first   int64 // the least seq
	dense   bool  // its n rows are attempt 0 of the seqs from first on
}

// match sorts the deliveries of a chunk to the send rows from…to of b.
func (m *matcher) match(j *Joiner, b *format.Send, run int32, from, to int, d *deliveries, order int64) {
	m.lanes(j, b, run, from, to, d)
	m.place = room(m.place, d.len())
	buckets := len(m.row)
	m.start = room(m.start, buckets+1)
	clear(m.start)
	for r, lane := range d.lane {
		at := m.find(&m.slots[m.slotOf[lane]-1], b, d.seq[r], d.attempt[r])
		m.place[r] = at
		m.start[at]++
	}
	total := int32(0)
	for i, n := range m.start {
		m.start[i] = total
		total += n
	}
	m.sorted = room(m.sorted, d.len())
	for r, at := range m.place {
		m.sorted[m.start[at]] = int32(r)
		m.start[at]++
	}
	copy(m.start[1:], m.start[:buckets]) // back to the beginnings
	m.start[0] = 0
	m.align(j, d)
	m.oneSub = uniform(d.sub)
	for i := range buckets {
		if rows := m.sorted[m.start[i]:m.start[i+1]]; len(rows) > 1 {
			m.sort(d, rows)
		}
	}
	m.judge(j, d, order)
}

// lanes finds the producers of a chunk and gives every send row its bucket.
func (m *matcher) lanes(j *Joiner, b *format.Send, run int32, from, to int, d *deliveries) {
	for _, s := range m.slots {
		m.slotOf[s.lane] = 0
	}
	m.slots = m.slots[:0]
	for len(m.slotOf) < len(j.found.lanes.list) {
		m.slotOf = append(m.slotOf, 0)
	}
	m.bucket = room(m.bucket, to-from)
	plain := b != nil && from < to && b.Attempt[from] == 0 && uniform(b.Attempt[from:to])
	for i := from; i < to; i++ {
		m.bucket[i-from] = -1
		if b.Run.Codes[i] != run {
			continue
		}
		lane := j.found.lanes.of(b.Sender[i], b.Producer[i])
		n := m.slotOf[lane] - 1
		if n < 0 {
			n = m.slot(lane)
		}
		m.bucket[i-from] = n
		m.slots[n].n++
	}
	for _, lane := range d.lane { // of a chunk without send rows
		if m.slotOf[lane] == 0 {
			m.slot(lane)
		}
	}
	base := int32(0)
	for i := range m.slots {
		m.slots[i].base, m.slots[i].next = base, base
		base += m.slots[i].n + 1
	}
	m.row = room(m.row, int(base))
	for i := from; i < to; i++ {
		if n := m.bucket[i-from]; n >= 0 {
			s := &m.slots[n]
			m.bucket[i-from], m.row[s.next] = s.next, int32(i)
			s.next++
		}
	}
	for i := range m.slots {
		s := &m.slots[i]
		m.row[s.next] = -1
		if s.n > 0 {
			s.first = b.Seq[m.row[s.base]]
			s.dense = plain && b.Seq[m.row[s.next-1]]-s.first == int64(s.n)-1 // rows ascend
		}
	}
}

func (m *matcher) slot(lane int32) int32 {
	if n := m.slotOf[lane]; n > 0 {
		return n - 1
	}
	m.slots = append(m.slots, slot{lane: lane})
	m.slotOf[lane] = int32(len(m.slots))
	return int32(len(m.slots) - 1)
}

// find returns the bucket of a message: that of its send row, else that of the
// next row of the producer.
func (m *matcher) find(s *slot, b *format.Send, seq int64, attempt int32) int32 {
	if s.n == 0 {
		return s.base
	}
	// Mostly seq counts without gaps and every message is sent once.
	if guess := seq - s.first; guess >= 0 && guess < int64(s.n) {
		at := s.base + int32(guess)
		if s.dense && attempt == 0 {
			return at
		}
		if i := m.row[at]; b.Seq[i] == seq && b.Attempt[i] == attempt {
			return at
		}
	}
	lo, hi := s.base, s.base+s.n
	for lo < hi {
		mid := lo + (hi-lo)/2
		i := m.row[mid]
		if b.Seq[i] < seq || b.Seq[i] == seq && b.Attempt[i] < attempt {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	return lo
}

// align moves the instants of receipt onto the reference clock.
func (m *matcher) align(j *Joiner, d *deliveries) {
	m.at = slices.Grow(m.at[:0], d.len())[:d.len()]
	if j.clocks.sameShift {
		shift := j.clocks.recvs[0].offset
		for r, t := range d.received {
			m.at[r] = t + shift
		}
		return
	}
	for r, t := range d.received {
		m.at[r] = t + j.clocks.recvs[d.input[r]].shift(t)
	}
}

// sort puts deliveries in the order of the merged rows: by message,
// subscription and instant.
func (m *matcher) sort(d *deliveries, rows []int32) {
	compare := func(x, y int32) int {
		if c := cmp.Compare(d.seq[x], d.seq[y]); c != 0 {
			return c
		}
		return cmp.Or(
			cmp.Compare(d.attempt[x], d.attempt[y]),
			cmp.Compare(d.sub[x], d.sub[y]),
			cmp.Compare(m.at[x], m.at[y]),
			cmp.Compare(d.receiver[x], d.receiver[y]),
			cmp.Compare(d.consumer[x], d.consumer[y]),
			cmp.Compare(d.row[x], d.row[y]), // rows of one consumer stand in order of receipt
		)
	}
	if !slices.IsSortedFunc(rows, compare) {
		slices.SortFunc(rows, compare)
	}
}
