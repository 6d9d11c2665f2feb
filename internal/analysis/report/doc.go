// Package report is the report of a run as plain data, with what may be said
// about every number, and its renderers: text, Markdown, JSON and CSV. New
// turns the numbers of reduce into a Report; renderers draw it and compute
// nothing.
//
// A number is never printed as if it were better than it is: quantiles carry
// their interval and a status, one-way latencies are withheld where the clocks
// do not allow them, an overload is called one, and the report says in plain
// sentences what the numbers come from.
package report
