package wire

import (
	"math"
	"unicode/utf8"
)

// Go types of the AMQP types that have no natural one. The others: null is nil,
// boolean bool, ubyte … ulong uint8 … uint64, byte … long int8 … int64, float
// float32, double float64, binary []byte, string string.
type (
	// Symbol is an ASCII name.
	Symbol string
	// Timestamp is milliseconds since the Unix epoch.
	Timestamp int64
	// Char is one Unicode code point.
	Char rune
	// UUID is an RFC 4122 identifier.
	UUID [16]byte
	// Decimal32 is an IEEE 754 decimal32, not interpreted.
	Decimal32 uint32
	// Decimal64 is an IEEE 754 decimal64, not interpreted.
	Decimal64 uint64
	// Decimal128 is an IEEE 754 decimal128, not interpreted.
	Decimal128 [16]byte
	// List is a list of values of any type.
	List []any
	// Entry is one pair of a Map.
	Entry struct{ Key, Value any }
	// Map keeps the order of the wire; duplicate keys are not looked for.
	Map []Entry
	// Described is a value with a descriptor that has no type of its own here.
	Described struct{ Descriptor, Value any }
)

// Get returns the value of a key given as text, be it a symbol or a string.
func (m Map) Get(key string) (any, bool) {
	for _, e := range m {
		switch k := e.Key.(type) {
		case Symbol:
			if string(k) == key {
				return e.Value, true
			}
		case string:
			if k == key {
				return e.Value, true
			}
		}
	}
	return nil, false
}

// Value reads one value of any type.
func (r *Reader) Value() any {
	c := r.code()
	if r.err != nil {
		return nil
	}
	if c == codeDescribed {
		if !r.enter() {
			return nil
		}
		d := Described{Descriptor: r.Value()}
		d.Value = r.Value()
		r.depth--
		return d
	}
	return r.valueOf(c)
}

func (r *Reader) enter() bool {
	r.depth++
	if r.depth > MaxDepth {
		r.fail("nested deeper than %d", MaxDepth)
		return false
	}
	return true
}

// valueOf reads the value whose constructor is c.
func (r *Reader) valueOf(c byte) any {
	switch c >> 4 {
	case 0x4:
		return r.emptyOf(c)
	case 0x5, 0x6:
		return r.smallOf(c)
	case 0x7, 0x8, 0x9:
		return r.fixedOf(c)
	case 0xa, 0xb:
		return r.variableOf(c)
	case 0xc, 0xd:
		return r.compoundOf(c)
	case 0xe, 0xf:
		return r.arrayOf(c)
	}
	r.fail("unknown constructor 0x%02x", c)
	return nil
}

func (r *Reader) emptyOf(c byte) any {
	switch c {
	case codeNull:
		return nil
	case codeTrue:
		return true
	case codeFalse:
		return false
	case codeUint0:
		return uint32(0)
	case codeUlong0:
		return uint64(0)
	case codeList0:
		return List{}
	}
	r.fail("unknown constructor 0x%02x", c)
	return nil
}

func (r *Reader) smallOf(c byte) any {
	switch c {
	case codeUbyte:
		return r.u8()
	case codeByte:
		return int8(r.u8())
	case codeSmallUint:
		return uint32(r.u8())
	case codeSmallUlong:
		return uint64(r.u8())
	case codeSmallInt:
		return int32(int8(r.u8()))
	case codeSmallLong:
		return int64(int8(r.u8()))
	case codeBool:
		v := r.u8()
		if v > 1 {
			r.fail("boolean of value %d", v)
		}
		return v == 1
	case codeUshort:
		return r.u16()
	case codeShort:
		return int16(r.u16())
	}
	r.fail("unknown constructor 0x%02x", c)
	return nil
}

func (r *Reader) fixedOf(c byte) any {
	switch c {
	case codeUint:
		return r.u32()
	case codeInt:
		return int32(r.u32())
	case codeFloat:
		return math.Float32frombits(r.u32())
	case codeChar:
		return Char(r.u32())
	case codeDecimal32:
		return Decimal32(r.u32())
	case codeUlong:
		return r.u64()
	case codeLong:
		return int64(r.u64())
	case codeDouble:
		return math.Float64frombits(r.u64())
	case codeTimestamp:
		return Timestamp(r.u64())
	case codeDecimal64:
		return Decimal64(r.u64())
	case codeDecimal128, codeUUID:
		var v [16]byte
		copy(v[:], r.take(16))
		if c == codeUUID {
			return UUID(v)
		}
		return Decimal128(v)
	}
	r.fail("unknown constructor 0x%02x", c)
	return nil
}

func (r *Reader) variableOf(c byte) any {
	switch c {
	case codeBin8, codeBin32:
		return r.varBytes(c)
	case codeSym8, codeSym32:
		return Symbol(r.varBytes(c))
	case codeStr8, codeStr32:
		v := r.varBytes(c)
		if !utf8.Valid(v) {
			r.fail("string is not UTF-8")
		}
		return string(v)
	}
	r.fail("unknown constructor 0x%02x", c)
	return nil
}

func (r *Reader) compoundOf(c byte) any {
	isMap := c == codeMap8 || c == codeMap32
	if !isMap && c != codeList8 && c != codeList32 {
		r.fail("unknown constructor 0x%02x", c)
		return nil
	}
	content, n := r.compound(c)
	if n > uint64(len(content)) || isMap && n%2 != 0 {
		r.fail("compound 0x%02x of %d elements in %d bytes", c, n, len(content))
	}
	if r.err != nil || !r.enter() {
		return nil
	}
	e := Reader{b: content, depth: r.depth}
	var out any
	if isMap {
		m := make(Map, 0, n/2)
		for range n / 2 {
			k := e.Value()
			m = append(m, Entry{Key: k, Value: e.Value()})
		}
		out = m
	} else {
		l := make(List, 0, n)
		for range n {
			l = append(l, e.Value())
		}
		out = l
	}
	r.depth--
	if r.leave(&e, c); r.err != nil {
		return nil
	}
	return out
}

// leave ends a compound: its own error is ours, and nothing may be left of it.
func (r *Reader) leave(e *Reader, c byte) {
	if e.err != nil {
		r.err, r.b = e.err, nil
	} else if len(e.b) > 0 {
		r.fail("%d bytes left over in compound 0x%02x", len(e.b), c)
	}
}

// Map reads a map, or nothing for a null.
func (r *Reader) Map() Map {
	c := r.code()
	if c == codeNull {
		return nil
	}
	if c != codeMap8 && c != codeMap32 {
		r.wrong("a map", c)
		return nil
	}
	m, _ := r.compoundOf(c).(Map)
	return m
}

const (
	width8       = -1 // one byte of size before the element
	width32      = -4 // four bytes
	widthUnknown = -100
)

// elementWidth is the size of a value after its constructor.
func elementWidth(c byte) int {
	switch c {
	case codeNull, codeTrue, codeFalse, codeUint0, codeUlong0, codeList0:
		return 0
	case codeUbyte, codeByte, codeSmallUint, codeSmallUlong, codeSmallInt, codeSmallLong, codeBool:
		return 1
	case codeUshort, codeShort:
		return 2
	case codeUint, codeInt, codeFloat, codeChar, codeDecimal32:
		return 4
	case codeUlong, codeLong, codeDouble, codeTimestamp, codeDecimal64:
		return 8
	case codeDecimal128, codeUUID:
		return 16
	case codeBin8, codeStr8, codeSym8, codeList8, codeMap8, codeArray8:
		return width8
	case codeBin32, codeStr32, codeSym32, codeList32, codeMap32, codeArray32:
		return width32
	}
	return widthUnknown
}

func (r *Reader) skipSized(w int) {
	if w == width8 {
		r.take(uint64(r.u8()))
	} else {
		r.take(uint64(r.u32()))
	}
}

// Skip passes over one value without decoding it: sizes are checked, contents
// of lists, maps and arrays are not.
func (r *Reader) Skip() { r.skip(0) }

// skip passes over a value that is nested so deep. The descriptor of a described value is a value too, and may itself be described.
func (r *Reader) skip(depth int) {
	c := r.code()
	for ; c == codeDescribed && r.err == nil; depth++ {
		if depth > MaxDepth {
			r.fail("nested deeper than %d", MaxDepth)
			return
		}
		r.skip(depth + 1)
		c = r.code()
	}
	r.skipSimple(c)
}

func (r *Reader) skipSimple(c byte) {
	switch w := elementWidth(c); {
	case r.err != nil:
	case w == widthUnknown:
		r.fail("unknown constructor 0x%02x", c)
	case w >= 0:
		r.take(uint64(w))
	default:
		r.skipSized(w)
	}
}
