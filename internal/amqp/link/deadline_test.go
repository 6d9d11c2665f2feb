package link

import (
	"net"
	"testing"
	"time"

	"amqpperf/internal/amqp/wire"
)

// noted is a socket that notes which deadlines are set.
type noted struct {
	net.Conn
	set     []string
	cleared bool // the last one was for both and none
}

func (n *noted) note(which string, at time.Time) error {
	n.set = append(n.set, which)
	n.cleared = which == "both" && at.IsZero()
	return nil
}

func (n *noted) SetDeadline(at time.Time) error      { return n.note("both", at) }
func (n *noted) SetReadDeadline(at time.Time) error  { return n.note("read", at) }
func (n *noted) SetWriteDeadline(at time.Time) error { return n.note("write", at) }

// TestWhoseDeadlines: the library's deadlines reach the socket until the peer's open was seen, then they are cleared, and
// none of them does afterwards.
func TestWhoseDeadlines(t *testing.T) {
	t.Parallel()
	p, tape := onTape(t, append([]byte(wire.ProtocolAMQP), amqpFrame(&wire.Open{ContainerID: "tape"})...), 1<<10)
	socket := &noted{Conn: tape}
	p.Conn = socket
	all := func() int {
		socket.set = nil
		for _, set := range []func(time.Time) error{p.SetDeadline, p.SetReadDeadline, p.SetWriteDeadline} {
			if err := set(time.Now().Add(time.Hour)); err != nil {
				t.Error(err)
			}
		}
		return len(socket.set)
	}
	if n := all(); n != 3 {
		t.Errorf("before the open: %v", socket.set)
	}
	if _, err := p.Read(make([]byte, 1000)); err != nil || !socket.cleared {
		t.Errorf("the open: %v, deadlines cleared %t", err, socket.cleared)
	}
	if n := all(); n != 0 {
		t.Errorf("after the open: %v", socket.set)
	}
}
