// Package crash proves, through the real programs, that a recording survives what happens to it: SIGKILL at any moment, a full
// disk, a folder that cannot be written, a pipe that closes or is read slowly, an output that is in the way.
//
// The number of kills is KILLS (2 if it is not set; CI sets 20), 200 with SOAK=1. What is at random depends on a seed that is
// printed; CRASH_SEED repeats it. There are no tests under the race detector, which makes each program start ten times as slowly;
// the end-to-end scripts run the same programs under it.
package crash
