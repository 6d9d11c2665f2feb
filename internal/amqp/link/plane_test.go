package link

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/wire"
)

// The tests in this file are about what is between the socket and the library. Those in a bubble have virtual time.

// bubble is a broker of our own behind pipes in memory, for tests in a synctest bubble.
type bubble struct {
	t       *testing.T
	b       *broker.Broker
	secrets []tls.Certificate // not nil: TLS
}

func newBubble(t *testing.T, cfg broker.Config) *bubble {
	t.Helper()
	cfg.CoarseTimers = true
	b, err := broker.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	return &bubble{t: t, b: b}
}

// dial connects through a pipe; wrap, if not nil, may stand in between.
func (u *bubble) dial(client Client, idle time.Duration, wrap func(net.Conn) net.Conn) *Conn {
	u.t.Helper()
	mine, theirs := net.Pipe()
	if u.secrets != nil {
		mine, theirs = tls.Client(mine, &tls.Config{InsecureSkipVerify: true}), tls.Server(theirs, &tls.Config{Certificates: u.secrets})
	}
	go func() { _ = u.b.ServeConn(theirs) }()
	if wrap != nil {
		mine = wrap(mine)
	}
	cfg := Config{URL: parsed(u.t, "amqp://bubble"), Client: client, IdleTimeout: idle, Now: func() int64 { return time.Now().UnixNano() }}
	ctx, cancel := context.WithTimeout(u.t.Context(), time.Minute)
	defer cancel()
	c, err := open(ctx, cfg.withDefaults(), 0, mine, nil)
	if err != nil {
		u.t.Fatal(err)
	}
	return c
}

// TestIdleLimits: connections live for ten idle limits without traffic, with one message a second and with many, in
// both directions. The library's write deadline of 30 s, which it never clears, would end them.
func TestIdleLimits(t *testing.T) {
	t.Parallel()
	lender := httptest.NewTLSServer(nil) // of a certificate
	defer lender.Close()
	for name, pause := range map[string]time.Duration{"idle": 0, "1 a second": time.Second, "20 a second": 50 * time.Millisecond} {
		for _, secrets := range [][]tls.Certificate{nil, lender.TLS.Certificates} {
			t.Run(fmt.Sprintf("%s/tls=%v", name, secrets != nil), func(t *testing.T) {
				t.Parallel()
				synctest.Test(t, func(t *testing.T) { idleLimits(t, pause, secrets) })
			})
		}
	}
}

func idleLimits(t *testing.T, pause time.Duration, secrets []tls.Certificate) {
	const limits = 10
	u := newBubble(t, broker.Config{})
	u.secrets = secrets
	a, b := u.dial(ClientOwn, 0, nil), u.dial(ClientOwn, MinIdleTimeout, nil)
	sink := newLedger(t)
	r, err := b.NewReceiver(t.Context(), ReceiverConfig{Address: "queue://q", Credit: 100})
	if err != nil {
		t.Fatal(err)
	}
	s, err := a.NewSender(t.Context(), SenderConfig{Address: "queue://q", Body: numbered{}, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	n := 0
	for began := time.Now(); time.Since(began) < limits*DefaultIdleTimeout; {
		if pause == 0 {
			time.Sleep(limits * DefaultIdleTimeout)
		}
		time.Sleep(pause)
		if err := submitAll(t.Context(), s, messages(uint64(n), 1, 100)); err != nil {
			t.Fatalf("after %v: %v", time.Since(began), err)
		}
		receiveAll(t.Context(), t, r, 1)
		n++
	}
	synctest.Wait()
	if len(sink.done) != n {
		t.Errorf("%d of %d acked", len(sink.done), n)
	}
	if secrets != nil {
		// A TLS connection that closes waits until a pipe takes its last record: virtual
		// time stands still while the library waits for that under a lock.
		a.abort()
		b.abort()
		_, _ = a.Close(t.Context()), b.Close(t.Context())
		if err := u.b.Close(); err != nil {
			t.Error(err)
		}
		return
	}
	if err := errors.Join(s.Close(t.Context()), r.Close(t.Context()), a.Close(t.Context()), b.Close(t.Context()), u.b.Close()); err != nil {
		t.Error(err)
	}
}

// TestSilentPeer: a peer that says nothing is given up after exactly the idle timeout, counted from its last byte.
func TestSilentPeer(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		var last time.Time
		u := newBubble(t, broker.Config{IdleTimeout: -1})
		muted := make(chan struct{})
		c := u.dial(ClientOwn, 10*time.Second, func(nc net.Conn) net.Conn { return &mute{Conn: nc, after: muted} })
		s, err := c.NewSender(t.Context(), SenderConfig{Address: "queue://q", Body: numbered{}, Sink: newLedger(t)})
		if err != nil {
			t.Fatal(err)
		}
		for range 3 { // the broker's heartbeats keep it
			time.Sleep(12 * time.Second)
		}
		if err := submitAll(t.Context(), s, messages(0, 1, 100)); err != nil {
			t.Fatal(err)
		}
		synctest.Wait()
		last = time.Now()
		close(muted)
		<-c.Done()
		if silent := time.Since(last); silent < 10*time.Second || silent > 10*time.Second+time.Millisecond {
			t.Errorf("given up after %v", silent)
		}
		if err := c.Err(); err == nil || !strings.Contains(err.Error(), "too long") {
			t.Errorf("%v", err)
		}
		<-s.Done()
		_ = errors.Join(s.Close(t.Context()), c.Close(t.Context()), u.b.Close())
	})
}

// mute is a connection from which nothing comes any more once after is closed.
type mute struct {
	net.Conn
	after chan struct{}
}

func (m *mute) Read(p []byte) (int, error) {
	for {
		n, err := m.Conn.Read(p)
		select {
		case <-m.after:
			if err != nil {
				return 0, err
			}
		default:
			return n, err
		}
	}
}

// TestLibrarySees: headers, SASL, open, empty frames and close, and not a byte more, however the stream is cut.
func TestLibrarySees(t *testing.T) {
	t.Parallel()
	sasl := wire.AppendFrame(nil, wire.FrameSASL, 0, &wire.SASLOutcome{})
	openFrame := amqpFrame(&wire.Open{ContainerID: "p", MaxFrameSize: wire.Some(uint32(4000)), IdleTimeout: wire.Some(uint32(30))})
	last := amqpFrame(&wire.Close{Error: &wire.Error{Condition: "a:b", Description: "c"}})
	empty := wire.AppendHeartbeat(nil)
	late := bytes.Join([][]byte{amqpFrame(&wire.Flow{Handle: wire.Some(uint32(7))}), amqpFrame(&wire.Detach{Handle: 3})}, nil)
	in := bytes.Join([][]byte{[]byte(wire.ProtocolSASL), sasl, []byte(wire.ProtocolAMQP), openFrame, empty, last, late, empty}, nil)
	want := bytes.Join([][]byte{[]byte(wire.ProtocolSASL), sasl, []byte(wire.ProtocolAMQP), openFrame, empty, last, empty}, nil)
	for _, step := range []int{1, 3, 7, 8, 100, 10_000} {
		p, _ := onTape(t, in, step)
		got, err := readAll(p)
		if !bytes.Equal(got, want) || !errors.Is(err, io.EOF) {
			t.Errorf("step %d: %x, %v", step, got, err)
		}
		if e := p.closingError(); e == nil || e.Condition != "a:b" {
			t.Errorf("step %d: close %+v", step, e)
		}
		if _, size, opened := p.peer(); size != 4000 || !opened {
			t.Errorf("step %d: max-frame-size %d", step, size)
		}
	}
}

// TestLibraryIsSpared: hostile frames end the connection before the library sees a byte of them.
func TestLibraryIsSpared(t *testing.T) {
	t.Parallel()
	deep := []byte{0, 0, 0, 0, 2, 0, 0, 0, 0x00, 0x53, 0x18, 0xc0, 0, 1, 0x00, 0x53, 0x1d, 0xc0, 0, 3, 0xa3, 1, 'x', 0x40}
	for range 200 { // a map in a map in a map…
		deep = append(deep, 0xd1, 0, 0, 0x7f, 0xff, 0, 0, 0, 2, 0xa3, 1, 'k')
	}
	deep[3], deep[2] = byte(len(deep)), byte(len(deep)>>8)
	openFrame := amqpFrame(&wire.Open{ContainerID: "p"})
	for name, c := range map[string]struct {
		before, bad []byte
		condition   string
	}{
		"size":             {openFrame, []byte{0x7f, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0}, "framing-error"},
		"our limit":        {openFrame, []byte{0, 1, 0, 1, 2, 0, 0, 0, 0}, "framing-error"},
		"doff":             {openFrame, []byte{0, 0, 0, 8, 3, 0, 0, 0}, "framing-error"},
		"type":             {openFrame, []byte{0, 0, 0, 9, 2, 7, 0, 0, 0}, "framing-error"},
		"nesting":          {openFrame, deep, "decode-error"},
		"second open":      {openFrame, openFrame, "decode-error"},
		"SASL after open":  {openFrame, wire.AppendFrame(nil, wire.FrameSASL, 0, &wire.SASLOutcome{}), "decode-error"},
		"close undecoded":  {openFrame, []byte{0, 0, 0, 13, 2, 0, 0, 0, 0, 0x53, 0x18, 0xc0, 0xff}, "decode-error"},
		"size before open": {nil, []byte{0x7f, 0xff, 0xff, 0xff, 2, 1, 0, 0, 0}, ""},
		"close first":      {nil, amqpFrame(&wire.Close{}), ""},
		"open undecoded":   {nil, []byte{0, 0, 0, 13, 2, 0, 0, 0, 0, 0x53, 0x10, 0xc0, 0xff}, ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p, socket := onTape(t, append(append([]byte(nil), c.before...), c.bad...), 1000)
			got, err := readAll(p)
			if !bytes.Equal(got, c.before) || err == nil || errors.Is(err, io.EOF) {
				t.Errorf("the library sees %x, %v", got, err)
			}
			if _, err := p.Write(amqpFrame(&wire.Close{})); err != nil { // as the library does
				t.Error(err)
			}
			f, n, err := wire.Cut(socket.out.Bytes(), DefaultMaxFrameSize)
			if err != nil || n != socket.out.Len() {
				t.Fatalf("%x: one frame is to be written, %v", socket.out.Bytes(), err)
			}
			var last wire.Close
			if err := last.Decode(f.Body); err != nil || last.Error == nil || !strings.Contains(string(last.Error.Condition), c.condition) {
				if c.condition != "" {
					t.Errorf("%+v, %v", last.Error, err)
				}
			}
		})
	}
}

// TestDeadlines: those of the library count until the peer's open, and not afterwards.
func TestDeadlines(t *testing.T) {
	t.Parallel()
	mine, theirs := net.Pipe()
	defer theirs.Close() //nolint:errcheck // the test is over
	c := &Conn{cfg: Config{URL: parsed(t, "amqp://pipe"), Now: func() int64 { return time.Now().UnixNano() }}.withDefaults()}
	c.carry(mine)
	p := c.plane
	defer func() { _ = p.cut(); p.finished.Wait() }()
	past := time.Now().Add(-time.Hour)
	_ = p.SetDeadline(past)
	if _, err := p.Write([]byte(wire.ProtocolAMQP)); !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("write before the open, with a deadline that has passed: %v", err)
	}
}

// TestDeadlinesAfterOpen: whatever deadlines the library sets then, reads and writes go on.
func TestDeadlinesAfterOpen(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(f *fake) {
		if !f.attach(10) {
			return
		}
		for range 2 {
			await[*wire.Transfer](f)
		}
		f.write(settled(0, 1, wire.StateOf(wire.CodeAccepted)))
		f.finish()
	})
	c, s, sink := fakeSender(t, f)
	past := time.Now().Add(-time.Hour)
	_, _, _ = c.net.SetDeadline(past), c.net.SetWriteDeadline(past), c.net.SetReadDeadline(past)
	if err := submitAll(limit(t), s, messages(0, 2, 50)); err != nil {
		t.Fatal(err)
	}
	if states := sink.await(limit(t), 2); states[amqp.Accepted] != 2 {
		t.Error(states)
	}
}

// TestReaderNeverWrites: a peer that sends for ever and reads nothing does not stop our reader, although every frame of
// its wants an answer.
func TestReaderNeverWrites(t *testing.T) {
	t.Parallel()
	const n = 20_000
	f := newFake(t, func(f *fake) {
		if !f.attach(0) {
			return
		}
		if _, ok := await[*wire.Flow](f); !ok {
			return
		}
		echo := &wire.Flow{NextIncomingID: wire.Some(uint32(0)), IncomingWindow: 1 << 20, OutgoingWindow: 1 << 20, Echo: true,
			Properties: wire.Map{{Key: wire.Symbol("x"), Value: strings.Repeat("x", 1000)}}}
		for i := range uint32(n) {
			f.write(echo)
			f.send(i, &wire.Message{Data: [][]byte{[]byte("x")}})
		}
		<-f.over
	})
	r := fakeReceiver(t, f, n)
	if got := len(take(t, r, n)); got != n {
		t.Errorf("%d deliveries", got)
	}
}

// TestHalfAWrite: after a write that failed midway nothing more is written, and everything fails with its cause.
func TestHalfAWrite(t *testing.T) {
	t.Parallel()
	u := ownBroker(t, broker.Config{})
	nc, err := net.Dial("tcp", u.url.HostPort())
	if err != nil {
		t.Fatal(err)
	}
	w := &breaking{Conn: nc}
	c, err := open(limit(t), config(t, u.url).withDefaults(), 0, w, nil)
	if err != nil {
		t.Fatal(err)
	}
	sink := newLedger(t)
	s, err := c.NewSender(limit(t), SenderConfig{Address: queue(t), Body: numbered{}, Sink: sink})
	if err != nil {
		t.Fatal(err)
	}
	awaitCredit(t, s)
	w.mu.Lock()
	w.broken = true
	w.mu.Unlock()
	if err := submitAll(limit(t), s, messages(0, 3, 100)); err != nil {
		t.Fatal(err) // the writer finds out later
	}
	<-s.Done()
	if states := sink.await(limit(t), 3); states[amqp.Failed] == 0 || len(sink.done) != 3 || sink.downErr == nil || !strings.Contains(sink.downErr.Error(), "half way") {
		t.Errorf("%v, %v", states, sink.downErr)
	}
	_, _ = s.Close(limit(t)), c.Close(limit(t))
	if w.after > 0 {
		t.Errorf("%d bytes were written after that", w.after)
	}
}

// breaking takes half of a write once it is broken, and counts what comes afterwards.
type breaking struct {
	net.Conn
	mu     sync.Mutex
	broken bool
	failed bool
	after  int
}

func (w *breaking) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch {
	case w.failed:
		w.after += len(p)
		return 0, errors.New("after")
	case w.broken:
		w.failed = true
		n, _ := w.Conn.Write(p[:len(p)/2])
		return n, errors.New("half way")
	}
	return w.Conn.Write(p)
}
