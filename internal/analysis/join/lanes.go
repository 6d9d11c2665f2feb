package join

import (
	"math"
	"sort"
)

// producerKey identifies a producer within a run.
type producerKey struct{ sender, producer int32 }

// lane is what is known of one producer: where its messages stand in the send
// logs, and in which order they arrived.
type lane struct {
	key    producerKey
	spans  []span // ascending; none: no send log has the producer
	at     int    // the span of the last look-up
	tracks []track
	hint   int  // the track of the last look-up
	splits bool // some chunk begins with further attempts of a seq

	// Of the last look-up: messages from…to−1 are in chunk here, whatever their attempt.
	from, to int64
	here     int32

	last        position // while send logs are scanned
	met         *sendLog // whose scan met it
	destination int32    // code of the last row's in that log
	block       int64    // of the last message without a send log
	blockKnown  bool
	orphans     int32 // and the chunk that it is in
}

// span says that the rows from (seq, attempt) on are in a chunk. home is that
// chunk, or an earlier one if attempts of seq are already there.
type span struct {
	seq         int64
	attempt     int32
	chunk, home int32
}

// chunk returns the chunk that a message belongs to: the one that holds it, or
// would hold it if the send log knew it. The lane must have spans.
func (l *lane) chunk(seq int64, attempt int32) int32 {
	if seq >= l.from && seq < l.to {
		return l.here
	}
	return l.look(seq, attempt)
}

func (l *lane) look(seq int64, attempt int32) int32 {
	s := l.spans
	at := l.at
	if s[at].after(seq, attempt) || at+1 < len(s) && !s[at+1].after(seq, attempt) {
		if at+1 < len(s) && !s[at+1].after(seq, attempt) && (at+2 == len(s) || s[at+2].after(seq, attempt)) {
			at++
		} else {
			at = max(sort.Search(len(s), func(i int) bool { return s[i].after(seq, attempt) })-1, 0)
		}
		l.at = at
	}
	l.from, l.to, l.here = s[at].seq+1, math.MaxInt64, s[at].chunk
	if at+1 < len(s) {
		l.to = s[at+1].seq
	}
	return s[at].chunk
}

// Where attempts of one seq are in several chunks, they do not overtake each
// other although one chunk follows the other. Then places are twice the number
// of a chunk, and such a seq has the odd place behind the first of its chunks.

// place returns the place of a message among those of the lane, which must be
// that of the last look-up: greater for a greater seq or equal, the same for
// all attempts.
func (l *lane) place(seq int64) int64 {
	s := &l.spans[l.at]
	if s.seq == seq && s.home != s.chunk {
		return 2*int64(s.home) + 1
	}
	if n := l.at + 1; n < len(l.spans) && l.spans[n].seq == seq {
		return 2*int64(l.spans[n].home) + 1
	}
	return 2 * int64(s.chunk)
}

// homeOf is the first chunk with attempts of the last seq of a span.
func (s *span) homeOf(seq int64) int32 {
	if s.seq == seq {
		return s.home
	}
	return s.chunk
}

func (s *span) after(seq int64, attempt int32) bool {
	return s.seq > seq || s.seq == seq && s.attempt > attempt
}

// lanes finds producers by their key.
type lanes struct {
	list   []*lane
	sender map[int32]*lanesOfSender
	last   int32   // sender of the last look-up
	low    []int32 // its producers
}

type lanesOfSender struct {
	low  []int32         // by producer, 0 = none, else 1 + index into the list
	high map[int32]int32 // producers that are no small numbers
}

const lowProducers = 1 << 16

func newLanes() *lanes { return &lanes{sender: map[int32]*lanesOfSender{}} }

// of returns the number of a producer, adding it if need be.
func (l *lanes) of(sender, producer int32) int32 {
	if sender == l.last && uint(producer) < uint(len(l.low)) && l.low[producer] > 0 { //nolint:gosec // below 0 is beyond
		return l.low[producer] - 1
	}
	return l.find(sender, producer)
}

func (l *lanes) find(sender, producer int32) int32 {
	s := l.sender[sender]
	if s == nil {
		s = &lanesOfSender{high: map[int32]int32{}}
		l.sender[sender] = s
	}
	n := int32(-1)
	if producer >= 0 && int(producer) < len(s.low) {
		n = s.low[producer] - 1
	}
	if n < 0 {
		n = l.add(s, sender, producer)
	}
	l.last, l.low = sender, s.low
	return n
}

func (l *lanes) add(s *lanesOfSender, sender, producer int32) int32 {
	low := producer >= 0 && producer < lowProducers
	if !low {
		if n, ok := s.high[producer]; ok {
			return n
		}
	}
	n := int32(len(l.list)) //nolint:gosec // a producer takes far more than a byte of memory
	l.list = append(l.list, &lane{key: producerKey{sender, producer}})
	if !low {
		s.high[producer] = n
		return n
	}
	if grow := int(producer) + 1 - len(s.low); grow > 0 {
		s.low = append(s.low, make([]int32, grow)...)
	}
	s.low[producer] = n + 1
	return n
}

// bytes is about what the index takes.
func (l *lanes) bytes() (n int64) {
	for _, p := range l.list {
		n += 200 + 24*int64(cap(p.spans))
		for i := range p.tracks {
			n += 64 + earliestBytes*int64(cap(p.tracks[i].mins))
		}
	}
	return n
}
