package link

import (
	"context"
	"encoding/binary"
	"io"
	"net"
	"testing"

	"amqpperf/internal/amqp/wire"
)

// fake is a peer that does what a test tells it, frame by frame: one connection,
// one session on channel 0, one link with handle 0.
type fake struct {
	t        *testing.T
	listener net.Listener
	conn     net.Conn
	url      URL
	over     chan struct{} // closed when the test ends

	product, version string      // of the open
	answer           *wire.Open  // to be sent instead
	start            wire.Begin  // how our begin is answered, but for the channel and windows that are 0
	window           uint32      // incoming window of the begin; 0: 1048576
	begun            *wire.Begin // our begin
	opened           *wire.Open
	init             *wire.SASLInit
	mechanisms       []wire.Symbol // offered; nil: ANONYMOUS
	size             int           // bytes of the frame that was read last
	channel          uint16        // likewise
}

// wait waits for c, or for the end of the test: false.
func (f *fake) wait(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	case <-f.over:
		return false
	}
}

// newFake listens; play is what it does with its one connection, in a goroutine.
// The connection is closed when play returns.
func newFake(t *testing.T, play func(f *fake)) *fake {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &fake{t: t, listener: l, url: parsed(t, "amqp://"+l.Addr().String()), over: make(chan struct{})}
	done := make(chan struct{})
	go func() {
		defer close(done)
		if f.conn, err = l.Accept(); err != nil {
			return
		}
		cut := context.AfterFunc(t.Context(), func() { _ = f.conn.Close() }) // unblocks play
		defer cut()
		defer f.conn.Close() //nolint:errcheck // the test is over
		play(f)
	}()
	t.Cleanup(func() {
		close(f.over)
		_ = l.Close() // unblocks Accept
		<-done
	})
	return f
}

// header reads a protocol header and answers with the same.
func (f *fake) header() bool {
	var b [8]byte
	if _, err := io.ReadFull(f.conn, b[:]); err != nil {
		return false
	}
	_, err := f.conn.Write(b[:])
	return err == nil
}

// read returns the next performative; nil at the end.
func (f *fake) read() wire.Performative {
	for {
		var head [8]byte
		if _, err := io.ReadFull(f.conn, head[:]); err != nil {
			return nil
		}
		size := binary.BigEndian.Uint32(head[:])
		f.size = int(size)
		f.channel = binary.BigEndian.Uint16(head[6:])
		body := make([]byte, size-8)
		if _, err := io.ReadFull(f.conn, body); err != nil {
			return nil
		}
		if len(body) == 0 {
			continue // heartbeat
		}
		p, err := wire.Parse(wire.Frame{Type: head[5], Channel: binary.BigEndian.Uint16(head[6:]), Body: body})
		if err != nil {
			f.t.Errorf("fake: %v", err)
			return nil
		}
		return p
	}
}

// await reads until a performative of type P has come; false at the end.
func await[P wire.Performative](f *fake) (P, bool) {
	for {
		p := f.read()
		if got, ok := p.(P); ok {
			return got, true
		}
		if p == nil {
			var none P
			return none, false
		}
	}
}

// write sends performatives in one write.
func (f *fake) write(performatives ...wire.Performative) {
	var b []byte
	for _, p := range performatives {
		b = wire.AppendFrame(b, wire.FrameAMQP, 0, p)
	}
	_, _ = f.conn.Write(b) // the other side may be gone
}

// open does SASL and open.
func (f *fake) open() bool {
	if !f.header() {
		return false
	}
	if f.mechanisms == nil {
		f.mechanisms = []wire.Symbol{wire.MechAnonymous}
	}
	b := wire.AppendFrame(nil, wire.FrameSASL, 0, &wire.SASLMechanisms{Mechanisms: f.mechanisms})
	if _, err := f.conn.Write(b); err != nil {
		return false
	}
	var ok bool
	if f.init, ok = f.read().(*wire.SASLInit); !ok {
		return false
	}
	if _, err := f.conn.Write(wire.AppendFrame(nil, wire.FrameSASL, 0, &wire.SASLOutcome{Code: wire.SASLOK})); err != nil {
		return false
	}
	if !f.header() {
		return false
	}
	if f.opened, ok = await[*wire.Open](f); !ok {
		return false
	}
	if f.answer != nil {
		f.write(f.answer)
		return true
	}
	f.write(&wire.Open{ContainerID: "fake", Properties: wire.Map{
		{Key: wire.Symbol("product"), Value: f.product}, {Key: wire.Symbol("version"), Value: f.version}}})
	return true
}

// begin does open and begin.
func (f *fake) begin() bool {
	if !f.open() {
		return false
	}
	b, ok := await[*wire.Begin](f)
	if !ok {
		return false
	}
	f.begun = b
	answer := f.start
	answer.RemoteChannel, answer.IncomingWindow, answer.OutgoingWindow = wire.Some(uint16(0)), 1<<20, 1<<20
	if f.window > 0 {
		answer.IncomingWindow = f.window
	}
	f.write(&answer)
	return true
}

// attach does begin and attach and grants credit to a sender.
func (f *fake) attach(credit uint32) bool {
	if !f.begin() {
		return false
	}
	a, ok := await[*wire.Attach](f)
	if !ok {
		return false
	}
	answer := &wire.Attach{Name: a.Name, Role: !a.Role, Source: a.Source, Target: a.Target}
	if answer.Role == wire.RoleSender {
		answer.InitialDeliveryCount = wire.Some(uint32(0))
	}
	f.write(answer)
	if answer.Role == wire.RoleReceiver {
		f.grant(0, credit)
	}
	return true
}

// grant sends a flow of the link.
func (f *fake) grant(deliveryCount, credit uint32) {
	window := f.window
	if window == 0 {
		window = 1 << 20
	}
	f.write(&wire.Flow{NextIncomingID: wire.Some(uint32(0)), IncomingWindow: window, OutgoingWindow: 1 << 20,
		Handle: wire.Some(uint32(0)), DeliveryCount: wire.Some(deliveryCount), LinkCredit: wire.Some(credit)})
}

// settle sends a settled disposition of our deliveries first…last.
func settled(first, last uint32, state wire.State) *wire.Disposition {
	return &wire.Disposition{Role: wire.RoleReceiver, First: first, Last: wire.Some(last), Settled: true, State: state}
}

// finish answers detach, end and close until the other side is gone.
func (f *fake) finish() {
	for {
		switch f.read().(type) {
		case *wire.Detach:
			f.write(&wire.Detach{Closed: true})
		case *wire.End:
			f.write(&wire.End{})
		case *wire.Close:
			f.write(&wire.Close{})
			return
		case nil:
			return
		}
	}
}
