// Package format defines the logs of amqpperf and reads and writes them:
// schemas, metadata, Parquet files, Arrow streams, spools.
//
// A finished log is one Parquet file. A pipe carries Arrow streams, and while
// a run is being recorded a spool (a folder of Arrow streams) holds what a
// killed recorder leaves behind. [Open] reads all three the same way. The
// normative text is docs/format.md.
//
// Rows travel in columnar batches ([Send], [Recv], [Merged], [Event],
// [Sample], [ClockRow]): slices of equal length, one per column, reused from
// batch to batch. NULL is [Null] (int64), [Null32] (int32) and the code −1
// (strings); a required column never holds it.
package format
