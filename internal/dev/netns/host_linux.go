package netns

import (
	"errors"
	"fmt"
	"net/netip"
	"runtime"

	"golang.org/x/sys/unix"
)

// Host is a network namespace that a thread of this process stands in. It is safe
// for concurrent use; what it is asked to do is done one after the other.
type Host struct{ calls chan func() }

// New makes a host without any network but its loopback. The error says what the
// kernel refused.
func New() (*Host, error) {
	h := &Host{calls: make(chan func())}
	made := make(chan error)
	go h.stand(unix.CLONE_NEWNET, made)
	if err := <-made; err != nil {
		return nil, err
	}
	if err := h.Do(func() error { return up("lo", netip.MustParsePrefix("127.0.0.1/8")) }); err != nil {
		return nil, errors.Join(err, h.Close())
	}
	return h, nil
}

// Here is the host of this process, with the network that it has.
func Here() *Host {
	h := &Host{calls: make(chan func())}
	made := make(chan error)
	go h.stand(0, made)
	<-made // nothing is left, so nothing is refused
	return h
}

// stand serves calls on a thread that has left what it is told to. The thread is
// never unlocked, so that it ends here and is used for nothing else.
func (h *Host) stand(leave int, made chan<- error) {
	runtime.LockOSThread()
	if err := unix.Unshare(leave); err != nil {
		runtime.UnlockOSThread()
		made <- fmt.Errorf("network namespace: %w", err)
		return
	}
	made <- nil
	for call := range h.calls {
		call()
	}
}

// Do calls f on the host: sockets that f opens, and processes that it starts, are
// there and stay there. f must not start goroutines that do so.
func (h *Host) Do(f func() error) error {
	done := make(chan error, 1)
	h.calls <- func() { done <- f() }
	return <-done
}

// Close lets go of the host. Its namespace ends with what still runs there.
func (h *Host) Close() error {
	close(h.calls)
	return nil
}

// up gives an interface of the calling thread's namespace an address, and brings it up.
func up(name string, address netip.Prefix) (err error) {
	s, err := unix.Socket(unix.AF_INET, unix.SOCK_DGRAM|unix.SOCK_CLOEXEC, 0)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, unix.Close(s)) }()
	mask := ^uint32(0) << (32 - address.Bits())
	for _, x := range []struct {
		request uint
		value   [4]byte
	}{
		{unix.SIOCSIFADDR, address.Addr().As4()},
		{unix.SIOCSIFNETMASK, [4]byte{byte(mask >> 24), byte(mask >> 16), byte(mask >> 8), byte(mask)}},
	} {
		r, err := unix.NewIfreq(name)
		if err != nil {
			return err
		}
		if err := r.SetInet4Addr(x.value[:]); err != nil {
			return err
		}
		if err := unix.IoctlIfreq(s, x.request, r); err != nil {
			return fmt.Errorf("address of %s: %w", name, err)
		}
	}
	r, err := unix.NewIfreq(name)
	if err != nil {
		return err
	}
	r.SetUint16(unix.IFF_UP | unix.IFF_RUNNING)
	if err := unix.IoctlIfreq(s, unix.SIOCSIFFLAGS, r); err != nil {
		return fmt.Errorf("%s up: %w", name, err)
	}
	return nil
}
