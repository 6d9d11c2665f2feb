package schedule_test

import (
	"slices"
	"testing"

	"pgregory.net/rapid"

	"amqpperf/internal/load/schedule"
)

// Shares of a replay, each sorted by destination, make up the whole exactly:
// every message once, at its offset, for its destination.
func TestPicksOfShares(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t)
		loop := rapid.Bool().Draw(t, "loop")
		r := replay(t, rows, 1, 1, loop)
		if n := rapid.Int64Range(0, 100).Draw(t, "n"); loop || n < r.N() {
			r = r.WithN(n)
		}
		of := rapid.Int64Range(1, 7).Draw(t, "of")
		seen := make([]bool, r.N())
		for k := range of {
			share := schedule.Stripe{Of: r, K: k, By: of}
			for _, p := range schedule.PicksOf(share).List() {
				for j := range p.N() {
					replay, i := schedule.Origin(p, j)
					if seen[i] || replay.Destination(i) != p.Destination() || p.At(j) != r.At(i) || p.Upto(p.Index(j)) != j {
						t.Fatalf("share %d of %d, destination %d: message %d is %d", k, of, p.Destination(), j, i)
					}
					seen[i] = true
				}
			}
		}
		if slices.Contains(seen, false) {
			t.Fatalf("some messages go nowhere: %v", seen)
		}
	})
}

// Whatever the runs of the pacer, each pick gets its messages in order, all of
// them, and of runs shorter and longer than the number of destinations.
func TestPicksSplit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		rows := drawRows(t)
		share := schedule.Stripe{Of: replay(t, rows, 1, 1, true).WithN(200), K: 1, By: 3}
		picks := schedule.PicksOf(share)
		next := make([]int64, len(picks.List()))
		for first := int64(0); first < share.N(); {
			count := min(rapid.Int64Range(1, 20).Draw(t, "count"), share.N()-first)
			picks.Split(first, count, func(k int, from, n int64) {
				if from != next[k] {
					t.Fatalf("pick %d goes on at %d, want %d", k, from, next[k])
				}
				next[k] += n
			})
			first += count
		}
		for k, p := range picks.List() {
			if next[k] != p.N() {
				t.Errorf("pick %d has %d messages of %d", k, next[k], p.N())
			}
		}
	})
}
