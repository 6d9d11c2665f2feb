package join

import (
	"math"
	"slices"
)

// latest is the earliest arrival of the messages looked at last.
type latest struct {
	earliest
	// least is its instant, the largest number without one; from is the delivery
	// of it whose place is not noted yet, −1: none. Mostly nobody asks for it.
	least int64
	from  int32
}

// judge marks the first arrivals that were overtaken, from the last message of
// every producer to the first.
func (m *matcher) judge(j *Joiner, d *deliveries, order int64) {
	m.late = slices.Grow(m.late[:0], d.len())[:d.len()]
	clear(m.late)
	m.anyLate = false
	if order == noOrder {
		return
	}
	for len(m.seen) < len(j.subs.list) {
		m.seen, m.stamp = append(m.seen, latest{}), append(m.stamp, 0)
	}
	for i := range m.slots {
		s := &m.slots[i]
		m.tick++
		rows := m.sorted[m.start[s.base]:m.start[s.base+s.n+1]]
		lane := j.found.lanes.list[s.lane]
		order := order
		if lane.splits {
			order = 2 * int64(j.work.chunk)
		}
		m.judgeLane(j, d, lane, rows, order)
	}
}

// judgeLane judges the deliveries of a producer, which are sorted.
func (m *matcher) judgeLane(j *Joiner, d *deliveries, lane *lane, rows []int32, order int64) {
	for k := len(rows) - 1; k >= 0; {
		r := rows[k]
		seq, end := d.seq[r], k
		k--
		if k < 0 || d.seq[rows[k]] != seq {
			// Mostly a message arrives once, and before all later ones.
			if e := m.later(lane, d.sub[r], order); m.at[r] < e.least && !lane.splits {
				e.least, e.from = m.at[r], r
				continue
			}
		}
		for k >= 0 && d.seq[rows[k]] == seq {
			k--
		}
		m.judgeSeq(j, d, lane, rows[k+1:end+1], order)
	}
}

// judgeSeq judges the deliveries of one seq, which do not overtake each other.
func (m *matcher) judgeSeq(j *Joiner, d *deliveries, lane *lane, same []int32, order int64) {
	seq := d.seq[same[0]]
	for n, r := range same {
		first := n == 0 || d.sub[same[n-1]] != d.sub[r] || d.attempt[same[n-1]] != d.attempt[r]
		e := m.settle(lane, d, d.sub[r], order)
		if lane.splits {
			if lane.chunk(seq, d.attempt[r]); lane.place(seq) != order { // further attempts are in other chunks
				if e = lane.track(d.sub[r]).after(lane.place(seq)); e == nil {
					continue
				}
			}
		}
		if !first || !e.known || e.at > m.at[r] {
			continue
		}
		if e.overtook(m.at[r], place{d.receiver[r], d.consumer[r], d.row[r]}) {
			m.late[r], m.anyLate = true, true
			j.tally.overtaken(d.sub[r], e.seq-seq, m.at[r]-e.at)
		}
	}
	for _, r := range same {
		e := &m.seen[d.sub[r]]
		if m.at[r] <= e.least {
			e.add(m.at[r], seq, place{d.receiver[r], d.consumer[r], d.row[r]})
			e.least = e.at
		}
	}
}

// later returns the earliest arrival of the producer's later messages in a
// subscription, the place of which may not be noted.
func (m *matcher) later(l *lane, sub int32, order int64) *latest {
	e := &m.seen[sub]
	if m.stamp[sub] != m.tick {
		m.stamp[sub] = m.tick
		*e = latest{least: math.MaxInt64, from: -1}
		if after := l.track(sub).after(order); after != nil {
			e.earliest = *after
			e.more = slices.Clone(e.more) // more of them are added here
			if e.known {
				e.least = e.at
			}
		}
	}
	return e
}

// settle is later with the place noted.
func (m *matcher) settle(l *lane, d *deliveries, sub int32, order int64) *earliest {
	e := m.later(l, sub, order)
	if r := e.from; r >= 0 {
		e.earliest = earliest{}
		e.add(m.at[r], d.seq[r], place{d.receiver[r], d.consumer[r], d.row[r]})
		e.from = -1
	}
	return &e.earliest
}
