//go:build !unix

package link

import "syscall"

// attempt takes nothing at once: all is left to the writer.
type attempt struct{}

func (*attempt) init() {}

func (*attempt) write(syscall.RawConn, []byte) (int, error) { return 0, nil }
