//go:build unix

package link

import (
	"errors"
	"io"
	"net"
	"os"
	"syscall"
	"testing"
	"time"
)

// socketPair returns both ends of a connection on loopback, the first with its reader.
func socketPair(t *testing.T) (near *net.TCPConn, reader io.Reader, far *net.TCPConn) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = l.Close() }()
	dialed, err := net.Dial("tcp", l.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	accepted, err := l.Accept()
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = dialed.Close(), accepted.Close() })
	near, far = dialed.(*net.TCPConn), accepted.(*net.TCPConn)
	raw, err := near.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	return near, readerOf(near, raw), far
}

// What a socket's own Read tells apart, ours does too: bytes, the end, a reset, a
// deadline, and that it is closed.
func TestSocketReader(t *testing.T) {
	t.Parallel()
	b := make([]byte, 16)
	near, reader, far := socketPair(t)

	got := make(chan string)
	go func() {
		n, err := reader.Read(b)
		if err != nil {
			got <- err.Error()
			return
		}
		got <- string(b[:n])
	}()
	if _, err := far.Write([]byte("hello")); err != nil {
		t.Fatal(err)
	}
	if s := <-got; s != "hello" {
		t.Errorf("read %q", s)
	}
	if err := near.SetReadDeadline(time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(b); !timedOut(err) || !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("after the deadline: %v", err)
	}
	if err := errors.Join(near.SetReadDeadline(time.Time{}), far.CloseWrite()); err != nil {
		t.Fatal(err)
	}
	if n, err := reader.Read(b); n != 0 || !errors.Is(err, io.EOF) {
		t.Errorf("at the end: %d bytes, %v", n, err)
	}

	_, reader, far = socketPair(t)
	if err := errors.Join(far.SetLinger(0), far.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(b); !errors.Is(err, syscall.ECONNRESET) {
		t.Errorf("after a reset: %v", err)
	}

	near, reader, _ = socketPair(t)
	if err := near.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := reader.Read(b); !errors.Is(err, net.ErrClosed) {
		t.Errorf("after our own close: %v", err)
	}
}
