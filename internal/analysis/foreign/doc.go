// Package foreign makes reports of logs that other tools wrote: interval logs
// (.hlog) and percentile files (.hgrm) of the HdrHistogram family. Such a log
// knows how long answers took and nothing of when they should have been asked
// for, so all of it is service time: coordinated omission cannot be seen in it,
// and not be taken out of it.
package foreign
