package format

import (
	"errors"
	"fmt"
)

// The types of the Thrift compact protocol
// (https://github.com/apache/thrift/blob/master/doc/specs/thrift-compact-protocol.md).
const (
	tStop   = 0
	tTrue   = 1
	tFalse  = 2
	tByte   = 3
	tI16    = 4
	tI32    = 5
	tI64    = 6
	tDouble = 7
	tBinary = 8
	tList   = 9
	tSet    = 10
	tMap    = 11
	tStruct = 12
	tUUID   = 13
)

// thriftDepth is how deep structures may nest; a Parquet footer needs 8.
const thriftDepth = 16

var errThriftShort = errors.New("cut short")

// thriftReader walks a Thrift compact structure in memory. It allocates
// nothing and believes no length: every size is compared with the bytes that
// are there, so a hostile footer costs no more time or memory than its size.
// After the first error everything returns zero.
type thriftReader struct {
	b     []byte
	pos   int
	depth int
	err   error
}

func (r *thriftReader) fail(err error) {
	if r.err == nil {
		r.err = err
	}
}

func (r *thriftReader) byte() byte {
	if r.err != nil || r.pos >= len(r.b) {
		r.fail(errThriftShort)
		return 0
	}
	c := r.b[r.pos]
	r.pos++
	return c
}

func (r *thriftReader) uvarint() uint64 {
	var v uint64
	for shift := uint(0); shift < 64; shift += 7 {
		c := r.byte()
		if r.err != nil {
			return 0
		}
		if shift == 63 && c > 1 {
			break
		}
		v |= uint64(c&0x7f) << shift
		if c < 0x80 {
			return v
		}
	}
	r.fail(errors.New("number of more than 64 bits"))
	return 0
}

// int reads a zigzag number: i16, i32 or i64.
func (r *thriftReader) int() int64 {
	v := r.uvarint()
	return int64(v>>1) ^ -int64(v&1)
}

func (r *thriftReader) int32() int32 {
	v := r.int()
	if v != int64(int32(v)) {
		r.fail(fmt.Errorf("number %d does not fit 32 bits", v))
		return 0
	}
	return int32(v)
}

// bytes reads a string; the result is part of the input.
func (r *thriftReader) bytes() []byte {
	n := r.uvarint()
	if r.err != nil {
		return nil
	}
	if n > uint64(len(r.b)-r.pos) {
		r.fail(fmt.Errorf("string of %d bytes, %d are there: %w", n, len(r.b)-r.pos, errThriftShort))
		return nil
	}
	s := r.b[r.pos : r.pos+int(n)]
	r.pos += int(n)
	return s
}

// fields calls field for every field of a structure; it must read the value or
// call skip. A value of another type than the callback expects shows as an error
// through want.
func (r *thriftReader) fields(field func(id int16, typ byte)) {
	if !r.enter() {
		return
	}
	defer r.leave()
	last := int16(0)
	for r.err == nil {
		head := r.byte()
		typ := head & 0x0f
		if r.err != nil || typ == tStop {
			return
		}
		if d := int16(head >> 4); d != 0 {
			last += d
		} else {
			last = int16(r.int()) // a wrong field id is an unknown field
		}
		field(last, typ)
	}
}

// want reports whether a field has the type that its definition says.
func (r *thriftReader) want(id int16, typ, want byte) bool {
	if typ == want || (want == tTrue && typ == tFalse) {
		return r.err == nil
	}
	r.fail(fmt.Errorf("field %d has type %d, not %d", id, typ, want))
	return false
}

// list reads the head of a list of the given type.
func (r *thriftReader) list(want byte) int {
	n, typ := r.listHead()
	if r.err == nil && n > 0 && typ != want && (want != tTrue || typ != tFalse) {
		r.fail(fmt.Errorf("list of type %d, not %d", typ, want))
	}
	if r.err != nil {
		return 0
	}
	return n
}

func (r *thriftReader) listHead() (n int, typ byte) {
	head := r.byte()
	size := uint64(head >> 4)
	if size == 15 {
		size = r.uvarint()
	}
	// Every element of every type takes a byte at least.
	if r.err == nil && size > uint64(len(r.b)-r.pos) {
		r.fail(fmt.Errorf("list of %d elements, %d bytes are there: %w", size, len(r.b)-r.pos, errThriftShort))
	}
	if r.err != nil {
		return 0, 0
	}
	return int(size), head & 0x0f
}

func (r *thriftReader) enter() bool {
	if r.depth++; r.depth > thriftDepth {
		r.fail(errors.New("nested too deep"))
	}
	return r.err == nil
}

func (r *thriftReader) leave() { r.depth-- }

// skip passes over a value. A boolean field has its value in its type; in
// a list it takes a byte.
func (r *thriftReader) skip(typ byte, inList bool) {
	switch typ {
	case tTrue, tFalse:
		if inList {
			r.byte()
		}
	case tByte:
		r.byte()
	case tI16, tI32, tI64:
		r.uvarint()
	case tDouble:
		r.advance(8)
	case tUUID:
		r.advance(16)
	case tBinary:
		r.bytes()
	case tList, tSet:
		r.skipList()
	case tMap:
		r.skipMap()
	case tStruct:
		r.fields(func(_ int16, typ byte) { r.skip(typ, false) })
	default:
		r.fail(fmt.Errorf("unknown type %d", typ))
	}
}

func (r *thriftReader) advance(n int) {
	if r.err != nil || n > len(r.b)-r.pos {
		r.fail(errThriftShort)
		return
	}
	r.pos += n
}

func (r *thriftReader) skipList() {
	if !r.enter() {
		return
	}
	defer r.leave()
	n, typ := r.listHead()
	for i := 0; i < n && r.err == nil; i++ {
		r.skip(typ, true)
	}
}

func (r *thriftReader) skipMap() {
	if !r.enter() {
		return
	}
	defer r.leave()
	n := r.uvarint()
	if n == 0 || r.err != nil {
		return
	}
	types := r.byte()
	for ; n > 0 && r.err == nil; n-- {
		r.skip(types>>4, true)
		r.skip(types&0x0f, true)
	}
}
