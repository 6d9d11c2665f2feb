package link

import (
	"bytes"
	"io"
	"net"
	"sync"
	"testing"
	"time"

	"amqpperf/internal/amqp/wire"
)

// tape is a connection that plays bytes in pieces and keeps what is written.
type tape struct {
	mu   sync.Mutex
	in   []byte
	step int
	out  bytes.Buffer
	cut  chan struct{}
	once sync.Once
}

func newTape(in []byte, step int) *tape { return &tape{in: in, step: step, cut: make(chan struct{})} }

func (t *tape) Read(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if len(t.in) == 0 {
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), t.step)], t.in)
	t.in = t.in[n:]
	return n, nil
}

func (t *tape) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.out.Write(p)
}

func (t *tape) Close() error {
	t.once.Do(func() { close(t.cut) })
	return nil
}
func (t *tape) LocalAddr() net.Addr              { return nil }
func (t *tape) RemoteAddr() net.Addr             { return nil }
func (t *tape) SetDeadline(time.Time) error      { return nil }
func (t *tape) SetReadDeadline(time.Time) error  { return nil }
func (t *tape) SetWriteDeadline(time.Time) error { return nil }

// onTape makes a plane on a tape; nobody runs the library on it.
func onTape(t testing.TB, in []byte, step int) (*plane, *tape) {
	socket := newTape(in, step)
	u, err := ParseURL("amqp://tape")
	if err != nil {
		t.Fatal(err)
	}
	cfg := Config{URL: u, Now: func() int64 { return time.Now().UnixNano() }}
	c := &Conn{cfg: cfg.withDefaults()}
	c.carry(socket)
	t.Cleanup(func() {
		_ = c.plane.cut()
		c.plane.finished.Wait()
	})
	return c.plane, socket
}

// readAll is what the library would read, and the error at the end.
func readAll(p *plane) ([]byte, error) {
	var all []byte
	b := make([]byte, 100)
	for {
		n, err := p.Read(b)
		all = append(all, b[:n]...)
		if err != nil {
			return all, err
		}
	}
}

// amqpFrame makes a frame on channel 0.
func amqpFrame(p wire.Performative) []byte { return wire.AppendFrame(nil, wire.FrameAMQP, 0, p) }
