package watch

import (
	"crypto/tls"
	"fmt"
	"net"
	"runtime"
	"testing"

	"amqpperf/format"
	"amqpperf/timestamp"
)

// pairs returns both ends of n connections over the loopback.
func pairs(t testing.TB, n int) (near, far []net.Conn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	for range n {
		a, err := net.Dial("tcp", l.Addr().String())
		if err != nil {
			t.Fatal(err)
		}
		b, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = a.Close(); _ = b.Close() })
		near, far = append(near, a), append(far, b)
	}
	return near, far
}

func TestConns(t *testing.T) {
	t.Parallel()
	linuxOnly(t)
	w := newWatcher(t, Options{Clock: timestamp.NewClock(), HiccupEvery: -1})
	take(w, 1).want(t, rows{"conn.open_count": -1}) // none was registered
	near, far := pairs(t, MaxConns+1)
	register := func(i int, nc net.Conn) func() {
		remove, err := w.RegisterConn(int32(i), nc)
		if err != nil {
			t.Fatal(err)
		}
		return remove
	}
	register(0, tls.Client(near[0], &tls.Config{})) //nolint:gosec // never spoken
	for i := 1; i < MaxConns; i++ {
		register(i, near[i])
	}
	r := take(w, 2)
	r.want(t, rows{"conn.open_count": MaxConns, "conn.0.retransmits_count": 0, "conn.15.unsent_bytes": 0, "conn.max.rtt_ns": -1})
	if rtt := r["conn.0.rtt_ns"]; rtt <= 0 || rtt > 1e9 {
		t.Errorf("round trip %d ns", rtt)
	}
	if cwnd := r["conn.15.cwnd_segments"]; cwnd < 1 {
		t.Errorf("window of %d segments", cwnd)
	}

	remove := register(MaxConns, near[MaxConns])
	r = take(w, 3)
	r.want(t, rows{"conn.open_count": MaxConns + 1, "conn.0.rtt_ns": -1, "conn.min.retransmits_count": 0})
	if lo, mid, hi := r["conn.min.rtt_ns"], r["conn.mean.rtt_ns"], r["conn.max.rtt_ns"]; lo <= 0 || lo > mid || mid > hi {
		t.Errorf("round trips %d, %d, %d", lo, mid, hi)
	}
	remove()
	_ = near[3].Close()
	register(4, far[4]) // a reconnect takes the place
	take(w, 4).want(t, rows{"conn.open_count": MaxConns - 1, "conn.3.rtt_ns": -1})
}

// What the peer does not read stays in the tool's own kernel.
func TestUnsent(t *testing.T) {
	t.Parallel()
	linuxOnly(t)
	w := newWatcher(t, Options{Clock: timestamp.NewClock(), HiccupEvery: -1})
	near, _ := pairs(t, 1)
	if _, err := w.RegisterConn(7, near[0]); err != nil {
		t.Fatal(err)
	}
	written := make(chan struct{})
	go func() { // blocks until the test closes the connection
		defer close(written)
		_, _ = near[0].Write(make([]byte, 64<<20))
	}()
	r := take(w, 1)
	for r["conn.7.unsent_bytes"] == 0 && len(r) > 0 { // the writer fills the windows soon
		runtime.Gosched()
		r = take(w, 2)
	}
	_ = near[0].Close()
	<-written
}

func TestNoSocket(t *testing.T) {
	t.Parallel()
	o, _, _ := fake(t)
	a, b := net.Pipe()
	defer func() { _ = a.Close() }()
	defer func() { _ = b.Close() }()
	if _, err := newWatcher(t, o).RegisterConn(0, a); err == nil {
		t.Error("a pipe was taken for a socket")
	}
}

func TestGauges(t *testing.T) {
	t.Parallel()
	o, _, _ := fake(t)
	w := newWatcher(t, o)
	remove := w.Register("tool.window_messages", func() int64 { return 3 })
	w.Register("tool.window_messages", func() int64 { return 4 })
	w.Register("tool.unsettled_bytes", func() int64 { return format.Null })
	for i := range MaxConns {
		w.RegisterOf(int32(i), "credit_messages", func() int64 { return int64(i) })
	}
	w.RegisterOf(2, "credit_messages", func() int64 { return 100 }) // a second link of one connection
	take(w, 1).want(t, rows{
		"tool.window_messages": 7, "tool.unsettled_bytes": -1, "conn.1.credit_messages": 1, "conn.2.credit_messages": 102,
	})
	remove()
	w.RegisterOf(MaxConns, "credit_messages", func() int64 { return MaxConns })
	take(w, 2).want(t, rows{
		"tool.window_messages": 4, "conn.1.credit_messages": -1, "conn.min.credit_messages": 0,
		"conn.mean.credit_messages": (100 + 16*17/2) / 17, "conn.max.credit_messages": 102,
	})
	for _, name := range []string{"x", "scope.quantity", "quantity_unit"} {
		t.Run(name, func(t *testing.T) {
			defer func() {
				if recover() == nil {
					t.Error("the name was accepted")
				}
			}()
			w.Register(name, func() int64 { return 0 })
		})
	}
}

func TestMean(t *testing.T) {
	t.Parallel()
	const big = 1<<63 - 1
	for _, c := range []struct {
		values []int64
		want   int64
	}{{[]int64{1, 2, 4}, 2}, {[]int64{big, big}, big}, {[]int64{-3, -4}, -3}, {[]int64{big, -big}, 0}} {
		if got := mean(c.values); got != c.want {
			t.Errorf("mean of %s is %d, want %d", fmt.Sprint(c.values), got, c.want)
		}
	}
}
