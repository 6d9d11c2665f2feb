//go:build unix && !linux

package link

import "syscall"

// writeNow writes to a socket that does not block.
func writeNow(fd int, b []byte) (int, error) { return syscall.Write(fd, b) }

// readNow reads from a socket that does not block.
func readNow(fd int, b []byte) (int, error) { return syscall.Read(fd, b) }
