package watch

import (
	"testing"
	"testing/synctest"
	"time"

	"amqpperf/timestamp"
)

// A goroutine that sleeps through 80 ticks was 80 ms late for the first of
// them, 79 ms for the next, and so on: all are counted.
func TestTicksThatWereSleptThrough(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		h := newHiccups(timestamp.NewClock(), time.Millisecond)
		start := h.clock.Now()
		h.next = start + 1e6
		for i := int64(1); i <= 20; i++ {
			h.tick(start + i*1e6 + 30e3)
		}
		h.tick(start + 101e6) // those due at 21 … 101 ms
		r := make(rows)
		s := &sampler{emit: func(_ int64, what string, v int64) { r[what] = v }}
		h.sample(s)
		// Of 101 values one is 0, 20 are 30 µs and the others 1 … 80 ms in steps of 1 ms.
		r.want(t, rows{"tool.hiccup_p50_ns": 30e6, "tool.hiccup_p999_ns": 80e6, "tool.hiccup_max_ns": 80e6})
		clear(r)
		h.sample(s)
		r.want(t, rows{"tool.hiccup_max_ns": -1}) // nothing new
	})
}

// A process that was stopped for an hour keeps the latest ticks, not all.
func TestTicksAreBounded(t *testing.T) {
	t.Parallel()
	h := newHiccups(timestamp.NewClock(), time.Millisecond)
	h.next = 1e6
	const hour = int64(3600e9)
	h.tick(hour)
	if len(h.over) != maxTicks || h.over[0] != hour-1e6 || h.next != hour+1e6 {
		t.Errorf("%d ticks, the first %d ns late, next at %d", len(h.over), h.over[0], h.next)
	}
}

func TestNearestRank(t *testing.T) {
	t.Parallel()
	sorted := make([]int64, 1000)
	for i := range sorted {
		sorted[i] = int64(i + 1)
	}
	for _, c := range []struct {
		n, perMille int
		want        int64
	}{{1000, 500, 500}, {1000, 999, 999}, {500, 999, 500}, {1, 500, 1}, {3, 500, 2}} {
		if got := nearestRank(sorted[:c.n], c.perMille); got != c.want {
			t.Errorf("%d of 1000 of %d values is %d, want %d", c.perMille, c.n, got, c.want)
		}
	}
}
