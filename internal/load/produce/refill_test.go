package produce_test

import (
	"testing"
	"testing/synctest"

	"amqpperf/format"
)

const us = ms / 1000

// A broker that answers one by one: the slots of a full window are taken by the
// quarter, and the row says that they waited for that.
func TestRefillByTheQuarter(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		const window, n = 100, 1010
		r := rig{n: n, server: server{service: 10 * us}}
		r.config.Window = window
		r.run(t)
		for i, k := range r.server.of {
			want := 25
			switch {
			case i == 0:
				want = window
			case i == len(r.server.of)-1:
				want = (n - window) % 25
			}
			if k != want {
				t.Fatalf("Submit %d has %d messages, want %d: %v", i, k, want, r.server.of)
			}
		}
		for i, row := range r.bySeq(t) {
			// The answer to message k comes at (k+1)·10 µs and frees the slot of message k+window.
			ready, wait := r.start, format.WaitNone
			sent := ready
			if i >= window {
				k := i - window
				last := min(k/25*25+24, n-window-1) // the last of its quarter
				ready, sent = r.start+int64(k+1)*10*us, r.start+int64(last+1)*10*us
			}
			if sent > ready {
				wait = format.WaitWindow
			}
			if row.Intended != ready || row.Ready != ready || row.Sent != sent || row.Wait != wait {
				t.Fatalf("message %d: intended %d, sent %d, waited for %s; want %d, %d, %s",
					i, row.Intended-r.start, row.Sent-r.start, row.Wait, ready-r.start, sent-r.start, wait)
			}
		}
	})
}

// A slow broker: no slot waits longer than a millisecond, so the window is worth
// what it says.
func TestRefillWaitsAMillisecond(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rig{n: 400, server: server{service: 400 * us}}
		r.config.Window = 100
		r.run(t)
		for i, row := range r.bySeq(t) {
			if wait := row.Sent - row.Ready; wait > ms {
				t.Fatalf("message %d waited %d ns", i, wait)
			}
		}
		if got := r.server.of[1]; got != 3 { // freed at 0, 0.4 and 0.8 ms of it
			t.Errorf("%d messages in the first refill, want 3", got)
		}
	})
}

// A small window is not held back: a message more or less in one write is no gain.
func TestNoRefillOfSmallWindows(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rig{n: 60, server: server{service: 10 * us}}
		r.config.Window = 15
		r.run(t)
		for i, row := range r.bySeq(t) {
			if row.Sent != row.Ready {
				t.Fatalf("message %d waited %d ns", i, row.Sent-row.Ready)
			}
		}
	})
}

// In a paced run what is due goes as soon as there is a slot, also when the window
// was full.
func TestNoRefillInPacedRuns(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := rig{num: 100_000, n: 1000, server: server{service: 20 * us}}
		r.config.Window = 100
		r.run(t)
		for i, row := range r.bySeq(t) {
			if i >= 200 && row.Sent != r.start+int64(i-100+1)*20*us {
				t.Fatalf("message %d: sent at %d, its slot was free at %d", i, row.Sent-r.start, int64(i-100+1)*20*us)
			}
		}
	})
}
