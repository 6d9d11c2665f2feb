package perfreport

import (
	"io"
	"os"

	"golang.org/x/sys/unix"
)

// roomInPipe lets a whole column of a batch into a pipe, so that neither side waits
// for the other after every 64 KiB.
const roomInPipe = 1 << 20

// widenPipe asks for more room in a pipe. It is only faster: whether there is no
// pipe, or a limit on it, does not matter.
func widenPipe(r io.Reader) {
	f, ok := r.(*os.File)
	if !ok {
		return
	}
	raw, err := f.SyscallConn()
	if err != nil {
		return
	}
	_ = raw.Control(func(fd uintptr) { _, _ = unix.FcntlInt(fd, unix.F_SETPIPE_SZ, roomInPipe) })
}
