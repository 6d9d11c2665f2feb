package probe

import "sync"

// limiter allows MaxAnswers in any window of one second, exactly: the instants
// of the last ones are kept. (A token bucket would let twice as many through in
// its first second.) The zero value is ready; it is safe for concurrent use.
type limiter struct {
	mu   sync.Mutex
	last [MaxAnswers]int64
	n    int64 // allowed so far
}

func (l *limiter) allow(now int64) bool {
	const second = 1_000_000_000
	l.mu.Lock()
	defer l.mu.Unlock()
	slot := &l.last[l.n%MaxAnswers]
	if l.n >= MaxAnswers && now-*slot < second {
		return false
	}
	*slot = now
	l.n++
	return true
}
