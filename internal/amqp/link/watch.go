package link

import (
	"encoding/binary"
	"errors"
	"fmt"
	"sync"

	"amqpperf/internal/amqp/wire"
)

// watcher looks at the bytes that a connection receives and keeps what the
// library does not tell: the peer's open and close, and for each of our links
// the credit granted and the end. Bodies of transfers and dispositions are
// skipped. feed is called by one goroutine at a time, the rest by any.
type watcher struct {
	limit uint32 // bytes of the largest frame

	part []byte // start of a frame that is not yet there as far as needed
	skip int    // bytes of the current frame that are not looked at

	mu         sync.Mutex
	links      map[linkKey]*linkState
	handles    map[handleKey]*linkState
	opened     bool
	container  string
	offers     []wire.Symbol
	maxFrame   uint32      // the peer's; 0: no limit stated
	closeError *wire.Error // nil: none or none yet

	closed chan struct{} // closed when the peer's close, or the end of the stream, was seen
	once   sync.Once
}

type linkKey struct {
	name string
	role bool // ours
}

// handleKey is how the peer names a link.
type handleKey struct {
	channel uint16
	handle  uint32
}

func newWatcher(maxFrame uint32) *watcher {
	return &watcher{
		limit:   maxFrame,
		links:   map[linkKey]*linkState{},
		handles: map[handleKey]*linkState{},
		closed:  make(chan struct{}),
	}
}

// add registers a link before its attach is sent.
func (w *watcher) add(name string, role bool) *linkState {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := newLinkState()
	w.links[linkKey{name, role}] = l
	return l
}

// remove forgets a link.
func (w *watcher) remove(name string, role bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	l := w.links[linkKey{name, role}]
	delete(w.links, linkKey{name, role})
	for k, v := range w.handles {
		if v == l {
			delete(w.handles, k)
		}
	}
}

// peer returns what the open said.
func (w *watcher) peer() (container string, maxFrame uint32, opened bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.container, w.maxFrame, w.opened
}

// offered returns the capabilities that the open offers.
func (w *watcher) offered() []wire.Symbol {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.offers
}

// closing returns the error of the peer's close, nil if there was none.
func (w *watcher) closing() *wire.Error {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.closeError
}

// end says that nothing will come any more.
func (w *watcher) end() { w.once.Do(func() { close(w.closed) }) }

// feed looks at the next bytes of the stream. An error means that the library
// must not see them.
func (w *watcher) feed(p []byte) error {
	err := w.look(p)
	if _, _, opened := w.peer(); err != nil && !opened {
		return errNoAMQP
	}
	return err
}

// errNoAMQP is about bytes that come instead of an open.
var errNoAMQP = errors.New("unexpected protocol data")

func (w *watcher) look(p []byte) error {
	for len(p) > 0 {
		if w.skip > 0 {
			n := min(w.skip, len(p))
			w.skip -= n
			p = p[n:]
			continue
		}
		if len(w.part) == 0 {
			n, err := w.wanted(p)
			if err != nil {
				return err
			}
			if n <= len(p) {
				if err := w.handle(p[:n]); err != nil {
					return err
				}
				p = p[n:]
				continue
			}
		}
		n, err := w.wanted(w.part)
		if err != nil {
			return err
		}
		if n > len(w.part) {
			n = min(n-len(w.part), len(p))
			w.part = append(w.part, p[:n]...)
			p = p[n:]
			continue
		}
		if err := w.finish(n); err != nil {
			return err
		}
	}
	// The last byte may have completed what was wanted.
	if n, err := w.wanted(w.part); err != nil || n > len(w.part) {
		return err
	} else if len(w.part) > 0 {
		return w.finish(n)
	}
	return nil
}

// finish handles the frame in part.
func (w *watcher) finish(n int) error {
	part := w.part[:n]
	w.part = w.part[:0]
	return w.handle(part)
}

// wanted returns how many bytes of a frame are to be looked at, as far as b
// tells; it is final if b has as many.
func (w *watcher) wanted(b []byte) (int, error) {
	if len(b) < wire.FrameHeaderSize {
		return wire.FrameHeaderSize, nil
	}
	if string(b[:4]) == wire.ProtocolAMQP[:4] {
		return wire.FrameHeaderSize, nil
	}
	size, doff := binary.BigEndian.Uint32(b), int(b[4])*4
	if size > w.limit || int(size) < doff || doff < wire.FrameHeaderSize {
		return 0, fmt.Errorf("the peer sent a frame of %d bytes with data offset %d; we announced %d bytes at most", size, doff, w.limit)
	}
	const descriptor = 12 // bytes that hold any numeric descriptor
	head := min(int(size), doff+descriptor)
	if len(b) < head {
		return head, nil
	}
	if b[5] != wire.FrameAMQP || bulky(b[doff:head]) {
		return head, nil
	}
	return int(size), nil
}

// bulky reports whether a body is of a kind that is skipped.
func bulky(body []byte) bool {
	code, err := wire.BodyCode(body)
	return err == nil && (code == wire.CodeTransfer || code == wire.CodeDisposition)
}

// handle takes in a frame as far as wanted, and notes how much of it is to be skipped.
func (w *watcher) handle(b []byte) error {
	if string(b[:4]) == wire.ProtocolAMQP[:4] {
		return nil
	}
	size, doff := int(binary.BigEndian.Uint32(b)), int(b[4])*4
	w.skip = size - len(b)
	if b[5] != wire.FrameAMQP || doff == size || bulky(b[doff:]) {
		return nil
	}
	frame := wire.Frame{Type: b[5], Channel: binary.BigEndian.Uint16(b[6:]), Body: b[doff:]}
	p, err := wire.Parse(frame)
	if err != nil {
		return fmt.Errorf("the peer sent a frame that cannot be decoded: %w", err)
	}
	return w.performative(frame.Channel, p)
}

// performative updates the state.
func (w *watcher) performative(channel uint16, p wire.Performative) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	switch p := p.(type) {
	case *wire.Open:
		w.opened, w.container, w.maxFrame, w.offers = true, p.ContainerID, p.MaxFrameSize.Or(0), p.OfferedCapabilities
	case *wire.Attach:
		// The role in the frame is the peer's.
		if l := w.links[linkKey{p.Name, !p.Role}]; l != nil {
			l.attached(p)
			w.handles[handleKey{channel, p.Handle}] = l
		}
	case *wire.Flow:
		if !p.Handle.OK {
			return nil
		}
		if !p.LinkCredit.OK {
			return fmt.Errorf("the peer sent a flow of a link without link-credit")
		}
		if l := w.handles[handleKey{channel, p.Handle.V}]; l != nil {
			// A receiver that has not processed our attach sends no delivery-count: it is our initial one, 0.
			l.grant(p.DeliveryCount.Or(0) + p.LinkCredit.V)
		}
	case *wire.Detach:
		if l := w.handles[handleKey{channel, p.Handle}]; l != nil {
			l.end("detached", p.Error)
			delete(w.handles, handleKey{channel, p.Handle})
		}
	case *wire.End:
		for k, l := range w.handles {
			if k.channel == channel {
				l.end("session ended", p.Error)
				delete(w.handles, k)
			}
		}
	case *wire.Close:
		w.closeError = p.Error
		for _, l := range w.links {
			l.end("connection closed", p.Error)
		}
		w.end()
	}
	return nil
}
