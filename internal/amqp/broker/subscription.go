package broker

import (
	"fmt"
	"slices"
	"strings"

	"amqpperf/internal/amqp/wire"
)

// Capabilities of subscriptions that several links share, as Qpid JMS writes them: of
// one container, or global.
const (
	capShared wire.Symbol = "shared"
	capGlobal wire.Symbol = "global"
)

const (
	expireNever wire.Symbol = "never"
	modeCopy    wire.Symbol = "copy"
	modeMove    wire.Symbol = "move"
)

// wish is what a client's attach asks of a source.
type wish struct {
	durable bool
	shared  bool
	global  bool
	name    string // of the subscription
}

// wishOf reads a source. A shared subscription's name is that of the link up to the
// first "|".
func wishOf(name string, s *wire.Source) wish {
	w := wish{
		durable: s.Durable != wire.DurableNone && s.ExpiryPolicy == expireNever,
		shared:  slices.Contains(s.Capabilities, capShared),
		global:  slices.Contains(s.Capabilities, capGlobal),
		name:    name,
	}
	if w.shared {
		w.name, _, _ = strings.Cut(name, "|")
	}
	return w
}

// key names the subscription within its topic; "" if it ends with its link.
func (w wish) key(container string) string {
	switch {
	case !w.durable && !w.shared:
		return ""
	case w.shared && w.global:
		return "global/" + w.name
	case w.shared:
		return "shared/" + container + "/" + w.name
	}
	return "link/" + container + "/" + w.name
}

// subscribe finds or makes the store of a subscription.
func (n *node) subscribe(container string, w wish) (*store, *wire.Error) {
	key := w.key(container)
	if key == "" {
		return n.newStore(), nil
	}
	for _, s := range n.stores {
		if s.key != key {
			continue
		}
		switch {
		case !w.shared && len(s.consumers) > 0:
			return nil, &wire.Error{Condition: wire.CondResourceLocked, Description: fmt.Sprintf("subscription %q is in use", w.name)}
		case s.durable != w.durable:
			return nil, &wire.Error{Condition: wire.CondPreconditionFailed, Description: fmt.Sprintf("subscription %q exists, and its durability is another", w.name)}
		}
		return s, nil
	}
	s := n.newStore()
	s.key, s.durable = key, w.durable
	return s, nil
}

// kept reports whether the store still takes messages.
func (s *store) kept() bool { return slices.Contains(s.node.stores, s) }

// resume attaches to the durable subscription that a link had before: an attach
// without a source. Whoever detaches it for good ends the subscription.
func (b *Broker) resume(container, link string, a *wire.Attach) (*store, *wire.Error) {
	w := wish{durable: true, name: link}
	if w.shared = slices.Contains(a.DesiredCapabilities, capShared); w.shared {
		w.name, _, _ = strings.Cut(link, "|")
		w.global = slices.Contains(a.DesiredCapabilities, capGlobal)
	}
	key := w.key(container)
	for _, n := range b.nodes {
		for _, s := range n.stores {
			if s.key == key && s.durable {
				return s, nil
			}
		}
	}
	return nil, &wire.Error{Condition: wire.CondNotFound, Description: fmt.Sprintf("there is no subscription %q", w.name)}
}

// end ends a subscription.
func (s *store) end(now int64) {
	s.node.stores = slices.DeleteFunc(s.node.stores, func(o *store) bool { return o == s })
	for s.ready.n > 0 {
		s.node.b.finish(s.ready.remove(0), Dropped, now)
	}
	s.node.water()
}
