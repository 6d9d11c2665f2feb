package timestamp

import (
	"os"
	"strings"
	"syscall"
	"unsafe"
)

const clockMonotonic = 1 // CLOCK_MONOTONIC, linux/time.h

// monotonic reads CLOCK_MONOTONIC, the clock that all processes of one boot
// and time namespace share and that Go's own monotonic readings count in.
func monotonic() int64 {
	var ts syscall.Timespec
	// the kernel writes one timespec
	_, _, errno := syscall.RawSyscall(syscall.SYS_CLOCK_GETTIME, clockMonotonic, uintptr(unsafe.Pointer(&ts)), 0)
	if errno != 0 {
		return 0
	}
	return ts.Nano()
}

func bootID() string {
	b, err := os.ReadFile("/proc/sys/kernel/random/boot_id")
	if err != nil {
		return ""
	}
	return strings.TrimSpace(string(b))
}

// timeNamespace names the time namespace ("time:[4026531834]"): processes of
// one boot in different ones see different CLOCK_MONOTONIC values.
func timeNamespace() string {
	s, err := os.Readlink("/proc/self/ns/time")
	if err != nil {
		return ""
	}
	return s
}
