// Package stats holds the mathematics of a report as pure functions: data in,
// result out. It reads no file, no clock and no configuration.
//
// Quantiles are exact and are found in two passes over the rows, in memory
// that depends on the shape of the data and not on its length:
//
//	pass 1   Distribution: a log-linear histogram, moments, infinite values
//	pass 2   Selector: the values of the buckets that hold the wanted ranks,
//	         and the exceedances per bin of intended time
//	result   Quantile: value, autocorrelation-aware interval, status
//
// Every sum is an integer, so neither the order of the rows nor the way they are
// split over files can change a digit of the result.
//
// Values are int64 nanoseconds (negative ones are kept: a one-way delay between
// two hosts may be negative). A message that never got its answer counts as
// +infinity: it is counted apart and takes part in every rank.
//
// Types are not safe for concurrent use.
package stats
