package probe_test

import (
	"context"
	"io"
	"math/rand/v2"
	"net"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/load/probe"
	"amqpperf/internal/load/recorder"
	"amqpperf/timestamp"
)

// run lets a prober ask its bursts and returns the rows.
func run(t *testing.T, opt probe.Options) ([]recorder.ClockRow, probe.Stats, error) {
	t.Helper()
	var rows []recorder.ClockRow
	opt.Emit = func(r recorder.ClockRow) { rows = append(rows, r) }
	p, err := probe.New(opt)
	if err != nil {
		t.Fatal(err)
	}
	end := make(chan error, 1)
	go func() { end <- p.Run(t.Context()) }()
	<-p.Ready()
	p.Finish()
	err = <-end
	return rows, p.Stats(), err
}

func serve(t *testing.T, c probe.Clock) (*probe.Server, probe.Token) {
	t.Helper()
	token := probe.NewToken()
	s, err := probe.Listen("127.0.0.1:0", probe.ServerOptions{Token: token, Clock: c, Receiver: 12})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	})
	return s, token
}

// On one clock the four instants are in order, over either transport.
func TestInstantsAreInOrder(t *testing.T) {
	t.Parallel()
	c := timestamp.NewClock()
	s, token := serve(t, c)
	for _, network := range []string{"udp", "tcp"} {
		opt := probe.Options{Address: s.Address(), Token: token, Clock: c, Burst: 10, BurstTime: 10 * time.Millisecond, Patience: 10 * time.Second}
		if network == "tcp" {
			opt.Dial = func(ctx context.Context, asked, address string) (net.Conn, error) {
				if asked != network {
					return nil, io.ErrUnexpectedEOF
				}
				return (&net.Dialer{}).DialContext(ctx, network, address)
			}
			opt.Patience = 200 * time.Millisecond
		}
		rows, stats, err := run(t, opt)
		if err != nil || len(rows) < 20 || stats.Answered != int64(len(rows)) || stats.Late != 0 {
			t.Fatalf("%s: %d rows, %+v, %v", network, len(rows), stats, err)
		}
		peer, err := clock.ParsePeer(rows[0].Peer)
		a := c.Anchor()
		if want := (clock.Peer{ClockID: a.ClockID, Receiver: 12, Anchor: true, Offset: a.Offset(), Gap: a.Gap}); err != nil || peer != want {
			t.Errorf("%s: peer %+v, %v, want %+v", network, peer, err, want)
		}
		for _, r := range rows {
			if r.T1 > r.T2 || r.T2 > r.T3 || r.T3 > r.T4 || r.At != r.T4 {
				t.Errorf("%s: %+v is out of order", network, r)
			}
		}
	}
}

// skewed is a clock that is ahead by offset and runs fast by ppm.
type skewed struct {
	*timestamp.Clock
	base, offset, ppm int64
}

func (s skewed) Now() int64 {
	t := s.Clock.Now()
	return t + s.offset + (t-s.base)*s.ppm/1_000_000
}

func (s skewed) Anchor() timestamp.Anchor {
	a := s.Clock.Anchor()
	a.ClockID, a.Wall = a.ClockID+uint64(s.ppm)+1, a.Wall+s.offset
	return a
}

// Clocks that are 3 ms off and drift by 20 ppm are found, within the bound, at
// every instant of the run.
func TestSkewedClocks(t *testing.T) {
	t.Parallel()
	truth := timestamp.NewClock()
	for _, offset := range []int64{-3_000_000, 3_000_000} {
		ahead := skewed{truth, truth.Now(), offset, 20}
		s, token := serve(t, ahead)
		begin := truth.Now()
		rows, _, err := run(t, probe.Options{Address: s.Address(), Token: token, Clock: truth, Burst: 100, BurstTime: 200 * time.Millisecond, Patience: 10 * time.Second})
		if err != nil || len(rows) < 100 {
			t.Fatalf("%d rows, %v", len(rows), err)
		}
		p := []clock.Process{{Anchor: truth.Anchor()}, {Anchor: ahead.Anchor()}}
		for _, r := range rows {
			peer, err := clock.ParsePeer(r.Peer)
			if err != nil {
				t.Fatal(err)
			}
			p[0].Exchanges = append(p[0].Exchanges, clock.Exchange{Peer: peer, T1: r.T1, T2: r.T2, T3: r.T3, T4: r.T4})
		}
		m := clock.Solve(p, 0, clock.Policy{}).Model(1)
		for range 1000 {
			x := begin + rand.Int64N(truth.Now()-begin)
			own := x + offset + (x-ahead.base)*20/1_000_000
			off, bound, source := m.At(own)
			if e := own + off - x; source != clock.Probes || max(e, -e) > bound {
				t.Fatalf("off by %d ns, bound %d (%s)", e, bound, source)
			}
		}
	}
}

// In virtual time, over pipes: UDP is silent, TCP answers. The rows are those
// of both bursts and of the run between.
func TestFallsBackToTCP(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := timestamp.NewClock()
		var dialled []string
		opt := probe.Options{Address: "peer:1", Token: probe.NewToken(), Clock: c}
		server := probe.NewPipeServer(probe.ServerOptions{Token: opt.Token, Clock: c})
		opt.Dial = func(_ context.Context, network, _ string) (net.Conn, error) {
			dialled = append(dialled, network)
			near, far := net.Pipe()
			if network == "udp" {
				go func() { _, _ = io.Copy(io.Discard, far) }()
			} else {
				server.Serve(far)
			}
			return near, nil
		}
		var rows int64
		opt.Emit = func(recorder.ClockRow) { rows++ }
		p, err := probe.New(opt)
		if err != nil {
			t.Fatal(err)
		}
		end := make(chan error, 1)
		start := c.Now()
		go func() { end <- p.Run(t.Context()) }()
		<-p.Ready()
		ready := time.Duration(c.Now() - start)
		<-time.After(10*time.Second - time.Millisecond)
		p.Finish()
		if err := <-end; err != nil {
			t.Fatal(err)
		}
		if want := "udp tcp"; strings.Join(dialled, " ") != want {
			t.Errorf("dialled %q, want %q", dialled, want)
		}
		if rows != 200+200+200 || ready < 3*time.Second-20*time.Millisecond || ready > 3200*time.Millisecond {
			t.Errorf("%d rows, ready after %v; want 600 rows, ready after one second of UDP and the two of the burst", rows, ready)
		}
	})
}

// Without bursts and slower than Patience, silence is not mistaken: there are
// just the questions at the rate.
func TestSlowAndWithoutBursts(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := timestamp.NewClock()
		opt := probe.Options{Address: "peer:1", Token: probe.NewToken(), Clock: c, Rate: 1, Burst: -1, Patience: 300 * time.Millisecond}
		server := probe.NewPipeServer(probe.ServerOptions{Token: opt.Token, Clock: c})
		connections := 0
		opt.Dial = func(context.Context, string, string) (net.Conn, error) {
			connections++
			near, far := net.Pipe()
			server.Serve(far)
			return near, nil
		}
		rows := 0
		opt.Emit = func(recorder.ClockRow) { rows++ }
		p, err := probe.New(opt)
		if err != nil {
			t.Fatal(err)
		}
		end := make(chan error, 1)
		go func() { end <- p.Run(t.Context()) }()
		<-p.Ready()
		<-time.After(5*time.Second - time.Millisecond)
		p.Finish()
		if err := <-end; err != nil || rows != 5 || connections != 1 {
			t.Errorf("%d rows over %d connections, %v; want 5 over one", rows, connections, err)
		}
	})
}

// Nobody answers at all: the run may begin, and the end says so.
func TestNobodyAnswers(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		opt := probe.Options{Address: "peer:1", Token: probe.NewToken(), Clock: timestamp.NewClock()}
		opt.Dial = func(_ context.Context, network, _ string) (net.Conn, error) {
			if network == "tcp" {
				return nil, io.ErrUnexpectedEOF
			}
			near, far := net.Pipe()
			go func() { _, _ = io.Copy(io.Discard, far) }()
			return near, nil
		}
		rows, _, err := run(t, opt)
		if len(rows) != 0 || err == nil || !strings.Contains(err.Error(), "no answer from peer:1 over UDP or TCP") {
			t.Errorf("%d rows, %v", len(rows), err)
		}
	})
}

// A server that stops answering in mid-run is found over TCP, and an answer that
// nobody asked for is no row.
func TestSilenceInMidRun(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		c := timestamp.NewClock()
		opt := probe.Options{Address: "peer:1", Token: probe.NewToken(), Clock: c}
		server := probe.NewPipeServer(probe.ServerOptions{Token: opt.Token, Clock: c})
		var networks atomic.Int64
		opt.Dial = func(_ context.Context, network, _ string) (net.Conn, error) {
			networks.Add(1)
			near, far := net.Pipe()
			if network == "tcp" {
				server.Serve(far)
			} else {
				go forgetful(server, far, 250)
			}
			return near, nil
		}
		var rows int64
		opt.Emit = func(recorder.ClockRow) { rows++ }
		p, err := probe.New(opt)
		if err != nil {
			t.Fatal(err)
		}
		end := make(chan error, 1)
		go func() { end <- p.Run(t.Context()) }()
		<-p.Ready()
		<-time.After(20 * time.Second)
		p.Finish()
		if err := <-end; err != nil {
			t.Fatal(err)
		}
		// 200 before, 50 in mid-run, then a second of silence, 16 s of TCP, 200 after.
		if networks.Load() != 2 || rows < 750 || rows > 790 || p.Stats().Late != 250 {
			t.Errorf("%d connections, %d rows, %+v", networks.Load(), rows, p.Stats())
		}
	})
}

// forgetful answers n questions, each twice, and then no more.
func forgetful(server *probe.PipeServer, c net.Conn, n int) {
	near, far := net.Pipe()
	server.Serve(far)
	b := make([]byte, probe.Size)
	for range n {
		if _, err := io.ReadFull(c, b); err != nil {
			return
		}
		_, _ = near.Write(b)
		_, _ = io.ReadFull(near, b)
		_, _ = c.Write(b)
		_, _ = c.Write(b)
	}
	_ = near.Close()
	_, _ = io.Copy(io.Discard, c)
}

func TestOptions(t *testing.T) {
	t.Parallel()
	c, emit := timestamp.NewClock(), func(recorder.ClockRow) {}
	for _, opt := range []probe.Options{
		{Clock: c, Emit: emit},
		{Address: ":5", Clock: c, Emit: emit},
		{Address: "h:", Clock: c, Emit: emit},
		{Address: "h:1", Emit: emit},
		{Address: "h:1", Clock: c},
	} {
		if _, err := probe.New(opt); err == nil {
			t.Errorf("%+v is accepted", opt)
		}
	}
}
