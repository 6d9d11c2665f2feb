package link

import (
	"context"
	"os"
	"os/exec"
	"slices"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"amqpperf/internal/amqp"
)

// windowed is a sink that lets a sender have so many messages in flight.
type windowed struct {
	slots chan int // numbers of slots that became free
	sent  []int64  // by ID modulo its length
	took  []int64
	bad   int
	done  int
	all   chan struct{}
	total int
}

func (w *windowed) Append(dst []byte, m *amqp.Message) []byte {
	w.sent[m.ID%uint64(len(w.sent))] = m.Sent
	start := len(dst)
	dst = slices.Grow(dst, int(m.Size))[:start+int(m.Size)]
	for i := range 8 {
		dst[start+i] = byte(m.ID >> (56 - 8*i))
	}
	return dst
}

func (w *windowed) Completed(batch []amqp.Completion) {
	n := 0
	for _, c := range batch {
		k := int(c.Last - c.First + 1)
		n += k
		if c.State != amqp.Accepted {
			w.bad += k
		}
		for id := c.First; id <= c.Last; id++ {
			w.took = append(w.took, c.At-w.sent[id%uint64(len(w.sent))])
		}
	}
	if w.done += n; w.done == w.total {
		close(w.all)
	}
	w.slots <- n
}

func (w *windowed) Down(_ int64, err error) { w.bad += 1 << 30 }

func cpu() time.Duration {
	var u syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// TestRate sends and receives PERF_TEST_N messages of 1 KiB with a window of 100 and logs what it took.
func TestRate(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("PERF_TEST_N"))
	if n == 0 {
		t.Skip("no PERF_TEST_N")
	}
	client := Client(os.Getenv("PERF_TEST_CLIENT"))
	window, _ := strconv.Atoi(os.Getenv("PERF_TEST_WINDOW"))
	if window == 0 {
		window = 100
	}
	size, _ := strconv.Atoi(os.Getenv("PERF_TEST_SIZE"))
	if size == 0 {
		size = 1024
	}
	u := brokerURL(t)
	cfg := config(t, u)
	cfg.Client = client
	ctx, cancel := context.WithTimeout(context.Background(), 3*time.Minute)
	defer cancel()
	for range 3 {
		rate(ctx, t, cfg, n, window, int32(size))
	}
}

func rate(ctx context.Context, t *testing.T, cfg Config, n, window int, size int32) {
	a, b := dial(t, cfg, 0), dial(t, cfg, 1)
	address := queue(t)
	r, err := b.NewReceiver(ctx, ReceiverConfig{Address: address, Credit: 1000})
	if err != nil {
		t.Fatal(err)
	}
	sink := &windowed{slots: make(chan int, 1<<16), sent: make([]int64, 1<<16), took: make([]int64, 0, n), all: make(chan struct{}), total: n}
	s, err := a.NewSender(ctx, SenderConfig{Address: address, Body: sink, Sink: sink, MaxPending: window})
	if err != nil {
		t.Fatal(err)
	}
	began, used := time.Now(), cpu()
	var received sync.WaitGroup
	received.Go(func() {
		dst := make([]amqp.Delivery, 256)
		seen := make([]uint64, (n+63)/64)
		for got := 0; got < n; {
			k, err := r.Receive(ctx, dst)
			if err != nil {
				t.Errorf("after %d: %v", got, err)
				return
			}
			for i := range dst[:k] {
				id := uint64(0)
				for _, c := range dst[i].Body[:8] {
					id = id<<8 | uint64(c)
				}
				if len(dst[i].Body) != int(size) || id >= uint64(n) || seen[id/64]&(1<<(id%64)) != 0 {
					t.Errorf("delivery %d: %d bytes, id %d", dst[i].ID, len(dst[i].Body), id)
					return
				}
				seen[id/64] |= 1 << (id % 64)
			}
			if _, err := r.Settle(dst[0].ID, dst[k-1].ID, amqp.Accepted); err != nil {
				t.Error(err)
				return
			}
			got += k
		}
	})
	batch := messages(0, window, size)
	free, next := window, 0
	for next < n {
		for free == 0 || len(sink.slots) > 0 {
			free += <-sink.slots
		}
		k := min(free, n-next)
		for i := range batch[:k] {
			batch[i].ID = uint64(next + i)
		}
		for done := 0; done < k; {
			m, err := s.Submit(ctx, batch[done:k])
			if err != nil {
				t.Fatal(err)
			}
			done += m
		}
		next += k
		free -= k
	}
	select {
	case <-sink.all:
	case <-ctx.Done():
		t.Fatalf("%d of %d acked", sink.done, n)
	}
	acked := time.Since(began)
	received.Wait()
	took, busy := time.Since(began), cpu()-used
	slices.Sort(sink.took)
	t.Logf("%-9s %s window %d size %d: acked %.0f/s, received %.0f/s, ack p50 %d us, p99 %d us, CPU %.2f us/msg, bad %d", a.Peer().Product, cfg.Client, window, size,
		float64(n)/acked.Seconds(), float64(n)/took.Seconds(), sink.took[n/2]/1000, sink.took[n*99/100]/1000, float64(busy.Microseconds())/float64(n), sink.bad)
	for i, shut := range []func(context.Context) error{s.Close, r.Close, a.Close, b.Close} {
		began := time.Now()
		if err := shut(ctx); err != nil {
			t.Error(err)
		}
		if d := time.Since(began); d > 100*time.Millisecond {
			t.Logf("close %d took %v", i, d)
		}
	}
}

// TestIdle keeps connections with an idle limit of 4 s for PERF_TEST_IDLE idle limits: without traffic, with one
// message a second, and at full rate.
func TestIdle(t *testing.T) {
	limits, _ := strconv.Atoi(os.Getenv("PERF_TEST_IDLE"))
	if limits == 0 {
		t.Skip("no PERF_TEST_IDLE")
	}
	cfg := config(t, brokerURL(t))
	cfg.IdleTimeout = MinIdleTimeout
	for _, pause := range []time.Duration{time.Hour, time.Second, 0} {
		t.Run(pause.String(), func(t *testing.T) {
			t.Parallel()
			ctx, cancel := context.WithTimeout(t.Context(), time.Duration(limits)*MinIdleTimeout)
			defer cancel()
			a, b := dial(t, cfg, 0), dial(t, cfg, 1)
			address, sink := queue(t), newLedger(t)
			r, err := b.NewReceiver(limit(t), ReceiverConfig{Address: address, Credit: 100})
			if err != nil {
				t.Fatal(err)
			}
			s, err := a.NewSender(limit(t), SenderConfig{Address: address, Body: numbered{}, Sink: sink})
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for ctx.Err() == nil {
				if pause > 0 {
					select {
					case <-ctx.Done():
					case <-time.After(pause):
					}
				}
				if err := submitAll(limit(t), s, messages(uint64(n), 10, 100)); err != nil {
					t.Fatal(err)
				}
				n += 10
				receiveAll(limit(t), t, r, 10)
			}
			if states := sink.await(limit(t), n); states[amqp.Accepted] != n {
				t.Errorf("%d sent: %v", n, states)
			}
			if err := s.Close(limit(t)); err != nil {
				t.Error(err)
			}
			if err := r.Close(limit(t)); err != nil {
				t.Error(err)
			}
			t.Logf("%s: %d messages", a.Peer().Product, n)
		})
	}
}

// TestKilled sends and receives until the command in PERF_TEST_KILL has ended the broker.
func TestKilled(t *testing.T) {
	command := os.Getenv("PERF_TEST_KILL")
	if command == "" {
		t.Skip("no PERF_TEST_KILL")
	}
	cfg := config(t, brokerURL(t))
	a, b := dial(t, cfg, 0), dial(t, cfg, 1)
	address, sink := queue(t), newLedger(t)
	r, err := b.NewReceiver(limit(t), ReceiverConfig{Address: address, Credit: 100})
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.NewSender(limit(t), SenderConfig{Address: address, Body: numbered{}, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	var killed time.Time
	time.AfterFunc(time.Second, func() {
		killed = time.Now()
		if out, err := exec.Command("sh", "-c", command).CombinedOutput(); err != nil {
			t.Errorf("%v: %s", err, out)
		}
	})
	received := make(chan error, 1)
	go func() {
		dst := make([]amqp.Delivery, 100)
		for {
			k, err := r.Receive(limit(t), dst)
			if err == nil {
				_, err = r.Settle(dst[0].ID, dst[k-1].ID, amqp.Accepted)
			}
			if err != nil {
				received <- err
				return
			}
		}
	}()
	n := 0
	for err == nil {
		var k int
		k, err = s.Submit(limit(t), messages(uint64(n), 10, 100))
		n += k
		time.Sleep(time.Millisecond)
	}
	t.Logf("%s: Submit: %v, %v after the command", a.Peer().Product, err, time.Since(killed))
	t.Logf("Receive: %v", <-received)
	<-s.Done()
	states := sink.await(limit(t), n)
	t.Logf("%d taken: %v; down: %v", n, states, sink.downErr)
	if states[amqp.Accepted]+states[amqp.Failed] != n {
		t.Error("messages without a fate")
	}
	began := time.Now()
	_, _, _, _ = s.Close(limit(t)), r.Close(limit(t)), a.Close(limit(t)), b.Close(limit(t))
	t.Logf("closing took %v", time.Since(began))
}

// TestTxRate sends PERF_TEST_N messages of 1 KiB in transactions of PERF_TEST_TX, and receives them in such, and logs
// how many transactions a second that makes, and how long a commit takes. Senders wait for each commit, and do not.
func TestTxRate(t *testing.T) {
	n, _ := strconv.Atoi(os.Getenv("PERF_TEST_N"))
	size, _ := strconv.Atoi(os.Getenv("PERF_TEST_TX"))
	if n == 0 || size == 0 {
		t.Skip("no PERF_TEST_N and PERF_TEST_TX")
	}
	for _, pending := range []int{size, 100 * size} {
		sent, received := newTxLog(t), newTxLog(t)
		s, r, sink := txPair(t, brokerURL(t), SenderConfig{Tx: size, MaxPending: pending, OnTx: sent.onTx},
			ReceiverConfig{Tx: size, OnTx: received.onTx, OnSettled: received.onSettled, Credit: 1000})
		began := time.Now()
		for first := 0; first < n; first += pending {
			k := min(pending, n-first)
			if err := submitAll(limit(t), s, messages(uint64(first), k, 1024)); err != nil {
				t.Fatal(err)
			}
			if pending == size {
				sink.await(limit(t), first+k)
			}
		}
		if err := s.Flush(limit(t)); err != nil {
			t.Fatal(err)
		}
		sending := time.Since(began)
		began = time.Now()
		receiveAll(limit(t), t, r, n)
		if err := r.Flush(limit(t)); err != nil {
			t.Fatal(err)
		}
		receiving := time.Since(began)
		for what, log := range map[string]*txLog{"sender": sent, "receiver": received} {
			took := sending
			if what == "receiver" {
				took = receiving
			}
			var commits []int64
			for _, x := range log.ended {
				commits = append(commits, x.At-x.Discharged)
			}
			slices.Sort(commits)
			t.Logf("%s, %d pending: %d transactions of %d, %.0f/s, commit p50 %d us, p99 %d us", what, pending, len(commits), size,
				float64(len(commits))/took.Seconds(), commits[len(commits)/2]/1000, commits[len(commits)*99/100]/1000)
		}
	}
}

// TestFQQN: on Artemis, topic://ADDRESS::QUEUE is a queue that links share, which gets what is sent to the address.
func TestFQQN(t *testing.T) {
	t.Parallel()
	if !realBroker() {
		t.Skip("perf-broker has no such addresses")
	}
	u, address := brokerURL(t), topic(t)
	c := dial(t, config(t, u), 0)
	if style, _ := styleOf(c.Peer().Product, c.Peer().Version); style != StyleCapability {
		t.Skip(c.Peer().Product)
	}
	rc := ReceiverConfig{Address: address + "::" + randomName("queue"), Credit: 5}
	_, r1, err := subscribed(t, config(t, u), 1, rc)
	if err != nil {
		t.Fatal(err)
	}
	_, r2, err := subscribed(t, config(t, u), 2, rc)
	if err != nil {
		t.Fatal(err)
	}
	publish(t, u, address, 0, 10)
	got := append(ids(t, r1, 5), ids(t, r2, 5)...)
	if slices.Sort(got); !slices.Equal(got, series(0, 9)) {
		t.Errorf("received %v", got)
	}
}
