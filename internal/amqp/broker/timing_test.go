package broker_test

import (
	"bytes"
	"context"
	"encoding/csv"
	"fmt"
	"net"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/Azure/go-amqp"
	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/amqp/broker"
)

// wave sends n messages, one each interval of virtual time, without waiting for
// their outcomes, and returns the instants at which those came, relative to the
// sends.
func (w *world) wave(s *amqp.Sender, n int, every time.Duration) []time.Duration {
	w.t.Helper()
	out := make([]time.Duration, n)
	done := make(chan error, n)
	for i := range n {
		sent := time.Now()
		r, err := s.SendWithReceipt(w.ctx, amqp.NewMessage([]byte(fmt.Sprint(i))), nil)
		if err != nil {
			w.t.Fatal(err)
		}
		go func() {
			_, err := r.Wait(w.ctx)
			out[i] = time.Since(sent)
			done <- err
		}()
		time.Sleep(every - time.Since(sent))
	}
	for range n {
		if err := <-done; err != nil {
			w.t.Fatal(err)
		}
	}
	return out
}

// The whole broker, in virtual time, gives exactly the numbers of theory: a stall
// of 100 ms at the 100th message of a busy queue, and every later one in line.
func TestStallThroughTheBroker(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{
			Service: broker.Service{Mean: 500 * time.Microsecond},
			Stalls:  []broker.Stall{{At: 100 * time.Millisecond, For: 100 * time.Millisecond}},
		})
		defer w.close()
		s := w.sender("q", nil)
		time.Sleep(time.Hour) // stalls count from the first message, not from the start
		got := w.wave(s, 400, time.Millisecond)
		for i, d := range got {
			want := 500 * time.Microsecond
			if i >= 100 && i < 300 {
				want += 100*time.Millisecond - time.Duration(i-100)*500*time.Microsecond
			}
			if d != want {
				t.Fatalf("message %d: acked after %v, want %v", i, d, want)
			}
		}
	})
}

// During a stall nothing is handed to consumers either, but the connection lives.
func TestStallStopsDeliveries(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{Stalls: []broker.Stall{{At: time.Second, For: 10 * time.Second}, {At: 20 * time.Second, For: time.Second}}})
		defer w.close()
		s := w.sender("q", nil)
		w.send(s, "a")
		began := time.Now()
		time.Sleep(2 * time.Second)
		r := w.receiver("q", nil) // attaches at once
		if d := time.Since(began); d != 2*time.Second {
			t.Errorf("attached after %v", d)
		}
		w.accept(r, func() *amqp.Message {
			ctx, cancel := context.WithTimeout(w.ctx, time.Minute)
			defer cancel()
			m, err := r.Receive(ctx, nil)
			if err != nil {
				t.Fatal(err)
			}
			return m
		}())
		if d := time.Since(began); d != 11*time.Second {
			t.Errorf("delivered after %v", d)
		}
		time.Sleep(9500 * time.Millisecond)
		sent := time.Now()
		w.send(s, "b")
		if d := time.Since(sent); d != 500*time.Millisecond {
			t.Errorf("acked %v after a send in the second stall", d)
		}
	})
}

// Each address is a server of its own, and a topic serves a message once.
func TestServersAreIndependent(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{Service: broker.Service{Mean: time.Second}})
		defer w.close()
		a, b := w.sender("a", nil), w.sender("topic://b", nil)
		o := &amqp.ReceiverOptions{Credit: 10}
		r1, r2 := w.receiver("topic://b", o), w.receiver("topic://b", o)
		began := time.Now()
		done := make(chan time.Duration, 2)
		for _, s := range []*amqp.Sender{a, b} {
			go func() {
				w.send(s, "1", "2")
				done <- time.Since(began)
			}()
		}
		if x, y := <-done, <-done; x != 2*time.Second || y != 2*time.Second {
			t.Errorf("took %v and %v", x, y)
		}
		w.accept(r1, w.receive(r1), w.receive(r1))
		w.accept(r2, w.receive(r2), w.receive(r2))
		log := w.log()
		if len(log) != 4 {
			t.Fatalf("%d records", len(log))
		}
		for i, rec := range log { // first copies, then second ones
			if want := began.UnixNano() + int64(i%2+1)*int64(time.Second); rec.Due-rec.Start != int64(time.Second) || rec.Departure != want || rec.Due != want {
				t.Errorf("record %+v, want departure %d", rec, want)
			}
		}
	})
}

// Delay is added once in each direction to everything: a send and its outcome take
// two of them.
func TestDelay(t *testing.T) {
	bubble(t, func(t *testing.T) {
		const d = 30 * time.Millisecond
		w := start(t, broker.Config{Delay: d, Service: broker.Service{Mean: time.Millisecond}})
		defer w.close()
		s := w.sender("q", nil)
		for i, got := range w.wave(s, 20, 5*time.Millisecond) {
			if got != 2*d+time.Millisecond {
				t.Errorf("message %d: acked after %v", i, got)
			}
		}
		r := w.receiver("q", &amqp.ReceiverOptions{Credit: 20})
		m := w.receive(r)
		w.accept(r, m)
		big := strings.Repeat("x", 1<<20)
		w.send(s, big)
		for {
			m := w.receive(r)
			w.accept(r, m)
			if len(m.GetData()) == len(big) {
				break
			}
		}
	})
}

// No more unsettled bytes are on their way to a link than allowed, except for one
// message that is larger by itself.
func TestMaxUnsettledBytes(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{MaxUnsettledBytes: 1000})
		defer w.close()
		s := w.sender("q", nil)
		r := w.receiver("q", &amqp.ReceiverOptions{Credit: 100})
		for range 6 {
			w.send(s, strings.Repeat("x", 395)) // 400 bytes encoded
		}
		w.send(s, strings.Repeat("y", 5000))
		a, b := w.receive(r), w.receive(r)
		w.nothing(r)
		w.accept(r, a)
		c := w.receive(r)
		w.nothing(r)
		w.accept(r, b, c)
		d, e := w.receive(r), w.receive(r)
		w.accept(r, d, e)
		f := w.receive(r)
		w.nothing(r) // 5000 more than 400 is too much
		w.accept(r, f)
		if m := w.receive(r); len(m.GetData()) != 5000 {
			t.Errorf("got %d bytes", len(m.GetData()))
		}
	})
}

func TestCSVLog(t *testing.T) {
	bubble(t, func(t *testing.T) {
		var out bytes.Buffer
		l := broker.NewCSVLog(&out, []string{"body"}, func(b []byte, r *broker.Record) []byte { return append(b, r.Body...) })
		b, err := broker.New(broker.Config{CoarseTimers: true, ArrivalLog: l.Record, Now: func() int64 { return 42 }})
		if err != nil {
			t.Fatal(err)
		}
		w := &world{t: t, ctx: t.Context(), b: b}
		s := w.sender(`q,"x"`, nil)
		r := w.receiver(`q,"x"`, nil)
		w.send(s, "one", "two")
		w.accept(r, w.receive(r))
		w.receive(r)
		if err := r.Close(w.ctx); err != nil {
			t.Fatal(err)
		}
		w.close()
		if err := l.Close(); err != nil {
			t.Fatal(err)
		}
		rows, err := csv.NewReader(&out).ReadAll()
		if err != nil {
			t.Fatal(err)
		}
		want := [][]string{
			strings.Split("address,link,seq,size,arrival,start,due,departure,acked,delivered,settled,deliveries,failed,outcome,body", ","),
			{`queue://q,"x"`, r.LinkName(), "0", "8", "42", "42", "42", "42", "42", "42", "42", "1", "0", "accepted", "one"},
			{`queue://q,"x"`, r.LinkName(), "1", "8", "42", "42", "42", "42", "42", "42", "", "1", "1", "queued", "two"},
		}
		if d := cmp.Diff(want, rows); d != "" {
			t.Error(d)
		}
	})
}

type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, fmt.Errorf("disk full") }

func TestCSVLogReportsErrors(t *testing.T) {
	t.Parallel()
	l := broker.NewCSVLog(fullDisk{}, nil, nil)
	for range 100_000 { // more than fits: must not hang
		l.Record(&broker.Record{Address: strings.Repeat("x", 1000)})
	}
	if err := l.Close(); err == nil {
		t.Error("no error")
	}
}

// The same over a real socket, with real timers: a service time below the
// runtime's timer resolution is kept on the average, and Close ends everything.
func TestRealSocketAndTimers(t *testing.T) {
	t.Parallel()
	var recs []broker.Record
	b, err := broker.New(broker.Config{Service: broker.Service{Mean: 300 * time.Microsecond}, ArrivalLog: func(r *broker.Record) { recs = append(recs, *r) }})
	if err != nil {
		t.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	served := make(chan error, 1)
	go func() { served <- b.Serve(l) }()
	conn, err := amqp.Dial(t.Context(), "amqp://"+l.Addr().String(), nil)
	if err != nil {
		t.Fatal(err)
	}
	ses, err := conn.NewSession(t.Context(), nil)
	if err != nil {
		t.Fatal(err)
	}
	s, err := ses.NewSender(t.Context(), "q", nil)
	if err != nil {
		t.Fatal(err)
	}
	const n = 300
	for range n {
		if err := s.Send(t.Context(), amqp.NewMessage([]byte("x")), nil); err != nil {
			t.Fatal(err)
		}
	}
	if err := conn.Close(); err != nil {
		t.Errorf("orderly close: %v", err)
	}
	if err := b.Close(); err != nil {
		t.Error(err)
	}
	if err := <-served; err != nil {
		t.Errorf("serve: %v", err)
	}
	if len(recs) != n {
		t.Fatalf("%d records", len(recs))
	}
	var late int64
	for i, r := range recs {
		if r.Due-r.Start != 300_000 || r.Departure < r.Due || i > 0 && r.Start < recs[i-1].Due {
			t.Errorf("record %d: %+v", i, r)
		}
		late += r.Departure - r.Due
	}
	t.Logf("mean lateness of departures: %v", time.Duration(late/n))
	if late/n > int64(5*time.Millisecond) { // typically 0.05 ms; a busy machine may be slow, but not this slow
		t.Errorf("departures are %v late on the average", time.Duration(late/n))
	}
}

// Garbage at any stage ends the connection, and only that.
func TestHostilePeers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		w := start(t, broker.Config{})
		defer w.close()
		s := w.sender("q", nil)
		for name, in := range map[string]string{
			"http":                  "GET / HTTP/1.1\r\n\r\n",
			"garbage after open":    string(opening()) + strings.Repeat("\xff", 100),
			"frame of 4 GiB":        string(opening()) + "\xff\xff\xff\xff\x02\x00\x00\x00",
			"transfer out of place": string(opening()) + "\x00\x00\x00\x10\x02\x00\x00\x00\x00\x53\x14\xc0\x03\x01\x43\x40",
			"sasl init cut":         "AMQP\x03\x01\x00\x00\x00\x00\x00\x10\x02\x01\x00\x00\x00\x53\x41\xc0",
			"tls":                   "AMQP\x02\x01\x00\x00",
			"nothing":               "",
		} {
			peer := w.pipe()
			got := make(chan string)
			go func() { got <- readAll(peer) }()
			if _, err := peer.Write([]byte(in)); err != nil && name != "garbage after open" {
				t.Logf("%s: %v", name, err) // refused before all was written
			}
			out := <-got
			if strings.HasPrefix(in, string(opening())) && !strings.Contains(out, "amqp:") {
				t.Errorf("%s: no condition in %q", name, out)
			}
		}
		w.send(s, "others are not disturbed")
		synctest.Wait()
	})
}
