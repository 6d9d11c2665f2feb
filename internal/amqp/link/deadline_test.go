package link

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"testing/synctest"
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

// TestWriteDeadline: a peer that takes nothing for 30 s ends a write, and a write that went well leaves no deadline behind.
func TestWriteDeadline(t *testing.T) {
	t.Parallel()
	for _, takes := range []bool{false, true} {
		synctest.Test(t, func(t *testing.T) {
			mine, theirs := net.Pipe()
			defer theirs.Close() //nolint:errcheck // the test is over
			c := &Conn{cfg: Config{URL: parsed(t, "amqp://pipe"), Now: func() int64 { return time.Now().UnixNano() }}.withDefaults()}
			c.carry(mine)
			p := c.plane
			defer func() { _ = p.cut(); p.finished.Wait() }()
			p.ours.Store(true)
			if takes {
				go io.Copy(io.Discard, theirs) //nolint:errcheck // it ends with the pipe
			} else {
				time.AfterFunc(time.Hour, func() { _ = p.cut() }) // so that the test ends in any case
			}
			began := time.Now()
			err := p.write([]byte("x"))
			took := time.Since(began)
			if !takes {
				if !errors.Is(err, os.ErrDeadlineExceeded) || took != writeTimeout {
					t.Errorf("a peer that takes nothing: %v after %v", err, took)
				}
				return
			}
			time.Sleep(2 * writeTimeout)
			if _, late := mine.Write([]byte("y")); err != nil || late != nil {
				t.Errorf("a peer that takes all: %v, and long after it %v", err, late)
			}
		})
	}
}
