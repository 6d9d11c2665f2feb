package clock

import (
	"slices"
	"testing"
)

// K14: offset, drift and wander are recovered, and the truth is within the
// bound at every instant, also before the first and after the last exchange.
func TestK14(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		s := newSim(seed)
		m := Solve(pair(s.run(60, 20)), 0, Policy{}).Model(1)
		worst, outside := s.verify(m, epoch, epoch+60*second, 20000)
		if worst > 5*us || outside > 0 {
			t.Errorf("seed %d: error %d ns, want at most 5000; %d of 20000 instants outside the bound", seed, worst, outside)
		}
		if _, outside := s.verify(m, epoch-60*second, epoch+120*second, 5000); outside > 0 {
			t.Errorf("seed %d: %d instants around the run outside the bound", seed, outside)
		}
		if _, bound, _ := m.At(s.b(epoch + 30*second)); bound > 150*us {
			// Half the round trip, 50 us, and what 500 ppm add until a better exchange comes.
			t.Errorf("seed %d: bound %d ns, want at most 150 us", seed, bound)
		}
	}
}

// K14 with 2 ms queues both ways, and with one good exchange per window: the
// estimate is worse, the bound still holds.
func TestK14Hard(t *testing.T) {
	t.Parallel()
	for seed := range uint64(50) {
		heavy := newSim(seed)
		heavy.forward, heavy.backward = heavy.queue(50*us, 2*ms), heavy.queue(50*us, 2*ms)
		m := Solve(pair(heavy.run(60, 20)), 0, Policy{}).Model(1)
		if _, outside := heavy.verify(m, epoch, epoch+60*second, 4000); outside > 0 {
			t.Errorf("seed %d, heavy queues: %d of 4000 outside the bound", seed, outside)
		}
		sparse := newSim(seed)
		m = Solve(pair(sparse.sparse(60)), 0, Policy{}).Model(1)
		if _, outside := sparse.verify(m, epoch, epoch+60*second, 4000); outside > 0 {
			t.Errorf("seed %d, sparse: %d of 4000 outside the bound", seed, outside)
		}
	}
}

// sparse makes one good exchange in the middle of each window, and others that
// queued for 20 ms.
func (s *sim) sparse(seconds int64) []Exchange {
	good := s.forward
	var out []Exchange
	for i := range seconds {
		s.forward, s.backward = s.queue(20*ms, ms), s.queue(20*ms, ms)
		if i%10 == 5 {
			s.forward, s.backward = good, good
		}
		out = append(out, s.exchange(epoch+i*second))
	}
	return out
}

// Half the margin is not a bound, which is why the envelope is used: with an
// exactly linear offset and 2 ms queues both ways the truth leaves ±margin/2 of
// the line in some windows.
func TestMarginIsNoBound(t *testing.T) {
	t.Parallel()
	windows, left, outside := 0, 0, 0
	for seed := range uint64(50) {
		s := newSim(seed)
		s.theta = func(t int64) int64 { return 3*ms + (t-epoch)/50_000 }
		s.forward, s.backward = s.queue(50*us, 2*ms), s.queue(50*us, 2*ms)
		f := newFit(measure(s.run(60, 20), nil), nil)
		for _, w := range f.windows {
			if w.Infeasible() {
				t.Fatalf("seed %d: an exactly linear offset fits no line", seed)
			}
			windows++
			bad := false
			for at := w.Start; at < min(w.End, epoch+60*second); at += second / 10 {
				bad = bad || float64(span(w.At(at), s.theta(at))) > w.Margin/2
				off, bound, _ := f.at(at)
				if span(off, s.theta(at)) > bound {
					outside++
				}
			}
			if bad {
				left++
			}
		}
	}
	t.Logf("the truth left ±margin/2 in %d of %d windows", left, windows)
	if windows < 300 || left == 0 {
		t.Errorf("the truth left ±margin/2 in %d of %d windows: expected some of at least 300", left, windows)
	}
	if outside > 0 {
		t.Errorf("%d instants outside the envelope", outside)
	}
}

// K15: an asymmetric path cannot be seen by anybody; the estimate is off by
// half the asymmetry and the bound covers it.
func TestK15(t *testing.T) {
	t.Parallel()
	for seed := range uint64(20) {
		s := newSim(seed)
		s.forward, s.backward = s.queue(80*us, 100*us), s.queue(20*us, 100*us)
		m := Solve(pair(s.run(60, 20)), 0, Policy{}).Model(1)
		worst, outside := s.verify(m, epoch, epoch+60*second, 20000)
		if worst < 25*us || worst > 40*us || outside > 0 {
			t.Errorf("seed %d: error %d ns, want about 30000; %d outside the bound", seed, worst, outside)
		}
	}
}

// K16: a step of 500 us at 25 s makes exactly one window infeasible; after the
// bisection the bound holds everywhere, being wide only around the step.
func TestK16(t *testing.T) {
	t.Parallel()
	const at = epoch + 25*second
	for seed := range uint64(20) {
		s := newSim(seed)
		s.theta = func(t int64) int64 {
			if t >= at {
				return drifting(t) + 500*us
			}
			return drifting(t)
		}
		solution := Solve(pair(s.run(60, 20)), 0, Policy{})
		e := solution.Evidence()
		if len(e.Pairs) != 1 || e.Pairs[0].Infeasible != 1 || e.Pairs[0].Windows < 6 || len(e.Pairs[0].Steps) != 1 {
			t.Fatalf("seed %d: %+v, want one infeasible window and one step", seed, e.Pairs)
		}
		step := e.Pairs[0].Steps[0]
		if step.From > at || step.To < at || step.To-step.From > second/5 || span(step.Size, 500*us) > 60*us {
			t.Errorf("seed %d: step %d ns between %d and %d ns around 25 s", seed, step.Size, step.From-at, step.To-at)
		}
		if ns, status := e.Steps(); ns != max(step.Size, -step.Size) || status != Warn {
			t.Errorf("seed %d: C15 %d ns %s", seed, ns, status)
		}
		m := solution.Model(1)
		_, before := s.verify(m, epoch, at, 10000)
		_, after := s.verify(m, at, epoch+60*second, 10000)
		_, around := s.verify(m, at-second/10, at+second/10, 10000)
		if before+after+around > 0 {
			t.Errorf("seed %d: %d before, %d after and %d around the step outside the bound", seed, before, after, around)
		}
		worst, _ := s.verify(m, at+second/5, epoch+60*second, 10000)
		if w, _ := s.verify(m, epoch, at-second/5, 10000); max(w, worst) > 20*us {
			t.Errorf("seed %d: error %d ns away from the step", seed, max(w, worst))
		}
	}
}

// Several steps, of any size and close to each other, never break the bound by
// more than about an exchange's time around each.
func TestManySteps(t *testing.T) {
	t.Parallel()
	for seed := range uint64(30) {
		s := newSim(seed)
		var steps []int64
		for range 6 {
			steps = append(steps, epoch+second+s.rng.Int64N(58*second))
		}
		slices.Sort(steps)
		sizes := make([]int64, len(steps))
		for i := range sizes {
			sizes[i] = (s.rng.Int64N(2)*2 - 1) * (ms + s.rng.Int64N(20*ms))
		}
		s.theta = func(t int64) int64 {
			sum := drifting(t)
			for i, at := range steps {
				if t >= at {
					sum += sizes[i]
				}
			}
			return sum
		}
		m := Solve(pair(s.run(60, 20)), 0, Policy{}).Model(1)
		for range 5000 {
			at := epoch + s.rng.Int64N(60*second)
			near := slices.ContainsFunc(steps, func(x int64) bool { return span(x, at) < second/10 })
			off, bound, _ := m.At(s.b(at))
			if !near && span(s.b(at)+off, at) > bound {
				t.Fatalf("seed %d: off by %d, bound %d", seed, span(s.b(at)+off, at), bound)
			}
		}
	}
}

// K17: the receiver's clock is 5 ms behind and nothing was probed: negatives
// are kept and counted, the check fails, nothing is corrected.
func TestK17(t *testing.T) {
	t.Parallel()
	solution := Solve(pair(nil), 0, Policy{})
	m := solution.Model(1)
	var c Causality
	for i := range int64(1000) {
		sent, received := epoch+i*ms, epoch+i*ms+us*(100+i%7)-5*ms
		off, bound, source := m.At(received)
		if off != 0 || source != Unknown || bound >= 0 {
			t.Fatalf("an instant was moved by %d ± %d (%s)", off, bound, source)
		}
		c.Add(received+off-sent, bound)
	}
	want := Causality{Rows: 1000, Negative: 1000, Unknown: 1000, MinNS: 100*us - 5*ms}
	if c != want || c.Status() != Fail {
		t.Errorf("%+v %s, want %+v fail", c, c.Status(), want)
	}
	if ahead, ok := c.Ahead(); !ok || ahead != want.MinNS {
		t.Errorf("the receiver is ahead by at most %d, want %d", ahead, want.MinNS)
	}
}
