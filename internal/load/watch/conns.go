package watch

import (
	"errors"
	"fmt"
	"net"
	"slices"
	"syscall"
)

// tcpInfo is what the kernel tells about a TCP connection.
type tcpInfo struct {
	rtt, rttvar int64 // ns
	cwnd        int64 // segments
	unacked     int64 // segments, −1 unknown
	unsent      int64 // bytes, −1 unknown
	retransmits int64 // segments
}

type conn struct {
	index int32
	raw   syscall.RawConn
}

type conns struct {
	list []*conn
	ever bool
	sum  sums
}

// RegisterConn adds a connection whose TCP state is sampled until it is closed
// or removed. index is its number within the process; a connection that takes
// the place of another (a reconnect) replaces it. Wrappers that have a
// NetConn() net.Conn, such as *tls.Conn, are looked through. The error says
// that there is no socket below; the connection is not watched then.
func (w *Watcher) RegisterConn(index int32, nc net.Conn) (remove func(), err error) {
	raw, err := rawConn(nc)
	if err != nil {
		return func() {}, fmt.Errorf("watch connection %d: %w", index, err)
	}
	c := &conn{index: index, raw: raw}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.conns.ever = true
	w.conns.list = slices.DeleteFunc(w.conns.list, func(o *conn) bool { return o.index == index })
	w.conns.list = append(w.conns.list, c)
	return func() {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.conns.list = slices.DeleteFunc(w.conns.list, func(o *conn) bool { return o == c })
	}, nil
}

func rawConn(nc net.Conn) (syscall.RawConn, error) {
	for {
		if sc, ok := nc.(syscall.Conn); ok {
			return sc.SyscallConn()
		}
		inner, ok := nc.(interface{ NetConn() net.Conn })
		if !ok || inner.NetConn() == nil {
			return nil, fmt.Errorf("no socket below %T", nc)
		}
		nc = inner.NetConn()
	}
}

func (c *conns) sample(s *sampler) {
	if !c.ever {
		return
	}
	c.sum.reset()
	c.list = slices.DeleteFunc(c.list, func(one *conn) bool {
		info, err := readTCP(one.raw)
		if errors.Is(err, net.ErrClosed) {
			return true
		}
		if err == nil {
			c.add(one.index, &info)
		}
		return false
	})
	s.put("conn.open_count", int64(len(c.list)))
	c.sum.put(s)
}

func (c *conns) add(index int32, t *tcpInfo) {
	c.sum.add(index, "rtt_ns", t.rtt)
	c.sum.add(index, "rttvar_ns", t.rttvar)
	c.sum.add(index, "cwnd_segments", t.cwnd)
	if t.unacked >= 0 {
		c.sum.add(index, "unacked_segments", t.unacked)
	}
	if t.unsent >= 0 {
		c.sum.add(index, "unsent_bytes", t.unsent)
	}
	c.sum.add(index, "retransmits_count", t.retransmits)
}
