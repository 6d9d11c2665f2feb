// Package link opens connections to a broker and sends and receives messages
// on them. It implements the seam that internal/load declares, with the plain
// values of package amqp.
//
// go-amqp dials, speaks SASL, opens, sends heartbeats and closes in any case; this
// package is its only importer. Who runs sessions and links is [Config.Client].
//
// # ClientOwn
//
// Sessions and links are ours (package endpoint), on a net.Conn that lets the
// library see protocol headers, SASL, open, close and empty frames only, and those
// only after size, data offset and nesting were checked. Its deadlines are passed on
// until the peer's open and swallowed afterwards; then the peer may be silent for
// Config.IdleTimeout, and a write may take 30 s.
//
// What the instants mean: sent is read when nothing is waited for any more,
// immediately before up to 64 KiB of messages are encoded and written in one call;
// acked and received are read right after the socket read that brought them, once
// for all that it brought; settled is read after the write of the disposition.
//
// The reader never writes: it changes state under the connection's lock and wakes
// the writer. Senders and receivers write themselves, one at a time, as far as the
// socket takes it at once, and leave the rest to the writer; waiting for that is the
// wait for the socket. Nothing is allocated per message.
//
// A link is closed without draining it and without waiting for an echo: RabbitMQ
// 3.10 crashes at the first, others answer neither. A sender waits for its answers
// before it detaches. A broker may send more than was granted, up to twice
// the credit: RabbitMQ 3 forgets what is on its way when credit is renewed.
//
// # Transactions and options of a source
//
// With ClientOwn only. A link with transactions has a second one beside it on its
// session, to the broker's coordinator. A sender has as many transactions under way
// as its window holds, declared ahead; a receiver one at a time. Inside a transaction
// the broker's accepted says that it has a message; its fate is that of the
// discharge. What was declared and not discharged when the link is closed is rolled
// back by the broker.
//
// A broker may answer an attach as if it did what was asked for, and not do it. So
// the answer is checked for selector, distribution mode, durability and capabilities,
// shared subscriptions need a broker that offers them in its open, and what RabbitMQ
// 3 echoes and ignores is refused here.
//
// # ClientLibrary
//
// Sessions and links are those of go-amqp's public API: slower, and an independent
// second opinion. A small wrapper around the net.Conn looks at the frames that come
// in, because the library hides what a measurement needs: the credit that the
// peer grants (so that the wait for it ends before the sent instant is read),
// the peer's max-frame-size, and the condition of a detach, end or close.
// Messages, sessions and links remain the library's.
//
// What the instants mean on this path: sent is read immediately before the
// library's send call, so that time inside its locks and hand-offs is part of
// service and transit. acked and received are the instant of the last socket read
// before the library reports the settlement, to one waiting goroutine per message
// in flight, or hands the message over, to a goroutine that does nothing else:
// the read that brought it, or, where more has come while the library was busy
// passing things on, a later one. When a connection breaks, the library may drop
// settlements that it had read and not yet passed on; their messages count as
// failed.
//
// The library trusts its peer more than it should; the wrapper refuses frames
// that are larger than announced and flows that would make it panic, but this
// path is meant for brokers that are trusted.
package link
