package brokertest

import (
	"errors"
	"io"
	"net"
	neturl "net/url"
	"sync"

	"amqpperf/internal/amqp/wire"
)

// largestFrame is more than any peer here sends.
const largestFrame = 64 << 20

// frame is one that went by.
type frame struct {
	conn     int  // connection, from 0
	outgoing bool // from our program to the broker
	size     int
	channel  uint16
	body     wire.Performative // nil: a heartbeat
}

// tap is between our programs and the broker: it changes nothing and notes every frame. Frames of a connection are in the order in
// which they can have had an effect: each is noted before it is passed on.
type tap struct {
	b        *bench
	url      string // of the broker, through the tap
	upstream string
	listener net.Listener
	copying  sync.WaitGroup

	mu     sync.Mutex
	conns  int
	open   []net.Conn
	frames []frame
	fault  error // the first frame that could not be read
}

// tapped puts a tap before the broker of a bench, for all its programs.
func tapped(b *bench) *tap {
	b.Helper()
	u, err := neturl.Parse(url)
	if err != nil {
		b.Fatal(err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	t := &tap{b: b, upstream: u.Host, listener: l}
	u.Host = l.Addr().String()
	t.url, b.url = u.String(), u.String()
	t.copying.Go(t.accept)
	b.Cleanup(func() {
		_ = l.Close() // nothing more is to come
		t.mu.Lock()
		for _, c := range t.open {
			_ = c.Close() // ends its copying
		}
		t.mu.Unlock()
		t.copying.Wait()
	})
	return t
}

func (t *tap) accept() {
	for {
		in, err := t.listener.Accept()
		if err != nil {
			return // closed by the test's end
		}
		out, err := net.Dial("tcp", t.upstream)
		if err != nil {
			_ = in.Close() // our program sees that the broker is away
			continue
		}
		t.mu.Lock()
		n := t.conns
		t.conns++
		t.open = append(t.open, in, out)
		t.mu.Unlock()
		t.copying.Go(func() { t.pass(n, true, out, in) })
		t.copying.Go(func() { t.pass(n, false, in, out) })
	}
}

// pass copies one direction of a connection.
func (t *tap) pass(n int, outgoing bool, to, from net.Conn) {
	defer func() { _ = to.Close() }() // the other end is gone
	buffer := make([]byte, 64<<10)
	var rest []byte
	for {
		k, err := from.Read(buffer)
		if k > 0 {
			rest = t.note(n, outgoing, append(rest, buffer[:k]...))
			if _, err := to.Write(buffer[:k]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// note takes whole frames off the bytes and returns what is left.
func (t *tap) note(n int, outgoing bool, bytes []byte) []byte {
	t.mu.Lock()
	defer t.mu.Unlock()
	for t.fault == nil && len(bytes) >= 8 {
		if string(bytes[:4]) == "AMQP" { // a protocol header
			bytes = bytes[8:]
			continue
		}
		f, size, err := wire.Cut(bytes, largestFrame)
		if err == nil && size == 0 {
			break
		}
		var p wire.Performative
		if err == nil && len(f.Body) > 0 {
			f.Body = append([]byte(nil), f.Body...)
			p, err = wire.Parse(f)
		}
		if err != nil {
			t.fault = err
			break
		}
		t.frames = append(t.frames, frame{n, outgoing, size, f.Channel, p})
		bytes = bytes[size:]
	}
	return bytes
}

// seen returns the frames so far.
func (t *tap) seen() []frame {
	t.b.Helper()
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.fault != nil && !errors.Is(t.fault, io.EOF) {
		t.b.Fatalf("the tap cannot read a frame: %v", t.fault)
	}
	return append([]frame(nil), t.frames...)
}

// seenOf returns the performatives of one type that went in one direction.
func seenOf[P wire.Performative](t *tap, outgoing bool) (list []P) {
	t.b.Helper()
	for _, f := range t.seen() {
		if p, ok := f.body.(P); ok && f.outgoing == outgoing {
			list = append(list, p)
		}
	}
	return list
}

// largest is the largest frame of one direction.
func (t *tap) largest(outgoing bool) (size int) {
	t.b.Helper()
	for _, f := range t.seen() {
		if f.outgoing == outgoing {
			size = max(size, f.size)
		}
	}
	return size
}
