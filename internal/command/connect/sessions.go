package connect

import (
	"context"
	"sync"

	"amqpperf/internal/amqp/link"
)

// Sessions gives links the session to attach on. It is safe for concurrent use.
type Sessions struct {
	shared bool
	mu     sync.Mutex
	of     map[*link.Conn]*link.Session
}

// Sessions returns what --sessions asks for.
func (f *Flags) Sessions() *Sessions {
	return &Sessions{shared: f.sessions.String() == sessionsShared, of: map[*link.Conn]*link.Session{}}
}

// SessionMode returns the value of --sessions, for the log.
func (f *Flags) SessionMode() string { return f.sessions.String() }

// Of returns the session that the links of a connection share, nil if each has its
// own. An error is that of a session that could not begin.
func (s *Sessions) Of(ctx context.Context, c *link.Conn) (*link.Session, error) {
	if !s.shared {
		return nil, nil
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if session := s.of[c]; session != nil {
		return session, nil
	}
	session, err := c.NewSession(ctx)
	if err == nil {
		s.of[c] = session
	}
	return session, err
}

// Forget makes the next link of a connection begin another session: the one that
// was shared is gone.
func (s *Sessions) Forget(c *link.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.of, c)
}
