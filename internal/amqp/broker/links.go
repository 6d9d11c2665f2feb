package broker

import (
	"slices"

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
		switch d := e.Link.Data.(type) {
		case *producer:
			d.receive(&e.Delivery, now)
		case *coordinator:
			d.receive(&e.Delivery, now)
		}
	case endpoint.Settled:
		if k, ok := e.Link.Data.(*consumer); ok {
			k.settled(e, now)
		}
	case endpoint.LinkFlow:
		switch d := e.Link.Data.(type) {
		case *consumer:
			d.drain = e.Drain
			d.st.draining = d.st.draining || e.Drain
			c.b.dirtyStore(d.st)
		case *producer:
			d.feed() // an aborted delivery has used credit
		case *coordinator:
			d.feed()
		}
	case endpoint.Unblocked:
		for k := range c.consumers {
			c.b.dirtyStore(k.st)
		}
	case endpoint.LinkDetached:
		switch d := e.Link.Data.(type) {
		case *consumer:
			d.leave(now, e.Closed && !d.expelled)
			delete(c.consumers, d)
		case *coordinator:
			c.rollBackAll(d)
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
		c.attachCoordinator(l, a)
		return nil
	case !l.Receiver() && a.Source == nil:
		s, err := c.b.resume(c.container, l.Name(), a)
		if err == nil {
			c.attachConsumer(l, a, s, modeCopy)
		}
		return err
	case !l.Receiver() && len(a.Source.Filter) > 0:
		return notImplemented("filters and selectors")
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
		return nil
	}
	return c.subscribe(l, a, n)
}

// subscribe attaches a consumer to a queue or to a subscription of a topic.
func (c *conn) subscribe(l *endpoint.Link, a *wire.Attach, n *node) *wire.Error {
	if !n.topic {
		if slices.Contains(a.Source.Capabilities, capShared) {
			return &wire.Error{Condition: wire.CondInvalidField, Description: "only a subscription of a topic can be shared"}
		}
		mode := modeMove
		if a.Source.DistributionMode == modeCopy {
			mode = modeCopy
		}
		c.attachConsumer(l, a, n.stores[0], mode)
		return nil
	}
	s, err := n.subscribe(c.container, wishOf(l.Name(), a.Source))
	if err != nil {
		return err
	}
	c.attachConsumer(l, a, s, modeCopy)
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

// attachConsumer answers with what the link really is.
func (c *conn) attachConsumer(l *endpoint.Link, a *wire.Attach, s *store, mode wire.Symbol) {
	n := s.node
	k := &consumer{c: c, l: l, st: s, presettle: a.SndSettleMode.Or(wire.SenderMixed) == wire.SenderSettled}
	if k.browse = !n.topic && mode == modeCopy; k.browse {
		s.browsers = append(s.browsers, k)
	} else {
		s.consumers = append(s.consumers, k)
	}
	c.consumers[k] = true
	l.Data = k
	source := &wire.Source{
		Address: wire.Some(n.name), DistributionMode: mode, Capabilities: n.capability(),
		Outcomes: []wire.Symbol{"amqp:accepted:list", "amqp:rejected:list", "amqp:released:list", "amqp:modified:list"},
	}
	if a.Source != nil {
		source.Address = a.Source.Address
		if w := wishOf(l.Name(), a.Source); n.topic && w.shared {
			source.Capabilities = append(source.Capabilities, capShared)
			if w.global {
				source.Capabilities = append(source.Capabilities, capGlobal)
			}
		}
	}
	if s.durable {
		source.Durable, source.ExpiryPolicy = wire.DurableConfiguration, expireNever
	}
	l.Accept(wire.Attach{SndSettleMode: a.SndSettleMode, RcvSettleMode: a.RcvSettleMode, Target: a.Target, Source: source})
}

// receive takes a delivery from a producer.
func (p *producer) receive(d *endpoint.Delivery, now int64) {
	m, err := p.c.b.newMessage(d, p.c.arrival)
	if err != nil {
		e := &wire.Error{Condition: wire.CondDecodeError, Description: err.Error()}
		p.l.Settle(d.No, d.No, wire.State{Kind: wire.CodeRejected, Error: e})
	} else if d.State.Kind == wire.CodeTransactional {
		m.from = p
		p.inTxn(m, d, d.State.TxnID)
	} else {
		m.from = p
		p.node.arrive(m, now)
	}
	p.feed()
}

func (k *consumer) settled(e *endpoint.Event, now int64) {
	if e.State.Kind == wire.CodeTransactional {
		k.inTxn(e.First, e.Last, &e.State, now)
		return
	}
	k.outcome(e.First, e.Last, &e.State, now)
}
