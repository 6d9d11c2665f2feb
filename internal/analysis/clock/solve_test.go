package clock

import (
	"math/rand/v2"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"amqpperf/format"
)

// The order of rows, of processes and the split of exchanges over both sides'
// logs must not change a result.
func TestOrderIsIrrelevant(t *testing.T) {
	t.Parallel()
	s := newSim(3)
	exchanges := s.run(25, 20)
	want := Solve(pair(exchanges), 0, Policy{})
	rapid.Check(t, func(rt *rapid.T) {
		rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(rt, "seed"), 1))
		p := pair(slices.Clone(exchanges))
		rng.Shuffle(len(p[0].Exchanges), func(i, j int) {
			p[0].Exchanges[i], p[0].Exchanges[j] = p[0].Exchanges[j], p[0].Exchanges[i]
		})
		p[0].Exchanges = append(p[0].Exchanges, p[0].Exchanges[:rng.IntN(5)]...) // the same row twice
		slices.Reverse(p)
		got := Solve(p, 1, Policy{})
		for range 200 {
			at := epoch + rng.Int64N(25*second)
			o1, b1, s1 := want.Model(1).At(at)
			o2, b2, s2 := got.Model(0).At(at)
			if o1 != o2 || b1 != b2 || s1 != s2 {
				rt.Fatalf("at %d: %d ± %d (%s) and %d ± %d (%s)", at, o1, b1, s1, o2, b2, s2)
			}
		}
	})
}

// Whatever the clocks do at no more than 500 ppm, and whatever the delays are,
// the truth is within the bound, and reading through the index finds what a
// search over all knots finds.
func TestBoundHolds(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		s := newSim(rapid.Uint64().Draw(rt, "seed"))
		offset := rapid.Int64Range(-far/2, far/4).Draw(rt, "offset")
		slope := rapid.Int64Range(-480_000, 480_000).Draw(rt, "ppb")
		s.theta = func(t int64) int64 { return offset + (t-epoch)/1000*slope/1_000_000 }
		base := rapid.Int64Range(0, 5*ms).Draw(rt, "base")
		s.forward = s.queue(base, rapid.Int64Range(0, 50*ms).Draw(rt, "queue"))
		var exchanges []Exchange
		at := int64(epoch)
		for range rapid.IntRange(1, 60).Draw(rt, "n") {
			at += s.rng.Int64N(1 << s.rng.IntN(36))
			exchanges = append(exchanges, s.exchange(at))
		}
		p := pair(exchanges)
		m := Solve(p, 0, Policy{}).Model(1)
		f := m.hops[0].fit
		for range 100 {
			x := epoch - second + s.rng.Int64N(at-epoch+2*second)
			b := s.b(x)
			off, bound, source := m.At(b)
			if source != Probes || span(b+off, x) > bound {
				rt.Fatalf("at %d: off by %d, bound %d (%s)", x-epoch, b+off-x, bound, source)
			}
			want := -1
			for k := range f.knots {
				if f.knots[k].t <= b {
					want = k
				}
			}
			if got := f.find(b); got != want {
				rt.Fatalf("find: knot %d, want %d", got, want)
			}
		}
	})
}

// While a kernel slews, rho follows the logged freq and tick; the default would
// be wrong.
func TestSlewing(t *testing.T) {
	t.Parallel()
	s := newSim(5)
	const from, to = epoch + 20*second, epoch + 30*second
	s.theta = func(t int64) int64 { return ms + min(max(t-from, 0), to-from)/50 } // 2 %
	p := pair(s.run(60, 20))
	for at := int64(epoch); at < epoch+60*second; at += second {
		tick := int64(nominalTick)
		if at >= from && at < to {
			tick += 200
		}
		p[1].States = append(p[1].States, State{At: s.b(at), WallOffset: 5, MaxError: 1000, Freq: 20 << 16, Tick: tick})
	}
	m := Solve(p, 0, Policy{}).Model(1)
	if _, outside := s.verify(m, epoch, epoch+60*second, 20000); outside > 0 {
		t.Errorf("%d of 20000 instants outside the bound", outside)
	}
	_, quiet, _ := m.At(s.b(epoch + 10*second + 25*ms))
	if steps := m.hops[0].fit.steps; quiet > 150*us || len(steps) > 0 {
		t.Errorf("bound %d ns when quiet, steps %v", quiet, steps)
	}
	blind := pair(p[0].Exchanges) // without the states slewing looks like a row of steps
	if steps := Solve(blind, 0, Policy{}).Model(1).hops[0].fit.steps; len(steps) < 5 {
		t.Errorf("2 %% go unnoticed at the default rate: steps %v", steps)
	}
	if _, ppm, status := Solve(p, 0, Policy{}).Evidence().Synchronised(); ppm < 20_000 || status != Warn {
		t.Errorf("C14: %v ppm %s, want 20020 ppm and a warning", ppm, status)
	}
}

// Five hosts: two senders (one is the reference) probe three receivers, two of
// which share a host. All are reached, every loop closes, and a difference
// between two processes is bounded far better than by the sum of both bounds.
func TestManyHosts(t *testing.T) {
	t.Parallel()
	p, truth := fiveHosts(9)
	s := Solve(p, 0, Policy{})
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range p {
		if !s.Model(i).Known() {
			t.Fatalf("process %d is not reached", i)
		}
		for range 2000 {
			x := epoch + rng.Int64N(30*second)
			own := x + truth[i](x)
			off, bound, _ := s.Model(i).At(own)
			if span(own+off, x) > bound {
				t.Fatalf("process %d: off by %d, bound %d", i, own+off-x, bound)
			}
			// A message from sender 1 to process i that took up to 2 s.
			y := x - rng.Int64N(2*second)
			sent := y + truth[1](y)
			o2, b2, _ := s.Model(1).At(sent)
			between, source := s.Between(i, own, 1, sent)
			e := span((own+off)-(sent+o2), x-y)
			if e > between || source == Unknown || between > add(add(bound, b2), readCost) {
				t.Fatalf("process %d: difference off by %d, bound %d (%s), sum %d", i, e, between, source, bound+b2)
			}
		}
	}
	e := s.Evidence()
	if len(e.Loops) == 0 {
		t.Fatal("no loop was checked")
	}
	for _, l := range e.Loops {
		if l.Broken || max(l.ResidualNS, -l.ResidualNS) > l.BoundNS {
			t.Errorf("loop %+v does not close", l)
		}
	}
	if e.Offset(100, 10_000) != OK || e.Offset(-1, 10_000) != Fail || e.Offset(2000, 10_000) != Warn {
		t.Error("C16 is graded wrongly")
	}
}

// A reverse path that is impossible shows in the loop, not in silence.
func TestBrokenLoop(t *testing.T) {
	t.Parallel()
	p, _ := fiveHosts(4)
	for i, e := range p[1].Exchanges { // sender 1's clock readings of one receiver are 10 ms off
		if e.Peer.ClockID == 4 {
			p[1].Exchanges[i].T2 += 10 * ms
			p[1].Exchanges[i].T3 += 10 * ms
		}
	}
	e := Solve(p, 0, Policy{}).Evidence()
	if e.Offset(100, 10_000) != Fail {
		t.Errorf("C16 passes with loops %+v", e.Loops)
	}
}

// fiveHosts returns processes 0 and 1 (senders on hosts 1 and 2) and 2 to 4
// (receivers on hosts 3, 4 and 4), and what each clock is ahead of the truth.
func fiveHosts(seed uint64) ([]Process, []func(int64) int64) {
	clockOf := func(ahead, ppb int64) func(int64) int64 {
		return func(t int64) int64 { return ahead + (t-epoch)/1000*ppb/1_000_000 }
	}
	truth := []func(int64) int64{clockOf(0, 0), clockOf(-7*ms, 30_000), clockOf(3*ms, 20_000), clockOf(40*ms, -25_000), nil}
	hosts := []uint64{1, 2, 3, 4, 4}
	p := make([]Process, 5)
	for i, h := range hosts {
		p[i].Anchor = anchor(h, epoch+int64(i)*ms)
	}
	// The fifth is on the host of the fourth: same clock, another anchor.
	p[4].Anchor.Wall += 2 * second
	truth[4] = func(t int64) int64 { return truth[3](t) + p[4].Anchor.Offset() - p[3].Anchor.Offset() + 100 }
	for from := range 2 {
		for to := 2; to < 5; to++ {
			s := newSim(seed + uint64(10*from+to))
			for k := range int64(600) {
				x := epoch + k*second/20
				arrives := x + s.forward()
				back := arrives + s.backward()
				p[from].Exchanges = append(p[from].Exchanges, Exchange{
					Peer: peerOf(p[to].Anchor),
					T1:   x + truth[from](x), T2: arrives + truth[to](arrives), T3: arrives + truth[to](arrives), T4: back + truth[from](back),
				})
			}
		}
	}
	return p, truth
}

// Without exchanges the kernels vouch, and the bound is the sum of what they say.
func TestKernelFallback(t *testing.T) {
	t.Parallel()
	p := pair(nil)
	// B's process anchored while its wall clock was 5 ms off; NTP stepped it since.
	for at := int64(epoch); at < epoch+10*second; at += second {
		p[0].States = append(p[0].States, State{At: at, WallOffset: p[0].Anchor.Offset(), MaxError: 200 * us, Freq: format.Null, Tick: format.Null})
		p[1].States = append(p[1].States, State{At: at + 5*ms, WallOffset: p[1].Anchor.Offset() - 5*ms, MaxError: 300 * us, Freq: format.Null, Tick: format.Null})
	}
	m := Solve(p, 0, Policy{}).Model(1)
	off, bound, source := m.At(epoch + 3*second + 5*ms + 1000)
	if off != -5*ms || source != MaxError || bound < 500*us || bound > 502*us {
		t.Errorf("%d ± %d (%s), want -5 ms ± 500 us and a little (maxerror)", off, bound, source)
	}
	p[1].States[4].MaxError = unsynchronised
	s := Solve(p, 0, Policy{})
	if off, bound, source := s.Model(1).At(epoch + 3*second); source != Unknown || off != 0 || bound != format.Null {
		t.Errorf("an unsynchronised kernel vouches: %d ± %d (%s)", off, bound, source)
	}
	if _, _, status := s.Evidence().Synchronised(); status != Fail {
		t.Errorf("C14 %s, want fail", status)
	}
}

func TestPolicy(t *testing.T) {
	t.Parallel()
	s := newSim(1)
	p := pair(s.run(5, 20))
	var given Policy
	if err := given.Set("b=3ms±50us"); err != nil {
		t.Fatal(err)
	}
	if off, bound, source := Solve(p, 0, given).Model(1).At(epoch); off != -3*ms || bound != 50*us || source != Given {
		t.Errorf("given: %d ± %d (%s)", off, bound, source)
	}
	if off, _, source := Solve(p, 0, Policy{None: true}).Model(1).At(epoch); off != 0 || source != Unknown {
		t.Errorf("none: %d (%s)", off, source)
	}
	for _, host := range []string{"a", "c"} {
		if w := Solve(p, 0, Policy{Given: map[string]Offset{host: {}}}).Warnings; len(w) != 1 {
			t.Errorf("--clock %s=…: warnings %q, want one", host, w)
		}
	}
}

// A peer whose log is missing still ties its host: exchanges were with one
// process of the host, the log is from another.
func TestPeerWithoutLog(t *testing.T) {
	t.Parallel()
	s := newSim(8)
	p := pair(s.run(20, 20))
	p[1].Anchor.Wall += 7 * ms // another process of host b, with an anchor of its own
	sol := Solve(p, 0, Policy{})
	m := sol.Model(1)
	at := int64(epoch + 10*second)
	own := s.b(at) + 7*ms
	off, bound, source := m.At(own)
	if source != Probes || span(own+off, at) > bound || bound > 200*us {
		t.Errorf("off by %d, bound %d (%s)", own+off-at, bound, source)
	}
}

// Two processes of a host that nothing ties to the reference stay comparable
// with each other.
func TestUnreachedHost(t *testing.T) {
	t.Parallel()
	p := pair(nil)
	p = append(p, Process{Anchor: p[1].Anchor})
	p[2].Anchor.Wall += 5 * ms
	s := Solve(p, 0, Policy{})
	at := int64(epoch + second)
	o1, b1, s1 := s.Model(1).At(at)
	o2, b2, s2 := s.Model(2).At(at + 5*ms)
	if at+o1 != at+5*ms+o2 || b1 != format.Null || b2 != format.Null || s1 != Unknown || s2 != Unknown {
		t.Errorf("%d ± %d (%s) and %d ± %d (%s)", o1, b1, s1, o2, b2, s2)
	}
	if bound, source := s.Between(1, at, 2, at); bound != 160 || source != SameBoot {
		t.Errorf("between: %d (%s), want 160 (same-boot)", bound, source)
	}
	if bound, source := s.Between(0, at, 2, at); bound != format.Null || source != Unknown {
		t.Errorf("between hosts: %d (%s), want unknown", bound, source)
	}
}

func BenchmarkAt(b *testing.B) {
	s := newSim(1)
	m := Solve(pair(s.run(3600, 20)), 0, Policy{}).Model(1)
	at := int64(epoch)
	for b.Loop() {
		at += 1_000_000
		if at > epoch+3600*second {
			at = epoch
		}
		m.At(at)
	}
}

func BenchmarkSolveHour(b *testing.B) {
	s := newSim(1)
	p := pair(s.run(3600, 20))
	for b.Loop() {
		Solve(p, 0, Policy{})
	}
}
