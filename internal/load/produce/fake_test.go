package produce_test

import (
	"context"
	"errors"
	"sync"
	"testing"
	"time"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/pace"
	"amqpperf/internal/load/produce"
	"amqpperf/internal/load/recorder"
	"amqpperf/internal/load/schedule"
	"amqpperf/timestamp"
)

const ms = int64(time.Millisecond)

// server is a link whose peer is known exactly: one FIFO queue with a service
// time, out of service from stallAt for stallFor, then a delay on which the
// next message does not wait. Time is virtual.
type server struct {
	t        *testing.T
	clock    *timestamp.Clock
	sink     amqp.Sink
	body     amqp.Body
	service  int64
	delay    int64
	stallAt  int64 // offset from start
	stallFor int64
	start    int64
	credit   chan struct{} // nil: unlimited
	state    amqp.State
	silent   bool                 // never answers
	skip     func(id uint64) bool // those are not answered
	look     func(m *amqp.Message, body []byte)

	mu   sync.Mutex
	free int64 // when the server becomes free
	of   []int // messages of each Submit
	wg   sync.WaitGroup
	gone error
}

func (s *server) Submit(ctx context.Context, messages []amqp.Message) (int, error) {
	s.of = append(s.of, len(messages))
	for i := range messages {
		m := &messages[i]
		m.Wait = amqp.WaitNone
		if s.credit != nil {
			before := s.clock.Now()
			select {
			case <-s.credit:
			case <-ctx.Done():
				m.Wait = amqp.WaitCredit
				return i, ctx.Err()
			}
			if s.clock.Now() > before {
				m.Wait = amqp.WaitCredit
			}
		}
		s.mu.Lock()
		gone := s.gone
		s.mu.Unlock()
		if gone != nil {
			return i, gone
		}
		m.Sent = s.clock.Now()
		body := s.body.Append(nil, m)
		if stamp, err := timestamp.Parse(body); err != nil || len(body) != int(m.Size) || stamp.Seq != m.Seq || stamp.Sent != m.Sent || stamp.Intended != m.Intended {
			s.t.Errorf("message %d: stamp %+v, %v, %d bytes", m.ID, stamp, err, len(body))
		}
		if s.look != nil {
			s.look(m, body)
		}
		if !s.silent && (s.skip == nil || !s.skip(m.ID)) {
			s.serve(*m)
		}
	}
	return len(messages), nil
}

func (s *server) serve(m amqp.Message) {
	begin := max(m.Sent, s.free)
	if stall := s.start + s.stallAt; s.stallFor > 0 && begin >= stall && begin < stall+s.stallFor {
		begin = stall + s.stallFor
	}
	s.free = begin + s.service
	at := s.free + s.delay
	s.wg.Go(func() {
		time.Sleep(time.Duration(at - s.clock.Now()))
		s.mu.Lock()
		defer s.mu.Unlock()
		if s.gone == nil {
			state := s.state
			if state == amqp.Unsettled {
				state = amqp.Accepted
			}
			s.sink.Completed([]amqp.Completion{{First: m.ID, Last: m.ID, State: state, At: s.clock.Now()}})
		}
	})
}

func (s *server) die(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.gone = err
	s.sink.Down(s.clock.Now(), err)
}

func (s *server) Close(context.Context) error { return nil }

// rig runs one producer against a server in virtual time.
type rig struct {
	server  server
	config  produce.Config
	num     int64 // rate per second; 0: closed loop
	n       int64
	end     int64         // offset at which Finish is called; 0: by the pacer
	drain   time.Duration // after the end; 0: long
	meddle  func(r *rig, p *produce.Producer)
	rows    []recorder.SendRow
	start   int64
	stopped error

	mu    sync.Mutex
	links []*server // those after the first
}

func (r *rig) run(t *testing.T) *produce.Producer {
	t.Helper()
	clock := timestamp.NewClock()
	r.start = clock.Now()
	c := &r.config
	c.Run, c.Clock, c.Count = "r", clock, schedule.Unbounded
	c.Size, c.Filler = 100, produce.Filler(100)
	c.Write = func(row *recorder.SendRow) { r.rows = append(r.rows, *row) }
	switch c.Window {
	case 0:
		c.Window = 100_000
	case -1:
		c.Window = 0
	}
	var pacer *pace.Pacer
	if r.num > 0 {
		s, err := schedule.NewConstant(r.num, 1, r.n)
		if err != nil {
			t.Fatal(err)
		}
		c.Schedule = s
		pacer = &pace.Pacer{Schedule: s, Start: r.start, Clock: clock, Timer: pace.NewRuntimeTimer(clock)}
	} else if r.n > 0 {
		c.Count = r.n
	}
	p := produce.New(*c)
	p.Begin(r.start, r.start)
	s := &r.server
	s.t, s.clock, s.sink, s.body, s.start = t, clock, p, p, r.start
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	finish := func() {
		p.Finish(clock.Now())
		if r.drain > 0 {
			time.AfterFunc(r.drain, cancel)
		}
	}
	var wg sync.WaitGroup
	if pacer != nil {
		wg.Go(func() {
			if _, err := pacer.Run(func(run pace.Run) { produce.Split(run, 1, func(_ int64, run pace.Run) { p.Offer(run) }) }); err != nil {
				t.Error(err)
			}
			finish()
		})
		if r.end > 0 {
			time.AfterFunc(time.Duration(r.end), pacer.Stop)
		}
	} else if r.end > 0 {
		time.AfterFunc(time.Duration(r.end), finish)
	}
	if r.meddle != nil {
		wg.Go(func() { r.meddle(r, p) })
	}
	r.stopped = p.Run(ctx, s)
	wg.Wait()
	s.wg.Wait()
	for _, l := range r.links {
		l.wg.Wait()
	}
	return p
}

// bySeq checks that there is exactly one row of every seq and that each row's
// instants fit together, and returns the rows in that order.
func (r *rig) bySeq(t *testing.T) []recorder.SendRow {
	t.Helper()
	out := make([]recorder.SendRow, len(r.rows))
	for _, row := range r.rows {
		if row.Seq < 0 || row.Seq >= int64(len(out)) || out[row.Seq].Outcome != "" {
			t.Fatalf("%d rows, one of message %d", len(out), row.Seq)
		}
		out[row.Seq] = row
		if row.Sent != format.Null && (row.Sent < row.Ready || row.Ready < row.Intended) {
			t.Errorf("message %d: intended %d, ready %d, sent %d", row.Seq, row.Intended, row.Ready, row.Sent)
		}
	}
	return out
}

var errCut = errors.New("the cable was cut")
