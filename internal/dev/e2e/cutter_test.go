package e2e

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"

	"github.com/rogpeppe/go-internal/testscript"
)

// cutter is a TCP proxy whose connections can be cut, as a network would.
type cutter struct {
	listener net.Listener
	target   string

	mu    sync.Mutex
	conns []net.Conn
	cut   bool
	wg    sync.WaitGroup
}

// serve accepts until the listener is closed.
func (c *cutter) serve() {
	defer c.wg.Done()
	for {
		from, err := c.listener.Accept()
		if err != nil {
			return
		}
		to, err := net.Dial("tcp", c.target)
		if err != nil {
			_ = from.Close()
			continue
		}
		if !c.keep(from, to) {
			return
		}
		c.wg.Add(2)
		go c.copy(from, to)
		go c.copy(to, from)
	}
}

// keep remembers connections for the cut, or closes them if that was before.
func (c *cutter) keep(conns ...net.Conn) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.conns = append(c.conns, conns...)
	if c.cut {
		for _, conn := range conns {
			_ = conn.Close()
		}
	}
	return !c.cut
}

func (c *cutter) copy(to, from net.Conn) {
	defer c.wg.Done()
	_, _ = io.Copy(to, from) // ends with the connection
	_ = to.Close()
}

// stop cuts everything and waits until it is gone.
func (c *cutter) stop() {
	c.mu.Lock()
	c.cut = true
	_ = c.listener.Close()
	for _, conn := range c.conns {
		_ = conn.Close()
	}
	c.mu.Unlock()
	c.wg.Wait()
}

type cutterKey string

func startCutter(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: cutter NAME")
	}
	u, err := url.Parse(ts.Getenv("AMQP_URL"))
	ts.Check(err)
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	ts.Check(err)
	c := &cutter{listener: listener, target: u.Host}
	c.wg.Add(1)
	go c.serve()
	ts.Defer(c.stop)
	cutters, ok := ts.Value(cutterKey("cutters")).(*sync.Map)
	if !ok {
		ts.Check(errors.New("the script has no table of cutters"))
	}
	cutters.Store(args[0], c)
	u.Host = listener.Addr().String()
	ts.Setenv("AMQP_URL", u.String())
}

func cutConnections(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 1 {
		ts.Fatalf("usage: cut NAME")
	}
	cutters := ts.Value(cutterKey("cutters")).(*sync.Map)
	c, ok := cutters.Load(args[0])
	if !ok {
		ts.Fatalf("no cutter %s", args[0])
	}
	c.(*cutter).stop()
}
