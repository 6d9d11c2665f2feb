package wire

import (
	"encoding/binary"
	"fmt"
	"math"
)

// AppendValue appends one value of the types listed at [Symbol], also int (as
// long) and []Symbol (as array). It panics on any other Go type: that is a
// mistake of the program, never of its input.
func AppendValue(b []byte, v any) []byte {
	switch v := v.(type) {
	case nil:
		return append(b, codeNull)
	case bool:
		return appendBool(b, v)
	case uint8:
		return append(b, codeUbyte, v)
	case uint16:
		return append(b, codeUshort, byte(v>>8), byte(v))
	case uint32:
		return appendUint(b, v)
	case uint64:
		return appendUlong(b, v)
	case int8:
		return append(b, codeByte, byte(v))
	case int16:
		return append(b, codeShort, byte(v>>8), byte(v))
	case int32:
		return appendInt(b, v)
	case int64:
		return appendLong(b, v)
	case int:
		return appendLong(b, int64(v))
	case float32:
		return binary.BigEndian.AppendUint32(append(b, codeFloat), math.Float32bits(v))
	case float64:
		return binary.BigEndian.AppendUint64(append(b, codeDouble), math.Float64bits(v))
	case string:
		return appendString(b, v)
	case []byte:
		return appendBinary(b, v)
	}
	return appendNamed(b, v)
}

func appendNamed(b []byte, v any) []byte {
	switch v := v.(type) {
	case Symbol:
		return appendSymbol(b, v)
	case Timestamp:
		return binary.BigEndian.AppendUint64(append(b, codeTimestamp), uint64(v))
	case Char:
		return binary.BigEndian.AppendUint32(append(b, codeChar), uint32(v))
	case UUID:
		return append(append(b, codeUUID), v[:]...)
	case Decimal32:
		return binary.BigEndian.AppendUint32(append(b, codeDecimal32), uint32(v))
	case Decimal64:
		return binary.BigEndian.AppendUint64(append(b, codeDecimal64), uint64(v))
	case Decimal128:
		return append(append(b, codeDecimal128), v[:]...)
	case List:
		w := beginList(b)
		for _, e := range v {
			w.b = AppendValue(w.b, e)
			w.n++
		}
		return w.end()
	case Map:
		return appendMap(b, v)
	case Array:
		return appendArray(b, v)
	case []Symbol:
		return appendArray(b, NewSymbols(v))
	case Described:
		return AppendValue(AppendValue(append(b, codeDescribed), v.Descriptor), v.Value)
	}
	panic(fmt.Sprintf("wire: no AMQP type for %T", v))
}

func appendBool(b []byte, v bool) []byte {
	if v {
		return append(b, codeTrue)
	}
	return append(b, codeFalse)
}

func appendUint(b []byte, v uint32) []byte {
	switch {
	case v == 0:
		return append(b, codeUint0)
	case v < 256:
		return append(b, codeSmallUint, byte(v))
	}
	return append(b, codeUint, byte(v>>24), byte(v>>16), byte(v>>8), byte(v))
}

func appendUlong(b []byte, v uint64) []byte {
	switch {
	case v == 0:
		return append(b, codeUlong0)
	case v < 256:
		return append(b, codeSmallUlong, byte(v))
	}
	return binary.BigEndian.AppendUint64(append(b, codeUlong), v)
}

func appendInt(b []byte, v int32) []byte {
	if v >= -128 && v < 128 {
		return append(b, codeSmallInt, byte(v))
	}
	return binary.BigEndian.AppendUint32(append(b, codeInt), uint32(v))
}

func appendLong(b []byte, v int64) []byte {
	if v >= -128 && v < 128 {
		return append(b, codeSmallLong, byte(v))
	}
	return binary.BigEndian.AppendUint64(append(b, codeLong), uint64(v))
}

func appendSized(b []byte, code8 byte, n int) []byte {
	if n < 256 {
		return append(b, code8, byte(n))
	}
	return binary.BigEndian.AppendUint32(append(b, code8|0x10), uint32(n))
}

func appendBinary(b, v []byte) []byte {
	return append(appendSized(b, codeBin8, len(v)), v...)
}

func appendString(b []byte, v string) []byte {
	return append(appendSized(b, codeStr8, len(v)), v...)
}

func appendSymbol(b []byte, v Symbol) []byte {
	return append(appendSized(b, codeSym8, len(v)), v...)
}

func appendMap(b []byte, m Map) []byte {
	w := beginList(b)
	for _, e := range m {
		w.b = AppendValue(AppendValue(w.b, e.Key), e.Value)
		w.n += 2
	}
	return w.endAs(codeMap8)
}

func appendArray(b []byte, a Array) []byte {
	at := len(b)
	b = append(b, codeArray32, 0, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(a.N))
	if a.Descriptor != nil {
		b = AppendValue(append(b, codeDescribed), a.Descriptor)
	}
	b = append(append(b, a.Code), a.Data...)
	binary.BigEndian.PutUint32(b[at+1:], uint32(len(b)-at-5))
	return b
}

// appendDescriptor appends the start of a described type of the specification.
func appendDescriptor(b []byte, c Code) []byte {
	return append(b, codeDescribed, codeSmallUlong, byte(c))
}

// listWriter writes a list in its short form and moves to the long one at the
// end if it has to: nearly every list of a performative is short. Nulls are
// held back, so that trailing ones are left out (part 1, section 1.4).
type listWriter struct {
	b     []byte
	at    int // offset of the constructor
	n     int // elements written
	nulls int // held back
}

func beginList(b []byte) listWriter {
	return listWriter{b: append(b, codeList8, 0, 0), at: len(b)}
}

// beginComposite starts a described list of the specification.
func beginComposite(b []byte, c Code) listWriter { return beginList(appendDescriptor(b, c)) }

func (w *listWriter) null() { w.nulls++ }

// field makes room for the next element and tells to write it to w.b.
func (w *listWriter) field() {
	for ; w.nulls > 0; w.nulls-- {
		w.b = append(w.b, codeNull)
		w.n++
	}
	w.n++
}

func (w *listWriter) end() []byte {
	if w.n == 0 {
		return append(w.b[:w.at], codeList0)
	}
	return w.endAs(codeList8)
}

func (w *listWriter) endAs(code8 byte) []byte {
	const short, long = 3, 9
	size := len(w.b) - w.at - short
	if size+1 < 256 && w.n < 256 {
		w.b[w.at], w.b[w.at+1], w.b[w.at+2] = code8, byte(size+1), byte(w.n)
		return w.b
	}
	w.b = append(w.b, 0, 0, 0, 0, 0, 0)
	copy(w.b[w.at+long:], w.b[w.at+short:w.at+short+size])
	w.b[w.at] = code8 | 0x10
	binary.BigEndian.PutUint32(w.b[w.at+1:], uint32(size+4))
	binary.BigEndian.PutUint32(w.b[w.at+5:], uint32(w.n))
	return w.b
}
