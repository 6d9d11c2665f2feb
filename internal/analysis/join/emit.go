package join

import "amqpperf/format"

// rows are merged rows as references: what becomes of them is only copied when
// they are asked for.
type rows struct {
	send  []int32 // row of the send batch, −1: no send log has the message
	recv  []int32 // delivery, −1: none
	sub   []int32 // without delivery: the subscription that should have had it, −1: none
	copy  []int32 // 0 the first arrival
	flags []uint8

	orphans int // rows without send row
	missing int // rows without delivery
}

const (
	primary uint8 = 1 << iota
	fateLost
	fateUnknown
)

func (o *rows) len() int { return len(o.send) }

func (o *rows) empty() {
	o.orphans, o.missing = 0, 0
	o.send, o.recv, o.sub, o.copy, o.flags = o.send[:0], o.recv[:0], o.sub[:0], o.copy[:0], o.flags[:0]
}

func (o *rows) add(send, recv, sub, number int32, flags uint8) {
	if send < 0 {
		o.orphans++
	}
	if recv < 0 {
		o.missing++
	}
	o.send, o.recv, o.sub = append(o.send, send), append(o.recv, recv), append(o.sub, sub)
	o.copy, o.flags = append(o.copy, number), append(o.flags, flags)
}

// ordinary adds a row of a message that arrived once, where it was to.
func (o *rows) ordinary(send, recv int32) {
	k := len(o.send)
	if k == cap(o.send) || k == cap(o.recv) || k == cap(o.sub) || k == cap(o.copy) || k == cap(o.flags) {
		o.add(send, recv, -1, 0, primary)
		return
	}
	o.send, o.recv, o.sub, o.copy, o.flags = o.send[:k+1], o.recv[:k+1], o.sub[:k+1], o.copy[:k+1], o.flags[:k+1]
	o.send[k], o.recv[k], o.sub[k], o.copy[k], o.flags[k] = send, recv, -1, 0, primary
}

// work is the chunk being joined.
type work struct {
	log    *sendLog // nil: a chunk that no send log has
	b      *format.Send
	d      *deliveries
	chunk  int32
	out    rows
	next   int // rows of out that were passed on
	part   int // rows to be passed on at a time
	active bool
}

// emit makes the rows of a chunk: by send row, in the order of the send log,
// each with its deliveries by subscription; what no send log has before the
// next row of its producer, or at the end.
func (j *Joiner) emit(run int32, from, to int) {
	w, m := &j.work, &j.matcher
	w.out.empty()
	w.next = 0
	e := emitter{j: j, w: w, b: w.b, d: w.d}
	if w.b != nil {
		e.fates = room8(e.fates, len(w.b.Outcome.Values))
		for c, v := range w.b.Outcome.Values {
			e.fates[c] = fateOf(v)
		}
		if e.single = len(w.b.Destination.Values) == 1; e.single {
			e.expected = j.subs.expected[w.b.Destination.Values[0]]
		}
	}
	usual := int32(-1) // the only subscription that expects messages
	if e.single && len(e.expected) == 1 {
		usual = e.expected[0]
	}
	for i := from; i < to; i++ {
		if w.b.Run.Codes[i] != run {
			j.tally.otherRuns++
			continue
		}
		at := m.bucket[i-from]
		if first := m.start[at]; usual >= 0 && m.start[at+1]-first == 1 {
			if r := m.sorted[first]; e.d.sub[r] == usual && e.d.seq[r] == e.b.Seq[i] && e.d.attempt[r] == e.b.Attempt[i] {
				w.out.ordinary(int32(i), r) //nolint:gosec // a batch is small
				continue
			}
		}
		e.transmission(int32(i), m.sorted[m.start[at]:m.start[at+1]])
	}
	for i := range m.slots {
		last := m.slots[i].base + m.slots[i].n
		e.orphans(m.sorted[m.start[last]:m.start[last+1]])
	}
	w.active = true
}

func room8(s []uint8, n int) []uint8 {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]uint8, n)
}

func fateOf(outcome string) uint8 {
	switch outcome {
	case format.Accepted, format.Presettled:
		return fateLost
	case format.Unsettled, format.Failed:
		return fateUnknown
	}
	return 0
}

type emitter struct {
	j        *Joiner
	w        *work
	b        *format.Send
	d        *deliveries
	fates    []uint8 // by code of the outcome
	single   bool    // one destination only
	expected []int32
	primary  uint8 // for the next row
}

// transmission adds the rows of one send row: one per subscription that should
// have had the message or did, and one per extra copy.
func (e *emitter) transmission(i int32, found []int32) {
	for n, r := range found { // what comes before the message is not of it
		if e.d.seq[r] == e.b.Seq[i] && e.d.attempt[r] == e.b.Attempt[i] {
			if n > 0 {
				e.orphans(found[:n])
				found = found[n:]
			}
			break
		}
		if n == len(found)-1 {
			e.orphans(found)
			found = nil
		}
	}
	expected := e.expected
	if !e.single {
		expected = e.j.subs.expected[e.b.Destination.Values[e.b.Destination.Codes[i]]]
	}
	e.primary = primary
	e.fanOut(i, found, expected)
}

// fanOut walks the subscriptions that should have a message and its arrivals.
func (e *emitter) fanOut(i int32, found, expected []int32) {
	sent := e.b.Sent[i]
	if sent != format.Null {
		sent += e.w.log.clock.shift(sent)
	}
	for _, sub := range expected {
		for len(found) > 0 && e.d.sub[found[0]] < sub {
			found = e.copies(i, found)
		}
		if len(found) > 0 && e.d.sub[found[0]] == sub {
			found = e.copies(i, found)
			continue
		}
		if e.j.subs.list[sub].expects(sent) {
			e.missing(i, sub, true)
		}
	}
	for len(found) > 0 {
		found = e.copies(i, found)
	}
	if e.primary != 0 {
		// Without an expected subscription an arrival was due only if none is known
		// for the destination: a topic message before the first subscription is not lost.
		e.missing(i, -1, len(expected) == 0)
	}
}

// copies adds the rows of all arrivals in one subscription and returns the rest.
func (e *emitter) copies(i int32, found []int32) []int32 {
	sub := e.d.sub[found[0]]
	n := int32(0)
	for len(found) > 0 && e.d.sub[found[0]] == sub {
		e.w.out.add(i, found[0], -1, n, e.primary)
		e.primary = 0
		found = found[1:]
		n++
	}
	return found
}

// missing adds a row without arrival. It is lost if the broker took the message
// and one was due, unknown if there was no answer.
func (e *emitter) missing(i, sub int32, due bool) {
	var fate uint8
	if due && len(e.j.recvs) > 0 {
		fate = e.fates[e.b.Outcome.Codes[i]]
	}
	if fate == fateLost {
		e.j.tally.lose(sub)
	}
	e.w.out.add(i, -1, sub, 0, e.primary|fate)
	e.primary = 0
}

// orphans adds the rows of arrivals that no send row belongs to, sorted.
func (e *emitter) orphans(found []int32) {
	d := e.d
	n := int32(0)
	for k, r := range found {
		n++
		flags := uint8(0)
		switch {
		case k == 0 || d.seq[r] != d.seq[found[k-1]] || d.attempt[r] != d.attempt[found[k-1]]:
			n, flags = 0, primary
			e.j.tally.orphanSenders[e.j.found.lanes.list[d.lane[r]].key.sender]++
		case d.sub[r] != d.sub[found[k-1]]:
			n = 0
		}
		e.w.out.add(-1, r, -1, n, flags)
	}
}
