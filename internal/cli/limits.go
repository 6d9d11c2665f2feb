package cli

import (
	"golang.org/x/sys/unix"
)

// spareFiles is what a command needs besides its connections: the log, its
// spool, timers and the runtime's own.
const spareFiles = 64

// CheckFiles returns a usage error if the system does not let the process open
// so many connections.
func CheckFiles(connections int) error {
	var limit unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &limit); err != nil {
		return nil // then the first connection too many will tell
	}
	// The runtime has raised the soft limit to the hard one already.
	if need := uint64(connections + spareFiles); need > limit.Cur {
		return Usagef("%d connections need %d open files and the limit is %d: raise it (ulimit -n %d, or LimitNOFILE of the service) or use fewer with --connections",
			connections, need, limit.Cur, need)
	}
	return nil
}
