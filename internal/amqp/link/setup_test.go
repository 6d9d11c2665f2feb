package link

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/broker"
	"amqpperf/timestamp"
)

// brokerURL is the real broker to test against, or else one of our own in this process.
func brokerURL(t *testing.T) URL {
	t.Helper()
	if text := os.Getenv("PERF_TEST_AMQP_URL"); text != "" {
		return parsed(t, text)
	}
	return ownBroker(t, broker.Config{}).url
}

func parsed(t *testing.T, text string) URL {
	t.Helper()
	u, err := ParseURL(text)
	if err != nil {
		t.Fatal(err)
	}
	return u
}

// own is a perf-broker in this process.
type own struct {
	*broker.Broker
	url URL
}

func ownBroker(t *testing.T, cfg broker.Config) own {
	t.Helper()
	b, err := broker.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- b.Serve(l) }()
	t.Cleanup(func() {
		if err := errors.Join(b.Close(), <-served); err != nil {
			t.Error(err)
		}
	})
	return own{b, parsed(t, "amqp://"+l.Addr().String())}
}

// limit is a context that ends before the test binary's own timeout.
func limit(t *testing.T) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	t.Cleanup(cancel)
	return ctx
}

func config(t *testing.T, u URL) Config {
	t.Helper()
	return Config{URL: u, Client: clientOf(t), Now: timestamp.NewClock().Now, OnEvent: func(e amqp.Event) {
		if testing.Verbose() {
			t.Logf("event: %s conn %d link %q %s %s", e.Kind, e.Connection, e.Link, e.Condition, e.Text)
		}
	}}
}

func dial(t *testing.T, cfg Config, index int32) *Conn {
	t.Helper()
	c, err := Dial(limit(t), cfg, index)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close(context.Background()) }) // closed in the test already, or its failure is known
	return c
}

// queue returns an address that no other test uses.
func queue(t *testing.T) string { return "queue://" + randomName("link-test") }

// numbered makes bodies that begin with the message's ID and continue with a pattern.
type numbered struct{}

func (numbered) Append(dst []byte, m *amqp.Message) []byte {
	start := len(dst)
	dst = binary.BigEndian.AppendUint64(dst, m.ID)
	for len(dst)-start < int(m.Size) {
		dst = append(dst, byte(m.ID)+byte(len(dst)-start))
	}
	return dst
}

// intact reports the ID of a body made by numbered, and whether it is whole.
func intact(body []byte) (uint64, bool) {
	if len(body) < 8 {
		return 0, false
	}
	id := binary.BigEndian.Uint64(body)
	for i := 8; i < len(body); i++ {
		if body[i] != byte(id)+byte(i) {
			return id, false
		}
	}
	return id, true
}

// ledger is a sink that keeps everything and checks the rules of the seam.
type ledger struct {
	t       testing.TB
	mu      sync.Mutex
	busy    atomic.Bool
	done    map[uint64]amqp.Completion
	changed chan struct{}
	downs   int
	downErr error
}

func newLedger(t testing.TB) *ledger {
	return &ledger{t: t, done: map[uint64]amqp.Completion{}, changed: make(chan struct{}, 1)}
}

func (l *ledger) Completed(batch []amqp.Completion) {
	if l.busy.Swap(true) {
		l.t.Error("Completed is called by two goroutines at once, or during Down")
	}
	defer l.busy.Store(false)
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.downs > 0 {
		l.t.Error("Completed is called after Down")
	}
	for _, c := range batch {
		for id := c.First; id <= c.Last; id++ {
			if old, ok := l.done[id]; ok {
				l.t.Errorf("message %d completed twice: %+v, %+v", id, old, c)
			}
			l.done[id] = c
		}
	}
	l.poke()
}

func (l *ledger) Down(_ int64, err error) {
	if l.busy.Swap(true) {
		l.t.Error("Down is called during Completed")
	}
	defer l.busy.Store(false)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.downs++
	l.downErr = err
	if l.downs > 1 {
		l.t.Error("Down is called twice")
	}
	l.poke()
}

func (l *ledger) poke() {
	select {
	case l.changed <- struct{}{}:
	default:
	}
}

// await waits until n messages are completed or the link is down and returns how many of each state there are.
func (l *ledger) await(ctx context.Context, n int) map[amqp.State]int {
	l.t.Helper()
	for {
		l.mu.Lock()
		have, down := len(l.done), l.downs > 0
		states := map[amqp.State]int{}
		for _, c := range l.done {
			states[c.State]++
		}
		l.mu.Unlock()
		if have >= n || down {
			return states
		}
		select {
		case <-l.changed:
			l.poke() // for others that wait
		case <-ctx.Done():
			l.t.Fatalf("%d of %d messages completed: %v", have, n, states)
		}
	}
}

// messages makes n messages with consecutive IDs.
func messages(first uint64, n int, size int32) []amqp.Message {
	m := make([]amqp.Message, n)
	for i := range m {
		m[i] = amqp.Message{ID: first + uint64(i), Seq: int64(first) + int64(i), Size: size}
	}
	return m
}

// submitAll submits everything.
func submitAll(ctx context.Context, s *Sender, m []amqp.Message) error {
	for len(m) > 0 {
		n, err := s.Submit(ctx, m)
		for i := range m[:n] {
			if m[i].Sent == 0 {
				return fmt.Errorf("message %d was taken and has no sent instant", m[i].ID)
			}
		}
		if err != nil {
			return err
		}
		if n == 0 {
			return fmt.Errorf("submit took nothing and reported nothing")
		}
		m = m[n:]
	}
	return nil
}

// receiveAll receives and accepts n messages and returns how often each ID came.
func receiveAll(ctx context.Context, t *testing.T, r *Receiver, n int) map[uint64]int {
	t.Helper()
	seen := map[uint64]int{}
	dst := make([]amqp.Delivery, 100)
	for got := 0; got < n; {
		k, err := r.Receive(ctx, dst)
		if err != nil {
			t.Fatalf("after %d of %d deliveries: %v", got, n, err)
		}
		for _, d := range dst[:k] {
			id, ok := intact(d.Body)
			if !ok {
				t.Fatalf("delivery %d has a damaged body of %d bytes", d.ID, len(d.Body))
			}
			seen[id]++
		}
		if _, err := r.Settle(dst[0].ID, dst[k-1].ID, amqp.Accepted); err != nil {
			t.Fatal(err)
		}
		got += k
	}
	return seen
}

// releaseRest releases what a stopped receiver still gets and returns how many messages that were.
func releaseRest(ctx context.Context, t *testing.T, r *Receiver) int {
	t.Helper()
	dst := make([]amqp.Delivery, 1000)
	var first, last uint64
	n := 0
	for {
		wait, cancel := context.WithTimeout(ctx, 100*time.Millisecond)
		k, err := r.Receive(wait, dst)
		cancel()
		if errors.Is(err, context.DeadlineExceeded) {
			break
		} else if err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			first = dst[0].ID
		}
		last = dst[k-1].ID
		n += k
	}
	if n == 0 {
		t.Error("nothing was left to release")
	} else if _, err := r.Settle(first, last, amqp.Released); err != nil {
		t.Fatal(err)
	}
	return n
}

// bothClients runs a test with each client.
func bothClients(t *testing.T, test func(t *testing.T)) {
	t.Parallel()
	for _, c := range []Client{ClientOwn, ClientLibrary} {
		t.Run(c.String(), test)
	}
}

// clientOf returns the client that bothClients runs a test with.
func clientOf(t *testing.T) Client {
	if _, name, _ := strings.Cut(t.Name(), "/"); strings.HasPrefix(name, ClientLibrary.String()) {
		return ClientLibrary
	}
	return ClientOwn
}

// awaitCredit waits until the peer's credit is there.
func awaitCredit(t *testing.T, s *Sender) {
	t.Helper()
	for ctx := limit(t); s.Credit() <= 0; {
		select {
		case <-time.After(time.Millisecond):
		case <-ctx.Done():
			t.Fatal("no credit")
		}
	}
}

// realBroker reports whether brokerURL is that of a broker of others.
func realBroker() bool { return os.Getenv("PERF_TEST_AMQP_URL") != "" }
