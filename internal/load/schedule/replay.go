package schedule

import (
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math"
	"math/bits"
)

// Rows are recorded arrivals, one per index of all slices, in order of time.
type Rows struct {
	// Offsets in ns from any origin: what counts is the difference from the first.
	Offsets []int64
	// Sizes of bodies in bytes; nil if not known, −1 where not known.
	Sizes []int32
	// Destinations as indices into Names; nil if not known, −1 where not known.
	Destinations []int32
	Names        []string
}

// Speed is how many times faster a replay runs than the recording, Num/Den.
type Speed struct {
	Num int64 `json:"num"`
	Den int64 `json:"den"`
}

// maxSpeed bounds both parts of a Speed.
const maxSpeed = 1_000_000_000

// Replay is a schedule of recorded arrivals: message i is intended at
// ⌊(t[i]−t[0])/speed⌋ ns, from the recording and not from the message before it,
// so nothing drifts.
//
// In a loop, message i of cycle c is intended at ⌊(c·period + t[i]−t[0])/speed⌋
// with period = t[last]−t[0] plus the mean gap, ⌊(t[last]−t[0])/(n−1)⌋: the first
// message of a cycle follows the last one of the cycle before after a mean gap,
// and the rate stays that of the recording.
type Replay struct {
	rows   Rows
	speed  Speed
	period int64 // 0: no loop
	n      int64
}

// NewReplay returns the schedule of the rows, which are not copied and must not
// change. Offsets that decrease are an error, as are sizes below −1 and unknown
// destinations; a loop needs two different offsets.
func NewReplay(rows Rows, speed Speed, loop bool) (*Replay, error) {
	if speed.Num <= 0 || speed.Den <= 0 || speed.Num > maxSpeed || speed.Den > maxSpeed {
		return nil, fmt.Errorf("speed %d/%d: must be above 0, with at most 9 digits", speed.Num, speed.Den)
	}
	if err := rows.check(); err != nil {
		return nil, err
	}
	r := &Replay{rows: rows, speed: speed, n: int64(len(rows.Offsets))}
	if !loop {
		return r, nil
	}
	last := r.n - 1
	span := rows.Offsets[last] - rows.Offsets[0]
	if span == 0 {
		return nil, fmt.Errorf("a loop needs rows at two different instants at least, to have a rate")
	}
	if r.period = span + span/last; r.period < 0 {
		return nil, fmt.Errorf("a recording of more than 292 years cannot be looped")
	}
	r.n = Unbounded
	return r, nil
}

func (r *Rows) check() error {
	n := len(r.Offsets)
	switch {
	case n == 0:
		return fmt.Errorf("no rows to replay")
	case r.Sizes != nil && len(r.Sizes) != n:
		return fmt.Errorf("%d sizes for %d offsets", len(r.Sizes), n)
	case r.Destinations != nil && len(r.Destinations) != n:
		return fmt.Errorf("%d destinations for %d offsets", len(r.Destinations), n)
	}
	for i := range n {
		switch {
		case i > 0 && r.Offsets[i] < r.Offsets[i-1]:
			return fmt.Errorf("row %d: offset %d ns is before the one of row %d", i, r.Offsets[i], i-1)
		case r.Sizes != nil && r.Sizes[i] < -1:
			return fmt.Errorf("row %d: size %d", i, r.Sizes[i])
		case r.Destinations != nil && (r.Destinations[i] < -1 || int(r.Destinations[i]) >= len(r.Names)):
			return fmt.Errorf("row %d: destination %d of %d", i, r.Destinations[i], len(r.Names))
		}
	}
	if first, last := r.Offsets[0], r.Offsets[n-1]; last-first < 0 {
		return fmt.Errorf("rows from %d to %d ns: more than 292 years", first, last)
	}
	return nil
}

// Hash returns "sha256:" and the digest of the arrivals: offsets from the first,
// sizes and names of destinations, row by row.
func (r *Rows) Hash() string {
	h := sha256.New()
	var b []byte
	for i, at := range r.Offsets {
		b = binary.LittleEndian.AppendUint64(b[:0], uint64(at-r.Offsets[0]))
		size, name := int32(-1), ""
		if r.Sizes != nil {
			size = r.Sizes[i]
		}
		b = binary.LittleEndian.AppendUint32(b, uint32(size))
		known := r.Destinations != nil && r.Destinations[i] >= 0
		if known {
			name = r.Names[r.Destinations[i]]
		}
		b = binary.AppendUvarint(b, uint64(len(name)))
		b = append(b, name...)
		h.Write(b)
	}
	return "sha256:" + hex.EncodeToString(h.Sum(nil))
}

// At implements Schedule. Offsets of which the recorded time or the replayed
// one is beyond 292 years are math.MaxInt64.
func (r *Replay) At(i int64) int64 {
	cycle, row := r.row(i)
	hi, lo := bits.Mul64(uint64(cycle), uint64(r.period))
	lo, carry := bits.Add64(lo, uint64(r.rows.Offsets[row]-r.rows.Offsets[0]), 0)
	if hi+carry != 0 {
		return math.MaxInt64
	}
	hi, lo = bits.Mul64(lo, uint64(r.speed.Den))
	return quotient(hi, lo, uint64(r.speed.Num))
}

// N implements Schedule.
func (r *Replay) N() int64 { return r.n }

// WithN returns the same schedule with at most n messages.
func (r *Replay) WithN(n int64) *Replay {
	c := *r
	c.n = max(0, min(n, r.n))
	return &c
}

// Within returns the number of messages intended in [0, d) ns.
func (r *Replay) Within(d int64) int64 {
	if d <= 0 {
		return 0
	}
	return Due(r, 0, d-1)
}

// Size returns the size of the body of message i, and whether it is known.
func (r *Replay) Size(i int64) (int32, bool) {
	if r.rows.Sizes == nil {
		return 0, false
	}
	_, row := r.row(i)
	size := r.rows.Sizes[row]
	return max(0, size), size >= 0
}

// Destination returns the index into Names of the destination of message i, −1
// if not known.
func (r *Replay) Destination(i int64) int32 {
	if r.rows.Destinations == nil {
		return -1
	}
	_, row := r.row(i)
	return r.rows.Destinations[row]
}

// Names returns the destinations.
func (r *Replay) Names() []string { return r.rows.Names }

// row returns which row of which cycle message i is.
func (r *Replay) row(i int64) (cycle, row int64) {
	if n := int64(len(r.rows.Offsets)); i >= n {
		return i / n, i % n
	}
	return 0, i
}
