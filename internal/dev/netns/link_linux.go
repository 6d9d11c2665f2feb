package netns

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"os"
	"sync"
	"time"

	"golang.org/x/sys/unix"
)

// The addresses of the two ends of a link, of a network that is set aside for
// measurements (RFC 2544).
const (
	FirstAddress  = "198.18.77.1"
	SecondAddress = "198.18.77.2"
)

// onTheWay is how many packets a direction keeps; further ones are dropped.
const onTheWay = 4096

// Way is one direction of a link: a packet takes Delay and, evenly spread, up to
// Jitter more, but none overtakes another.
type Way struct{ Delay, Jitter time.Duration }

// Link joins two hosts.
type Link struct {
	ends [2]*os.File
	cut  chan struct{} // closed by Close
	wait sync.WaitGroup
}

// Connect joins two hosts: the first gets FirstAddress, the second SecondAddress.
// there is the way from the first to the second, back the other.
func Connect(first, second *Host, there, back Way) (*Link, error) {
	l := &Link{cut: make(chan struct{})}
	for i, h := range []*Host{first, second} {
		address := netip.MustParsePrefix([]string{FirstAddress, SecondAddress}[i] + "/30")
		err := h.Do(func() (err error) {
			l.ends[i], err = tun("wire", address)
			return err
		})
		if err != nil {
			return nil, errors.Join(err, l.Close())
		}
	}
	l.carry(l.ends[0], l.ends[1], there)
	l.carry(l.ends[1], l.ends[0], back)
	return l, nil
}

// Close cuts the link. What is on the way is lost.
func (l *Link) Close() error {
	close(l.cut)
	var all error
	for _, f := range l.ends {
		if f != nil {
			all = errors.Join(all, f.Close())
		}
	}
	l.wait.Wait()
	return all
}

type packet struct {
	bytes []byte
	due   time.Time
}

// carry starts one direction. It ends when the devices are closed.
func (l *Link) carry(from, to *os.File, w Way) {
	queue := make(chan packet, onTheWay)
	l.wait.Go(func() {
		defer close(queue)
		var last time.Time
		buffer := make([]byte, 1<<16)
		for {
			n, err := from.Read(buffer)
			if err != nil {
				return
			}
			due := time.Now().Add(w.Delay)
			if w.Jitter > 0 {
				due = due.Add(rand.N(w.Jitter))
			}
			if due.Before(last) {
				due = last
			}
			last = due
			select {
			case queue <- packet{append([]byte(nil), buffer[:n]...), due}:
			default: // as a router whose queue is full
			}
		}
	})
	l.wait.Go(func() {
		timer := time.NewTimer(0)
		defer timer.Stop()
		for p := range queue {
			timer.Reset(time.Until(p.due))
			select {
			case <-timer.C:
			case <-l.cut:
				return
			}
			_, _ = to.Write(p.bytes) // a host that is gone takes nothing, as any host
		}
	})
}

// tun makes a device of the calling thread's namespace; packets that are sent there
// are read from the file, and what is written to it is received there.
func tun(name string, address netip.Prefix) (*os.File, error) {
	fd, err := unix.Open("/dev/net/tun", unix.O_RDWR|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		return nil, fmt.Errorf("/dev/net/tun: %w", err)
	}
	r, err := unix.NewIfreq(name)
	if err == nil {
		r.SetUint16(unix.IFF_TUN | unix.IFF_NO_PI)
		err = unix.IoctlIfreq(fd, unix.TUNSETIFF, r)
	}
	if err == nil {
		err = up(name, address)
	}
	if err != nil {
		return nil, errors.Join(fmt.Errorf("tun device: %w", err), unix.Close(fd))
	}
	return os.NewFile(uintptr(fd), "/dev/net/tun"), nil
}
