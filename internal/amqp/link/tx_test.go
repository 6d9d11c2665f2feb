package link

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/broker"
)

// txLog keeps what is told of transactions and of deliveries settled in them.
type txLog struct {
	t  *testing.T
	mu sync.Mutex

	ended   []amqp.Tx
	settled map[uint64]error
}

func newTxLog(t *testing.T) *txLog { return &txLog{t: t, settled: map[uint64]error{}} }

func (l *txLog) onTx(x amqp.Tx) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.ended = append(l.ended, x)
	if x.Error == "" && (x.Declared == 0 || x.Discharged < x.Declared || x.At < x.Discharged) {
		l.t.Errorf("transaction %+v: its instants run backwards", x)
	}
}

func (l *txLog) onSettled(first, last uint64, at int64, err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if at == 0 {
		l.t.Errorf("deliveries %d to %d were settled at no instant", first, last)
	}
	for id := first; id <= last; id++ {
		if _, twice := l.settled[id]; twice {
			l.t.Errorf("delivery %d was reported twice", id)
		}
		l.settled[id] = err
	}
}

// shapes are the transactions without their instants.
func (l *txLog) shapes() []amqp.Tx {
	l.mu.Lock()
	defer l.mu.Unlock()
	out := slices.Clone(l.ended)
	for i := range out {
		out[i].Declared, out[i].Discharged, out[i].At = 0, 0, 0
	}
	return out
}

// ids receives n messages, without settling them, and returns their IDs in order.
func ids(t *testing.T, r *Receiver, n int) []uint64 {
	t.Helper()
	dst := make([]amqp.Delivery, n)
	var out []uint64
	for len(out) < n {
		k, err := r.Receive(limit(t), dst[:n-len(out)])
		if err != nil {
			t.Fatalf("after %d of %d deliveries: %v", len(out), n, err)
		}
		for _, d := range dst[:k] {
			id, ok := intact(d.Body)
			if !ok {
				t.Fatalf("delivery %d has a damaged body of %d bytes", d.ID, len(d.Body))
			}
			out = append(out, id)
		}
	}
	return out
}

func series(first, last uint64) (out []uint64) {
	for id := first; id <= last; id++ {
		out = append(out, id)
	}
	return out
}

// txPair makes a sender and a receiver on an address of their own.
func txPair(t *testing.T, u URL, sc SenderConfig, rc ReceiverConfig) (*Sender, *Receiver, *ledger) {
	t.Helper()
	c, sink, address := dial(t, config(t, u), 0), newLedger(t), queue(t)
	sc.Address, sc.Body, sc.Sink = address, numbered{}, sink
	if sc.MaxPending == 0 {
		sc.MaxPending = 1000
	}
	s, err := c.NewSender(limit(t), sc)
	refused(t, err)
	rc.Address = address
	if rc.Credit == 0 {
		rc.Credit = 200
	}
	r, err := dial(t, config(t, u), 1).NewReceiver(limit(t), rc)
	refused(t, err)
	return s, r, sink
}

// refused ends the test if there is an error: a broker without transactions must say so, in its own words.
func refused(t *testing.T, err error) {
	t.Helper()
	if err == nil {
		return
	}
	if e := (*Error)(nil); realBroker() && errors.As(err, &e) && e.Condition == "amqp:not-implemented" && strings.Contains(e.Description, "ransactions") {
		t.Skip(err)
	}
	t.Fatal(err)
}

// TestTxSend: every other transaction is rolled back and leaves nothing; the
// others leave everything, but not before they are committed.
func TestTxSend(t *testing.T) {
	t.Parallel()
	ctx, u, log := limit(t), brokerURL(t), newTxLog(t)
	s, r, sink := txPair(t, u, SenderConfig{Tx: 10, TxRollback: 0.5, OnTx: log.onTx}, ReceiverConfig{})
	if err := submitAll(ctx, s, messages(0, 45, 200)); err != nil {
		t.Fatal(err)
	}
	states := sink.await(ctx, 40)
	if states[amqp.Accepted] != 20 || states[amqp.Released] != 20 {
		t.Errorf("of four transactions: %v", states)
	}
	if n := s.Pending(); n != 5 {
		t.Errorf("%d messages pending in a transaction that is open", n)
	}
	// Whatever of the open transaction were visible would come before this.
	marker(t, r.Address(), u, 1000)
	want := append(append(series(0, 9), series(20, 29)...), 1000)
	if got := ids(t, r, 21); !slices.Equal(got, want) {
		t.Errorf("received %v", got)
	}
	if err := s.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if states := sink.await(ctx, 45); states[amqp.Accepted] != 25 {
		t.Errorf("after Flush: %v", states)
	}
	if got := ids(t, r, 5); !slices.Equal(got, series(40, 44)) {
		t.Errorf("received %v after Flush", got)
	}
	if err := s.Close(ctx); err != nil {
		t.Error(err)
	}
	want2 := []amqp.Tx{{First: 0, Last: 9, Count: 10}, {First: 10, Last: 19, Count: 10, Rolledback: true},
		{First: 20, Last: 29, Count: 10}, {First: 30, Last: 39, Count: 10, Rolledback: true}, {First: 40, Last: 44, Count: 5}}
	if got := log.shapes(); !slices.Equal(got, want2) {
		t.Errorf("transactions %+v", got)
	}
}

// marker sends one message outside of all transactions and waits until the broker has it.
func marker(t *testing.T, a Address, u URL, id uint64) {
	t.Helper()
	sink := newLedger(t)
	cfg := config(t, u)
	cfg.Style = StyleAuto
	typed := a.Text
	if a.Kind == KindQueue && typed[:1] != "/" && typed[:5] != "queue" {
		typed = "queue://" + typed
	}
	s, err := dial(t, cfg, 9).NewSender(limit(t), SenderConfig{Address: typed, Body: numbered{}, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	if err := submitAll(limit(t), s, messages(id, 1, 100)); err != nil {
		t.Fatal(err)
	}
	if states := sink.await(limit(t), 1); states[amqp.Accepted] != 1 {
		t.Fatalf("marker: %v", states)
	}
}

// TestTxReceive: acknowledgements that are rolled back are undone, committed ones are not.
func TestTxReceive(t *testing.T) {
	t.Parallel()
	ctx, u, log := limit(t), brokerURL(t), newTxLog(t)
	s, r, sink := txPair(t, u, SenderConfig{}, ReceiverConfig{Tx: 10, TxRollback: 0.5, OnTx: log.onTx, OnSettled: log.onSettled})
	if err := submitAll(ctx, s, messages(0, 25, 200)); err != nil {
		t.Fatal(err)
	}
	sink.await(ctx, 25)
	if got := ids(t, r, 25); !slices.Equal(got, series(0, 24)) {
		t.Fatalf("received %v", got)
	}
	// Two transactions at once, and five deliveries of a third.
	if at, err := r.Settle(0, 24, amqp.Accepted); err != nil || at == 0 {
		t.Fatalf("settle: %d, %v", at, err)
	}
	log.mu.Lock()
	for id := range uint64(20) {
		if err, told := log.settled[id]; !told || (id >= 10) != errors.Is(err, ErrRolledBack) {
			t.Errorf("delivery %d: told %v, %v", id, told, err)
		}
	}
	if len(log.settled) != 20 {
		t.Errorf("%d deliveries reported before their transaction is over", len(log.settled))
	}
	log.mu.Unlock()
	again := ids(t, r, 10)
	if slices.Sort(again); !slices.Equal(again, series(10, 19)) {
		t.Errorf("after the rollback %v came again", again)
	}
	if _, err := r.Settle(25, 34, amqp.Accepted); err != nil { // five fill the open transaction, five are left
		t.Fatal(err)
	}
	if err := r.Flush(ctx); err != nil {
		t.Fatal(err)
	}
	if err := r.Close(ctx); err != nil {
		t.Fatal(err)
	}
	want := []amqp.Tx{{First: 0, Last: 9, Count: 10}, {First: 10, Last: 19, Count: 10, Rolledback: true},
		{First: 20, Last: 29, Count: 10}, {First: 30, Last: 34, Count: 5, Rolledback: true}}
	if got := log.shapes(); !slices.Equal(got, want) {
		t.Errorf("transactions %+v", got)
	}
	// What was rolled back last is all that is left.
	marker(t, r.Address(), u, 1000)
	r2, err := dial(t, config(t, u), 3).NewReceiver(ctx, ReceiverConfig{Address: s.is.(*ownSender).typed, Credit: 100})
	if err != nil {
		t.Fatal(err)
	}
	if left := ids(t, r2, 6); len(left) != 6 || left[5] != 1000 {
		t.Errorf("left in the queue: %v", left)
	}
}

// TestTxReceiveCut: deliveries in a transaction that the end of the connection cuts are reported, once, with the cause.
func TestTxReceiveCut(t *testing.T) {
	t.Parallel()
	b, log := ownBroker(t, broker.Config{}), newTxLog(t)
	s, r, sink := txPair(t, b.url, SenderConfig{}, ReceiverConfig{Tx: 5, OnTx: log.onTx, OnSettled: log.onSettled})
	if err := submitAll(limit(t), s, messages(0, 8, 100)); err != nil {
		t.Fatal(err)
	}
	sink.await(limit(t), 8)
	ids(t, r, 8)
	if _, err := r.Settle(0, 7, amqp.Accepted); err != nil {
		t.Fatal(err)
	}
	if err := b.Close(); err != nil {
		t.Fatal(err)
	}
	if err := r.Flush(limit(t)); err == nil {
		t.Error("a transaction was flushed though its connection is gone")
	}
	_ = r.Close(limit(t)) // the end of the link has been told then
	log.mu.Lock()
	defer log.mu.Unlock()
	for id := range uint64(8) {
		if err, told := log.settled[id]; !told || (err != nil) != (id >= 5) {
			t.Errorf("delivery %d: told %v, %v", id, told, err)
		}
	}
	if len(log.ended) != 2 || log.ended[1].Error == "" || log.ended[1].Count != 3 {
		t.Errorf("transactions %+v", log.ended)
	}
}

// TestTxCompeting: two receivers with transactions share a queue; every message is committed once.
func TestTxCompeting(t *testing.T) {
	t.Parallel()
	const n = 200
	u, address, sink := ownBroker(t, broker.Config{}).url, queue(t), newLedger(t)
	c := dial(t, config(t, u), 0)
	session, err := c.NewSession(limit(t))
	if err != nil {
		t.Fatal(err)
	}
	s, err := c.NewSender(limit(t), SenderConfig{Address: address, Body: numbered{}, Sink: sink, Tx: 7, MaxPending: 100, Session: session})
	if err != nil {
		t.Fatal(err)
	}
	if err := submitAll(limit(t), s, messages(0, n, 100)); err != nil {
		t.Fatal(err)
	}
	if err := s.Flush(limit(t)); err != nil {
		t.Fatal(err)
	}
	if states := sink.await(limit(t), n); states[amqp.Accepted] != n {
		t.Fatalf("sent: %v", states)
	}
	seen := make(chan uint64, 2*n)
	ctx, stop := context.WithCancel(limit(t))
	defer stop()
	for k := range 2 {
		var mu sync.Mutex
		bodies := map[uint64]uint64{}
		r, err := dial(t, config(t, u), int32(k+1)).NewReceiver(ctx, ReceiverConfig{Address: address, Credit: 20, Tx: 3, TxRollback: 0.3,
			OnSettled: func(first, last uint64, _ int64, err error) {
				mu.Lock()
				defer mu.Unlock()
				for id := first; id <= last && err == nil; id++ {
					seen <- bodies[id]
				}
			}})
		if err != nil {
			t.Fatal(err)
		}
		go func() {
			dst := make([]amqp.Delivery, 10)
			for {
				// A transaction that is not full is not kept waiting for more.
				wait, cancel := context.WithTimeout(ctx, 20*time.Millisecond)
				got, err := r.Receive(wait, dst)
				cancel()
				switch {
				case ctx.Err() != nil:
					return
				case errors.Is(err, context.DeadlineExceeded):
					err = r.Flush(ctx)
				case err == nil:
					mu.Lock()
					for _, d := range dst[:got] {
						bodies[d.ID], _ = intact(d.Body)
					}
					mu.Unlock()
					_, err = r.Settle(dst[0].ID, dst[got-1].ID, amqp.Accepted)
				}
				if err != nil && ctx.Err() == nil {
					t.Error(err)
					return
				}
			}
		}()
	}
	once := map[uint64]bool{}
	for range n {
		select {
		case id := <-seen:
			if once[id] {
				t.Errorf("message %d was committed twice", id)
			}
			once[id] = true
		case <-ctx.Done():
			t.Fatalf("%d of %d committed", len(once), n)
		}
	}
}

// TestTxEven: of the first n transactions, exactly ⌊n·share⌋ are rolled back.
func TestTxEven(t *testing.T) {
	t.Parallel()
	for _, share := range []float64{0, 0.1, 0.29, 1.0 / 3, 0.5, 0.999999, 1} {
		e, count := newEven(share), int64(0)
		for n := int64(1); n <= 1000; n++ {
			if e.next() {
				count++
			}
			if want := n * int64(share*1e6+0.5) / 1e6; count != want {
				t.Fatalf("share %v: %d of %d, want %d", share, count, n, want)
			}
		}
	}
}
