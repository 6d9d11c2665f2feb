package clock

import (
	"math/rand/v2"
	"testing"
)

// A cursor says what the model says, in any order of instants, with a bound
// that is never smaller and at most 3 ns larger.
func TestCursor(t *testing.T) {
	t.Parallel()
	for seed := range uint64(10) {
		s := newSim(seed)
		if seed%2 == 1 {
			s.theta = func(t int64) int64 { return drifting(t) + (t-epoch)/(7*second)*ms } // steps
		}
		exchanges := s.run(30, 20)
		exchanges = append(exchanges[:200], exchanges[300:]...) // and a gap
		m := Solve(pair(exchanges), 0, Policy{}).Model(1)
		c := m.Cursor()
		at := int64(epoch - second)
		for i := range 20_000 {
			at += s.rng.Int64N(3 * ms)
			if i%100 == 0 {
				at = epoch - second + s.rng.Int64N(32*second)
			}
			o1, b1, s1 := m.At(at)
			o2, b2, s2 := c.At(at)
			if o1 != o2 || b2 < b1 || b2 > b1+3 || s1 != s2 {
				t.Fatalf("seed %d at %d: %d ± %d (%s), cursor %d ± %d (%s)", seed, at-epoch, o1, b1, s1, o2, b2, s2)
			}
		}
	}
	unknown := Solve(pair(nil), 0, Policy{}).Model(1)
	if _, b, s := unknown.Cursor().At(rand.Int64()); s != Unknown || b >= 0 {
		t.Errorf("unknown: bound %d (%s)", b, s)
	}
}

func BenchmarkCursor(b *testing.B) {
	s := newSim(1)
	c := Solve(pair(s.run(3600, 20)), 0, Policy{}).Model(1).Cursor()
	at := int64(epoch)
	for b.Loop() {
		at += 100_000
		if at > epoch+3600*second {
			at = epoch
		}
		c.At(at)
	}
}
