package format

import (
	"encoding/binary"
	"errors"
	"fmt"
)

// flat reads one flatbuffer with every offset checked against the bytes that
// are there (https://flatbuffers.dev/internals/). The first fault sticks and
// everything read after it is zero. Flatbuffers may share parts, so a small
// one can describe a huge tree: budget bounds the bytes and entries taken out.
type flat struct {
	b      []byte
	err    error
	budget int
}

// table is the place of a flatbuffer table: the zero value is an absent one.
type table struct {
	pos    int // of the table
	size   int // of the table's inline part
	vtable int // of its vtable
	fields int // bytes of the vtable
}

var errFlat = errors.New("damaged metadata")

func newFlat(b []byte) *flat { return &flat{b: b, budget: 1024 + 2*len(b)} }

func (f *flat) fail(what string) {
	if f.err == nil {
		f.err = fmt.Errorf("%w: %s", errFlat, what)
	}
}

// spend takes n from the budget.
func (f *flat) spend(n int) bool {
	if f.budget -= n; f.budget < 0 {
		f.fail("describes more than it holds")
	}
	return f.err == nil
}

// has reports whether n bytes are there at pos.
func (f *flat) has(pos, n int) bool {
	if f.err != nil {
		return false
	}
	if pos < 0 || n < 0 || pos > len(f.b) || n > len(f.b)-pos {
		f.fail("offset outside")
		return false
	}
	return true
}

func (f *flat) u16(pos int) int {
	if !f.has(pos, 2) {
		return 0
	}
	return int(binary.LittleEndian.Uint16(f.b[pos:]))
}

func (f *flat) u32(pos int) int {
	if !f.has(pos, 4) {
		return 0
	}
	return int(binary.LittleEndian.Uint32(f.b[pos:]))
}

func (f *flat) i64(pos int) int64 {
	if !f.has(pos, 8) {
		return 0
	}
	return int64(binary.LittleEndian.Uint64(f.b[pos:])) //nolint:gosec // bits as they are
}

func (f *flat) root() table { return f.table(f.u32(0)) }

func (f *flat) table(pos int) table {
	if !f.has(pos, 4) || !f.spend(1) {
		return table{}
	}
	back := int(int32(binary.LittleEndian.Uint32(f.b[pos:]))) //nolint:gosec // a signed offset
	t := table{pos: pos, vtable: pos - back}
	t.fields, t.size = f.u16(t.vtable), f.u16(t.vtable+2)
	if f.err == nil && (t.fields < 4 || t.fields%2 != 0 || t.size < 4) {
		f.fail("malformed table")
	}
	if !f.has(t.vtable, t.fields) || !f.has(pos, t.size) {
		return table{}
	}
	return t
}

// field returns the place of the inline value of field i, of n bytes, or 0 if
// the table has none.
func (f *flat) field(t table, i, n int) int {
	slot := 4 + 2*i
	if f.err != nil || slot+2 > t.fields {
		return 0
	}
	o := f.u16(t.vtable + slot)
	if o == 0 {
		return 0
	}
	if o < 4 || o+n > t.size {
		f.fail("field outside its table")
		return 0
	}
	return t.pos + o
}

func (f *flat) byteField(t table, i int) byte {
	p := f.field(t, i, 1)
	if p == 0 || !f.has(p, 1) {
		return 0
	}
	return f.b[p]
}

func (f *flat) u16Field(t table, i int) int {
	if p := f.field(t, i, 2); p != 0 {
		return f.u16(p)
	}
	return 0
}

func (f *flat) i32Field(t table, i int) int {
	if p := f.field(t, i, 4); p != 0 {
		return int(int32(f.u32(p))) //nolint:gosec // bits as they are
	}
	return 0
}

func (f *flat) i64Field(t table, i int) int64 {
	if p := f.field(t, i, 8); p != 0 {
		return f.i64(p)
	}
	return 0
}

// tableField returns the table that field i refers to, the zero table if absent.
func (f *flat) tableField(t table, i int) table {
	p := f.field(t, i, 4)
	if p == 0 {
		return table{}
	}
	return f.table(p + f.u32(p))
}

// vector returns place and length of the vector of field i, whose elements
// have size bytes.
func (f *flat) vector(t table, i, size int) (pos, n int) {
	p := f.field(t, i, 4)
	if p == 0 {
		return 0, 0
	}
	pos = p + f.u32(p)
	n = f.u32(pos)
	if f.err != nil || n > len(f.b)/size || !f.has(pos+4, n*size) || !f.spend(n) {
		f.fail("vector outside")
		return 0, 0
	}
	return pos + 4, n
}

// tableAt returns the table that element j of a vector of offsets refers to.
func (f *flat) tableAt(pos, j int) table {
	p := pos + 4*j
	return f.table(p + f.u32(p))
}

// stringField returns a copy of the string of field i, "" if absent.
func (f *flat) stringField(t table, i int) string {
	pos, n := f.vector(t, i, 1)
	if f.err != nil || n == 0 {
		return ""
	}
	return string(f.b[pos : pos+n])
}
