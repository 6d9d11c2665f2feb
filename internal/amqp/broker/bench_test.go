package broker_test

import (
	"net"
	"testing"

	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// fast is a client on the endpoint package that costs little, so that a benchmark
// shows the broker. One goroutine does everything on its connection.
type fast struct {
	nc         net.Conn
	ep         *endpoint.Conn
	buf        []byte
	start, end int
	out        []byte
}

func dialFast(b *testing.B, addr string) *fast {
	b.Helper()
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() { _ = nc.Close() })
	if _, err := nc.Write(opening()); err != nil {
		b.Fatal(err)
	}
	f := &fast{nc: nc, ep: endpoint.New(endpoint.Config{}), buf: make([]byte, 256<<10)}
	for f.end < 9 {
		f.fill(b)
	}
	f.start = 8
	fr, n, err := wire.Cut(f.buf[8:f.end], 65536)
	if err != nil || n == 0 {
		b.Fatalf("open: %d bytes, %v", f.end, err)
	}
	var o wire.Open
	if err := o.Decode(fr.Body); err != nil {
		b.Fatal(err)
	}
	f.start += n
	f.ep.SetPeer(&o)
	return f
}

func (f *fast) fill(b *testing.B) {
	copy(f.buf, f.buf[f.start:f.end])
	f.end -= f.start
	f.start = 0
	n, err := f.nc.Read(f.buf[f.end:])
	if err != nil {
		b.Error(err)
		panic(err)
	}
	f.end += n
}

// turn writes what there is, reads once and calls on for each event.
func (f *fast) turn(b *testing.B, on func(*endpoint.Event)) {
	if f.out = f.ep.Swap(f.out); len(f.out) > 0 {
		if _, err := f.nc.Write(f.out); err != nil {
			b.Error(err)
			return
		}
	}
	f.fill(b)
	for {
		fr, n, err := wire.Cut(f.buf[f.start:f.end], 65536)
		if err != nil {
			b.Error(err)
			return
		}
		if n == 0 {
			return
		}
		f.start += n
		if len(fr.Body) == 0 {
			continue
		}
		if e := f.ep.Frame(fr); e != nil {
			b.Error(e)
			return
		}
		for _, e := range f.ep.Events() {
			on(&e)
		}
	}
}

func (f *fast) link(b *testing.B, role bool, addr string) *endpoint.Link {
	b.Helper()
	s, err := f.ep.Begin()
	if err != nil {
		b.Fatal(err)
	}
	l, err := s.Attach(wire.Attach{Name: "l", Role: role, Source: &wire.Source{Address: wire.Some(addr)}, Target: &wire.Target{Address: wire.Some(addr)}})
	if err != nil {
		b.Fatal(err)
	}
	for !l.Attached() || role == wire.RoleSender && l.CanSend() != endpoint.WaitNone {
		f.turn(b, func(*endpoint.Event) {})
	}
	return l
}

// BenchmarkThroughput sends b.N messages of 1 KiB through a queue, unsettled both
// ways, with a window of 100 or 1000, clients and broker in one process.
func BenchmarkThroughput(b *testing.B) {
	for name, window := range map[string]int{"window=100": 100, "window=1000": 1000} {
		b.Run(name, func(b *testing.B) { throughput(b, broker.Config{}, window) })
	}
	b.Run("logged", func(b *testing.B) {
		n := 0
		throughput(b, broker.Config{ArrivalLog: func(r *broker.Record) { n += len(r.Body) }}, 1000)
	})
}

func throughput(b *testing.B, cfg broker.Config, window int) {
	br, err := broker.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	go func() { _ = br.Serve(l) }()
	defer func() { _ = br.Close() }()
	addr := l.Addr().String()
	snd, rcv := dialFast(b, addr), dialFast(b, addr)
	in, out := rcv.link(b, wire.RoleReceiver, "q"), snd.link(b, wire.RoleSender, "q")
	b.SetBytes(1024)
	b.ResetTimer()
	done := make(chan bool)
	go func() {
		defer close(done)
		in.Grant(1000)
		for got := 0; got < b.N; {
			rcv.turn(b, func(e *endpoint.Event) {
				if e.Kind != endpoint.Received {
					return
				}
				got++
				in.Settle(e.Delivery.No, e.Delivery.No, wire.StateOf(wire.CodeAccepted))
				if in.Credit() < 500 {
					in.Grant(1000)
				}
			})
			if b.Failed() {
				return
			}
		}
		rcv.out = rcv.ep.Swap(rcv.out)
		_, _ = rcv.nc.Write(rcv.out)
	}()
	m := endpoint.Message{Tag: []byte{1, 2, 3, 4}, Head: wire.AppendDataHead(nil, 1024), Body: make([]byte, 1024)}
	for sent, acked := 0, 0; acked < b.N; {
		for sent < b.N && sent-acked < window && out.CanSend() == endpoint.WaitNone {
			if _, err := out.Send(&m); err != nil {
				b.Fatal(err)
			}
			sent++
		}
		snd.turn(b, func(e *endpoint.Event) {
			if e.Kind == endpoint.Settled {
				acked += int(e.Last - e.First + 1)
			}
		})
		if b.Failed() {
			return
		}
	}
	<-done
	b.ReportMetric(float64(b.N)/b.Elapsed().Seconds(), "msg/s")
}
