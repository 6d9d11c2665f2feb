// Package chart draws the pictures of a report as PNG or SVG: percentiles,
// latency over time, rates over time and backlog. Its input is plain data; it
// computes nothing but ranges, ticks and the reduction of points to pixels.
//
// Conventions of every picture: a title with the run's name, a line with its
// labels and the start in UTC, one line that says what is to be seen, units on
// the axes, a legend above the data and never on it, colours of Okabe and Ito's
// palette, and the run compared with (the baseline) dashed in a lighter tint of
// the same colours. Times are seconds since the start of the run, latencies
// nanoseconds in the input and the fitting unit in the picture.
//
// What cannot be drawn (infinite or undefined values, zero on a logarithmic
// axis) is left out, counted and said in a note below the picture. Fonts are
// embedded (Liberation Sans), so a picture depends on its data only.
//
// All functions are safe for concurrent use.
package chart
