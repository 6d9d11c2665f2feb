// The benchmarks against other tools are a module of their own: they are no part of the programs, start processes and
// read the clock, and so follow none of the rules that protect what is measured.
module amqpperf/bench

go 1.26
