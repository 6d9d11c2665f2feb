package link

import "amqpperf/internal/amqp/wire"

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
