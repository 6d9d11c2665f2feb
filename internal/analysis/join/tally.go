package join

import (
	"math/bits"

	"amqpperf/format"
	"amqpperf/internal/analysis/clock"
)

// tally counts the rows of the join.
type tally struct {
	attempts, written, acked, resent, unlogged int64
	outcomes                                   []int64 // by code of the output
	lost, unknown, duplicate, redelivered      int64
	otherRuns                                  int64 // transmissions
	subs                                       []subTally
	lostNowhere                                int64 // lost where no subscription is known
	orphanSenders                              map[int32]int64
	causality                                  clock.Causality
	transit                                    histogram
	worst                                      int64 // bound
	unbounded                                  bool  // a bound is unknown
}

// histogram counts spans in buckets a sixteenth wide: enough for the share that
// a bound has in a median.
type histogram struct {
	n      int64
	counts [64 << histogramBits]int64
}

const histogramBits = 4

func (h *histogram) add(span int64) {
	v := uint64(max(span, 0))
	h.n++
	if v < 1<<histogramBits {
		h.counts[v]++
		return
	}
	shift := bits.Len64(v) - histogramBits - 1
	h.counts[(shift+1)<<histogramBits|int(v>>shift)&(1<<histogramBits-1)]++
}

// median returns the lower edge of the bucket of the median, 0 without spans.
func (h *histogram) median() int64 {
	var sum int64
	for i, n := range h.counts {
		if sum += n; sum > 0 && sum >= (h.n+1)/2 {
			if i < 1<<histogramBits {
				return int64(i)
			}
			return int64(1<<histogramBits|i&(1<<histogramBits-1)) << (i>>histogramBits - 1)
		}
	}
	return 0
}

// subTally counts in one subscription.
type subTally struct {
	received, lost, reordered, distance, late int64
}

func newTally(subs int) tally {
	return tally{subs: make([]subTally, subs), orphanSenders: map[int32]int64{}}
}

// sent counts the send side of a primary row.
func (t *tally) sent(b *format.Merged, k int) {
	t.attempts++
	if b.Attempt[k] > 0 {
		t.resent++
	}
	if b.Sent[k] != format.Null {
		t.written++
	}
	if b.Acked[k] != format.Null {
		t.acked++
	}
	c := int(b.Outcome.Codes[k])
	if c >= len(t.outcomes) {
		t.outcomes = append(t.outcomes, make([]int64, c+1-len(t.outcomes))...)
	}
	t.outcomes[c]++
}

// fate counts a row without arrival.
func (t *tally) fate(flags uint8) {
	switch flags & (fateLost | fateUnknown) {
	case fateLost:
		t.lost++
	case fateUnknown:
		t.unknown++
	}
}

// lose notes in which subscription a message was lost, −1 = none is known.
func (t *tally) lose(sub int32) {
	if sub < 0 {
		t.lostNowhere++
		return
	}
	t.subs[sub].lost++
}

// overtaken counts a reordered first arrival: by how many messages and how long
// after the first one that overtook it.
func (t *tally) overtaken(sub int32, distance, late int64) {
	s := &t.subs[sub]
	s.reordered++
	s.distance, s.late = max(s.distance, distance), max(s.late, late)
}

// arrive counts a first arrival.
func (t *tally) arrive(sub int32, sent, received, bound int64) {
	t.subs[sub].received++
	if bound == format.Null {
		t.unbounded = true
	} else {
		t.worst = max(t.worst, bound)
	}
	if sent != format.Null {
		t.causality.Add(received-sent, bound)
		t.transit.add(received - sent)
	}
}
