package probe

import (
	"crypto/subtle"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"amqpperf/timestamp"
)

const (
	// MaxAnswers is the largest number of answers in any second, over all askers.
	MaxAnswers = 1000

	maxConnections = 64
	idleTime       = 30 * time.Second
	// errorPause follows an error of a socket that stays open (out of
	// descriptors or memory, most likely): without it the loop would spin.
	errorPause = 100 * time.Millisecond
)

// Clock is what stamps come from: a *timestamp.Clock, or one that tests skew.
type Clock interface {
	Now() int64
	Anchor() timestamp.Anchor
	Time(instant int64) time.Time
}

// ServerOptions says how a server answers.
type ServerOptions struct {
	Token    Token // of the questions; the zero token is refused
	Clock    Clock
	Receiver int32 // its id in the receive log
}

// Server answers clock probes over UDP and TCP on one address. It is safe for
// concurrent use.
type Server struct {
	opt    ServerOptions
	proto  answer // all but nonce and instants
	udp    *net.UDPConn
	tcp    net.Listener
	limit  limiter
	counts [counters]atomic.Int64
	wg     sync.WaitGroup

	mu     sync.Mutex
	conns  map[net.Conn]struct{}
	closed bool
}

const (
	answered = iota
	wrongToken
	malformed
	limited
	counters
)

// ServerStats counts what a server has seen.
type ServerStats struct {
	Answered   int64
	WrongToken int64 // questions with another token: no answer
	Malformed  int64 // packets that are none of ours: no answer
	Limited    int64 // questions beyond MaxAnswers: no answer
}

// Listen starts a server on address, HOST:PORT with both given (port 0 for any
// free one): which network may ask is a decision that has no default.
func Listen(address string, opt ServerOptions) (*Server, error) {
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return nil, fmt.Errorf("clock probes: listen on %q: %w", address, err)
	}
	if host == "" || port == "" {
		return nil, fmt.Errorf("clock probes: %q names no host or no port: both must be given", address)
	}
	if opt.Token == (Token{}) {
		return nil, errors.New("clock probes: a server needs a token")
	}
	s := newServer(opt)
	if err := s.bind(host, port); err != nil {
		return nil, fmt.Errorf("clock probes: listen on %s: %w", address, err)
	}
	s.wg.Add(2)
	go s.serveUDP()
	go s.accept()
	return s, nil
}

func newServer(opt ServerOptions) *Server {
	a := opt.Clock.Anchor()
	return &Server{
		opt:   opt,
		proto: answer{clockID: a.ClockID, offset: a.Offset(), gap: a.Gap, receiver: opt.Receiver},
		conns: map[net.Conn]struct{}{},
	}
}

// bind takes the same port for TCP and UDP. A free one of TCP may be taken for
// UDP, so port 0 is tried several times.
func (s *Server) bind(host, port string) error {
	tries := 1
	if port == "0" {
		tries = 16
	}
	var err error
	for range tries {
		if s.tcp, err = net.Listen("tcp", net.JoinHostPort(host, port)); err != nil {
			return err
		}
		bound := s.tcp.Addr().(*net.TCPAddr)
		if s.udp, err = net.ListenUDP("udp", &net.UDPAddr{IP: bound.IP, Port: bound.Port, Zone: bound.Zone}); err == nil {
			return nil
		}
		err = errors.Join(err, s.tcp.Close())
	}
	return err
}

// Address returns HOST:PORT as bound.
func (s *Server) Address() string {
	a := s.tcp.Addr().(*net.TCPAddr)
	host := a.IP.String()
	if a.Zone != "" {
		host += "%" + a.Zone
	}
	return net.JoinHostPort(host, strconv.Itoa(a.Port))
}

// Stats returns what the server has seen so far.
func (s *Server) Stats() ServerStats {
	return ServerStats{
		Answered: s.counts[answered].Load(), WrongToken: s.counts[wrongToken].Load(),
		Malformed: s.counts[malformed].Load(), Limited: s.counts[limited].Load(),
	}
}

// Close stops the server and waits for its goroutines. Closing twice is no error.
func (s *Server) Close() error {
	s.mu.Lock()
	if s.closed {
		s.mu.Unlock()
		return nil
	}
	s.closed = true
	err := errors.Join(s.udp.Close(), s.tcp.Close())
	for c := range s.conns {
		_ = c.Close() // the asker finds out
	}
	s.mu.Unlock()
	s.wg.Wait()
	return err
}

// reply makes the answer to a packet that arrived at t2, in b; T3 is still
// missing. Any result but answered means silence.
func (s *Server) reply(packet []byte, t2 int64, b *[Size]byte) (result int) {
	defer func() { s.counts[result].Add(1) }()
	q, err := parseQuestion(packet)
	switch {
	case err != nil:
		return malformed
	case subtle.ConstantTimeCompare(q.token[:], s.opt.Token[:]) != 1:
		return wrongToken
	case !s.limit.allow(t2):
		return limited
	}
	a := s.proto
	a.nonce, a.t2 = q.nonce, t2
	a.put(b)
	return answered
}

func (s *Server) serveUDP() {
	defer s.wg.Done()
	var in [Size + 1]byte // one more, to see that a packet is too long
	var out [Size]byte
	for {
		var from netip.AddrPort
		n, from, err := s.udp.ReadFromUDPAddrPort(in[:])
		t2 := s.opt.Clock.Now()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			<-time.After(errorPause)
			continue
		}
		if s.reply(in[:n], t2, &out) != answered {
			continue
		}
		putT3(&out, s.opt.Clock.Now())
		_, _ = s.udp.WriteToUDPAddrPort(out[:], from) // a lost answer is no event
	}
}

func (s *Server) accept() {
	defer s.wg.Done()
	for {
		c, err := s.tcp.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil {
			<-time.After(errorPause)
			continue
		}
		if !s.admit(c) {
			_ = c.Close()
			continue
		}
		go s.serveConn(c)
	}
}

func (s *Server) admit(c net.Conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.closed || len(s.conns) >= maxConnections {
		return false
	}
	s.conns[c] = struct{}{}
	s.wg.Add(1)
	return true
}

// serveConn answers on one connection until the other side is done, silent for
// too long, or not one of ours.
func (s *Server) serveConn(c net.Conn) {
	defer s.wg.Done()
	defer func() {
		s.mu.Lock()
		delete(s.conns, c)
		s.mu.Unlock()
		_ = c.Close()
	}()
	var in, out [Size]byte
	for {
		now := s.opt.Clock.Now()
		if c.SetDeadline(s.opt.Clock.Time(now+int64(idleTime))) != nil {
			return
		}
		_, err := io.ReadFull(c, in[:])
		t2 := s.opt.Clock.Now()
		if err != nil {
			return
		}
		switch s.reply(in[:], t2, &out) {
		case answered:
		case limited:
			continue // the next one may be answered
		default:
			return
		}
		putT3(&out, s.opt.Clock.Now())
		if _, err := c.Write(out[:]); err != nil {
			return
		}
	}
}
