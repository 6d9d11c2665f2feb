// Package clock puts the instants of several processes on one reference clock
// and says by how much it can be wrong.
//
// In the pipeline it stands between the clock/1 tables of the logs and the
// join: [Process] holds what one log knows of clocks, [Solve] aligns all of
// them with one, and the [Model] of each process turns an instant into the
// reference's, with a bound that holds and the [Source] it rests on. The
// package reads no files, and never looks at the messages: causality, which
// comes from them, is counted by [Causality] and only shown, not applied.
//
// # How two hosts are compared
//
// An exchange leaves host A at T1, reaches B at T2, leaves it at T3 and is back
// at T4. Delays are not negative, so with θ = B − A
//
//	θ(T1) ≤ T2 − T1   and   θ(T4) ≥ T3 − T4
//
// hold whatever the delays were. T1 and T3 are read before the packet leaves
// and T2 and T4 after it came, so the time that stamping takes only makes the
// inequalities weaker, never wrong. The estimate is, per window of ten seconds,
// the line that keeps the largest distance from all of them (what Huygens'
// support vector machine finds; Geng et al., NSDI 2018). The bound is not half
// of that distance, which random queues break; it is the envelope
//
//	L(t) = max(lower_i − ρ|t − t_i|) ≤ θ(t) ≤ U(t) = min(upper_i + ρ|t − t_i|)
//
// where ρ is the largest relative rate of the two clocks (see [State]).
// Where no θ of rate at most ρ satisfies all of them, a clock was stepped: the
// step is located between two inequalities and the bound there spans both sides.
package clock
