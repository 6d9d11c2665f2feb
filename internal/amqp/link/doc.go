// Package link opens connections to a broker and sends and receives messages
// on them. It implements the seam that internal/load declares, with the plain
// values of package amqp.
//
// # The library path
//
// Everything here runs on go-amqp's public API, and this package is its only
// importer. A small wrapper around the net.Conn looks at the frames that come
// in, because the library hides what a measurement needs: the credit that the
// peer grants (so that the wait for it ends before the sent instant is read),
// the peer's max-frame-size, and the condition of a detach, end or close.
// Messages, sessions and links remain the library's.
//
// What the instants mean on this path: sent is read immediately before the
// library's send call; acked is read when the library reports the settlement,
// one waiting goroutine per message in flight, so that settlements out of order
// are timed right; received is read when the library hands the message over, in
// a goroutine that does nothing else. Time inside the library's own locks and
// queues is therefore part of service and transit. When a connection breaks, the
// library may drop settlements that it had read and not yet passed on; their
// messages count as failed.
//
// The library trusts its peer more than it should; the wrapper refuses frames
// that are larger than announced and flows that would make it panic, but this
// path is meant for brokers that are trusted.
package link
