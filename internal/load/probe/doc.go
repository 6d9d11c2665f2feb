// Package probe compares the clocks of two hosts during a run: a [Server]
// beside the receiver answers, a [Prober] beside the sender asks, and each
// exchange becomes a row of clock/1 with the four instants T1 to T4. Nothing is
// computed here; perf-merge does that afterwards from the rows.
//
// # On the wire
//
// A question and its answer are 72 bytes each, in one UDP datagram or one after
// the other on a TCP connection, big endian:
//
//	offset size  question        answer
//	     0    4  magic 0x89 'p' 'c' 'k'
//	     4    1  version, 1
//	     5    1  1               2
//	     6    2  0               0
//	     8   16  nonce           the same
//	    24    8  token           T2, ns since the Unix epoch
//	    32    8  token           T3, ns since the Unix epoch
//	    40    8  0               clock id of the server, 0 = unknown
//	    48    8  0               wall − monotonic of its anchor, ns
//	    56    8  0               gap of its anchor, ns
//	    64    4  0               receiver, 0…2³¹−1
//	    68    4  0               0
//
// The answer is never larger than the question, so the server is no amplifier.
// Who does not know the token hears nothing, and nobody hears more than 1,000
// answers a second. The token keeps strangers out; it travels in clear, so it
// does not keep out who can read the network.
package probe
