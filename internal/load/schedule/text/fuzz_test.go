package text_test

import (
	"testing"

	"amqpperf/internal/load/schedule"
	"amqpperf/internal/load/schedule/text"
)

// FuzzOptions reads a text as each of the small options of a schedule: what is taken is within its limits.
func FuzzOptions(f *testing.F) {
	for _, s := range []string{"10k:2s,500:5s", "2x", "1/3", "0.5x", "2/5", "forever", "3", "0/0", "1e9x", "-1", "9223372036854775807:1ns,1:1h"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		if b, err := text.ParseBurst(s); err == nil {
			for _, r := range []schedule.Ratio{b.Rate1, b.Rate2, b.Leave1, b.Leave2} {
				if r.Num < 0 || r.Den < 1 {
					t.Errorf("bursts %q: %+v", s, b)
				}
			}
		}
		if v, err := text.ParseSpeed(s); err == nil && (v.Num < 1 || v.Den < 1) {
			t.Errorf("speed %q: %+v", s, v)
		}
		if p, err := text.ParseShare(s); err == nil && (p.K < 1 || p.K > p.Of) {
			t.Errorf("share %q: %+v", s, p)
		}
		if n, err := text.ParseRepeat(s); err == nil && n < 1 && n != schedule.Forever {
			t.Errorf("repeat %q: %d", s, n)
		}
	})
}
