// Package recorder takes finished rows from the hot path to disk.
//
// Every producer or consumer appends to a [Lane] of its own: a copy of one
// plain struct into a block of rows, no allocation, no lock shared with other
// lanes except once per block. Full blocks go to one writer goroutine, which
// turns rows into columns and writes them: to a spool that becomes a Parquet
// file when the recorder is closed, or as Arrow streams to a pipe. A ticker
// sees to it that also a slow lane's rows, and a provisional row for every
// message that is outstanding for long, reach the operating system in time.
//
// When the disk cannot follow, appending blocks. That is recorded: as an event
// of kind "recorder" and in the counters of the log, because it is lateness
// that the instrument itself has caused.
package recorder
