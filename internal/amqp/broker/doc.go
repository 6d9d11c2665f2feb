// Package broker is an in-memory AMQP 1.0 broker with scripted behaviour: the
// null target that calibrates the tools, the demo's default target, and a peer
// with known service times for tests. It is not a product broker: nothing is
// stored on disk, and there are no transactions, selectors or durable
// subscriptions (an attach that asks for one is answered with what is given).
//
// # Model
//
// Every address is one FIFO server. A message arrives when the read that
// completed it returned; its service begins when the one before it has left, and
// takes [Config.Service]; when the service ends the message departs: its sender
// gets the disposition accepted, and it becomes available to consumers, one of
// them on a queue, every one subscribed at that instant on a topic. Departures
// are computed from arrivals and service times alone, never from the instants at
// which a timer fired, so lateness does not add up.
//
// # Outcomes
//
// accepted and rejected end a message. released and modified put it back at the
// front of its queue; modified with delivery-failed counts a failed attempt, with
// undeliverable-here the link does not get it again. A delivery settled without an
// outcome is put back like a released one. What is unsettled on a link that ends,
// in whatever way, is put back with one failed attempt more; a topic's subscriber
// takes its copies with it.
//
// # Addresses
//
// `queue://NAME` and `topic://NAME`, or NAME with the terminus capability
// `queue` or `topic`, or NAME alone, which is a queue. A queue and a topic of the
// same name are two addresses. Both come into being with the first link.
package broker
