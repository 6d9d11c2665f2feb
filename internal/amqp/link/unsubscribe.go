package link

import (
	"context"
	"errors"

	"amqpperf/internal/amqp/endpoint"
	"amqpperf/internal/amqp/wire"
)

// bareLink is a link on which nothing is sent or received.
type bareLink struct{ ownLink }

// event implements attachment.
func (l *bareLink) event(e *endpoint.Event, _ int64) {
	switch e.Kind {
	case endpoint.LinkAttached:
		l.attached = true
		l.poke()
	case endpoint.LinkDetached:
		l.detached(e)
	}
}

// tell implements attachment.
func (l *bareLink) tell() {}

// Unsubscribe ends the durable subscription that cfg describes, with what waits in
// it; nothing is received. One that does not exist is an error (amqp:not-found on most
// brokers). ClientOwn only.
func (c *Conn) Unsubscribe(ctx context.Context, cfg ReceiverConfig) error {
	fail := func(err error) error {
		return &Error{Op: "unsubscribe", Address: printable(cfg.Address), Description: err.Error()}
	}
	address, _, err := ResolveAddress(cfg.Address, c.peer.Product, c.peer.Version, c.cfg.Style, RoleReceiver)
	if err != nil {
		return fail(err)
	}
	switch {
	case c.plane == nil:
		return fail(errOwnOnly("ending a subscription without receiving"))
	case !cfg.Durable:
		return fail(errors.New("there is no durable subscription to end"))
	}
	if err := cfg.check(c, address); err != nil {
		return fail(err)
	}
	ctx, cancel := c.deadline(ctx)
	defer cancel()
	name := cfg.Subscription
	if cfg.Shared {
		name += subscriptionEnds + capGlobal
	}
	l := &bareLink{newOwnLink(c.plane, cfg.Address, address, name)}
	// Without a source, a broker looks for the terminus that it has under this name.
	a := wire.Attach{Role: wire.RoleReceiver, Target: &wire.Target{Address: wire.Some(l.name)}}
	if cfg.Shared {
		a.DesiredCapabilities = []wire.Symbol{capShared, capGlobal}
	}
	if err := l.attach(ctx, cfg.session, l, a); err != nil {
		e := c.failed("unsubscribe", cfg.Address, err)
		e.Op = "unsubscribe"
		return e
	}
	c.plane.mu.Lock()
	l.closing = !l.over
	c.plane.mu.Unlock()
	l.shut(ctx)
	return nil
}
