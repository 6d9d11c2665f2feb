package schedule

import (
	"math"
	"math/big"
)

// Random is what random arrivals have in common. The zero value is the whole of
// an endless schedule with seed 0.
type Random struct {
	Seed   uint64
	N      int64 // messages of the whole, Unbounded or 0: no limit
	Within int64 // only those intended in [0, Within) ns; 0: no limit
	// Part keeps only that part: each arrival of the whole goes to one part,
	// drawn independently (thinning), so that a part is such a process, too, and
	// all parts together are exactly the whole.
	Part Part
}

func (r Random) limit() int64 {
	if r.N == 0 {
		return Unbounded
	}
	return r.N
}

// Poisson is a Poisson process with the rate of a Shape: gaps are independent
// and exponential, and the numbers in disjoint stretches are independent.
//
// The arrivals S₀ < S₁ < … of a process of rate 1 are sums of exponential
// variates, kept in 2⁻⁵⁸, and message i is intended at ⌊inf{t: Λ(t) > Sᵢ}⌋ ns
// with the Λ of the shape (Çinlar's method): any rate, the same seed, the same
// draws.
//
// At is made for reading on (see sequence); it is safe for concurrent use.
type Poisson struct{ *sequence }

// NewPoisson returns the arrivals at the rate of s, to the end of s at most; what
// s.WithN said is not looked at. If Within or a share of N is asked for, or s
// ends, all is drawn once to know N, some 60 ns a message; more than 2³⁰ is an error.
func NewPoisson(s *Shape, r Random) (*Poisson, error) {
	end, bounded := u128{math.MaxUint64, math.MaxUint64}, s.repeat != Forever || r.Within > 0
	if bounded {
		d := s.Length()
		if r.Within > 0 {
			d = min(d, r.Within)
		}
		units := s.integral(d)
		mean, _ := new(big.Float).SetInt(units).Float64()
		mean = min(mean/float64(s.scale), float64(r.limit()))
		if err := tooLong(mean); err != nil {
			return nil, err
		}
		if units.BitLen() <= 128 {
			end = u128{new(big.Int).Rsh(units, 64).Uint64(), units.Uint64()}
		}
	}
	if r.Part.Of > 1 && r.N > 0 {
		if err := tooLong(float64(r.N)); err != nil && !bounded {
			return nil, err
		}
	}
	q, err := newSequence(&poisson{s, end}, r.Seed, r.Part, r.limit(), bounded)
	if err != nil {
		return nil, err
	}
	return &Poisson{q}, nil
}

type poisson struct {
	shape *Shape
	end   u128 // in units of the shape
}

func (p *poisson) next(s *state) bool {
	s.sum = s.sum.add(u128{lo: exponential(s.arrivals.Uint64())})
	return p.units(s).less(p.end)
}

func (p *poisson) offset(s *state) int64 { return p.shape.inverse(p.units(s)) }

// units returns the sum in units of the shape, rounded down: comparisons with
// whole units stay exact.
func (p *poisson) units(s *state) u128 {
	high, low := mul64(s.sum.hi, p.shape.scale), mul64(s.sum.lo, p.shape.scale)
	return u128{high.hi<<(64-fraction) | high.lo>>fraction, high.lo << (64 - fraction)}.
		add(u128{low.hi >> fraction, low.hi<<(64-fraction) | low.lo>>fraction})
}
