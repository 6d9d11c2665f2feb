// Package wire is the byte level of AMQP 1.0: frames, primitive and described
// types, the performatives of a connection, SASL frames, delivery states,
// termini and message sections. Bytes in, values out, and back.
//
// It has no state, no I/O and no clock; internal/amqp/endpoint puts sessions
// and links on top of it. Every decoder is strict about bounds: a size is
// checked against the bytes present, a count against the bytes left, nesting
// against [MaxDepth], and nothing is allocated that is not paid for by input
// bytes. Byte slices in decoded values are views of the input and are valid as
// long as the input is; strings are copies.
//
// Source of every encoding: OASIS AMQP 1.0, parts 1 (types), 2 (transport),
// 3 (messaging), 4 (transactions) and 5 (security).
package wire
