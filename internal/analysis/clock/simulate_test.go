package clock

import (
	"math"
	"math/rand/v2"

	"amqpperf/timestamp"
)

const (
	second = 1_000_000_000
	epoch  = 1_796_000_000 * second // T1 of the first exchange
)

// sim makes exchanges between a process on host A, whose clock is the truth,
// and one on host B, whose clock is ahead by theta.
type sim struct {
	rng      *rand.Rand
	theta    func(t int64) int64
	forward  func() int64 // delays, ns
	backward func() int64
}

func newSim(seed uint64) *sim {
	s := &sim{rng: rand.New(rand.NewPCG(seed, 14)), theta: drifting}
	s.forward = s.queue(50*us, 100*us)
	s.backward = s.queue(50*us, 100*us)
	return s
}

// drifting is the offset of K14: 3 ms, 20 ppm, a wander of ±5 us.
func drifting(t int64) int64 {
	x := float64(t-epoch) / second
	return 3*ms + int64(20e3*x+5e3*math.Sin(x/17))
}

// queue returns delays of base plus an exponential queue of the given mean.
func (s *sim) queue(base, mean int64) func() int64 {
	return func() int64 { return base + int64(s.rng.ExpFloat64()*float64(mean)) }
}

// b returns B's clock at A's instant t.
func (s *sim) b(t int64) int64 { return t + s.theta(t) }

func (s *sim) exchange(t int64) Exchange {
	arrives := t + s.forward()
	leaves := arrives + 10*us
	return Exchange{T1: t, T2: s.b(arrives), T3: s.b(leaves), T4: leaves + s.backward()}
}

// run makes exchanges at rate a second for some seconds.
func (s *sim) run(seconds, rate int64) []Exchange {
	var out []Exchange
	for i := range seconds * rate {
		out = append(out, s.exchange(epoch+i*second/rate))
	}
	return out
}

func anchor(host uint64, wall int64) timestamp.Anchor {
	return timestamp.Anchor{Wall: wall, Monotonic: int64(host) * second, Gap: 80, ClockID: host}
}

func peerOf(a timestamp.Anchor) Peer {
	return Peer{ClockID: a.ClockID, Receiver: 1, Anchor: true, Offset: a.Offset(), Gap: a.Gap}
}

// pair returns the processes of A (the reference) and B.
func pair(exchanges []Exchange) []Process {
	a, b := anchor(1, epoch), anchor(2, epoch)
	for i := range exchanges {
		exchanges[i].Peer = peerOf(b)
	}
	return []Process{{Host: "a", Anchor: a, Exchanges: exchanges}, {Host: "b", Anchor: b}}
}

// verify checks the model of B at n random instants of [from, to) of A and
// returns the largest error of the estimate and how often it was beyond the
// bound.
func (s *sim) verify(m *Model, from, to int64, n int) (worst int64, outside int) {
	for range n {
		t := from + s.rng.Int64N(to-from)
		off, bound, source := m.At(s.b(t))
		e := s.b(t) + off - t
		e = max(e, -e)
		worst = max(worst, e)
		if e > bound || source != Probes {
			outside++
		}
	}
	return worst, outside
}
