//go:build !linux

package watch

import (
	"errors"
	"syscall"
)

// readTCP only finds out whether the connection is still open.
func readTCP(raw syscall.RawConn) (tcpInfo, error) {
	if err := raw.Control(func(uintptr) {}); err != nil {
		return tcpInfo{}, err
	}
	return tcpInfo{}, errors.ErrUnsupported
}
