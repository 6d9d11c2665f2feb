package link

import (
	"net"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"amqpperf/internal/amqp/broker"
	"amqpperf/internal/amqp/wire"
)

// stuck is a socket whose peer, from a moment on, takes nothing.
type stuck struct {
	net.Conn
	gone    chan struct{} // closed by Close
	once    sync.Once
	deaf    chan struct{} // closed: writes wait
	written chan struct{} // a token when a write waits
}

func (s *stuck) Write(b []byte) (int, error) {
	select {
	case <-s.deaf:
		select {
		case s.written <- struct{}{}:
		default: // one is there
		}
		<-s.gone
		return 0, net.ErrClosed
	default:
		return s.Conn.Write(b)
	}
}

func (s *stuck) Close() error {
	s.once.Do(func() { close(s.gone) })
	return s.Conn.Close()
}

// TestShutdownHasAnEnd: a connection whose peer takes nothing any more is cut after 3 s.
func TestShutdownHasAnEnd(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		socket := &stuck{gone: make(chan struct{}), deaf: make(chan struct{}), written: make(chan struct{}, 1)}
		c := newBubble(t, broker.Config{}).dial(ClientOwn, 0, func(inner net.Conn) net.Conn {
			socket.Conn = inner
			return socket
		})
		s, err := c.NewSender(t.Context(), SenderConfig{Address: "queue://q", Body: numbered{}, Sink: newLedger(t)})
		if err != nil {
			t.Fatal(err)
		}
		close(socket.deaf)
		go func() { _ = submitAll(t.Context(), s, messages(0, 1, 50)) }()
		<-socket.written
		time.AfterFunc(20*time.Second, func() { _ = socket.Close() }) // so that the test ends in any case
		began := time.Now()
		_ = c.Close(t.Context()) // what it says is not the matter
		if took := time.Since(began); took != closeTimeout+time.Second {
			t.Errorf("closing took %v, want %v", took, closeTimeout+time.Second)
		}
	})
}

// TestCloseWaitsForThePeers: the socket stays open until the peer's close has come, with what it has to say.
func TestCloseWaitsForThePeers(t *testing.T) {
	t.Parallel()
	f := newFake(t, func(f *fake) {
		if !f.open() {
			return
		}
		if _, ok := await[*wire.Close](f); ok {
			f.write(&wire.Close{Error: &wire.Error{Condition: wire.CondInternalError, Description: "by the way"}})
		}
	})
	c := dial(t, config(t, f.url), 0)
	if err := c.Close(limit(t)); err != nil {
		t.Error(err)
	}
	if e := c.net.closingError(); e == nil || e.Description != "by the way" {
		t.Errorf("the peer's close: %v", e)
	}
}
