package connect

import (
	"context"
	"fmt"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/spf13/pflag"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/link"
)

// EventReconnect is the kind of the event when a lost connection or link is
// there again.
const EventReconnect amqp.EventKind = "reconnect"

const (
	// DefaultOutage is how long an outage may last if --reconnect does not say.
	DefaultOutage = time.Minute
	firstPause    = 100 * time.Millisecond
	longestPause  = 5 * time.Second
)

// Reconnect is the flag --reconnect[=TIME]: how long an outage may last before
// the tool gives up; 0 is not at all.
type Reconnect struct{ Longest time.Duration }

// Register defines the flag.
func (r *Reconnect) Register(fs *pflag.FlagSet) {
	fs.Var(r, "reconnect", "when a connection or link is lost, connect and attach again; give up an outage after `TIME` (default "+DefaultOutage.String()+"; without the flag: at once)")
	fs.Lookup("reconnect").NoOptDefVal = DefaultOutage.String()
}

// Set implements pflag.Value.
func (r *Reconnect) Set(text string) error {
	d, err := time.ParseDuration(text)
	if err != nil || d <= 0 {
		return fmt.Errorf("%q: want a time above 0, such as 30s, after which an outage is given up", text)
	}
	r.Longest = d
	return nil
}

// String implements pflag.Value.
func (r *Reconnect) String() string {
	if r.Longest == 0 {
		return ""
	}
	return r.Longest.String()
}

// Type implements pflag.Value.
func (r *Reconnect) Type() string { return "duration" }

// Enabled reports whether lost connections are to be made again.
func (r *Reconnect) Enabled() bool { return r.Longest > 0 }

// Lines are the connections of a command, each of which can be lost and made
// again. Its methods are safe for concurrent use.
type Lines struct {
	cfg       link.Config
	reconnect Reconnect
	onNew     func(*link.Conn) // a connection took the place of another
	slots     []*slot
}

// slot is one connection, with a lock so that those who share it dial once.
type slot struct {
	turn chan struct{} // one token: whoever has it dials
	mu   sync.Mutex
	conn *link.Conn
}

// NewLines takes over connections that are open. onNew, which may be nil, is told of
// each that is made again.
func NewLines(cfg link.Config, reconnect Reconnect, conns []*link.Conn, onNew func(*link.Conn)) *Lines {
	l := &Lines{cfg: cfg, reconnect: reconnect, onNew: onNew}
	for _, c := range conns {
		s := &slot{turn: make(chan struct{}, 1), conn: c}
		s.turn <- struct{}{}
		l.slots = append(l.slots, s)
	}
	return l
}

// Conn returns the present connection with an index.
func (l *Lines) Conn(index int) *link.Conn {
	s := l.slots[index]
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.conn
}

// All returns the present connections, in order.
func (l *Lines) All() []*link.Conn {
	all := make([]*link.Conn, len(l.slots))
	for i := range all {
		all[i] = l.Conn(i)
	}
	return all
}

// Restore brings a link back that was lost because of cause: it connects again if the
// connection is gone too, and calls attach, until both succeed. Between attempts
// it pauses 0.1 s at first, then twice as long each time up to 5 s, each a
// fifth longer or shorter at random so that a thousand connections do not come
// back together. The error is that of ctx, or tells that the outage lasted too long
// and what failed last. A success is an event of kind reconnect.
func (l *Lines) Restore(ctx context.Context, index int, cause error, attach func(context.Context, *link.Conn) error) error {
	began := l.cfg.Now()
	limited, cancel := context.WithTimeout(ctx, l.reconnect.Longest)
	defer cancel()
	pause := firstPause
	for attempt := 1; ; attempt++ {
		conn, err := l.live(limited, index)
		if err == nil {
			err = attach(limited, conn)
		}
		if err == nil {
			l.tell(index, began, attempt, cause)
			return nil
		}
		if limited.Err() == nil {
			cause = err // an attempt that was cut off tells nothing
		}
		if !sleep(limited, pause) {
			break
		}
		pause = min(2*pause, longestPause)
	}
	if ctx.Err() != nil {
		return ctx.Err()
	}
	return fmt.Errorf("gave up after --reconnect %v: %w", l.reconnect.Longest, cause)
}

// live returns the connection, made again if it is gone.
func (l *Lines) live(ctx context.Context, index int) (*link.Conn, error) {
	s := l.slots[index]
	select {
	case <-s.turn:
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	defer func() { s.turn <- struct{}{} }()
	old := l.Conn(index)
	select {
	case <-old.Done():
	default:
		return old, nil
	}
	next, err := link.Dial(ctx, l.cfg, int32(index))
	if err != nil {
		return nil, err
	}
	// The socket is gone; what is left to close is ours.
	_ = old.Close(ctx)
	s.mu.Lock()
	s.conn = next
	s.mu.Unlock()
	if l.onNew != nil {
		l.onNew(next)
	}
	return next, nil
}

func (l *Lines) tell(index int, began int64, attempts int, cause error) {
	if l.cfg.OnEvent == nil {
		return
	}
	now := l.cfg.Now()
	text := fmt.Sprintf("again after %v and %d attempts", time.Duration(now-began).Round(time.Millisecond), attempts)
	if attempts == 1 {
		text = fmt.Sprintf("again after %v", time.Duration(now-began).Round(time.Millisecond))
	}
	if cause != nil {
		text += ", lost: " + cause.Error()
	}
	l.cfg.OnEvent(amqp.Event{At: now, Kind: EventReconnect, Connection: int32(index), Text: text})
}

// sleep pauses for about d; false if ctx ended it.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(time.Duration(float64(d) * (0.8 + 0.4*rand.Float64())))
	defer t.Stop()
	select {
	case <-t.C:
		return ctx.Err() == nil
	case <-ctx.Done():
		return false
	}
}
