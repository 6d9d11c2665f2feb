package broker

import (
	"fmt"
	"slices"
	"strings"

	"amqpperf/internal/amqp/wire"
)

const (
	queuePrefix = "queue://"
	topicPrefix = "topic://"
)

// capabilities of a terminus that say what a plain name is.
const (
	capQueue wire.Symbol = "queue"
	capTopic wire.Symbol = "topic"
)

// resolve gives an address its full form.
func resolve(address string, caps []wire.Symbol) (string, *wire.Error) {
	queue, topic := slices.Contains(caps, capQueue), slices.Contains(caps, capTopic)
	prefixed := queuePrefix + address
	switch {
	case strings.HasPrefix(address, queuePrefix):
		queue, prefixed = true, address
	case strings.HasPrefix(address, topicPrefix):
		topic, prefixed = true, address
	case topic:
		prefixed = topicPrefix + address
	}
	if queue && topic {
		return "", &wire.Error{Condition: wire.CondInvalidField, Description: fmt.Sprintf("address %q is asked for as queue and as topic", address)}
	}
	if len(prefixed) == len(queuePrefix) { // the prefixes are of one length
		return "", &wire.Error{Condition: wire.CondInvalidField, Description: "address is missing"}
	}
	return prefixed, nil
}

// lookup finds or makes the node of an address in its full form.
func (b *Broker) lookup(name string) (*node, *wire.Error) {
	if b.forbidden[name] {
		return nil, &wire.Error{Condition: wire.CondUnauthorizedAccess, Description: fmt.Sprintf("access to %q is forbidden", name)}
	}
	n := b.nodes[name]
	if n == nil {
		if b.cfg.NoAutoCreate {
			return nil, &wire.Error{Condition: wire.CondNotFound, Description: fmt.Sprintf("there is no %q", name)}
		}
		n = b.create(name)
	}
	return n, nil
}

func (b *Broker) create(name string) *node {
	n := &node{b: b, name: name, topic: strings.HasPrefix(name, topicPrefix), server: newServer(b.cfg.Service, name)}
	if !n.topic {
		n.newStore()
	}
	b.nodes[name] = n
	return n
}
