package format

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/apache/arrow/go/v15/arrow"
)

// column fills one column of a batch with the next n rows.
func (s *ipcStream) column(c *ipcColumn, dst any, n int) error {
	if c.field < 0 || c.unwanted || s.schema.fields[c.field].typ == typeNull {
		fillAbsent(c, dst, n)
		return nil
	}
	f, p := &s.schema.fields[c.field], s.parts[c.field]
	if err := s.validity(p, n); err != nil {
		return err
	}
	if f.dict == nil && (f.typ == typeUtf8 || f.typ == typeLargeUtf8) {
		return s.plainStrings(c, f, p, dst.(*Strings), n)
	}
	if f.typ == typeBool && f.dict == nil {
		return s.bools(p, dst.(*[]bool), n)
	}
	width := int64(f.width())
	raw, err := s.in.part(s.batch.buffers[p.buffer+1].offset+s.next*width, int64(n)*width)
	if err != nil {
		return err
	}
	switch d := dst.(type) {
	case *[]int32:
		*d = resize(*d, n)
		return ints(*d, raw, f.bits, f.signed, Null32, s.valid, c.def.Nullable)
	case *[]int64:
		*d = resize(*d, n)
		return ints(*d, raw, f.bits, f.signed, Null, s.valid, c.def.Nullable)
	case *Strings:
		s.index = resize(s.index, n)
		if err := ints(s.index, raw, f.dict.bits, f.dict.signed, Null32, s.valid, true); err != nil {
			return err
		}
		return s.dictStrings(c, f, d)
	}
	return fmt.Errorf("no column: %T", dst)
}

func resize[T any](s []T, n int) []T { return slices.Grow(s[:0], n)[:n] }

// fillAbsent fills a column that the stream does not have or nobody wants.
func fillAbsent(c *ipcColumn, dst any, n int) {
	switch d := dst.(type) {
	case *[]int32:
		*d = resize(*d, n)
		fillWith(*d, c.def.Nullable, Null32)
	case *[]int64:
		*d = resize(*d, n)
		fillWith(*d, c.def.Nullable, Null)
	case *[]bool:
		*d = resize(*d, n)
		clear(*d)
	case *Strings:
		d.Codes = resize(d.Codes, n)
		null := int32(-1)
		if !c.def.Nullable {
			null = c.book.code("")
		}
		fillWith(d.Codes, true, null)
		d.Values = c.book.values
	}
}

// fillWith sets every value to null, or to 0 where there can be no NULL.
func fillWith[T int32 | int64](d []T, nullable bool, null T) {
	if !nullable {
		null = 0
	}
	for i := range d {
		d[i] = null
	}
}

// validity copies the bitmap of the next n rows to s.valid, empty if there are no NULLs.
func (s *ipcStream) validity(p part, n int) error {
	s.valid = s.valid[:0]
	if s.batch.nodes[p.node].nulls == 0 {
		return nil
	}
	// s.next is a multiple of 8.
	raw, err := s.in.part(s.batch.buffers[p.buffer].offset+s.next/8, int64(n+7)/8)
	if err != nil {
		return err
	}
	s.valid = append(s.valid, raw...)
	return nil
}

func isValid(bitmap []byte, i int) bool { return bitmap[i>>3]&(1<<(i&7)) != 0 }

// ints decodes integers of any width into a column and puts null where the
// bitmap says so. A required column never holds null afterwards.
func ints[T int32 | int64](dst []T, raw []byte, bits int, signed bool, null T, valid []byte, nullable bool) error {
	same := decodeSame(dst, raw, bits, signed)
	if len(valid) > 0 {
		for i := range dst {
			if !isValid(valid, i) {
				dst[i] = null
			} else if !same {
				if err := decodeOther(dst, raw, i, bits, signed); err != nil {
					return err
				}
			}
		}
		return nil
	}
	if !same {
		for i := range dst {
			if err := decodeOther(dst, raw, i, bits, signed); err != nil {
				return err
			}
		}
	}
	if !nullable {
		if i := slices.Index(dst, null); i >= 0 {
			return fmt.Errorf("row %d of these: %w", i, errNullRequired)
		}
	}
	return nil
}

// decodeSame decodes integers that have the type of the column, which is the
// case in all our own streams; it reports whether they have.
func decodeSame[T int32 | int64](dst []T, raw []byte, bits int, signed bool) bool {
	if !signed {
		return false
	}
	switch d := any(dst).(type) {
	case []int32:
		if bits != 32 {
			return false
		}
		if littleEndian() {
			copy(arrow.Int32Traits.CastToBytes(d), raw)
			return true
		}
		for i := range d {
			d[i] = int32(binary.LittleEndian.Uint32(raw[4*i:])) //nolint:gosec // bits as they are
		}
	case []int64:
		if bits != 64 {
			return false
		}
		if littleEndian() {
			copy(arrow.Int64Traits.CastToBytes(d), raw)
			return true
		}
		for i := range d {
			d[i] = int64(binary.LittleEndian.Uint64(raw[8*i:])) //nolint:gosec // bits as they are
		}
	}
	return true
}

// littleEndian reports whether integers lie in memory as they do in a stream.
func littleEndian() bool { return binary.NativeEndian.Uint16([]byte{1, 0}) == 1 }

// decodeOther decodes one integer of another type, if the column can hold it.
func decodeOther[T int32 | int64](dst []T, raw []byte, i, bits int, signed bool) error {
	var u uint64
	switch bits {
	case 8:
		u = uint64(raw[i])
	case 16:
		u = uint64(binary.LittleEndian.Uint16(raw[2*i:]))
	case 32:
		u = uint64(binary.LittleEndian.Uint32(raw[4*i:]))
	default:
		u = binary.LittleEndian.Uint64(raw[8*i:])
	}
	v := int64(u) //nolint:gosec // checked below
	if signed {
		shift := 64 - bits
		v = v << shift >> shift
	} else if u > math.MaxInt64 {
		return fmt.Errorf("row %d of these: %d does not fit", i, u)
	}
	dst[i] = T(v)
	if int64(dst[i]) != v {
		return fmt.Errorf("row %d of these: %d does not fit", i, v)
	}
	return nil
}

func (s *ipcStream) bools(p part, dst *[]bool, n int) error {
	raw, err := s.in.part(s.batch.buffers[p.buffer+1].offset+s.next/8, int64(n+7)/8)
	if err != nil {
		return err
	}
	*dst = resize(*dst, n)
	for i := range *dst {
		(*dst)[i] = isValid(raw, i)
	}
	return nil
}

// dictStrings translates the indices in s.index.
func (s *ipcStream) dictStrings(c *ipcColumn, f *ipcField, dst *Strings) error {
	dict := s.dicts[f.dict.id]
	if dict == nil {
		if !slices.ContainsFunc(s.index, func(i int32) bool { return i != Null32 }) {
			dict = &ipcDict{}
		} else {
			return errNoDictionary
		}
	}
	if c.mapped != dict {
		c.mapped = dict
		c.mapping = resize(c.mapping, len(dict.values))
		for i := range c.mapping {
			c.mapping[i] = noCode
		}
	}
	dst.Codes = resize(dst.Codes, len(s.index))
	for i, x := range s.index {
		if x == Null32 {
			if !c.def.Nullable {
				return errNullRequired
			}
			dst.Codes[i] = -1
			continue
		}
		if x < 0 || int(x) >= len(c.mapping) {
			return fmt.Errorf("%w: index %d into a dictionary of %d", errFlat, x, len(c.mapping))
		}
		code := c.mapping[x]
		if code == noCode {
			code = c.book.code(dict.values[x])
			c.mapping[x] = code
		}
		dst.Codes[i] = code
	}
	dst.Values = c.book.values
	return nil
}

// plainStrings reads strings that are not dictionary-encoded.
func (s *ipcStream) plainStrings(c *ipcColumn, f *ipcField, p part, dst *Strings, n int) error {
	width := int64(f.width())
	raw, err := s.in.part(s.batch.buffers[p.buffer+1].offset+s.next*width, int64(n+1)*width)
	if err != nil {
		return err
	}
	text := s.batch.buffers[p.buffer+2]
	ends := make([]int64, n+1)
	if err := decodeOffsets(ends, raw, int(width), text.size); err != nil {
		return err
	}
	data, err := s.in.part(text.offset+ends[0], ends[n]-ends[0])
	if err != nil {
		return err
	}
	dst.Codes = resize(dst.Codes, n)
	last, lastCode := "", noCode
	for i := range n {
		if len(s.valid) > 0 && !isValid(s.valid, i) {
			dst.Codes[i] = -1
			continue
		}
		v := data[ends[i]-ends[0] : ends[i+1]-ends[0]]
		if lastCode == noCode || string(v) != last {
			last = string(v)
			lastCode = c.book.code(last)
		}
		dst.Codes[i] = lastCode
	}
	dst.Values = c.book.values
	return nil
}

// decodeOffsets decodes the n + 1 ends of n strings and checks that they rise
// within size bytes of text.
func decodeOffsets(dst []int64, raw []byte, width int, size int64) error {
	last := int64(0)
	for i := range dst {
		if width == 4 {
			dst[i] = int64(int32(binary.LittleEndian.Uint32(raw[4*i:]))) //nolint:gosec // bits as they are
		} else {
			dst[i] = int64(binary.LittleEndian.Uint64(raw[8*i:])) //nolint:gosec // bits as they are
		}
		if dst[i] < last || dst[i] > size {
			return fmt.Errorf("%w: offset %d of %d bytes of text", errFlat, dst[i], size)
		}
		last = dst[i]
	}
	return nil
}
