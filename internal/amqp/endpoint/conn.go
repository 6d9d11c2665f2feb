package endpoint

import (
	"bytes"
	"fmt"

	"amqpperf/internal/amqp/wire"
)

// Config is what an endpoint announces and keeps to. Zero values are the defaults.
type Config struct {
	// MaxMessageSize is the largest message taken, in bytes; 0: 128 MiB.
	MaxMessageSize uint64
	// IncomingWindow is how many transfer frames a session may have under way to us,
	// renewed at half; 0: 1048576.
	IncomingWindow uint32
	// HandleMax is the highest link handle the peer may use; 0: 1023.
	HandleMax uint32
	// ChannelMax is the highest channel the peer may use; 0: 255.
	ChannelMax uint16
	// AcceptSessions answers the peer's begins. Otherwise they are an error: a load
	// tool's peer has no business to begin one.
	AcceptSessions bool
	// Reuse assembles deliveries of several frames in buffers that are used again:
	// Delivery.Owned is never set, and a payload is valid until the next call of Frame.
	Reuse bool

	// FirstTransferID, FirstDeliveryID and FirstDeliveryCount are where our serial
	// numbers start. They are for tests: every start is valid.
	FirstTransferID, FirstDeliveryID, FirstDeliveryCount uint32
}

const (
	defaultWindow     = 1 << 20
	defaultHandleMax  = 1023
	defaultChannelMax = 255
	defaultMaxMessage = 128 << 20
	// maxOwnFrame caps our frames when the peer would take larger ones: a frame is the
	// unit in which links of a connection take turns.
	maxOwnFrame = 64 << 10
)

// Conn is one end of the sessions of a connection.
type Conn struct {
	cfg         Config
	maxFrame    uint32 // largest frame we may write, bytes
	peerChanMax uint16 // highest channel we may use

	local      []*Session          // by our channel
	remote     map[uint16]*Session // by the peer's channel
	seenRemote int                 // highest channel the peer ever used; −1: none

	out    []byte
	events []Event
	spare  []byte     // with Reuse: a buffer for the next delivery of several frames
	dirty  []*Session // have dispositions or flows to encode
	tr     wire.Transfer
	disp   wire.Disposition
	flow   wire.Flow
}

// New returns an endpoint for a connection whose peer takes frames of the
// smallest size until SetPeer says more.
func New(cfg Config) *Conn {
	if cfg.MaxMessageSize == 0 {
		cfg.MaxMessageSize = defaultMaxMessage
	}
	if cfg.IncomingWindow == 0 {
		cfg.IncomingWindow = defaultWindow
	}
	if cfg.HandleMax == 0 {
		cfg.HandleMax = defaultHandleMax
	}
	if cfg.ChannelMax == 0 {
		cfg.ChannelMax = defaultChannelMax
	}
	return &Conn{cfg: cfg, maxFrame: wire.MinMaxFrameSize, seenRemote: -1, remote: make(map[uint16]*Session)}
}

// SetPeer takes the limits from the peer's open. A max-frame-size below the
// smallest allowed counts as that: brokers send 0 in an open that fails.
func (c *Conn) SetPeer(o *wire.Open) {
	c.maxFrame = min(max(o.MaxFrameSize.Or(maxOwnFrame), wire.MinMaxFrameSize), maxOwnFrame)
	c.peerChanMax = o.ChannelMax.Or(0xffff)
}

// Frame takes one frame of the peer that is not open, close or empty. A non-nil
// error is fatal for the connection: its owner sends a close with it.
func (c *Conn) Frame(f wire.Frame) *wire.Error {
	code, err := wire.BodyCode(f.Body)
	if err != nil {
		return decodeError(err)
	}
	if code == wire.CodeBegin {
		return c.onBegin(f)
	}
	s := c.remote[f.Channel]
	if s == nil {
		if int(f.Channel) <= c.seenRemote && code > wire.CodeBegin && code <= wire.CodeEnd {
			return nil // late, for a session that is over
		}
		return &wire.Error{Condition: wire.CondNotAllowed, Description: fmt.Sprintf("performative %#x on channel %d without a session", uint64(code), f.Channel)}
	}
	if s.state == sessionEnding && code != wire.CodeEnd {
		return nil // we have ended it; the peer has not seen that yet
	}
	switch code {
	case wire.CodeTransfer:
		err = s.onTransferFrame(f.Body)
	case wire.CodeDisposition:
		if err = c.disp.Decode(f.Body); err == nil {
			s.onDisposition(&c.disp)
		}
	case wire.CodeFlow:
		if err = c.flow.Decode(f.Body); err == nil {
			s.onFlow(&c.flow)
		}
	case wire.CodeAttach:
		// Kept beyond this call, so it must not share the reader's buffer.
		a := new(wire.Attach)
		if err = a.Decode(bytes.Clone(f.Body)); err == nil {
			return s.onAttach(a)
		}
	case wire.CodeDetach:
		var d wire.Detach
		if err = d.Decode(bytes.Clone(f.Body)); err == nil {
			s.onDetach(&d)
		}
	case wire.CodeEnd:
		var e wire.End
		if err = e.Decode(bytes.Clone(f.Body)); err == nil {
			s.onEnd(e.Error)
		}
	default:
		return &wire.Error{Condition: wire.CondNotAllowed, Description: fmt.Sprintf("performative %#x inside a session", uint64(code))}
	}
	if err != nil {
		return decodeError(err)
	}
	return nil
}

func decodeError(err error) *wire.Error {
	return &wire.Error{Condition: wire.CondDecodeError, Description: err.Error()}
}

// Events returns what has happened since it was last called, in order. The slice
// is reused: it is valid until the next call of Frame.
func (c *Conn) Events() []Event {
	e := c.events
	c.events = c.events[:0]
	return e
}

func (c *Conn) emit(e Event) { c.events = append(c.events, e) }

// Pending is the number of bytes encoded and not yet taken by Swap.
func (c *Conn) Pending() int { return len(c.out) }

// HasOutput reports whether Swap would return anything.
func (c *Conn) HasOutput() bool { return len(c.out) > 0 || len(c.dirty) > 0 }

// Flush encodes the dispositions and flows that are still state.
func (c *Conn) Flush() {
	for _, s := range c.dirty {
		s.flush()
	}
	clear(c.dirty)
	c.dirty = c.dirty[:0]
}

// Swap flushes and returns all output, to be written as it is; spare is used for
// what comes next (nil: a new buffer).
func (c *Conn) Swap(spare []byte) []byte {
	c.Flush()
	out := c.out
	c.out = spare[:0]
	return out
}

// Close appends a close frame, with an error or nil, after all other output.
// Nothing follows it, whatever is called afterwards.
func (c *Conn) Close(e *wire.Error) {
	c.Flush()
	for _, s := range c.local {
		if s != nil && s.state == sessionOpen {
			s.state = sessionEnding
		}
	}
	c.frame(0, &wire.Close{Error: e})
}

// Down tells that the connection is gone without a word, or after the peer's
// close: every session and link ends, with e as the reason (nil: none). What was
// encoded stays, for owners that still write a close frame; nothing is added.
func (c *Conn) Down(e *wire.Error) {
	for i, s := range c.local {
		if s == nil {
			continue
		}
		s.state = sessionOver
		s.over(e)
		c.local[i] = nil
	}
	clear(c.remote)
	c.dirty = nil
}

// Begin starts a session. It may be used at once; SessionBegun tells when the
// peer has answered.
func (c *Conn) Begin() (*Session, error) {
	s, err := c.newSession()
	if err != nil {
		return nil, err
	}
	s.sendBegin(wire.Opt[uint16]{})
	return s, nil
}

func (c *Conn) newSession() (*Session, error) {
	ch := 0
	for ch < len(c.local) && c.local[ch] != nil {
		ch++
	}
	if ch > int(c.peerChanMax) {
		return nil, fmt.Errorf("no free channel: the peer allows %d", int(c.peerChanMax)+1)
	}
	if ch == len(c.local) {
		c.local = append(c.local, nil)
	}
	s := &Session{
		c: c, channel: uint16(ch), nextOut: c.cfg.FirstTransferID, nextDelivery: int64(c.cfg.FirstDeliveryID), inWindow: c.cfg.IncomingWindow,
		remoteLinks: make(map[uint32]*Link), seenHandle: -1,
	}
	c.local[ch] = s
	return s, nil
}

func (c *Conn) onBegin(f wire.Frame) *wire.Error {
	var b wire.Begin
	if err := b.Decode(bytes.Clone(f.Body)); err != nil {
		return decodeError(err)
	}
	if c.remote[f.Channel] != nil {
		return &wire.Error{Condition: wire.CondNotAllowed, Description: fmt.Sprintf("begin on channel %d, which is in use", f.Channel)}
	}
	if f.Channel > c.cfg.ChannelMax {
		return &wire.Error{Condition: wire.CondFramingError, Description: fmt.Sprintf("channel %d is above channel-max %d", f.Channel, c.cfg.ChannelMax)}
	}
	var s *Session
	switch {
	case b.RemoteChannel.OK:
		if ch := int(b.RemoteChannel.V); ch < len(c.local) {
			s = c.local[ch]
		}
		if s == nil || s.begun {
			return &wire.Error{Condition: wire.CondInvalidField, Description: fmt.Sprintf("begin answers channel %d, where no begin waits", b.RemoteChannel.V)}
		}
	case !c.cfg.AcceptSessions:
		return &wire.Error{Condition: wire.CondNotAllowed, Description: "sessions are begun by this end only"}
	default:
		var err error
		if s, err = c.newSession(); err != nil {
			return &wire.Error{Condition: wire.CondResourceLimit, Description: err.Error()}
		}
		s.sendBegin(wire.Some(f.Channel))
	}
	c.remote[f.Channel] = s
	c.seenRemote = max(c.seenRemote, int(f.Channel))
	s.onBegin(f.Channel, &b)
	return nil
}

// frame appends one frame on a hot or cold path alike; write appends its body.
func (c *Conn) frame(channel uint16, p wire.Performative) {
	c.out = wire.AppendFrame(c.out, wire.FrameAMQP, channel, p)
}
