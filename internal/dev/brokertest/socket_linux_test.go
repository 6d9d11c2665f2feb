package brokertest

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

// TestSocketBuffers: the kernel has the sizes that were asked for, in the sockets of both programs.
func TestSocketBuffers(t *testing.T) { bothClients(t, testSocketBuffers) }

func testSocketBuffers(b *bench) {
	const size = 16 << 10
	options := []string{"--sndbuf", fmt.Sprint(size), "--rcvbuf", "16KiB"}
	recv := b.receiver("recv.parquet", options...)
	send := b.start("perf-send", append([]string{"-q", "-o", "send.parquet", "-r", "100", "-d", "5m", b.address}, options...)...)
	b.eventually(send, "messages to flow", func() bool { return b.rows("send.parquet") > 0 })
	for _, p := range []*process{recv, send} {
		sockets := 0
		for _, buffers := range socketBuffers(b, p.cmd.Process.Pid) {
			sockets++
			if buffers != [2]int{2 * size, 2 * size} { // Linux doubles what it is asked for
				b.Errorf("%s: socket with buffers %v, want twice %d", p.name, buffers, size)
			}
		}
		if sockets != 1 {
			b.Errorf("%s has %d sockets", p.name, sockets)
		}
	}
}

// socketBuffers asks the kernel for the buffers, to send and to receive, of the TCP sockets of a child.
func socketBuffers(b *bench, pid int) (all [][2]int) {
	b.Helper()
	process, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		b.Fatal(err)
	}
	defer func() { _ = unix.Close(process) }() // nothing was written to it
	files, err := filepath.Glob(fmt.Sprintf("/proc/%d/fd/*", pid))
	if err != nil {
		b.Fatal(err)
	}
	for _, f := range files {
		if what, err := os.Readlink(f); err != nil || !strings.HasPrefix(what, "socket:") {
			continue
		}
		n, err := strconv.Atoi(filepath.Base(f))
		if err != nil {
			b.Fatal(err)
		}
		fd, err := unix.PidfdGetfd(process, n, 0)
		if err != nil {
			b.Fatalf("cannot look into a socket of a child: %v", err)
		}
		send, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_SNDBUF)
		if err != nil {
			b.Fatal(err)
		}
		receive, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_RCVBUF)
		if err != nil {
			b.Fatal(err)
		}
		_ = unix.Close(fd) // the child has its own
		all = append(all, [2]int{send, receive})
	}
	return all
}
