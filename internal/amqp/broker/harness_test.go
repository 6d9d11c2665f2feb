package broker_test

import (
	"context"
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/go-amqp"

	"amqpperf/internal/amqp/broker"
)

// world is a broker and the clients of a test, which talk to it through pipes in
// memory. It needs a synctest bubble.
type world struct {
	t   testing.TB
	b   *broker.Broker
	ctx context.Context

	mu      sync.Mutex
	records []broker.Record
}

func start(t testing.TB, cfg broker.Config) *world {
	t.Helper()
	w := &world{t: t, ctx: t.Context()}
	cfg.CoarseTimers = true
	cfg.ArrivalLog = func(r *broker.Record) {
		c := *r
		c.Body = append([]byte(nil), r.Body...)
		c.Message = append([]byte(nil), r.Message...)
		w.mu.Lock()
		defer w.mu.Unlock()
		w.records = append(w.records, c)
	}
	b, err := broker.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	w.b = b
	return w
}

func (w *world) close() {
	w.t.Helper()
	if err := w.b.Close(); err != nil {
		w.t.Error(err)
	}
}

// log returns the records so far, when all that is on its way has arrived.
func (w *world) log() []broker.Record {
	synctest.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	return append([]broker.Record(nil), w.records...)
}

func (w *world) outcomes() map[broker.Outcome]int {
	out := map[broker.Outcome]int{}
	for _, r := range w.log() {
		out[r.Outcome]++
	}
	return out
}

// pipe gives a client's end of a connection to the broker.
func (w *world) pipe() net.Conn {
	mine, theirs := net.Pipe()
	go func() { _ = w.b.ServeConn(theirs) }()
	return mine
}

func (w *world) dial(o *amqp.ConnOptions) *amqp.Conn {
	w.t.Helper()
	c, err := amqp.NewConn(w.ctx, w.pipe(), o)
	if err != nil {
		w.t.Fatal(err)
	}
	return c
}

func (w *world) session() *amqp.Session {
	w.t.Helper()
	s, err := w.dial(nil).NewSession(w.ctx, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) sender(addr string, o *amqp.SenderOptions) *amqp.Sender {
	w.t.Helper()
	s, err := w.session().NewSender(w.ctx, addr, o)
	if err != nil {
		w.t.Fatal(err)
	}
	return s
}

func (w *world) receiver(addr string, o *amqp.ReceiverOptions) *amqp.Receiver {
	w.t.Helper()
	r, err := w.session().NewReceiver(w.ctx, addr, o)
	if err != nil {
		w.t.Fatal(err)
	}
	synctest.Wait() // its first credit has arrived
	return r
}

func (w *world) send(s *amqp.Sender, bodies ...string) {
	w.t.Helper()
	for _, b := range bodies {
		if err := s.Send(w.ctx, amqp.NewMessage([]byte(b)), nil); err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *world) within(d time.Duration) (context.Context, context.CancelFunc) {
	return context.WithTimeout(w.ctx, d)
}

func (w *world) receive(r *amqp.Receiver) *amqp.Message {
	w.t.Helper()
	ctx, cancel := w.within(10 * time.Second)
	defer cancel()
	m, err := r.Receive(ctx, nil)
	if err != nil {
		w.t.Fatal(err)
	}
	return m
}

// nothing fails the test if a message comes within a second.
func (w *world) nothing(r *amqp.Receiver) {
	w.t.Helper()
	ctx, cancel := w.within(time.Second)
	defer cancel()
	if m, err := r.Receive(ctx, nil); err == nil {
		w.t.Errorf("unexpected message %q", m.GetData())
	}
}

func (w *world) accept(r *amqp.Receiver, ms ...*amqp.Message) {
	w.t.Helper()
	for _, m := range ms {
		if err := r.AcceptMessage(w.ctx, m); err != nil {
			w.t.Fatal(err)
		}
	}
}
