package pace_test

import (
	"errors"
	"strings"
	"testing"
	"time"

	"amqpperf/internal/load/pace"
	"amqpperf/timestamp"
)

// sluggish is a timer that is late by as much as it is told.
type sluggish struct {
	pace.Timer
	clock *timestamp.Clock
	late  func(n int) time.Duration
	n     int
	asked int64
	err   error
}

func (s *sluggish) Wait(instant int64) error {
	s.asked = instant
	until := instant + int64(s.late(s.n))
	s.n++
	for s.clock.Now() < until { // a sleep would be late by itself
	}
	return s.err
}

func TestGuardIsTheTimersLateness(t *testing.T) {
	t.Parallel()
	clock := timestamp.NewClock()
	for _, tc := range []struct {
		late     time.Duration
		from, to time.Duration
	}{
		{0, 20 * time.Microsecond, 200 * time.Microsecond},
		{90 * time.Microsecond, 90 * time.Microsecond, 200 * time.Microsecond},
		{time.Millisecond, 200 * time.Microsecond, 200 * time.Microsecond},
	} {
		s := &sluggish{clock: clock, late: func(int) time.Duration { return tc.late }}
		guard, err := pace.Guard(s, clock)
		if err != nil || guard < tc.from || guard > tc.to {
			t.Errorf("late by %v: guard %v, %v; want %v to %v", tc.late, guard, err, tc.from, tc.to)
		}
	}
	broken := errors.New("broken")
	if _, err := pace.Guard(&sluggish{clock: clock, late: func(int) time.Duration { return 0 }, err: broken}, clock); !errors.Is(err, broken) {
		t.Errorf("a timer that fails: %v", err)
	}
}

// The timer below is asked to come back a guard earlier, and nothing is handed
// over early even then.
func TestSpinIsNeverEarly(t *testing.T) {
	t.Parallel()
	clock := timestamp.NewClock()
	const guard = 100 * time.Microsecond
	s := &sluggish{clock: clock, late: func(n int) time.Duration { return time.Duration(n%3-1) * 40 * time.Microsecond }}
	timer := pace.Spin(s, clock, guard)
	for range 50 {
		at := clock.Now() + int64(300*time.Microsecond)
		if err := timer.Wait(at); err != nil {
			t.Fatal(err)
		}
		if now := clock.Now(); now < at {
			t.Fatalf("%d ns early", at-now)
		}
		if s.asked != at-int64(guard) {
			t.Fatalf("the timer was asked for %d ns before the instant, want %v", at-s.asked, guard)
		}
	}
	before := s.n
	if err := timer.Wait(clock.Now() + int64(guard)/2); err != nil || s.n != before {
		t.Errorf("within the guard the timer was asked all the same (%v)", err)
	}
}

func TestSpinIsInterrupted(t *testing.T) {
	t.Parallel()
	clock := timestamp.NewClock()
	inner, err := pace.NewTimer(clock)
	if err != nil {
		t.Fatal(err)
	}
	timer := pace.Spin(inner, clock, time.Hour) // it would spin for an hour
	if !strings.HasPrefix(timer.Precision(), inner.Precision()) || !strings.Contains(timer.Precision(), "busy-waiting the last 1h") {
		t.Errorf("it says of itself: %s", timer.Precision())
	}
	done := make(chan error, 1)
	go func() { done <- timer.Wait(clock.Now() + int64(time.Minute)) }()
	timer.Interrupt()
	if err := <-done; err != nil {
		t.Error(err)
	}
	if err := timer.Close(); err != nil {
		t.Error(err)
	}
}
