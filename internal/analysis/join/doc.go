// Package join puts the rows of send logs and receive logs together by
// message, moves all instants onto one reference clock, and accounts for every
// message: lost, unknown, duplicated, reordered, left over from other runs.
//
// One message's way: a row of a send log is matched with the deliveries of its
// (run, sender, producer, seq, attempt), one group of rows per subscription
// that should have had it. What no send log knows is kept too, as outcome
// unlogged. The rows come out by sender, producer, seq, attempt, subscription,
// copy, whatever the order of the files.
//
// Receive rows are held in memory and sorted; send rows
// are streamed when their log promises perf.order "seq" and sorted in memory
// otherwise.
package join
