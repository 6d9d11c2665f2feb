// Package endpoint is one end of the sessions and links of an AMQP 1.0
// connection as a state machine: frames go in, events and frames come out. It
// does no I/O, has no clock and starts nothing; its owner reads the socket,
// drains [Conn.Events] after each frame, and writes what [Conn.Swap] returns. It
// plays both roles, so the broker and the load tool's own sessions share it. Open,
// close, SASL and heartbeats belong to the owner.
//
// A Conn and everything reached from it may be used by one goroutine at a time:
// the owner holds one lock around all calls.
//
// # Numbers
//
// transfer-ids (frames of a session), delivery-ids (deliveries of a session) and
// delivery-counts (deliveries of a link) are three separate 32-bit serial numbers
// (RFC 1982) that wrap. Inside, delivery-ids are widened to 64 bits, and owners
// see neither: a delivery is known by its number on the link, from 0, which never
// wraps (2⁶³ deliveries).
//
// # Output
//
// Transfers and everything that must keep its place are encoded at once.
// Dispositions and flows are state until [Conn.Flush]: neighbours with the same
// outcome become one range, and several grants of credit one frame. A reader that
// settles and grants therefore never waits for a writer.
package endpoint
