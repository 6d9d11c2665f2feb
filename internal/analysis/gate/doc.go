// Package gate decides whether a report is good enough for a pipeline: the
// conditions of perf-report's --fail-if and --strict, and their form as JUnit
// test cases. Each condition says when to fail.
//
// # Grammar
//
//	gate   = ref op value
//	ref    = METRIC "." STAT [ "." "change" ]
//	       | "rates" "." NAME [ "." "change" ]
//	       | "counts" "." NAME
//	       | "checks" "." ID
//	op     = ">" | ">=" | "<" | "<=" | "==" | "!="
//
// METRIC is lag, blocked, service, response, transit, e2e, queued, work or
// handled; STAT is p and any percentile (p99.9), or mean, min, max, stddev, n,
// infinite or negative. Their values are durations (5ms), those of n, infinite
// and negative whole numbers. counts and rates have the names of the JSON report
// (counts.lost, rates.acked); a rate is a number as in --rate (30k, 0.5/s).
// checks.C3 is compared with ok, warn, fail or skip, by == and != only. change is
// relative to the baseline, in percent (5%).
//
// # Numbers that are not there
//
// A number that the report withholds crosses the gate, whatever the operator: a
// gate passes only on evidence. Withheld are quantiles that are infinite, too
// uncertain, of an overloaded run or between clocks that are not aligned; means
// and extremes likewise; response and e2e of a closed loop; rates of fewer than
// two messages; and checks that were not computed, except where skip is asked
// for.
package gate
