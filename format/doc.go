// Package format defines the logs of amqpperf and reads and writes them:
// schemas, metadata, Parquet files, Arrow streams, spools.
//
// A finished log is one Parquet file. A pipe carries Arrow streams, and while
// a run is being recorded a spool (a folder of Arrow streams) holds what a
// killed recorder leaves behind. [Open] reads all three the same way;
// [CreateParquet], [NewStreamWriter] and [CreateSpool] write one each. The
// normative text is docs/format.md.
//
// Rows travel in columnar batches ([Send], [Recv], [Merged], [Event],
// [Sample], [ClockRow]): slices of equal length, one per column, reused from
// batch to batch. NULL is [Null] (int64), [Null32] (int32) and the code −1
// (strings); a required column never holds it.
//
// Files may come from anybody: lengths, counts and offsets are compared with
// the bytes that are there before they are used, and an error names the place.
// Outputs are safe, too: [CreateFile], which is of use for any file, shows a
// name only when the file is whole, and never replaces another one unasked.
//
// This package does not interpret rows: joining, clocks and statistics are elsewhere.
package format
