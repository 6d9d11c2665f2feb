// Package timestamp makes every instant that amqpperf records and defines the
// stamp that travels inside a message.
//
// A [Clock] reads the wall clock once, when it is made (the anchor), and from
// then on counts monotonic time: instants of one process never step, and two
// processes of the same boot can be aligned exactly through the monotonic
// clock that both anchors name. A [Stamp] is what a sender writes at the start
// of a message body so that a receiver, on any host, can log the message's
// identity and the sender's instants.
//
// All instants are int64 nanoseconds since the Unix epoch. The package
// imports the standard library only.
package timestamp
