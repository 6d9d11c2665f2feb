package link

import "testing"

// reads is a socket that brings so many bytes each time.
type reads int

func (n reads) Read(b []byte) (int, error) { return min(int(n), len(b)), nil }

// TestInboxShrinks: what a burst needed is given back when little has come for long, so that connections that are idle
// again cost little again.
func TestInboxShrinks(t *testing.T) {
	t.Parallel()
	i := inbox{limit: 1 << 16}
	read := func(n, times int) {
		for range times {
			if err := i.fill(reads(n)); err != nil {
				t.Fatal(err)
			}
			i.start = i.end // worked off
		}
	}
	read(1<<20, 20)
	if len(i.b) < 1<<16 {
		t.Errorf("%d bytes after a burst", len(i.b))
	}
	read(100, calmReads/2)
	if len(i.b) < 1<<16 {
		t.Errorf("%d bytes soon after a burst", len(i.b))
	}
	read(100, calmReads)
	if len(i.b) != leastInbox {
		t.Errorf("%d bytes long after a burst, want %d", len(i.b), leastInbox)
	}
}
