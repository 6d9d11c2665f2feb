package schedule

import (
	"fmt"
	"math"
)

// Burst describes a Markov-modulated Poisson process of two phases (MMPP2): in
// phase 1 messages arrive at Rate1 per second, in phase 2 at Rate2; phase 1 ends
// at rate Leave1, phase 2 at Leave2 (so they last 1/Leave seconds on average).
type Burst struct {
	Rate1  Ratio `json:"rate1"`
	Rate2  Ratio `json:"rate2"`
	Leave1 Ratio `json:"leave1"`
	Leave2 Ratio `json:"leave2"`
}

func (b Burst) floats() (l1, l2, r1, r2 float64) {
	f := func(r Ratio) float64 { return float64(r.Num) / float64(r.Den) }
	return f(b.Rate1), f(b.Rate2), f(b.Leave1), f(b.Leave2)
}

// Mean returns the mean number of messages per second: (λ₁r₂+λ₂r₁)/(r₁+r₂).
func (b Burst) Mean() float64 {
	l1, l2, r1, r2 := b.floats()
	return (l1*r2 + l2*r1) / (r1 + r2)
}

// Dispersion returns the index of dispersion of counts over long times (1 for
// Poisson): 1+2(λ₁−λ₂)²r₁r₂/((r₁+r₂)²(λ₁r₂+λ₂r₁)).
func (b Burst) Dispersion() float64 {
	l1, l2, r1, r2 := b.floats()
	return 1 + 2*(l1-l2)*(l1-l2)*r1*r2/((r1+r2)*(r1+r2)*(l1*r2+l2*r1))
}

// MMPP2 is the schedule of a Burst, which begins in a phase drawn from the
// stationary distribution. Like Poisson, At is made for reading on.
type MMPP2 struct{ *sequence }

// NewMMPP2 returns the schedule. Both phases must end, and one must send; the
// number of messages is found as for NewPoisson.
func NewMMPP2(b Burst, r Random) (*MMPP2, error) {
	q := int64(1)
	all := [4]Ratio{b.Rate1, b.Rate2, b.Leave1, b.Leave2}
	var err error
	for _, x := range all {
		if q, err = commonDen(q, x); err != nil {
			return nil, err
		}
	}
	var whole [4]uint64
	for k, x := range all {
		whole[k] = uint64(x.Num * (q / x.Den))
	}
	switch {
	case whole[2] == 0 || whole[3] == 0:
		return nil, fmt.Errorf("burst: both phases must end: leave rates above 0")
	case whole[0]+whole[1] == 0:
		return nil, fmt.Errorf("burst without messages: both rates are 0")
	}
	p := &mmpp2{
		rate:  [2]uint64{whole[0], whole[1]},
		total: [2]uint64{whole[0] + whole[2], whole[1] + whole[3]},
		first: [2]uint64{whole[3], whole[2] + whole[3]},
		unit:  second * uint64(q), end: math.MaxInt64,
	}
	bounded := r.Within > 0
	mean := float64(r.limit())
	if bounded {
		p.end = r.Within
		mean = min(mean, b.Mean()*float64(r.Within)/second)
	}
	if bounded || (r.Part.Of > 1 && r.N > 0) {
		if err := tooLong(mean); err != nil {
			return nil, err
		}
	}
	s, err := newSequence(p, r.Seed, r.Part, r.limit(), bounded)
	if err != nil {
		return nil, err
	}
	return &MMPP2{s}, nil
}

// mmpp2 keeps the time of the last event in ns with 58 fractional bits. The
// phase of a state is 0 before the first event, then 1 or 2.
type mmpp2 struct {
	rate, total [2]uint64 // arrivals, and all events, per q seconds
	first       [2]uint64 // the process begins in phase 1 with probability first[0]/first[1]
	unit        uint64    // 10⁹·q
	end         int64
}

func (p *mmpp2) next(s *state) bool {
	if s.phase == 0 {
		s.phase = 2
		if s.arrivals.Uint64()%p.first[1] < p.first[0] {
			s.phase = 1
		}
	}
	// Whatever comes next, an arrival or the end of the phase, comes after an
	// exponential time with the sum of both rates, and is an arrival with the
	// arrivals' part of that sum.
	for {
		k := s.phase - 1
		gap := mul64(exponential(s.arrivals.Uint64()), p.unit).div64(p.total[k])
		if s.sum.hi>>(fraction-1) == 0 { // else beyond 292 years for good
			s.sum = s.sum.add(gap)
		}
		if p.offset(s) >= p.end {
			return false
		}
		if s.arrivals.Uint64()%p.total[k] < p.rate[k] {
			return true
		}
		s.phase = 3 - s.phase
	}
}

func (p *mmpp2) offset(s *state) int64 {
	if s.sum.hi>>(fraction-1) != 0 {
		return math.MaxInt64
	}
	return int64(s.sum.hi<<(64-fraction) | s.sum.lo>>fraction)
}
