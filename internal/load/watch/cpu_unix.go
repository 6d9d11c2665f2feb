//go:build unix

package watch

import "golang.org/x/sys/unix"

// ownCPU returns the CPU time of this process, user and system, in ns.
func ownCPU() (int64, bool) {
	var u unix.Rusage
	if err := unix.Getrusage(unix.RUSAGE_SELF, &u); err != nil {
		return 0, false
	}
	return u.Utime.Nano() + u.Stime.Nano(), true
}
