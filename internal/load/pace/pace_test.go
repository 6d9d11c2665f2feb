package pace_test

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/load/pace"
	"amqpperf/internal/load/schedule"
	"amqpperf/timestamp"
)

func newPacer(t *testing.T, clock *timestamp.Clock, timer pace.Timer, num, n int64) *pace.Pacer {
	t.Helper()
	s, err := schedule.NewConstant(num, 1, n)
	if err != nil {
		t.Fatal(err)
	}
	return &pace.Pacer{Schedule: s, Start: clock.Now(), Clock: clock, Timer: timer}
}

func TestOnTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := timestamp.NewClock()
		p := newPacer(t, clock, pace.NewRuntimeTimer(clock), 1000, 5)
		var got []pace.Run
		n, err := p.Run(func(r pace.Run) { r.Ready -= p.Start; got = append(got, r) })
		want := []pace.Run{{0, 1, 0}, {1, 1, 1e6}, {2, 1, 2e6}, {3, 1, 3e6}, {4, 1, 4e6}}
		if d := cmp.Diff(want, got); d != "" || n != 5 || err != nil {
			t.Errorf("%d messages, %v (-want +got)\n%s", n, err, d)
		}
	})
}

// A pacer that was held up hands over all that became due as one run: it is
// late, which ready − intended says, but it skips nothing.
func TestHeldUp(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := timestamp.NewClock()
		p := newPacer(t, clock, pace.NewRuntimeTimer(clock), 1000, 300)
		var got []pace.Run
		n, err := p.Run(func(r pace.Run) {
			if r.First == 1 {
				time.Sleep(100*time.Millisecond + 500*time.Microsecond)
			}
			r.Ready -= p.Start
			got = append(got, r)
		})
		want := []pace.Run{{0, 1, 0}, {1, 1, 1e6}, {2, 100, 101_500_000}, {102, 1, 102e6}}
		if d := cmp.Diff(want, got[:4]); d != "" || n != 300 || err != nil {
			t.Errorf("%d messages, %v (-want +got)\n%s", n, err, d)
		}
	})
}

// What is closer together than the tick is handed over by the tick, never early and
// none left out; what is not dense is handed over when it is due.
func TestTick(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := timestamp.NewClock()
		for _, tc := range []struct {
			name string
			rate int64
			want []pace.Run
		}{
			{"dense", 40_000, []pace.Run{{0, 1, 0}, {1, 4, 100_000}, {5, 4, 200_000}, {9, 1, 225_000}}},
			{"just not dense", 10_000, []pace.Run{{0, 1, 0}, {1, 1, 100_000}, {2, 1, 200_000}}},
			{"sparse", 1_000, []pace.Run{{0, 1, 0}, {1, 1, 1e6}, {2, 1, 2e6}}},
		} {
			n := tc.want[len(tc.want)-1].First + 1
			p := newPacer(t, clock, pace.NewRuntimeTimer(clock), tc.rate, n)
			p.Tick = 100_000
			var got []pace.Run
			handed, err := p.Run(func(r pace.Run) { r.Ready -= p.Start; got = append(got, r) })
			if d := cmp.Diff(tc.want, got); d != "" || handed != n || err != nil {
				t.Errorf("%s: %d messages, %v (-want +got)\n%s", tc.name, handed, err, d)
			}
		}
	})
}

// Two that happen to be close in a sparse schedule do not wait for each other.
func TestTickOfPairs(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := timestamp.NewClock()
		p := newPacer(t, clock, pace.NewRuntimeTimer(clock), 1000, 20)
		p.Schedule, p.Tick = pairs{p.Schedule}, 100_000
		var late int64
		if _, err := p.Run(func(r pace.Run) { late = max(late, r.Ready-p.Start-p.Schedule.At(r.First)) }); err != nil || late != 0 {
			t.Errorf("late by %d ns, %v", late, err)
		}
	})
}

// pairs makes two messages, 10 µs apart, of what is an even and an odd one.
type pairs struct{ schedule.Schedule }

func (s pairs) At(i int64) int64 { return s.Schedule.At(i-i%2) + i%2*10_000 }

// What is intended until the stop is handed over, nothing after.
func TestStop(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		clock := timestamp.NewClock()
		p := newPacer(t, clock, pace.NewRuntimeTimer(clock), 1000, schedule.Unbounded)
		time.AfterFunc(10*time.Millisecond+1, p.Stop)
		handed := int64(0)
		n, err := p.Run(func(r pace.Run) { handed += r.Count })
		if n != 11 || handed != 11 || err != nil {
			t.Errorf("%d messages, %d handed over, %v; want 11", n, handed, err)
		}
		p.Stop()
	})
}

// The timer of the host: never early, not grossly late, and interruptible. How
// late exactly is published in docs/performance.md; a shared machine cannot be
// held to it.
func TestHostTimer(t *testing.T) {
	t.Parallel()
	clock := timestamp.NewClock()
	timer, err := pace.NewTimer(clock)
	if err != nil {
		t.Fatal(err)
	}
	p := newPacer(t, clock, timer, 2000, 200)
	next := int64(0)
	n, err := p.Run(func(r pace.Run) {
		if r.First != next {
			t.Errorf("run starts at %d, want %d", r.First, next)
		}
		next += r.Count
		if late := r.Ready - p.Start - p.Schedule.At(next-1); late < 0 {
			t.Errorf("message %d was handed over %d ns early", next-1, -late)
		}
	})
	if n != 200 || err != nil {
		t.Errorf("%d messages, %v", n, err)
	}
	done := make(chan error, 1)
	go func() { done <- timer.Wait(clock.Now() + int64(time.Hour)) }()
	timer.Interrupt()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := timer.Wait(clock.Now() + int64(time.Hour)); err != nil {
		t.Error(err)
	}
	if err := timer.Close(); err != nil {
		t.Error(err)
	}
}

// K18 by way of the pacer: an hour at 300,000/s with a timer that wakes once a
// second. Everything is handed over, nothing twice, and the last message is
// where it belongs to the nanosecond.
func TestK18(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const n = 300_000 * 3600
		clock := timestamp.NewClock()
		p := newPacer(t, clock, coarse{pace.NewRuntimeTimer(clock), clock}, 300_000, n+1)
		next, last := int64(0), int64(0)
		handed, err := p.Run(func(r pace.Run) {
			if r.First != next {
				t.Fatalf("a run begins at %d, want %d", r.First, next)
			}
			next += r.Count
			if last = p.Schedule.At(next - 1); last > r.Ready-p.Start || r.Ready-p.Start-last > int64(time.Second) {
				t.Fatalf("message %d, intended at %d, was handed over at %d", next-1, last, r.Ready-p.Start)
			}
		})
		if err != nil || handed != n+1 || next != n+1 || last != int64(time.Hour) {
			t.Errorf("%d messages, %d handed over, the last intended at %d, %v", handed, next, last, err)
		}
	})
}

// coarse wakes at whole seconds only.
type coarse struct {
	pace.Timer
	clock *timestamp.Clock
}

func (c coarse) Wait(instant int64) error {
	const second = int64(time.Second)
	return c.Timer.Wait((instant + second - 1) / second * second)
}
