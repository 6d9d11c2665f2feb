package broker

import (
	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// event acts on what a frame has changed.
func (c *conn) event(e *endpoint.Event, now int64) {
	switch e.Kind {
	case endpoint.LinkRequested:
		if err := c.attach(e.Link, e.Attach); err != nil {
			e.Link.Refuse(err)
		}
	case endpoint.Received:
		if p, ok := e.Link.Data.(*producer); ok {
			p.receive(&e.Delivery, now)
		}
	case endpoint.Settled:
		if k, ok := e.Link.Data.(*consumer); ok {
			k.settled(e, now)
		}
	case endpoint.LinkFlow:
		switch d := e.Link.Data.(type) {
		case *consumer:
			d.drain = e.Drain
			c.b.dirtyStore(d.st)
		case *producer:
			d.feed() // an aborted delivery has used credit
		}
	case endpoint.Unblocked:
		for k := range c.consumers {
			c.b.dirtyStore(k.st)
		}
	case endpoint.LinkDetached:
		if k, ok := e.Link.Data.(*consumer); ok {
			k.leave(now)
			delete(c.consumers, k)
		}
	case endpoint.SessionBegun, endpoint.SessionEnded, endpoint.LinkAttached:
	}
}

// attach accepts a link, or tells why not.
func (c *conn) attach(l *endpoint.Link, a *wire.Attach) *wire.Error {
	notImplemented := func(what string) *wire.Error {
		return &wire.Error{Condition: wire.CondNotImplemented, Description: what + " are not supported"}
	}
	var addr wire.Opt[string]
	var caps []wire.Symbol
	var dynamic bool
	switch {
	case a.Coordinator != nil:
		return notImplemented("transactions")
	case l.Receiver() && a.Target != nil:
		addr, caps, dynamic = a.Target.Address, a.Target.Capabilities, a.Target.Dynamic
	case !l.Receiver() && a.Source != nil:
		addr, caps, dynamic = a.Source.Address, a.Source.Capabilities, a.Source.Dynamic
	}
	if dynamic {
		return notImplemented("dynamic addresses")
	}
	if addr.V == "" {
		return &wire.Error{Condition: wire.CondInvalidField, Description: "address is missing"}
	}
	name, err := resolve(addr.V, caps)
	if err != nil {
		return err
	}
	n, err := c.b.lookup(name)
	if err != nil {
		return err
	}
	if l.Receiver() {
		c.attachProducer(l, a, n)
	} else {
		c.attachConsumer(l, a, n)
	}
	return nil
}

func (n *node) capability() []wire.Symbol {
	if n.topic {
		return []wire.Symbol{capTopic}
	}
	return []wire.Symbol{capQueue}
}

func (c *conn) attachProducer(l *endpoint.Link, a *wire.Attach, n *node) {
	p := &producer{c: c, l: l, node: n}
	l.Data = p
	l.Accept(wire.Attach{
		SndSettleMode: a.SndSettleMode, RcvSettleMode: a.RcvSettleMode, Source: a.Source,
		Target:         &wire.Target{Address: a.Target.Address, Capabilities: n.capability()},
		MaxMessageSize: c.b.cfg.MaxMessageSize,
	})
	p.feed()
}

// attachConsumer answers with what the link really is: no filter, nothing durable.
func (c *conn) attachConsumer(l *endpoint.Link, a *wire.Attach, n *node) {
	k := &consumer{c: c, l: l, presettle: a.SndSettleMode.Or(wire.SenderMixed) == wire.SenderSettled}
	mode := wire.Symbol("move")
	if n.topic {
		k.st = n.newStore()
		mode = "copy"
	} else {
		k.st = n.stores[0]
	}
	k.st.consumers = append(k.st.consumers, k)
	c.consumers[k] = true
	l.Data = k
	l.Accept(wire.Attach{
		SndSettleMode: a.SndSettleMode, RcvSettleMode: a.RcvSettleMode, Target: a.Target,
		Source: &wire.Source{
			Address: a.Source.Address, DistributionMode: mode, Capabilities: n.capability(),
			Outcomes: []wire.Symbol{"amqp:accepted:list", "amqp:rejected:list", "amqp:released:list", "amqp:modified:list"},
		},
	})
}

// receive takes a delivery from a producer.
func (p *producer) receive(d *endpoint.Delivery, now int64) {
	if d.State.Kind == wire.CodeTransactional {
		p.l.Detach(true, &wire.Error{Condition: wire.CondTxnUnknownID, Description: "transactions are not supported"})
		return
	}
	m, err := p.c.b.newMessage(d, p.c.arrival)
	if err != nil {
		e := &wire.Error{Condition: wire.CondDecodeError, Description: err.Error()}
		p.l.Settle(d.No, d.No, wire.State{Kind: wire.CodeRejected, Error: e})
	} else {
		m.from = p
		p.node.arrive(m, now)
	}
	p.feed()
}

func (k *consumer) settled(e *endpoint.Event, now int64) {
	if e.State.Kind == wire.CodeTransactional {
		k.l.Detach(true, &wire.Error{Condition: wire.CondTxnUnknownID, Description: "transactions are not supported"})
		e.State = wire.StateOf(wire.CodeReleased)
	}
	k.outcome(e.First, e.Last, &e.State, now)
}
