//go:build !linux

package timestamp

import "time"

var processStart = time.Now() //nolint:gochecknoglobals // the origin of this process's monotonic readings

// monotonic counts from the start of the process: outside Linux the standard
// library offers no clock that processes share, so ClockID stays 0 and logs of
// two processes are never aligned through it.
func monotonic() int64 { return int64(time.Since(processStart)) }

func bootID() string        { return "" }
func timeNamespace() string { return "" }
