package probe

import (
	"context"
	"errors"
	"io"
	"math"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"amqpperf/internal/load/recorder"
)

// maxPending bounds the questions that are remembered: five seconds of bursts.
const maxPending = 512

// session is one connection to the server.
type session struct {
	p      *Prober
	conn   net.Conn
	stream bool         // TCP
	since  atomic.Int64 // T1 of the first question after the last answer, 0 without one
	any    atomic.Bool  // an answer came
	failed chan struct{}

	mu      sync.Mutex
	pending map[nonce]*asked
	order   []nonce // of pending, oldest first, some already answered
	drained chan struct{}
}

// asked is a question under way. T1 is set after the question is known to the
// reader and immediately before the write, without a lock in between.
type asked struct{ t1 atomic.Int64 }

// session asks over one network; over says that the run's last questions are
// asked, or that it makes no sense to go on.
func (p *Prober) session(ctx context.Context, network string) (over bool, err error) {
	dialing, cancel := context.WithTimeout(ctx, p.opt.Patience)
	conn, err := p.opt.Dial(dialing, network, p.opt.Address)
	cancel()
	if err != nil {
		return p.finished() && network == "tcp", err
	}
	s := &session{p: p, conn: conn, stream: network == "tcp", failed: make(chan struct{}), pending: map[nonce]*asked{}, drained: make(chan struct{}, 1)}
	stop := context.AfterFunc(ctx, func() { _ = conn.Close() })
	var reader sync.WaitGroup
	reader.Go(s.read)
	over = s.ask(ctx)
	stop()
	err = conn.Close()
	reader.Wait()
	if errors.Is(err, net.ErrClosed) {
		err = nil
	}
	// Silence at the end: the other network has its chance if this was the first.
	return over && (s.any.Load() || p.answered.Load() > 0 || s.stream), err
}

// ask asks the questions before, during and after the run. False says that the
// server is silent or the connection broken.
func (s *session) ask(ctx context.Context) bool {
	p := s.p
	burst := p.opt.BurstTime / time.Duration(max(p.opt.Burst, 1))
	select {
	case <-p.ready:
	default:
		switch s.paced(ctx, burst, p.opt.Burst, p.finish) {
		case broken:
			return false
		case done:
			if p.opt.Burst > 0 && !s.any.Load() && !s.linger(ctx) {
				return false
			}
			p.setReady()
		}
	}
	if s.paced(ctx, time.Second/time.Duration(p.opt.Rate), math.MaxInt, p.finish) == broken && !p.finished() {
		return false
	}
	s.paced(ctx, burst, p.opt.Burst, nil)
	s.linger(ctx)
	return true
}

type reason int

const (
	done    reason = iota // all questions are asked
	stopped               // by the channel
	broken                // silence, an error, or the context
)

// paced asks n questions, one every interval, until stop.
func (s *session) paced(ctx context.Context, every time.Duration, n int, stop <-chan struct{}) reason {
	clock := s.p.opt.Clock
	next := clock.Now()
	t := time.NewTimer(0)
	defer t.Stop()
	for i := 0; i < n; i++ {
		select {
		case <-t.C:
		case <-stop:
			return stopped
		case <-s.failed:
			return broken
		case <-ctx.Done():
			return broken
		}
		if s.send() != nil && s.stream || s.silent() {
			return broken
		}
		next = max(next+int64(every), clock.Now()) // never two at once to catch up
		t.Reset(time.Duration(next - clock.Now()))
	}
	return done
}

// send asks one question. On UDP an error is a lost packet.
func (s *session) send() error {
	q := question{nonce: newNonce(), token: s.p.opt.Token}
	var b [Size]byte
	q.put(&b)
	a := &asked{}
	s.remember(q.nonce, a)
	s.p.asked.Add(1)
	t1 := s.p.opt.Clock.Now()
	a.t1.Store(t1)
	s.since.CompareAndSwap(0, t1)
	_, err := s.conn.Write(b[:])
	return err
}

// silent reports whether questions go unanswered for longer than Patience.
func (s *session) silent() bool {
	since := s.since.Load()
	return since != 0 && s.p.opt.Clock.Now()-since > int64(s.p.opt.Patience)
}

func (s *session) remember(n nonce, a *asked) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.order) >= maxPending {
		delete(s.pending, s.order[0])
		s.order = append(s.order[:0], s.order[1:]...)
	}
	s.pending[n] = a
	s.order = append(s.order, n)
}

// read takes answers until the connection is closed.
func (s *session) read() {
	defer close(s.failed)
	var b [Size + 1]byte
	for lost := 0; ; {
		n, err := s.receive(b[:])
		t4 := s.p.opt.Clock.Now()
		switch {
		case err == nil:
			lost = 0
			s.answer(b[:n], t4)
			continue
		case s.stream, errors.Is(err, net.ErrClosed), errors.Is(err, io.EOF), errors.Is(err, io.ErrClosedPipe):
			return
		}
		// UDP reports that nobody listens; that may change. Errors come once per
		// question, so this does not spin, unless something else is wrong.
		if lost++; lost > maxPending {
			return
		}
	}
}

func (s *session) receive(b []byte) (int, error) {
	if s.stream {
		return io.ReadFull(s.conn, b[:Size])
	}
	return s.conn.Read(b)
}

// answer makes a row of the answer to an open question; all else is counted.
func (s *session) answer(packet []byte, t4 int64) {
	a, err := parseAnswer(packet)
	if err != nil {
		s.p.late.Add(1)
		return
	}
	s.mu.Lock()
	q, ok := s.pending[a.nonce]
	delete(s.pending, a.nonce)
	empty := len(s.pending) == 0
	s.mu.Unlock()
	if !ok {
		s.p.late.Add(1)
		return
	}
	s.since.Store(0)
	s.any.Store(true)
	r := recorder.NewClockRow(t4)
	r.Peer, r.T1, r.T2, r.T3, r.T4 = a.peer(), q.t1.Load(), a.t2, a.t3, t4
	s.p.answered.Add(1)
	s.p.opt.Emit(r)
	if empty {
		select {
		case s.drained <- struct{}{}:
		default:
		}
	}
}

// linger waits until all questions are answered, at most Patience, and reports
// whether any ever was.
func (s *session) linger(ctx context.Context) bool {
	t := time.NewTimer(s.p.opt.Patience)
	defer t.Stop()
	for {
		s.mu.Lock()
		open := len(s.pending)
		s.mu.Unlock()
		if open == 0 {
			return s.any.Load()
		}
		select {
		case <-s.drained:
		case <-t.C:
			return s.any.Load()
		case <-s.failed:
			return s.any.Load()
		case <-ctx.Done():
			return s.any.Load()
		}
	}
}
