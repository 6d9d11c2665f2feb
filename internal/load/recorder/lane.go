package recorder

import "sync"

// Lane takes the rows of one producer or consumer. It is safe for concurrent
// use; rows keep the order in which they are appended.
type Lane[R Row] struct {
	q           *queue[R]
	provisional func(olderThan int64, emit func(*R))

	mu    sync.Mutex
	block *block[R] // nil: none taken yet
}

// Append records a finished row. It copies the row and returns; it blocks only
// while the writer is far behind, which is counted. After Close rows are
// dropped and counted.
func (l *Lane[R]) Append(row *R) {
	l.mu.Lock()
	for l.block == nil {
		l.mu.Unlock() // the ticker must get in while this lane waits
		b := l.q.take()
		if b == nil {
			l.q.drop()
			return
		}
		l.mu.Lock()
		if l.block == nil {
			l.block = b
		} else {
			l.q.recycle(b)
		}
	}
	l.block.rows = append(l.block.rows, *row)
	if len(l.block.rows) == blockRows {
		l.q.give(item[R]{block: l.block})
		l.block = nil
	}
	l.mu.Unlock()
}

// flush hands over the rows of a block that is not full.
func (l *Lane[R]) flush() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.block != nil && len(l.block.rows) > 0 {
		l.q.give(item[R]{block: l.block})
		l.block = nil
	}
}

// askProvisional hands over a row for every message that is outstanding since
// before olderThan.
func (l *Lane[R]) askProvisional(olderThan int64) {
	if l.provisional == nil {
		return
	}
	var b *block[R]
	l.provisional(olderThan, func(row *R) {
		if b == nil {
			if b = l.q.take(); b == nil {
				return
			}
		}
		b.rows = append(b.rows, *row)
		if len(b.rows) == blockRows {
			l.q.give(item[R]{provisional: b})
			b = nil
		}
	})
	if b != nil {
		l.q.give(item[R]{provisional: b})
	}
}
