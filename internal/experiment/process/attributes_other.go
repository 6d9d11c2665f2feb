//go:build !linux

package process

import "syscall"

// attributes put a program into a group of its own, so that ^C reaches it only by
// way of perf-run.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }
