package schedule

import (
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
)

// RandomSource names what random schedules are drawn from, for the log: the
// permuted congruential generator of math/rand/v2, whose output is fixed by its
// seed for ever, and the exponential variates of this package.
const RandomSource = "pcg-dxsm/exp58"

// Part is one of Of equal parts of a schedule, K from 1 as users write it
// ("2/5"). The zero value is the whole.
type Part struct {
	K  int64 `json:"k"`
	Of int64 `json:"of"`
}

// maxParts bounds Of, a number of hosts.
const maxParts = 1_000_000

func (p Part) check() error {
	if p != (Part{}) && (p.Of < 1 || p.Of > maxParts || p.K < 1 || p.K > p.Of) {
		return fmt.Errorf("share %d/%d: must be 1/N to N/N, N at most %d", p.K, p.Of, maxParts)
	}
	return nil
}

// process draws the arrivals of a whole schedule one after the other.
type process interface {
	// next goes to the next arrival; false if there is none.
	next(*state) bool
	// offset returns the offset of the arrival that the state stands at.
	offset(*state) int64
}

// state is where a process stands. It is copied by value.
type state struct {
	arrivals rand.PCG // of the process
	marks    rand.PCG // which part an arrival belongs to: does not touch the arrivals
	sum      u128     // of the process, with 58 fractional bits
	index    int64    // arrivals of the whole so far
	phase    uint8    // of the process
}

const (
	blockRows  = 1024
	cacheSlots = 256
)

// block is a run of offsets.
type block struct {
	number int64
	at     [blockRows]int64
}

// sequence gives access by index to what can only be drawn in order.
//
// Offsets are kept in blocks of 1,024, of which the last used 256 (2 MiB; of
// those whose numbers are equal modulo 256, one) stay in memory: reading on, by
// any number of readers that are less than 260,000 messages apart, costs a few ns
// a message and no lock. Of every block drawn so far its start is kept (64 bytes
// a block: 64 MB for 10⁹ messages): going back to a block that was dropped costs
// drawing 1,024 arrivals again, some 100 µs. Reading far ahead draws all between.
type sequence struct {
	process process
	seed    uint64
	part    Part
	limit   int64 // arrivals of the whole
	n       int64 // of the part

	cache [cacheSlots]atomic.Pointer[block]

	mu     sync.Mutex
	starts []state // of the blocks 0, 1, …
}

// newSequence draws the whole once if that is how to know its number: when
// bounded says that the process ends, or when a part has a limit.
func newSequence(p process, seed uint64, part Part, limit int64, bounded bool) (*sequence, error) {
	if err := part.check(); err != nil {
		return nil, err
	}
	if limit < 0 {
		return nil, fmt.Errorf("%d messages: must not be negative", limit)
	}
	s := &sequence{process: p, seed: seed, part: part, limit: limit, n: limit}
	s.starts = []state{{
		arrivals: *rand.NewPCG(seed, 0x61727269766c7300), // "arrivls"
		marks:    *rand.NewPCG(seed, 0x7368617265730000), // "shares"
	}}
	if bounded || (part.Of > 1 && limit != Unbounded) {
		s.n = s.count()
	}
	return s, nil
}

// count draws everything and keeps the starts of the blocks.
func (s *sequence) count() int64 {
	n, at := int64(0), s.starts[0]
	for {
		k := s.draw(&at, nil)
		n += int64(k)
		if k < blockRows {
			return n
		}
		s.starts = append(s.starts, at)
	}
}

// draw goes over the next 1,024 arrivals of the part, or fewer at the end, and
// puts their offsets into b unless that is nil.
func (s *sequence) draw(at *state, b *block) int {
	for k := 0; k < blockRows; {
		if at.index >= s.limit || !s.process.next(at) {
			return k
		}
		at.index++
		if s.part.Of > 1 && int64(at.marks.Uint64()%uint64(s.part.Of)) != s.part.K-1 {
			continue
		}
		if b != nil {
			b.at[k] = s.process.offset(at)
		}
		k++
	}
	return blockRows
}

// At implements Schedule.
func (s *sequence) At(i int64) int64 {
	number := i / blockRows
	b := s.cache[number%cacheSlots].Load()
	if b == nil || b.number != number {
		b = s.load(number)
	}
	return b.at[i%blockRows]
}

// N implements Schedule.
func (s *sequence) N() int64 { return s.n }

func (s *sequence) load(number int64) *block {
	slot := &s.cache[number%cacheSlots]
	s.mu.Lock()
	defer s.mu.Unlock()
	if b := slot.Load(); b != nil && b.number == number {
		return b
	}
	for int64(len(s.starts)) <= number {
		at := s.starts[len(s.starts)-1]
		s.draw(&at, nil)
		s.starts = append(s.starts, at)
	}
	b := &block{number: number}
	at := s.starts[number]
	for k := s.draw(&at, b); k < blockRows; k++ {
		b.at[k] = math.MaxInt64
	}
	if int64(len(s.starts)) == number+1 {
		s.starts = append(s.starts, at)
	}
	slot.Store(b)
	return b
}

// maxDrawn bounds what is drawn before the start: about a minute.
const maxDrawn = 1 << 30

func tooLong(mean float64) error {
	if mean > maxDrawn {
		return fmt.Errorf("about %.2g messages with random arrivals are too many to count beforehand: "+
			"at most %d (give a shorter duration, or none)", mean, int64(maxDrawn))
	}
	return nil
}
