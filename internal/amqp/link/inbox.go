package link

import (
	"io"

	"amqpperf/internal/amqp/wire"
)

// inbox is what was read from the socket and not yet worked off. It is small as
// long as little comes, for a thousand connections that are idle.
type inbox struct {
	b          []byte
	start, end int // what is not worked off
	limit      int // bytes of the largest frame, and of the largest read
	calm       int // reads in a row that needed little
}

const (
	leastInbox = 2 << 10
	// calmReads is how many small reads in a row make a large buffer small again.
	calmReads = 1000
)

// fill reads once.
func (i *inbox) fill(r io.Reader) error {
	i.room()
	n, err := r.Read(i.b[i.end:])
	i.end += n
	if n > 0 {
		return nil // an error with it comes again
	}
	return err
}

// room makes the buffer fit for a read: larger when the last one filled it or a
// frame does not fit, small again when little came for long.
func (i *inbox) room() {
	left := i.end - i.start
	size := len(i.b)
	switch full := i.end == size; {
	case size == 0:
		size = leastInbox
	case full && size < 2*i.limit:
		size *= 2
		i.calm = 0
	case i.end > leastInbox/2:
		i.calm = 0
	case size > leastInbox:
		if i.calm++; i.calm > calmReads {
			size, i.calm = leastInbox, 0
		}
	}
	if size != len(i.b) {
		b := make([]byte, size)
		copy(b, i.b[i.start:i.end])
		i.b = b
	} else if i.start > 0 {
		copy(i.b, i.b[i.start:i.end])
	}
	i.start, i.end = 0, left
}

// header cuts a protocol header off, nil if there is none or not all of it.
func (i *inbox) header() []byte {
	if b := i.b[i.start:i.end]; len(b) >= wire.FrameHeaderSize && string(b[:4]) == wire.ProtocolAMQP[:4] {
		i.start += wire.FrameHeaderSize
		return b[:wire.FrameHeaderSize]
	}
	return nil
}

// frame cuts a frame off; raw is empty if there is not all of one.
func (i *inbox) frame() (f wire.Frame, raw []byte, err error) {
	b := i.b[i.start:i.end]
	f, n, err := wire.Cut(b, uint32(i.limit))
	i.start += n
	return f, b[:n], err
}
