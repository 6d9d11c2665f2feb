package schedule

import (
	"fmt"
	"math"
	"math/big"
	"sort"
)

// Ratio is an exact number of messages per second: Num every Den seconds. A
// rate of 0 is a pause. (units.Rate is another type because its zero is "max".)
type Ratio struct {
	Num int64 `json:"num"`
	Den int64 `json:"den"`
}

// Segment is a stretch of a Shape: the rate goes in a straight line from From
// to To within Length ns. Equal rates are a step, two zeros a pause.
type Segment struct {
	From   Ratio `json:"from"`
	To     Ratio `json:"to"`
	Length int64 `json:"length_ns"`
}

// Forever as a number of repetitions is a shape without an end.
const Forever int64 = -1

// maxRate in messages per second keeps an interval at one nanosecond or more.
const maxRate = 1_000_000_000

// maxSegments bounds the memory of a shape from a command line.
const maxSegments = 10_000

// Shape is a rate that changes with time: steps, pauses and ramps, repeated.
//
// With Λ(t) the integral of the rate from 0 to t, message i is intended at
// ⌊inf{t: Λ(t) > i}⌋ ns: where the i-th message is complete, and at the end of
// the pause if a pause begins there. Hence exactly ⌈Λ(d)⌉ messages are intended
// in [0, d), for every d: the number of a segment is the difference of that
// between its ends, fractions of a message are carried over from segment to
// segment and from cycle to cycle, and nothing drifts. A Shape of one step is
// Constant.
//
// With q the common denominator of the rates, Λ at the ends of segments is a
// whole multiple of 1/(2·10⁹·q): all is done in such units, in 128 bits.
type Shape struct {
	spans  []span
	scale  uint64 // 2·10⁹·q: units per message
	area   u128   // units of one cycle
	length int64  // ns of one cycle
	repeat int64
	n      int64
}

// span is a segment in the units of its shape.
type span struct {
	start    int64 // ns from the start of the cycle
	length   uint64
	from, to uint64 // messages per q seconds
	before   u128   // units before it in the cycle
	wide     bool   // the quadratic form needs more than 128 bits
}

// NewShape returns the schedule of the segments one after the other, repeat
// times (at least 1, or Forever). Rates are at most 10⁹/s; their common
// denominator is at most 9·10⁹.
func NewShape(segments []Segment, repeat int64) (*Shape, error) {
	if len(segments) == 0 || len(segments) > maxSegments {
		return nil, fmt.Errorf("schedule of %d segments: 1 to %d", len(segments), maxSegments)
	}
	if repeat != Forever && repeat < 1 {
		return nil, fmt.Errorf("schedule repeated %d times: at least once", repeat)
	}
	q := int64(1)
	for i, g := range segments {
		for _, r := range []Ratio{g.From, g.To} {
			var err error
			if q, err = commonDen(q, r); err != nil {
				return nil, fmt.Errorf("segment %d: %w", i+1, err)
			}
		}
	}
	s := &Shape{scale: 2 * second * uint64(q), repeat: repeat}
	for i, g := range segments {
		switch {
		case g.Length <= 0:
			return nil, fmt.Errorf("segment %d: a length of %d ns: must be above 0", i+1, g.Length)
		case g.Length > math.MaxInt64-s.length:
			return nil, fmt.Errorf("segment %d: ends after more than 292 years", i+1)
		}
		p := span{
			start: s.length, length: uint64(g.Length), before: s.area,
			from: uint64(g.From.Num * (q / g.From.Den)), to: uint64(g.To.Num * (q / g.To.Den)),
		}
		p.wide = p.quadratic().BitLen() > 126
		s.spans = append(s.spans, p)
		s.area = s.area.add(mul64(p.from+p.to, p.length))
		s.length += g.Length
	}
	if s.area == (u128{}) {
		return nil, fmt.Errorf("schedule without messages: all rates are 0")
	}
	s.n = s.total()
	return s, nil
}

// commonDen returns the least common multiple of q and the denominator of r.
func commonDen(q int64, r Ratio) (int64, error) {
	if r.Num < 0 || r.Den <= 0 || r.Den > maxDen {
		return 0, fmt.Errorf("rate %d/%d: must be 0 or more, of at most %d seconds", r.Num, r.Den, int64(maxDen))
	}
	if r.Num/r.Den > maxRate || (r.Num/r.Den == maxRate && r.Num%r.Den != 0) {
		return 0, fmt.Errorf("rate %d/%d: at most 1G per second", r.Num, r.Den)
	}
	a, b := q, r.Den
	for b != 0 {
		a, b = b, a%b
	}
	if q/a > maxDen/r.Den {
		return 0, fmt.Errorf("rate %d/%d: too many digits together with the other rates", r.Num, r.Den)
	}
	return q / a * r.Den, nil
}

// quadratic returns the largest value of the forms in span.ramp.
func (p *span) quadratic() *big.Int {
	v := new(big.Int).SetUint64(p.from)
	v.Add(v, new(big.Int).SetUint64(p.to))
	length := new(big.Int).SetUint64(p.length)
	return v.Mul(v, length).Mul(v, length)
}

// At implements Schedule. Offsets beyond 292 years are math.MaxInt64. It takes
// 20 to 60 ns, except in ramps whose rate·q·length² exceeds 8·10³⁷ (to 1 M/s
// in 100 days), where it takes microseconds and allocates.
func (s *Shape) At(i int64) int64 { return s.inverse(mul64(uint64(i), s.scale)) }

// N implements Schedule.
func (s *Shape) N() int64 { return s.n }

// Length returns how long the shape lasts in ns, Unbounded if for ever.
func (s *Shape) Length() int64 {
	if s.repeat == Forever || s.repeat > math.MaxInt64/s.length {
		return Unbounded
	}
	return s.repeat * s.length
}

// WithN returns the same schedule with at most n messages.
func (s *Shape) WithN(n int64) *Shape {
	c := *s
	c.n = max(0, min(n, c.total()))
	return &c
}

// Within returns the number of messages intended in [0, d) ns, whatever was
// said by WithN.
func (s *Shape) Within(d int64) int64 {
	return messages(s.integral(d), s.scale)
}

// total returns the number of messages of all cycles.
func (s *Shape) total() int64 {
	if s.repeat == Forever {
		return Unbounded
	}
	units := s.area.big()
	return messages(units.Mul(units, big.NewInt(s.repeat)), s.scale)
}

// messages returns ⌈units/scale⌉, at most Unbounded.
func messages(units *big.Int, scale uint64) int64 {
	q := ceilQuo(units, new(big.Int).SetUint64(scale))
	if !q.IsInt64() {
		return Unbounded
	}
	return q.Int64()
}

// integral returns ⌈Λ(d)⌉ in units: because the units of messages are whole,
// rounding up here changes no comparison with them.
func (s *Shape) integral(d int64) *big.Int {
	if d <= 0 {
		return new(big.Int)
	}
	cycles, rest := d/s.length, d%s.length
	if s.repeat != Forever && cycles >= s.repeat {
		cycles, rest = s.repeat, 0
	}
	units := s.area.big()
	units.Mul(units, big.NewInt(cycles))
	k := sort.Search(len(s.spans), func(k int) bool { return s.spans[k].start > rest }) - 1
	p := &s.spans[k]
	units.Add(units, p.before.big())
	t, length := big.NewInt(rest-p.start), new(big.Int).SetUint64(p.length)
	form := p.form(t)
	return units.Add(units, ceilQuo(form, length))
}

// form returns length·(units from the start of the segment to t).
func (p *span) form(t *big.Int) *big.Int {
	from, to := new(big.Int).SetUint64(p.from), new(big.Int).SetUint64(p.to)
	v := new(big.Int).SetUint64(p.length)
	v.Mul(v, from).Lsh(v, 1)
	v.Add(v, to.Sub(to, from).Mul(to, t))
	return v.Mul(v, t)
}

func ceilQuo(a, b *big.Int) *big.Int {
	q, r := new(big.Int).QuoRem(a, b, new(big.Int))
	if r.Sign() > 0 {
		q.Add(q, big.NewInt(1))
	}
	return q
}

func (u u128) big() *big.Int {
	v := new(big.Int).SetUint64(u.hi)
	return v.Lsh(v, 64).Add(v, new(big.Int).SetUint64(u.lo))
}
