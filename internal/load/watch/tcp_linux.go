package watch

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// readTCP reads TCP_INFO (tcp(7)); times come in µs. A kernel older than the
// structure fills the beginning of it and says how much.
func readTCP(raw syscall.RawConn) (tcpInfo, error) {
	var info unix.TCPInfo
	size := uint32(unsafe.Sizeof(info))
	var errno syscall.Errno
	err := raw.Control(func(fd uintptr) {
		_, _, errno = unix.Syscall6(unix.SYS_GETSOCKOPT, fd, unix.IPPROTO_TCP, unix.TCP_INFO,
			uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size)), 0)
	})
	if err != nil {
		return tcpInfo{}, err
	}
	if errno != 0 {
		return tcpInfo{}, errno
	}
	t := tcpInfo{
		rtt: int64(info.Rtt) * nsPerUs, rttvar: int64(info.Rttvar) * nsPerUs, cwnd: int64(info.Snd_cwnd),
		unacked: int64(info.Unacked), unsent: -1, retransmits: int64(info.Total_retrans),
	}
	if uintptr(size) >= unsafe.Offsetof(info.Notsent_bytes)+unsafe.Sizeof(info.Notsent_bytes) {
		t.unsent = int64(info.Notsent_bytes)
	}
	return t, nil
}
