// Package broker is an in-memory AMQP 1.0 broker with scripted behaviour: the
// null target that calibrates the tools, the demo's default target, and a peer
// with known service times for tests. It is not a product broker: nothing is
// stored on disk, "durable" means until the broker ends, priorities are ignored,
// and what it does not have (selectors and other filters, dynamic addresses,
// distributed transactions) is refused with amqp:not-implemented.
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
// # Subscriptions and browsers
//
// A subscription to a topic ends with its link, unless its source is durable and
// never expires: then it stays, with what arrives for it, until a link to it is
// detached for good. It belongs to container id and link name. With the capability
// shared, links compete for the messages of a subscription, whose name is that of
// the link up to the first "|"; with global also those of other containers. An
// attach without a source finds the durable subscription of that name again.
// Distribution mode copy on a queue makes a browser, which gets a copy of each
// message that is ready when it looks, once.
//
// # Transactions
//
// Local ones, over a coordinator, as many at a time as a client declares. What was
// sent inside one arrives when it is committed; the discharge is accepted when the
// service of the last of these messages has ended. What was answered inside one
// counts when it is committed; rolled back, it is put back with one failed attempt
// more. A coordinator that is detached rolls back what it has left open.
//
// # Addresses
//
// `queue://NAME` and `topic://NAME`, or NAME with the terminus capability
// `queue` or `topic`, or NAME alone, which is a queue. A queue and a topic of the
// same name are two addresses. Both come into being with the first link.
package broker
