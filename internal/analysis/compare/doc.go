// Package compare says whether two sides of runs differ, and by how much.
//
// The run is the unit: a run gives one number for each quantile and rate, and
// only runs tell how much runs differ. Messages of one run tell how sure that
// run's own number is, nothing more (see Shift for one run a side).
//
// For each number the logarithms of the two sides are compared: the shift is the
// Hodges–Lehmann estimate, the median of all pairwise differences, that is of all
// pairwise ratios; its interval is the one that belongs to the exact Mann–Whitney
// test (Hollander, Wolfe and Chicken, Nonparametric Statistical Methods, 4.2 and
// 4.3); p-values are adjusted by Holm's method over all numbers shown. A
// difference is called a change if its adjusted p is at most 0.05, its interval
// excludes no change, and it is at least 2 % and at least as large as the error
// of the tool. Every "no difference" comes with the smallest change that would
// have been found, and where no data whatever could have been significant, with
// the smallest p that can be attained.
package compare
