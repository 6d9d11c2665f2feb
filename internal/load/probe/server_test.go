package probe

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"amqpperf/timestamp"
)

func listen(t *testing.T) (*Server, Token) {
	t.Helper()
	token := NewToken()
	s, err := Listen("127.0.0.1:0", ServerOptions{Token: token, Clock: timestamp.NewClock(), Receiver: 7})
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

func dial(t *testing.T, network string, s *Server) net.Conn {
	t.Helper()
	c, err := net.Dial(network, s.Address())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = c.Close() })
	if err := c.SetDeadline(time.Now().Add(10 * time.Second)); err != nil {
		t.Fatal(err)
	}
	return c
}

func packet(token Token) []byte {
	var b [Size]byte
	question{nonce: newNonce(), token: token}.put(&b)
	return b[:]
}

// Silence for all but a sound question with the token: everything wrong is sent
// first, and the first answer is that to the last question.
func TestSilenceOverUDP(t *testing.T) {
	t.Parallel()
	s, token := listen(t)
	c := dial(t, "udp", s)
	good := packet(token)
	for _, b := range [][]byte{packet(NewToken()), packet(Token{}), []byte("GET / HTTP/1.1\r\n\r\n"), good[:Size-1], append(packet(token), 0), good} {
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	in := make([]byte, 2*Size)
	n, err := c.Read(in)
	if err != nil {
		t.Fatal(err)
	}
	a, err := parseAnswer(in[:n])
	if err != nil || string(a.nonce[:]) != string(good[nonceAt:tokenAt]) || a.receiver != 7 {
		t.Errorf("%+v, %v", a, err)
	}
	if n > len(good) {
		t.Errorf("an answer of %d bytes to a question of %d", n, len(good))
	}
	if got, want := s.Stats(), (ServerStats{Answered: 1, WrongToken: 2, Malformed: 3}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestSilenceOverTCP(t *testing.T) {
	t.Parallel()
	s, token := listen(t)
	for _, b := range [][]byte{packet(NewToken()), []byte(strings.Repeat("x", Size))} {
		c := dial(t, "tcp", s)
		if _, err := c.Write(b); err != nil {
			t.Fatal(err)
		}
		if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil {
			t.Errorf("%d bytes, %v; want silence and an end", n, err)
		}
	}
	c := dial(t, "tcp", s)
	for range 3 {
		if _, err := c.Write(packet(token)); err != nil {
			t.Fatal(err)
		}
		in := make([]byte, Size)
		if _, err := io.ReadFull(c, in); err != nil {
			t.Fatal(err)
		}
		if _, err := parseAnswer(in); err != nil {
			t.Error(err)
		}
	}
}

// In no second are there more than 1,000 answers, in none of the windows.
func TestLimiter(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(rt *rapid.T) {
		var l limiter
		now, allowed := int64(-5_000_000_000), []int64{}
		steps := rapid.SliceOfN(rapid.Int64Range(0, 3_000_000), 1, 50).Draw(rt, "steps")
		for i := range 5000 {
			now += steps[i%len(steps)]
			ok := l.allow(now)
			busy := len(allowed) >= MaxAnswers && now-allowed[len(allowed)-MaxAnswers] < 1_000_000_000
			if ok == busy {
				rt.Fatalf("question %d: allowed %v after %d answers", i, ok, len(allowed))
			}
			if ok {
				allowed = append(allowed, now)
			}
		}
	})
}

func TestServerLimit(t *testing.T) {
	t.Parallel()
	token := NewToken()
	s := newServer(ServerOptions{Token: token, Clock: timestamp.NewClock()})
	var out [Size]byte
	for i := range int64(5000) {
		s.reply(packet(token), i*100_000, &out) // 10,000/s
		s.reply(packet(NewToken()), i*100_000, &out)
	}
	if got, want := s.Stats(), (ServerStats{Answered: 1000, Limited: 4000, WrongToken: 5000}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
}

func TestListenHasNoDefaults(t *testing.T) {
	t.Parallel()
	for _, address := range []string{"", ":0", "127.0.0.1", "127.0.0.1:", "127.0.0.1:99999999"} {
		if s, err := Listen(address, ServerOptions{Token: NewToken(), Clock: timestamp.NewClock()}); err == nil {
			t.Errorf("listens on %q: %v", address, s.Close())
		}
	}
	if s, err := Listen("127.0.0.1:0", ServerOptions{Clock: timestamp.NewClock()}); err == nil {
		t.Errorf("listens without a token: %v", s.Close())
	}
}

// Connections are few, and Close ends those that are open.
func TestConnectionsAreBounded(t *testing.T) {
	t.Parallel()
	s, token := listen(t)
	var first net.Conn
	for i := range maxConnections {
		c := dial(t, "tcp", s)
		if _, err := c.Write(packet(token)); err != nil {
			t.Fatal(err)
		}
		if _, err := io.ReadFull(c, make([]byte, Size)); err != nil {
			t.Fatalf("connection %d: %v", i, err)
		}
		if i == 0 {
			first = c
		}
	}
	if n, err := dial(t, "tcp", s).Read(make([]byte, 1)); n != 0 || err == nil {
		t.Errorf("one connection more is served: %v", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if n, err := first.Read(make([]byte, 1)); n != 0 || err == nil || errors.Is(err, net.ErrClosed) {
		t.Errorf("after Close: %d bytes, %v", n, err)
	}
}
