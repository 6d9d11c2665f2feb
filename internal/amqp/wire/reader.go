package wire

import (
	"encoding/binary"
	"fmt"
	"math"
	"unicode/utf8"
)

// MaxDepth is the deepest nesting of described types, lists, maps and arrays
// that is decoded.
const MaxDepth = 16

// Reader decodes typed values from a byte slice. The first error sticks: later
// calls return zero values, so that a caller may check Err once at the end.
type Reader struct {
	b     []byte // what is left
	err   error
	depth int
}

// NewReader returns a Reader over b. It keeps b and hands out views of it.
func NewReader(b []byte) *Reader { return &Reader{b: b} }

// Err returns the first error, which wraps ErrMalformed.
func (r *Reader) Err() error { return r.err }

// Rest returns the bytes not yet read; nil after an error.
func (r *Reader) Rest() []byte { return r.b }

func (r *Reader) fail(format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf(format+": %w", append(args, ErrMalformed)...)
	}
	r.b = nil
}

// take cuts n bytes off; nil after an error.
func (r *Reader) take(n uint64) []byte {
	if n > uint64(len(r.b)) {
		r.fail("%d bytes announced, %d left", n, len(r.b))
		return nil
	}
	v := r.b[:n:n]
	r.b = r.b[n:]
	return v
}

// code cuts the constructor byte off; codeNull after an error.
func (r *Reader) code() byte {
	if len(r.b) == 0 {
		r.fail("value missing at the end of the data")
		return codeNull
	}
	c := r.b[0]
	r.b = r.b[1:]
	return c
}

func (r *Reader) u8() byte {
	if len(r.b) < 1 {
		r.fail("1 byte announced, 0 left")
		return 0
	}
	v := r.b[0]
	r.b = r.b[1:]
	return v
}

func (r *Reader) u16() uint16 {
	if v := r.take(2); v != nil {
		return binary.BigEndian.Uint16(v)
	}
	return 0
}

func (r *Reader) u32() uint32 {
	if len(r.b) < 4 {
		r.fail("4 bytes announced, %d left", len(r.b))
		return 0
	}
	v := binary.BigEndian.Uint32(r.b)
	r.b = r.b[4:]
	return v
}

func (r *Reader) u64() uint64 {
	if v := r.take(8); v != nil {
		return binary.BigEndian.Uint64(v)
	}
	return 0
}

// Null consumes a null and reports whether there was one.
func (r *Reader) Null() bool {
	if len(r.b) > 0 && r.b[0] == codeNull {
		r.b = r.b[1:]
		return true
	}
	return false
}

func (r *Reader) wrong(want string, got byte) {
	r.fail("constructor 0x%02x where %s is expected", got, want)
}

// Bool reads a boolean.
func (r *Reader) Bool() bool {
	switch c := r.code(); c {
	case codeTrue:
		return true
	case codeFalse:
		return false
	case codeBool:
		v := r.u8()
		if v > 1 {
			r.fail("boolean of value %d", v)
		}
		return v == 1
	default:
		r.wrong("a boolean", c)
		return false
	}
}

// Uint8 reads a ubyte.
func (r *Reader) Uint8() uint8 {
	if c := r.code(); c != codeUbyte {
		r.wrong("a ubyte", c)
		return 0
	}
	return r.u8()
}

// Uint16 reads a ushort.
func (r *Reader) Uint16() uint16 {
	if c := r.code(); c != codeUshort {
		r.wrong("a ushort", c)
		return 0
	}
	return r.u16()
}

// Uint32 reads a uint in any of its encodings.
func (r *Reader) Uint32() uint32 {
	switch c := r.code(); c {
	case codeUint:
		return r.u32()
	case codeSmallUint:
		return uint32(r.u8())
	case codeUint0:
		return 0
	default:
		r.wrong("a uint", c)
		return 0
	}
}

// Uint64 reads a ulong in any of its encodings.
func (r *Reader) Uint64() uint64 {
	switch c := r.code(); c {
	case codeUlong:
		return r.u64()
	case codeSmallUlong:
		return uint64(r.u8())
	case codeUlong0:
		return 0
	default:
		r.wrong("a ulong", c)
		return 0
	}
}

// Timestamp reads a timestamp: milliseconds since the Unix epoch.
func (r *Reader) Timestamp() Timestamp {
	if c := r.code(); c != codeTimestamp {
		r.wrong("a timestamp", c)
		return 0
	}
	return Timestamp(r.u64())
}

// Binary reads a binary; the result is a view and not nil unless there was an error.
func (r *Reader) Binary() []byte {
	switch c := r.code(); c {
	case codeBin8:
		return r.take(uint64(r.u8()))
	case codeBin32:
		return r.take(uint64(r.u32()))
	default:
		r.wrong("a binary", c)
		return nil
	}
}

// String reads a string, which must be UTF-8.
func (r *Reader) String() string {
	var v []byte
	switch c := r.code(); c {
	case codeStr8:
		v = r.take(uint64(r.u8()))
	case codeStr32:
		v = r.take(uint64(r.u32()))
	default:
		r.wrong("a string", c)
	}
	if !utf8.Valid(v) {
		r.fail("string is not UTF-8")
		return ""
	}
	return string(v)
}

// Symbol reads a symbol.
func (r *Reader) Symbol() Symbol { return Symbol(r.symbolBytes()) }

func (r *Reader) symbolBytes() []byte {
	switch c := r.code(); c {
	case codeSym8:
		return r.take(uint64(r.u8()))
	case codeSym32:
		return r.take(uint64(r.u32()))
	default:
		r.wrong("a symbol", c)
		return nil
	}
}

// Symbols reads a field that may hold several symbols: one symbol, or an array
// (part 1, section 1.4, attribute multiple).
func (r *Reader) Symbols() []Symbol {
	if len(r.b) > 0 && (r.b[0] == codeSym8 || r.b[0] == codeSym32) {
		return []Symbol{r.Symbol()}
	}
	a := r.array()
	if r.err != nil || a.N == 0 {
		return nil
	}
	if a.Code != codeSym8 && a.Code != codeSym32 || a.Descriptor != nil {
		r.wrong("an array of symbols", a.Code)
		return nil
	}
	out := make([]Symbol, 0, a.N)
	e := Reader{b: a.Data}
	for range a.N {
		out = append(out, Symbol(e.varBytes(a.Code)))
	}
	return out
}

// varBytes reads the size and the bytes of a variable-width value whose
// constructor is already known.
func (r *Reader) varBytes(code byte) []byte {
	if code>>4 == 0xa {
		return r.take(uint64(r.u8()))
	}
	return r.take(uint64(r.u32()))
}

// descriptor reads the 0x00 and the descriptor of a described type: its code, or
// 0 when it is a symbol nobody here knows.
func (r *Reader) descriptor() Code {
	if c := r.code(); c != codeDescribed {
		r.wrong("a described type", c)
		return 0
	}
	if len(r.b) > 0 && (r.b[0] == codeSym8 || r.b[0] == codeSym32) {
		return codeOfSymbol(r.symbolBytes())
	}
	v := r.Uint64()
	if v > math.MaxUint32 {
		return 0 // another domain: somebody's extension
	}
	return Code(v)
}

// expect reads a descriptor that must be want.
func (r *Reader) expect(want Code) {
	if c := r.descriptor(); r.err == nil && c != want {
		r.fail("descriptor %#x where %#x is expected", uint64(c), uint64(want))
	}
}

// peekDescriptor is descriptor without consuming.
func (r *Reader) peekDescriptor() Code {
	p := Reader{b: r.b}
	c := p.descriptor()
	if p.err != nil {
		r.fail("described type expected")
	}
	return c
}

// compound reads size and count of a list, map or array whose constructor was
// read, and returns a view of its contents after the count.
func (r *Reader) compound(code byte) (content []byte, count uint64) {
	var size uint64
	wide := code&0x10 != 0
	if wide {
		size = uint64(r.u32())
	} else {
		size = uint64(r.u8())
	}
	content = r.take(size)
	if r.err != nil {
		return nil, 0
	}
	w := 1
	if wide {
		w = 4
	}
	if len(content) < w {
		r.fail("compound of %d bytes has no room for its count", size)
		return nil, 0
	}
	if wide {
		count = uint64(binary.BigEndian.Uint32(content))
	} else {
		count = uint64(content[0])
	}
	return content[w:], count
}

// list reads a list and returns a view of its elements and their number, which
// is at most the number of bytes.
func (r *Reader) list() (content []byte, count int) {
	c := r.code()
	if c == codeList0 {
		return nil, 0
	}
	if c != codeList8 && c != codeList32 {
		r.wrong("a list", c)
		return nil, 0
	}
	content, n := r.compound(c)
	if n > uint64(len(content)) {
		r.fail("list of %d elements in %d bytes", n, len(content))
		return nil, 0
	}
	return content, int(n)
}
