package recorder

import (
	"errors"
	"path/filepath"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"amqpperf/format"
)

// TestSyncPolicy flushes five times a second for ten seconds, with a disk that takes so long for a sync.
func TestSyncPolicy(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		policy      Sync
		takes       time.Duration
		syncs, late int64
	}{
		{"", 0, 0, 0},
		{SyncNone, 0, 0, 0},
		{SyncSecond, 0, 10, 0},
		{SyncAlways, 0, 50, 0},
		// From 0 ms to 350 ms: the flush at 200 ms is late, the one at 400 ms begins the next.
		{SyncAlways, 350 * time.Millisecond, 25, 25},
		// From 0 s to 1.5 s: late at 1, 1.2 and 1.4 s; the flush at 1.6 s begins the next.
		{SyncSecond, 1500 * time.Millisecond, 7, 18},
	} {
		synctest.Test(t, func(t *testing.T) {
			begun := int64(0)
			s := newSyncer(tt.policy, bubbleClock{}.Now, func() func() error {
				begun++
				return func() error { time.Sleep(tt.takes); return nil }
			})
			for range 50 {
				must(t, s.flushed())
				time.Sleep(200 * time.Millisecond)
			}
			must(t, s.wait())
			if s.n != tt.syncs || s.late != tt.late || begun != tt.syncs {
				t.Errorf("%q, %v each: %d syncs (%d), %d late, want %d and %d", tt.policy, tt.takes, s.n, begun, s.late, tt.syncs, tt.late)
			}
			if got := s.counters(); (got == nil) != (tt.syncs == 0) || got["recorder_syncs"] != tt.syncs {
				t.Errorf("%q: counters %v", tt.policy, got)
			}
		})
	}
}

// TestSyncFails: what the disk refuses ends the recording at the next flush, or at the end.
func TestSyncFails(t *testing.T) {
	t.Parallel()
	broken := errors.New("input/output error")
	for _, again := range []bool{true, false} {
		s := newSyncer(SyncAlways, bubbleClock{}.Now, func() func() error { return func() error { return broken } })
		must(t, s.flushed())
		err := s.wait
		if again {
			s.done <- <-s.done // it has ended
			err = s.flushed
		}
		if got := err(); !errors.Is(got, broken) {
			t.Errorf("flushed again %v: %v", again, got)
		}
	}
}

// TestSyncedLog records with every policy.
func TestSyncedLog(t *testing.T) {
	t.Parallel()
	for _, policy := range []Sync{SyncNone, SyncSecond, SyncAlways} {
		target := filepath.Join(t.TempDir(), "send.parquet")
		r, err := NewSend(Options{Target: target, Run: "r", Clock: bubbleClock{}, Sync: policy, FlushEvery: time.Millisecond})
		must(t, err)
		l := r.NewLane(nil)
		for i := range int64(1000) {
			l.Append(row(0, i))
		}
		must(t, r.Close("count", true, nil))
		log, err := format.Open(target)
		must(t, err)
		var counters map[string]int64
		if _, err := log.Meta().JSON(format.KeyCounters, &counters); err != nil {
			t.Fatal(err)
		}
		if n := len(readSend(t, log)[0]); n != 1000 || !log.Complete() || (counters["recorder_syncs"] > 0) != policy.asked() {
			t.Errorf("%s: %d rows, complete %v, counters %v", policy, n, log.Complete(), counters)
		}
		must(t, log.Close())
	}
	_, err := NewSend(Options{Target: "/dev/null", Clock: bubbleClock{}, Sync: SyncSecond})
	if err == nil || !strings.Contains(err.Error(), "--sync") {
		t.Errorf("a device: %v", err)
	}
}
