package consume_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"amqpperf/format"
	"amqpperf/internal/amqp"
	"amqpperf/internal/load/consume"
	"amqpperf/internal/load/live"
	"amqpperf/internal/load/recorder"
	"amqpperf/timestamp"
)

const ms = time.Millisecond

var errCut = errors.New("the cable was cut")

// queue is a link whose broker delivers what is put in, as credit allows.
type queue struct {
	clock *timestamp.Clock

	mu      sync.Mutex
	waiting [][]byte
	settled bool // deliver settled
	// redeliver puts what is released at the end of the queue again.
	redeliver bool
	given     [][]byte // bodies by ID
	beside    bool     // the stamp is not in the body
	free      int      // credit left
	stopped   bool
	next      uint64
	answers   []string // "0-4 accepted"
	wake      chan struct{}
	gone      error
}

func (q *queue) put(bodies ...[]byte) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.waiting = append(q.waiting, bodies...)
	q.signal()
}

func (q *queue) signal() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

func (q *queue) die(err error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.gone = err
	q.signal()
}

func (q *queue) Receive(ctx context.Context, dst []amqp.Delivery) (int, error) {
	for {
		q.mu.Lock()
		n := min(len(dst), q.free, len(q.waiting))
		for i := range n {
			dst[i] = amqp.Delivery{ID: q.next, Received: q.clock.Now(), Body: q.waiting[i], BrokerIn: format.Null, Settled: q.settled, ContentType: "text/plain"}
			if q.beside {
				dst[i].Stamp, dst[i].Body = dst[i].Body, []byte("body")
			}
			q.next++
		}
		q.given = append(q.given, q.waiting[:n]...)
		q.waiting = q.waiting[n:]
		q.free -= n
		gone := q.gone
		q.mu.Unlock()
		if n > 0 {
			return n, nil
		}
		if gone != nil {
			return 0, gone
		}
		select {
		case <-q.wake:
		case <-ctx.Done():
			return 0, fmt.Errorf("receive: %w", ctx.Err())
		}
	}
}

func (q *queue) Settle(first, last uint64, state amqp.State) (int64, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	name := map[amqp.State]string{amqp.Accepted: "accepted", amqp.Released: "released", amqp.Rejected: "rejected", amqp.Modified: "modified", amqp.Undeliverable: "undeliverable"}[state]
	if q.redeliver && (state == amqp.Released || state == amqp.Modified) {
		q.waiting = append(q.waiting, q.given[first:last+1]...)
	}
	q.answers = append(q.answers, fmt.Sprintf("%d-%d %s", first, last, name))
	if !q.stopped {
		q.free += int(last - first + 1)
		q.signal()
	}
	return q.clock.Now(), q.gone
}

func (q *queue) Flush(context.Context) error { return nil }

func (q *queue) Stop(context.Context) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.stopped = true
	return nil
}

func (q *queue) Close(context.Context) error { return nil }

type rig struct {
	clock  *timestamp.Clock
	queue  *queue
	config consume.Config
	limits consume.Limits
	group  *consume.Group
	rows   []recorder.RecvRow
	met    []format.Sender
	seq    atomic.Int64
	later  func()       // called 700 ms after the start
	link   consume.Link // around queue, nil: queue itself
	next   *queue       // takes the place of queue when that is gone
	c      *consume.Consumer
}

func newRig() *rig {
	clock := timestamp.NewClock()
	r := &rig{clock: clock, queue: &queue{clock: clock, wake: make(chan struct{}, 1)}}
	r.config = consume.Config{Destination: "queue://x", Credit: 10, Clock: clock}
	return r
}

func (r *rig) body(run string) []byte {
	a := r.clock.Anchor()
	s := timestamp.Stamp{Run: run, Sender: 9, Seq: r.seq.Add(1) - 1, Intended: r.clock.Now() - 2e6, Sent: r.clock.Now() - 1e6, ClockID: a.ClockID, Offset: a.Offset()}
	return append(s.Append(nil), "filler"...)
}

func (r *rig) bodies(run string, n int) (out [][]byte) {
	for range n {
		out = append(out, r.body(run))
	}
	return out
}

// run consumes until the group stops.
func (r *rig) run(t *testing.T) error {
	t.Helper()
	r.group = consume.NewGroup(t.Context(), r.clock, r.limits, 1)
	r.config.Group = r.group
	r.config.Write = func(row *recorder.RecvRow) { r.rows = append(r.rows, *row) }
	r.config.OnSender = func(s format.Sender) { r.met = append(r.met, s) }
	r.queue.free = r.config.Credit
	var err error
	if r.c, err = consume.New(r.config); err != nil {
		t.Fatal(err)
	}
	defer r.c.Close()
	if r.later != nil {
		time.AfterFunc(700*ms, r.later)
	}
	var wg sync.WaitGroup
	wg.Go(r.group.Watch)
	if r.link == nil {
		r.link = r.queue
	}
	err = r.c.Run(r.link, 0, "")
	if err != nil && r.next != nil {
		err = r.c.Run(r.next, 1, "")
	}
	if err != nil {
		r.group.Gone(err)
	}
	wg.Wait()
	return err
}

// outcomes returns "seq outcome" of the rows in order and checks their instants.
func (r *rig) outcomes(t *testing.T) string {
	t.Helper()
	var out []string
	for _, row := range r.rows {
		out = append(out, fmt.Sprintf("%d %s", row.Seq, row.Outcome))
		begun := row.Outcome != format.Released
		if begun != (row.Started != format.Null) || (row.Settled == format.Null) != (row.Outcome == format.Presettled || row.Outcome == format.Unsettled) {
			t.Errorf("row %+v", row)
		}
		if row.Started != format.Null && row.Started < row.Received || row.Settled != format.Null && row.Settled < row.Received {
			t.Errorf("row %+v", row)
		}
	}
	return strings.Join(out, ", ")
}

// -n 3 of five with credit 10: three are accepted, two are given back.
func TestCount(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.limits.Count = 3
		r.queue.put(r.bodies("r", 5)...)
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		if got, want := r.outcomes(t), "0 accepted, 1 accepted, 2 accepted, 3 released, 4 released"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if d := cmp.Diff([]string{"0-2 accepted", "3-4 released"}, r.queue.answers); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		reason, _ := r.group.Reason()
		var s live.Recv
		r.c.Collect(&s)
		if reason != consume.StopCount || r.group.Admitted() != 3 || s.Received != 3 || s.Released != 2 || s.E2E.Max() != 2e6 || s.Transfer.Max() != 1e6 {
			t.Errorf("stopped by %s, %d admitted, %+v", reason, r.group.Admitted(), s)
		}
		if len(r.met) != 1 || r.met[0].Sender != 9 || r.met[0].Clock.ClockID != r.clock.Anchor().ClockID {
			t.Errorf("met %+v", r.met)
		}
	})
}

// Every fourth message is answered together with the three before it; the rest at the end.
func TestAckEvery(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.config.AckEvery = 4
		r.limits.Idle = time.Second
		r.queue.put(r.bodies("r", 10)...)
		r.later = func() {
			var told []int64
			for range 2 {
				if got, want := r.c.UnsettledBytes(), int64(2*len(r.body("r"))); got != want {
					t.Errorf("%d bytes are unsettled, want %d", got, want)
				}
				r.c.Provisional(r.clock.Now()-int64(500*ms), func(row *recorder.RecvRow) { told = append(told, row.Seq) })
			}
			if d := cmp.Diff([]int64{8, 9}, told); d != "" {
				t.Errorf("provisional rows (-want +got)\n%s", d)
			}
		}
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff([]string{"0-3 accepted", "4-7 accepted", "8-9 accepted"}, r.queue.answers); d != "" {
			t.Errorf("(-want +got)\n%s", d)
		}
		if reason, err := r.group.Reason(); reason != consume.StopIdle || err != nil || len(r.rows) != 10 {
			t.Errorf("stopped by %s, %v, %d rows", reason, err, len(r.rows))
		}
	})
}

// Other runs are answered and logged, but neither counted nor kept waiting for.
func TestOtherRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.config.Run = "mine"
		r.limits.Idle = time.Second
		r.queue.put(r.body("old"), r.body("mine"))
		start := r.clock.Now()
		for i := range 20 {
			time.AfterFunc(time.Duration(i)*100*ms, func() { r.queue.put(r.body("old")) })
		}
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		if took := r.clock.Now() - start; took > int64(2500*ms) {
			t.Errorf("idle after %v", time.Duration(took))
		}
		var s live.Recv
		r.c.Collect(&s)
		if s.Received != 1 || s.OtherRun < 10 || int(s.OtherRun+s.Released)+1 != len(r.rows) {
			t.Errorf("%+v, %d rows", s, len(r.rows))
		}
	})
}

func TestForeign(t *testing.T) {
	t.Parallel()
	tests := []struct {
		policy  consume.Foreign
		answers []string
		err     string
	}{
		{consume.ForeignStop, []string{"0-0 accepted", "2-2 released", "1-1 released"}, "queue://x: a message without a stamp of perf-send arrived (content type text/plain, 5 bytes)"},
		{consume.ForeignAccept, []string{"0-0 accepted", "1-1 accepted", "2-2 accepted"}, ""},
		{consume.ForeignRelease, []string{"0-0 accepted", "2-2 accepted", "1-1 released"}, ""},
	}
	for _, tt := range tests {
		t.Run(string(tt.policy), func(t *testing.T) {
			t.Parallel()
			synctest.Test(t, func(t *testing.T) {
				r := newRig()
				r.config.Foreign = tt.policy
				r.limits.Idle = time.Second
				r.queue.put(r.body("r"), []byte("order"))
				time.AfterFunc(50*ms, func() { r.queue.put(r.body("r")) })
				if err := r.run(t); err != nil {
					t.Error(err)
				}
				reason, err := r.group.Reason()
				if d := cmp.Diff(tt.answers, r.queue.answers); d != "" {
					t.Errorf("(-want +got)\n%s", d)
				}
				if (err == nil) != (tt.err == "") || (err != nil && (!strings.Contains(err.Error(), tt.err) || reason != consume.StopError)) {
					t.Errorf("stopped by %s, %v", reason, err)
				}
			})
		})
	}
}

func TestWaitAndDuration(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		limits consume.Limits
		reason string
		failed bool
		after  time.Duration
	}{
		{consume.Limits{Wait: time.Second, Idle: 100 * ms}, consume.StopIdle, true, time.Second},
		{consume.Limits{Duration: 2 * time.Second, Idle: 100 * ms}, consume.StopDuration, false, 2 * time.Second},
		{consume.Limits{Wait: 3 * time.Second, Duration: 2 * time.Second}, consume.StopDuration, false, 2 * time.Second},
	} {
		synctest.Test(t, func(t *testing.T) {
			r := newRig()
			r.limits = tt.limits
			start := r.clock.Now()
			if err := r.run(t); err != nil {
				t.Error(err)
			}
			reason, err := r.group.Reason()
			if took := time.Duration(r.clock.Now() - start); reason != tt.reason || (err != nil) != tt.failed || took != tt.after+100*ms {
				t.Errorf("%+v: stopped by %s, %v, after %v", tt.limits, reason, err, took)
			}
		})
	}
}

// The idle time counts from the first message on, which comes late.
func TestIdle(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.limits.Idle = time.Second
		start := r.clock.Now()
		time.AfterFunc(10*time.Second, func() { r.queue.put(r.body("r")) })
		time.AfterFunc(10*time.Second+900*ms, func() { r.queue.put(r.body("r")) })
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		if took := time.Duration(r.clock.Now() - start); took != 12*time.Second || len(r.rows) != 2 {
			t.Errorf("idle after %v, %d rows", took, len(r.rows))
		}
	})
}

// The link dies: what was not answered is unsettled, and without another the run stops.
func TestDown(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.config.AckEvery = 4
		r.queue.put(r.bodies("r", 6)...)
		time.AfterFunc(50*ms, func() { r.queue.die(errCut) })
		if err := r.run(t); !errors.Is(err, errCut) {
			t.Errorf("got %v", err)
		}
		if got, want := r.outcomes(t), "0 accepted, 1 accepted, 2 accepted, 3 accepted, 4 unsettled, 5 unsettled"; got != want {
			t.Errorf("got %s, want %s", got, want)
		}
		if reason, err := r.group.Reason(); reason != consume.StopError || !errors.Is(err, errCut) {
			t.Errorf("stopped by %s, %v", reason, err)
		}
	})
}

func TestPresettled(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		r := newRig()
		r.limits.Count = 2
		r.queue.settled = true
		r.queue.put(r.bodies("r", 2)...)
		if err := r.run(t); err != nil {
			t.Error(err)
		}
		if got, want := r.outcomes(t), "0 presettled, 1 presettled"; got != want || len(r.queue.answers) != 0 {
			t.Errorf("got %s, want %s; answers %v", got, want, r.queue.answers)
		}
	})
}
