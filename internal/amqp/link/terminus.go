package link

import (
	"errors"
	"fmt"
	"slices"
	"strconv"

	goamqp "github.com/Azure/go-amqp"

	"amqpperf/internal/amqp/wire"
)

// Names on the wire. A selector is a described string in the source's filter, whose
// registered descriptor is the number; shared and global are Qpid JMS's capabilities
// for subscriptions that several links share, of whatever container.
const (
	selectorName               = "apache.org:selector-filter:string"
	selectorCode        uint64 = 0x0000468C00000004
	capShared                  = "shared"
	capGlobal                  = "global"
	offersShared               = "SHARED-SUBS" // in the peer's open
	modeCopy                   = "copy"
	expireNever                = "never"
	subscriptionEnds           = "|" // ends the subscription's name in a link name
	subscriptionMissing        = "the broker does not keep the subscription: its answer says that the source is not durable"
)

// durability is what a sender asks of its target.
func (cfg *SenderConfig) durability() uint32 {
	if cfg.Durable {
		return wire.DurableConfiguration
	}
	return wire.DurableNone
}

// target is the target of a sender.
func (cfg *SenderConfig) target(a Address) *wire.Target {
	return &wire.Target{Address: wire.Some(a.Text), Durable: cfg.durability(), Capabilities: symbols(a.Capabilities)}
}

// ignored reports what RabbitMQ takes and does not do: it answers as if it did (3.10.8, and 4.0.5 with queues of all types).
func (cfg *ReceiverConfig) ignored(peer Peer) error {
	style, _ := styleOf(peer.Product, peer.Version)
	version := map[Style]string{StyleRabbitMQ3: "3", StyleRabbitMQ4: "4"}[style]
	switch {
	case version == "":
		return nil
	case cfg.Selector != "":
		return fmt.Errorf("RabbitMQ %s ignores selectors: everything would be received", version)
	case cfg.Browse && style == StyleRabbitMQ3:
		return errors.New("RabbitMQ 3 cannot browse a queue: nothing would be received")
	case cfg.Browse:
		return errors.New("RabbitMQ 4 cannot browse a queue: what is received would be gone")
	case cfg.Durable:
		return fmt.Errorf("RabbitMQ %s ignores durable subscriptions: nothing would be kept; bind a queue to the topic instead", version)
	}
	return nil
}

// checkSource reports what contradicts itself in what is asked of the source.
func (cfg *ReceiverConfig) checkSource(c *Conn, a Address) error {
	switch {
	case cfg.Subscription == "" && (cfg.Durable || cfg.Shared):
		return errors.New("a durable or shared subscription needs a name")
	case cfg.Subscription != "" && !cfg.Durable && !cfg.Shared:
		return errors.New("the name of a subscription is of use for a durable or shared one only")
	case cfg.Unsubscribe && !cfg.Durable:
		return errors.New("there is no durable subscription to end")
	case cfg.Browse && a.Kind == KindTopic:
		return errors.New("a topic cannot be browsed, only a queue")
	case cfg.Browse && c.plane == nil:
		return errOwnOnly("browsing")
	case cfg.Browse && cfg.Tx > 0:
		return errors.New("browsing and transactions contradict each other: nothing would be acknowledged")
	}
	if err := cfg.ignored(c.peer); err != nil {
		return err
	}
	switch {
	case cfg.Subscription == "":
		return nil
	case a.Kind != KindTopic:
		// On ActiveMQ and Broker-J a plain name is a queue, and distribution mode copy
		// browses it: it looks like a subscription until somebody counts.
		return errors.New("a subscription needs topic://NAME: other names are queues to some brokers, which are then browsed only")
	case cfg.Durable && !cfg.Shared && !c.cfg.ContainerExact:
		return errors.New("a durable subscription belongs to a container id: give one")
	case cfg.Shared && !slices.Contains(c.offers, offersShared):
		return errors.New("the broker shares no subscriptions: its open does not offer " + offersShared)
	case printable(cfg.Subscription) != cfg.Subscription:
		return errors.New("the name of the subscription contains a control character")
	case c.plane == nil && cfg.Durable && !cfg.Unsubscribe && cfg.Session != nil:
		return errOwnOnly("keeping a subscription on a shared session")
	}
	return nil
}

// source is the source of a receiver.
func (cfg *ReceiverConfig) source(a Address) *wire.Source {
	s := &wire.Source{Address: wire.Some(a.Text), Capabilities: symbols(cfg.capabilities(a))}
	switch {
	case cfg.Durable:
		s.Durable, s.ExpiryPolicy, s.DistributionMode = wire.DurableUnsettled, expireNever, modeCopy
	case cfg.DurableQueue:
		s.Durable = wire.DurableConfiguration
	}
	if cfg.Browse {
		s.DistributionMode = modeCopy
	}
	if cfg.Selector != "" {
		s.Filter = wire.Map{{Key: wire.Symbol(selectorName), Value: wire.Described{Descriptor: selectorCode, Value: cfg.Selector}}}
	}
	return s
}

// capabilities are those of the address and of a shared subscription.
func (cfg *ReceiverConfig) capabilities(a Address) []string {
	if !cfg.Shared {
		return a.Capabilities
	}
	return append(slices.Clone(a.Capabilities), capShared, capGlobal)
}

// sharedName is a name that no other link of the connection has, for a shared
// subscription. It is written as Qpid JMS does, since Broker-J finds a subscription
// by "NAME|global" and digits.
func (c *Conn) sharedName(subscription string, durable bool) string {
	c.sharedMu.Lock()
	defer c.sharedMu.Unlock()
	name := subscription + subscriptionEnds + capGlobal
	if !durable {
		name += "-volatile"
	}
	if c.shared == nil {
		c.shared = make(map[string]int)
	}
	c.shared[name]++
	if n := c.shared[name]; n > 1 || !durable {
		name += strconv.Itoa(n)
	}
	return name
}

// linkName is the name of the link: that of the subscription, which a link of a
// shared one needs besides a name of its own.
func (cfg *ReceiverConfig) linkName(c *Conn) string {
	switch {
	case cfg.Shared:
		return c.sharedName(cfg.Subscription, cfg.Durable)
	case cfg.Subscription != "":
		return cfg.Subscription
	}
	return c.linkName()
}

// subscription is the name in the log of what the receiver gets its copies by.
func (cfg *ReceiverConfig) subscription(c *Conn, a Address, link string) string {
	switch {
	case cfg.Shared:
		return capGlobal + "/" + cfg.Subscription
	case a.Kind != KindTopic:
		return ""
	}
	return c.container + "/" + link
}

// agreed reports what the peer's answer lacks of what was asked for, "" if nothing.
// An option that a broker ignores must not look as if it worked.
func (cfg *ReceiverConfig) agreed(peer *wire.Source) string {
	if peer == nil {
		return ""
	}
	caps := peer.Capabilities
	switch {
	case cfg.Selector != "" && !selects(peer.Filter):
		return "the broker does not apply the selector: its answer has none"
	case cfg.Browse && peer.DistributionMode != modeCopy:
		return "the broker does not let us browse: its answer says distribution mode " + orNone(string(peer.DistributionMode))
	case cfg.Subscription == "":
		return ""
	case slices.Contains(caps, "queue") && !slices.Contains(caps, "topic"):
		return "the broker takes the address for a queue, not for a topic"
	case cfg.Durable && peer.Durable == wire.DurableNone:
		return subscriptionMissing
	case cfg.Shared && !slices.Contains(caps, capShared):
		return "the broker does not share the subscription: its answer lacks that capability"
	}
	return ""
}

func orNone(s string) string {
	if s == "" {
		return "none"
	}
	return printable(s)
}

// selects reports whether a filter has a selector.
func selects(filter wire.Map) bool {
	for _, e := range filter {
		if d, ok := e.Value.(wire.Described); ok && (d.Descriptor == selectorCode || d.Descriptor == wire.Symbol(selectorName)) {
			return true
		}
	}
	return false
}

// libraryOptions are those of the library for what is asked of the source.
func (cfg *ReceiverConfig) libraryOptions(name string, a Address) *goamqp.ReceiverOptions {
	// Credit by hand: it is renewed at half, and not at all after Stop. Never by
	// draining: RabbitMQ 3.10 crashes its queue.
	o := &goamqp.ReceiverOptions{Name: name, Credit: -1, SourceCapabilities: cfg.capabilities(a)}
	if cfg.Presettled {
		o.RequestedSenderSettleMode = goamqp.SenderSettleModeSettled.Ptr()
	}
	switch {
	case cfg.Durable:
		o.SourceDurability, o.SourceExpiryPolicy = goamqp.DurabilityUnsettledState, goamqp.ExpiryPolicyNever
	case cfg.DurableQueue:
		o.SourceDurability = goamqp.DurabilityConfiguration
	}
	if cfg.Selector != "" {
		o.Filters = []goamqp.LinkFilter{goamqp.NewSelectorFilter(cfg.Selector)}
	}
	return o
}
