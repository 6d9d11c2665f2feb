// Package hdr exchanges latency distributions with the HdrHistogram family:
// it writes interval logs (.hlog, format 1.3) and percentile files (.hgrm) as
// the Java tools write them, and reads those that other tools wrote.
//
// Histograms are a format for exchange: a report's own quantiles are exact and
// come from the rows. Values are recorded in nanoseconds with three significant
// digits, so a value read back is at most 1/1024 above the true one.
//
// Everything read here comes from others and is hostile until parsed: errors
// name file and line, and no length in a file decides an allocation before it
// was checked.
package hdr
