// Package join puts the rows of send logs and receive logs together by
// message, moves all instants onto one reference clock, and accounts for every
// message: lost, unknown, duplicated, reordered, left over from other runs.
//
// One message's way: a row of a send log is matched with the deliveries of its
// (run, sender, producer, seq, attempt), one group of rows per subscription
// that should have had it. What no send log knows is kept too, as outcome
// unlogged. The rows of a send log come out in its order, each with its
// subscriptions and copies together; several logs are interleaved.
//
// # How memory stays bounded
//
// Send logs are divided into chunks of up to 65,536 rows, in their order. A
// first look at the logs, at a few columns, finds for every producer which
// messages are in which chunk, and how many deliveries every chunk will get. In
// the second one deliveries are gathered by chunk, and a chunk is joined and
// forgotten as soon as its last delivery is there. So what is held is the extent
// of reordering between sending and receiving, not the backlog of the broker:
// a queue with ten million messages in it costs nothing.
//
// Where more is held than the budget allows (a subscription or a queue that is
// far behind, duplicates that come hours later) deliveries go to a temporary
// file, by chunk. A message that no send log has, whatever its seq, goes to the
// chunk that would hold it, or to one of its own kind. Neither the order of
// files nor that of rows matters; send rows that do not stand by (seq, attempt)
// within a producer are sorted in a temporary copy first. Beyond the budget are
// only the index (some 24 bytes for each producer in each chunk, 80 with a
// subscription) and a single chunk that is larger than it.
package join
