package broker

import (
	"io"
	"time"

	"amqpperf/internal/amqp/wire"
)

// inbox reads a stream in large pieces and cuts it. Its buffer grows with what
// arrives, not with what is announced.
type inbox struct {
	r          io.Reader
	max        uint32 // largest frame
	buf        []byte
	start, end int
}

// fill reads once. Bytes handed out before are gone.
func (i *inbox) fill() error {
	if i.start > 0 {
		copy(i.buf, i.buf[i.start:i.end])
		i.end -= i.start
		i.start = 0
	}
	if i.end == len(i.buf) {
		grown := make([]byte, max(4<<10, 2*len(i.buf)))
		copy(grown, i.buf[:i.end])
		i.buf = grown
	}
	n, err := i.r.Read(i.buf[i.end:])
	if n > 0 {
		// A read that fills the buffer announces more: take it in one piece next time.
		if i.end += n; i.end == len(i.buf) && len(i.buf) < readBuffer {
			i.buf = append(i.buf, make([]byte, len(i.buf))...)
		}
		return nil
	}
	if err == nil {
		err = io.ErrNoProgress
	}
	return err
}

// frame cuts the next frame; ok is false if it is not wholly there.
func (i *inbox) frame() (f wire.Frame, ok bool, err error) {
	f, n, err := wire.Cut(i.buf[i.start:i.end], i.max)
	i.start += n
	return f, n > 0, err
}

// protocol reads a protocol header.
func (i *inbox) protocol() (string, error) {
	for i.end-i.start < len(wire.ProtocolAMQP) {
		if err := i.fill(); err != nil {
			return "", err
		}
	}
	h := string(i.buf[i.start : i.start+len(wire.ProtocolAMQP)])
	i.start += len(h)
	return h, nil
}

// next waits for a whole frame that is not empty.
func (i *inbox) next() (wire.Frame, error) {
	for {
		f, ok, err := i.frame()
		switch {
		case err != nil:
			return f, err
		case ok && len(f.Body) > 0:
			return f, nil
		case ok:
		default:
			if err := i.fill(); err != nil {
				return f, err
			}
		}
	}
}

// heart tells when a heartbeat is due: at half of the peer's idle-time-out after
// the last write.
type heart struct {
	t     *time.Timer
	every time.Duration
}

func newHeart(idle time.Duration) heart {
	if idle == 0 {
		return heart{}
	}
	return heart{time.NewTimer(idle / 2), idle / 2}
}

func (h heart) c() <-chan time.Time {
	if h.t == nil {
		return nil
	}
	return h.t.C
}

func (h heart) reset() {
	if h.t != nil {
		h.t.Reset(h.every)
	}
}

func (h heart) stop() {
	if h.t != nil {
		h.t.Stop()
	}
}
