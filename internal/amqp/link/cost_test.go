package link

import (
	"context"
	"io"
	"net"
	"runtime"
	"sync"
	"testing"
	"time"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/wire"
)

// pump is a sender with a window and a receiver on a queue of a broker of ours.
type pump struct {
	s    *Sender
	r    *Receiver
	free chan int
	size int32
}

func (p *pump) Append(dst []byte, m *amqp.Message) []byte {
	return append(dst, zeros[:m.Size]...)
}

func (p *pump) Completed(batch []amqp.Completion) {
	n := 0
	for i := range batch {
		n += int(batch[i].Last - batch[i].First + 1)
	}
	p.free <- n
}

func (p *pump) Down(int64, error) {}

var zeros [1 << 20]byte

func newPump(t testing.TB, client Client, size int32) *pump {
	t.Helper()
	b, err := broker.New(broker.Config{})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	go func() { _ = b.Serve(l) }()
	u, err := ParseURL("amqp://" + l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	began := time.Now()
	cfg := Config{URL: u, Client: client, Now: func() int64 { return int64(time.Since(began)) }}
	p := &pump{free: make(chan int, 1<<12), size: size}
	var conns [2]*Conn
	for i := range conns {
		if conns[i], err = Dial(context.Background(), cfg, int32(i)); err != nil {
			t.Fatal(err)
		}
	}
	t.Cleanup(func() {
		for _, c := range conns {
			_ = c.Close(context.Background())
		}
		_ = b.Close()
	})
	if p.r, err = conns[1].NewReceiver(context.Background(), ReceiverConfig{Address: "queue://q", Credit: 1000}); err != nil {
		t.Fatal(err)
	}
	if p.s, err = conns[0].NewSender(context.Background(), SenderConfig{Address: "queue://q", Body: p, Sink: p, MaxPending: 100}); err != nil {
		t.Fatal(err)
	}
	return p
}

// run sends and receives n messages with a window of 100.
func (p *pump) run(t testing.TB, n int) {
	const window = 100
	var receiver sync.WaitGroup
	receiver.Go(func() {
		dst := make([]amqp.Delivery, 256)
		for got := 0; got < n; {
			k, err := p.r.Receive(context.Background(), dst)
			if err == nil {
				_, err = p.r.Settle(dst[0].ID, dst[k-1].ID, amqp.Accepted)
			}
			if err != nil {
				t.Error(err)
				return
			}
			got += k
		}
	})
	batch := messages(0, window, p.size)
	free, sent := window, 0
	for sent < n {
		for free == 0 || len(p.free) > 0 {
			free += <-p.free
		}
		k := min(free, n-sent)
		for i := range batch[:k] {
			batch[i].ID = uint64(sent + i)
		}
		for done := 0; done < k; {
			m, err := p.s.Submit(context.Background(), batch[done:k])
			if err != nil {
				t.Error(err)
				return
			}
			done += m
		}
		sent += k
		free -= k
	}
	for ; free < window; free += <-p.free {
	}
	receiver.Wait()
}

// TestNothingPerMessage: sending, receiving and settling allocate nothing per message. The broker of ours, which is in
// this process, allocates while its queue becomes longer than ever; so the best of some rounds counts.
func TestNothingPerMessage(t *testing.T) {
	const few, tooMany = 0.02, 0.3
	n, rounds := 20_000, 10
	if raceEnabled { // which allocates too, and takes ten times as long
		n, rounds = 5_000, 3
	}
	for _, size := range []int32{100, 1024, 100_000} {
		n := n / max(1, int(size)/5000)
		p := newPump(t, ClientOwn, size)
		objects, bytes := 1e9, 1e9
		for range rounds {
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			p.run(t, n)
			runtime.ReadMemStats(&after)
			objects = min(objects, float64(after.Mallocs-before.Mallocs)/float64(n))
			bytes = min(bytes, float64(after.TotalAlloc-before.TotalAlloc)/float64(n))
			if objects < few {
				break
			}
		}
		t.Logf("size %d: %.4f allocations, %.1f bytes a message", size, objects, bytes)
		if objects > tooMany && size < DefaultMaxFrameSize {
			t.Errorf("size %d: %.3f allocations a message", size, objects)
		}
	}
}

func BenchmarkThroughput(b *testing.B) {
	for _, client := range []Client{ClientOwn, ClientLibrary} {
		b.Run(client.String(), func(b *testing.B) {
			p := newPump(b, client, 1024)
			p.run(b, 1000)
			b.ReportAllocs()
			b.ResetTimer()
			began := cpu()
			p.run(b, b.N)
			b.ReportMetric(float64((cpu()-began).Nanoseconds())/float64(b.N), "cpu-ns/op")
		})
	}
}

// TestIdleConnection: a connection with a sender, or with a receiver, on which nothing happens costs at most 32 KiB.
func TestIdleConnection(t *testing.T) {
	const n = 1000
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close() //nolint:errcheck // the test is over
	accepted := make(chan net.Conn, n)
	go func() { // a peer that keeps nothing but the socket
		buffer := make([]byte, 4096)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			greet(c, buffer)
			accepted <- c
		}
	}()
	u := parsed(t, "amqp://"+l.Addr().String())
	clock, ctx := time.Now(), limit(t)
	cfg := Config{URL: u, Now: func() int64 { return int64(time.Since(clock)) }}
	for _, role := range []Role{RoleSender, RoleReceiver} {
		before := footprint()
		conns, sockets := make([]*Conn, n), make([]net.Conn, n)
		keep := make([]any, n)
		for i := range conns {
			if conns[i], err = Dial(ctx, cfg, int32(i)); err != nil {
				t.Fatal(err)
			}
			if role == RoleSender {
				keep[i], err = conns[i].NewSender(ctx, SenderConfig{Address: "queue://q", Body: numbered{}, Sink: &ledger{}})
			} else {
				keep[i], err = conns[i].NewReceiver(ctx, ReceiverConfig{Address: "queue://q", Credit: 1000})
			}
			if err != nil {
				t.Fatal(err)
			}
			sockets[i] = <-accepted
		}
		per := (footprint() - before) / n
		t.Logf("role %d: %d bytes a connection", role, per)
		if per > 32<<10 && !raceEnabled {
			t.Errorf("role %d: %d bytes a connection", role, per)
		}
		runtime.KeepAlive(keep)
		for _, c := range conns {
			c.abort()
			<-c.Done()
		}
		for _, s := range sockets {
			_ = s.Close()
		}
	}
}

// footprint is the memory of heap and stacks in use, in bytes.
func footprint() int64 {
	runtime.GC()
	runtime.GC()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int64(m.HeapAlloc + m.StackInuse)
}

// greet plays a peer until a link is attached, without a goroutine of its own.
func greet(c net.Conn, b []byte) {
	read := func() wire.Performative {
		if _, err := io.ReadFull(c, b[:8]); err != nil || string(b[:4]) == wire.ProtocolAMQP[:4] {
			_, _ = c.Write(b[:8])
			if b[4] == 3 {
				_, _ = c.Write(wire.AppendFrame(nil, wire.FrameSASL, 0, &wire.SASLMechanisms{Mechanisms: []wire.Symbol{wire.MechAnonymous}}))
			}
			return nil
		}
		size := int(b[2])<<8 | int(b[3])
		if _, err := io.ReadFull(c, b[8:size]); err != nil {
			return nil
		}
		f, _, err := wire.Cut(b[:size], DefaultMaxFrameSize)
		if err != nil {
			return nil
		}
		p, _ := wire.Parse(f)
		return p
	}
	read()
	read()
	_, _ = c.Write(wire.AppendFrame(nil, wire.FrameSASL, 0, &wire.SASLOutcome{}))
	read()
	read()
	_, _ = c.Write(amqpFrame(&wire.Open{ContainerID: "p"}))
	read()
	a, ok := read().(*wire.Attach)
	if !ok {
		return
	}
	out := amqpFrame(&wire.Begin{RemoteChannel: wire.Some(uint16(0)), IncomingWindow: 100, OutgoingWindow: 100})
	_, _ = c.Write(append(out, amqpFrame(&wire.Attach{Name: a.Name, Role: !a.Role, Source: a.Source, Target: a.Target, InitialDeliveryCount: wire.Some(uint32(0))})...))
}
