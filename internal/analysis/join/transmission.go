package join

import (
	"amqpperf/format"
	"amqpperf/internal/analysis/clock"
)

// transmission is one send row on its way to merged rows.
type transmission struct {
	joiner  *Joiner
	log     *sendLog
	batch   *format.Send
	row     int
	shift   clock.Alignment
	primary bool // the primary row is out
}

// emit adds one row per subscription in order, and one per extra copy. found
// are the arrivals, by subscription and instant.
func (t *transmission) emit(found []int32) {
	j := t.joiner
	destination := t.batch.Destination.Values[t.batch.Destination.Codes[t.row]]
	sent := t.batch.Sent[t.row]
	if sent != format.Null {
		sent += t.shift.Shift
	}
	for _, sub := range j.subs.expected[destination] {
		for len(found) > 0 && j.arrivals.sub[found[0]] < sub {
			found = t.copies(found)
		}
		if len(found) > 0 && j.arrivals.sub[found[0]] == sub {
			found = t.copies(found)
			continue
		}
		if j.subs.list[sub].expects(sent) {
			t.missing(sub)
		}
	}
	for len(found) > 0 {
		found = t.copies(found)
	}
	if !t.primary {
		t.missing(-1)
	}
}

// copies adds the rows of all arrivals in one subscription and returns the rest.
func (t *transmission) copies(found []int32) []int32 {
	a := t.joiner.arrivals
	sub := a.sub[found[0]]
	n := int32(0)
	for len(found) > 0 && a.sub[found[0]] == sub {
		t.send(t.pair(a.input[found[0]]))
		t.joiner.out.arrival(a, found[0], n)
		found = found[1:]
		n++
	}
	return found
}

// missing adds a row without arrival; sub −1 means that none was expected.
func (t *transmission) missing(sub int32) {
	t.send(t.shift)
	name, named := "", false
	if sub >= 0 && !t.joiner.subs.list[sub].queue {
		name, named = t.joiner.subs.list[sub].name, true
	}
	fate := t.fate(sub)
	t.joiner.out.noArrival(name, named, fate)
	if fate == format.Lost {
		t.joiner.acc.lose(sub)
	}
}

// fate says what a row without arrival means: lost if the broker took the
// message and a subscription that was attached did not deliver it, unknown if
// there was no answer, "" if no arrival was to be expected.
func (t *transmission) fate(sub int32) string {
	destination := t.batch.Destination.Values[t.batch.Destination.Codes[t.row]]
	// Without an expected subscription an arrival was due only if none is known
	// for the destination: a topic message before the first subscription is not lost.
	due := sub >= 0 || len(t.joiner.subs.expected[destination]) == 0
	if len(t.joiner.recvs) == 0 || !due {
		return ""
	}
	switch t.batch.Outcome.Values[t.batch.Outcome.Codes[t.row]] {
	case format.Accepted, format.Presettled:
		return format.Lost
	case format.Unsettled, format.Failed:
		return format.Unknown
	}
	return ""
}

// pair returns how the clock of the sender stands to that of the receiver of
// an arrival.
func (t *transmission) pair(input int32) clock.Alignment {
	return t.joiner.clocks.pairs[t.log.in][input]
}

func (t *transmission) send(bound clock.Alignment) {
	t.joiner.out.send(t.batch, t.row, t.shift.Shift, bound, !t.primary)
	t.primary = true
}

// emitOrphan adds the rows of arrivals that no send row belongs to: all are of
// one message. What is known of its sending is in its stamp.
func (j *Joiner) emitOrphan(rows []int32) {
	a := j.arrivals
	n := int32(0)
	for i, row := range rows {
		n++
		if i == 0 || a.sub[row] != a.sub[rows[i-1]] {
			n = 0
		}
		shift, pair := j.clocks.stamped(a.input[row], a.rows.Sender[row], j.recvs[a.input[row]].anchor)
		j.out.unlogged(j.run, a, row, shift, pair, i == 0)
		j.out.arrival(a, row, n)
	}
	j.acc.orphan(j, rows)
}
