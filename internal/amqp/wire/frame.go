package wire

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// Frame types (part 2, section 2.3; part 5, section 5.3).
const (
	FrameAMQP byte = 0
	FrameSASL byte = 1
)

const (
	// FrameHeaderSize is the length in bytes of the fixed part of a frame header.
	FrameHeaderSize = 8
	// MinMaxFrameSize is the smallest max-frame-size a peer may announce, and the
	// largest frame anybody may send before the open (part 2, section 2.7.1).
	MinMaxFrameSize = 512
)

// Protocol headers: the first eight bytes of each layer (part 2, section 2.2).
const (
	ProtocolAMQP = "AMQP\x00\x01\x00\x00"
	ProtocolTLS  = "AMQP\x02\x01\x00\x00"
	ProtocolSASL = "AMQP\x03\x01\x00\x00"
)

// ErrMalformed is wrapped by every error about bytes that are not AMQP.
var ErrMalformed = errors.New("malformed AMQP data")

// Frame is one frame: a view of the bytes it was cut from.
type Frame struct {
	Type    byte   // FrameAMQP or FrameSASL
	Channel uint16 // unused in a SASL frame
	Body    []byte // empty: a heartbeat
}

// Cut takes the first frame off b and reports how many bytes it used. n is 0
// with a nil error as long as the frame is not wholly there. limit is the largest
// frame accepted, in bytes; a size that is too small or too large, a data offset
// outside the frame and an unknown frame type are errors, found as soon as the
// header is there, so that nobody waits for (or allocates) what is announced.
func Cut(b []byte, limit uint32) (f Frame, n int, err error) {
	if len(b) < FrameHeaderSize {
		return Frame{}, 0, nil
	}
	size, doff := binary.BigEndian.Uint32(b), int(b[4])*4
	switch {
	case size < FrameHeaderSize:
		return Frame{}, 0, fmt.Errorf("frame size %d is below 8: %w", size, ErrMalformed)
	case size > limit:
		return Frame{}, 0, fmt.Errorf("frame size %d is above the limit of %d: %w", size, limit, ErrMalformed)
	case doff < FrameHeaderSize || uint32(doff) > size:
		return Frame{}, 0, fmt.Errorf("frame data offset %d is outside the frame of %d bytes: %w", doff, size, ErrMalformed)
	case b[5] > FrameSASL:
		return Frame{}, 0, fmt.Errorf("unknown frame type %d: %w", b[5], ErrMalformed)
	}
	if uint64(len(b)) < uint64(size) {
		return Frame{}, 0, nil
	}
	f = Frame{Type: b[5], Channel: binary.BigEndian.Uint16(b[6:]), Body: b[doff:size:size]}
	return f, int(size), nil
}

// BeginFrame appends a frame header whose size EndFrame fills in. at is the
// offset of the frame in the result.
func BeginFrame(dst []byte, typ byte, channel uint16) (b []byte, at int) {
	at = len(dst)
	return append(dst, 0, 0, 0, 0, 2, typ, byte(channel>>8), byte(channel)), at
}

// EndFrame fills in the size of the frame that begins at offset at and ends at
// the end of dst.
func EndFrame(dst []byte, at int) []byte {
	binary.BigEndian.PutUint32(dst[at:], uint32(len(dst)-at))
	return dst
}

// Performative is the body of a frame.
type Performative interface {
	// Append appends the encoded performative (for a transfer, its payload too).
	Append(dst []byte) []byte
	// Decode sets every field from a frame body, descriptor included. Byte slices
	// in the result are views of body.
	Decode(body []byte) error
}

// AppendFrame appends a whole frame of the given type. On a hot path use
// BeginFrame, the body's own Append and EndFrame instead: p escapes here.
func AppendFrame(dst []byte, typ byte, channel uint16, p Performative) []byte {
	dst, at := BeginFrame(dst, typ, channel)
	return EndFrame(p.Append(dst), at)
}

// AppendHeartbeat appends an empty frame.
func AppendHeartbeat(dst []byte) []byte {
	return append(dst, 0, 0, 0, 8, 2, FrameAMQP, 0, 0)
}

// BodyCode tells which performative a frame body holds without decoding it.
// An unknown symbolic descriptor gives 0.
func BodyCode(body []byte) (Code, error) {
	r := Reader{b: body}
	c := r.descriptor()
	return c, r.err
}

// Parse decodes the body of a frame of either type into a new value.
func Parse(f Frame) (Performative, error) {
	code, err := BodyCode(f.Body)
	if err != nil {
		return nil, err
	}
	var p Performative
	switch code {
	case CodeOpen:
		p = new(Open)
	case CodeBegin:
		p = new(Begin)
	case CodeAttach:
		p = new(Attach)
	case CodeFlow:
		p = new(Flow)
	case CodeTransfer:
		p = new(Transfer)
	case CodeDisposition:
		p = new(Disposition)
	case CodeDetach:
		p = new(Detach)
	case CodeEnd:
		p = new(End)
	case CodeClose:
		p = new(Close)
	case CodeSASLMechanisms:
		p = new(SASLMechanisms)
	case CodeSASLInit:
		p = new(SASLInit)
	case CodeSASLChallenge:
		p = new(SASLChallenge)
	case CodeSASLResponse:
		p = new(SASLResponse)
	case CodeSASLOutcome:
		p = new(SASLOutcome)
	default:
		return nil, fmt.Errorf("unknown performative %#x: %w", uint64(code), ErrMalformed)
	}
	if sasl := code >= CodeSASLMechanisms; sasl != (f.Type == FrameSASL) {
		return nil, fmt.Errorf("performative %#x in a frame of type %d: %w", uint64(code), f.Type, ErrMalformed)
	}
	return p, p.Decode(f.Body)
}
