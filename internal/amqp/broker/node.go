package broker

import (
	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// node is an address: a FIFO server, and behind it one store (a queue) or one for
// each subscriber (a topic). Everything here is under the broker's lock.
type node struct {
	b       *Broker
	name    string // with its prefix
	topic   bool
	seq     uint64
	server  server
	waiting fifo     // in service or waiting for it, in order of arrival
	stores  []*store // a queue has exactly one
	dry     []*producer

	at   int64 // when the clockwork should run it; 0: not scheduled
	heap int   // index in the clockwork
}

// store holds messages that have departed and their consumers.
type store struct {
	node      *node
	key       string // of a subscription that several links have, or have in turn; "" of others
	durable   bool   // it is kept without links
	ready     fifo
	consumers []*consumer
	browsers  []*consumer
	next      int  // whose turn it is
	draining  bool // one of them may have asked for a drain
	dirty     bool
}

// producer is a link on which a client sends.
type producer struct {
	c    *conn
	l    *endpoint.Link
	node *node
	dry  bool // gets no credit for now
}

func (n *node) newStore() *store {
	s := &store{node: n}
	n.stores = append(n.stores, s)
	return s
}

// arrive takes a message in.
func (n *node) arrive(m *message, now int64) {
	b := n.b
	if b.first == 0 {
		b.first = m.rec.Arrival
		b.spans = spansFrom(b.first, b.cfg.Stalls)
	}
	m.node, m.rec.Address, m.rec.Seq = n, n.name, n.seq
	n.seq++
	m.rec.Start, m.rec.Due = n.server.serve(b.spans, m.rec.Arrival)
	if m.rec.Due <= now && n.waiting.n == 0 {
		n.depart(m, now)
		return
	}
	n.waiting.pushBack(m)
	n.schedule(n.waiting.at(0).rec.Due)
}

// run lets every message go whose service is over, and hands out what is ready.
func (n *node) run(now int64) {
	for n.waiting.n > 0 && n.waiting.at(0).rec.Due <= now {
		n.depart(n.waiting.remove(0), now)
	}
	if n.waiting.n > 0 {
		n.schedule(n.waiting.at(0).rec.Due)
	}
	for _, s := range n.stores {
		n.b.dirtyStore(s)
	}
}

func (n *node) depart(m *message, now int64) {
	m.rec.Departure = now
	if m.txn != nil {
		m.txn.departed()
		m.txn = nil
	}
	if !m.settled {
		m.from.l.Settle(m.no, m.no, wire.StateOf(wire.CodeAccepted))
		m.rec.Acked = now
		n.b.touch(m.from.c)
	}
	if n.topic && len(n.stores) == 0 {
		n.b.finish(m, Dropped, 0)
		return
	}
	for i, s := range n.stores {
		each := m
		if i+1 < len(n.stores) {
			each = m.copyFor()
		}
		s.ready.pushBack(each)
		n.b.dirtyStore(s)
	}
}

// depth is what MaxQueued limits.
func (n *node) depth() int {
	d := n.waiting.n
	for _, s := range n.stores {
		d += s.ready.n
	}
	return d
}

// feed renews a producer's credit, or notes that it must wait.
func (p *producer) feed() {
	n, full := p.node, p.node.b.cfg.Credit
	if p.l.Credit() > full/2 {
		return
	}
	if limit := n.b.cfg.MaxQueued; limit > 0 && n.depth() >= limit {
		if !p.dry {
			p.dry = true
			n.dry = append(n.dry, p)
		}
		return
	}
	p.l.Grant(full)
	n.b.touch(p.c)
}

// water gives credit to the producers that wait, once there is room again.
func (n *node) water() {
	if len(n.dry) == 0 || n.depth() > n.b.cfg.MaxQueued/2 {
		return
	}
	dry := n.dry
	n.dry = nil
	for _, p := range dry {
		p.dry = false
		p.feed()
	}
}

// dispatch hands ready messages to consumers, in turn, as far as their credit,
// windows and caps go.
func (s *store) dispatch(now int64) {
	if thaw := thawed(s.node.b.spans, now); thaw > now {
		s.node.schedule(thaw)
		return
	}
	for _, c := range s.browsers {
		c.browsed(now)
	}
	for i := 0; i < s.ready.n; {
		m := s.ready.at(i)
		if m.expires != 0 && now >= m.expires {
			s.node.b.finish(s.ready.remove(i), Expired, now)
			continue
		}
		c := s.choose(m)
		switch {
		case c != nil:
			c.deliver(s.ready.remove(i), now)
		case m.excluded != nil:
			i++ // somebody may take the ones behind it
		default:
			i = s.ready.n
		}
	}
	s.answerDrains()
	s.node.water()
}

// answerDrains gives back the credit that nothing is there for.
func (s *store) answerDrains() {
	if !s.draining { // as with nearly every message: there may be a thousand consumers
		return
	}
	s.draining = false
	for _, list := range [...][]*consumer{s.consumers, s.browsers} {
		for _, c := range list {
			if !c.drain {
				continue
			}
			// What is left is not for c, unless it only waits for the peer to read.
			if s.ready.n > 0 && (c.l.CanSend() == endpoint.WaitSession || c.c.choked) {
				s.draining = true
				continue
			}
			c.drain = false
			c.l.Drained()
			s.node.b.touch(c.c)
		}
	}
}

// choose picks the next consumer in turn that can take m.
func (s *store) choose(m *message) *consumer {
	for k := range s.consumers {
		i := (s.next + k) % len(s.consumers)
		c := s.consumers[i]
		if c.can(m) {
			s.next = (i + 1) % len(s.consumers)
			return c
		}
	}
	return nil
}
