package format

import (
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"math/bits"
)

// Scratch is where rows are kept that are read again: a temporary file.
type Scratch interface {
	io.Writer
	io.ReaderAt
}

// scratchRows are batches of one schema in a Scratch, column by column as
// narrow as their values allow: some 25 bytes a row of a merged log.
type scratchRows struct {
	to    Scratch
	ends  []int64 // offsets behind the batches
	next  int     // batch to be read
	buf   []byte
	from  []byte // what is left of the batch being read
	wide  []int64
	base  int         // the column intended, −1 if it is not wanted
	cols  []ipcColumn // what the rows come from
	texts [][]string  // dictionaries, which only grow
}

// The packed form of a column: a byte with the width of a value in bytes, 0 when
// all are equal, and nearBase; the smallest value; what stands for NULL; the values,
// less the smallest.
const (
	packHead = 1 + 8 + 8
	nearBase = 0x80 // an instant, relative to the row's intended one
)

func newScratchRows(to Scratch, cols []ipcColumn) *scratchRows {
	s := &scratchRows{to: to, cols: cols, base: -1, texts: make([][]string, len(cols))}
	for i, c := range cols {
		if c.def.Name == "intended" && !c.unwanted {
			s.base = i
		}
	}
	return s
}

// write appends a batch.
func (s *scratchRows) write(b Batch) error {
	s.buf = binary.LittleEndian.AppendUint32(s.buf[:0], uint32(b.Len())) // at most BatchRows
	cols := b.Columns()
	var base []int64
	if s.base >= 0 {
		base = *cols[s.base].(*[]int64)
	}
	for i, col := range cols {
		if s.cols[i].unwanted {
			continue
		}
		null, flags := Null, byte(0)
		switch c := col.(type) {
		case *[]int64:
			s.wide = append(s.wide[:0], *c...)
			if base != nil && i != s.base && s.cols[i].def.Unit == instant && relative(s.wide, base) {
				flags = nearBase
			}
		case *[]int32:
			s.wide, null = widened(s.wide, *c), int64(Null32)
		case *Strings:
			s.wide, null = widened(s.wide, c.Codes), -1
			s.texts[i] = c.Values
		case *[]bool:
			s.wide = resize(s.wide, len(*c))
			for k, v := range *c {
				s.wide[k] = 0
				if v {
					s.wide[k] = 1
				}
			}
		}
		s.buf = pack(s.buf, s.wide, null, flags)
	}
	if _, err := s.to.Write(s.buf); err != nil {
		return fmt.Errorf("copying rows to be read again: %w", err)
	}
	at := int64(0)
	if n := len(s.ends); n > 0 {
		at = s.ends[n-1]
	}
	s.ends = append(s.ends, at+int64(len(s.buf)))
	return nil
}

// relative takes the base from the values that are not NULL. It reports false,
// and has changed nothing, if a difference has no room.
func relative(values, base []int64) bool {
	odd := int64(0)
	for i, v := range values {
		if v != Null {
			d := v - base[i]
			odd |= (v ^ base[i]) & (v ^ d) // negative: an overflow
			if d == Null {
				odd = -1
			}
		}
	}
	if odd < 0 {
		return false
	}
	for i, v := range values {
		if v != Null {
			values[i] = v - base[i]
		}
	}
	return true
}

// absolute undoes relative.
func absolute(values, base []int64) {
	base = base[:len(values)]
	for i, v := range values {
		if v != Null {
			values[i] = v + base[i]
		}
	}
}

func widened(dst []int64, src []int32) []int64 {
	dst = resize(dst, len(src))
	for i, v := range src {
		dst[i] = int64(v)
	}
	return dst
}

// pack appends a column.
func pack(dst []byte, col []int64, null int64, flags byte) []byte {
	lo, hi, nulls := int64(math.MaxInt64), int64(math.MinInt64), 0
	if len(col) > 0 && col[0] != null && allEqual(col) {
		lo, hi = col[0], col[0]
	} else {
		for _, v := range col {
			if v == null {
				nulls++
				continue
			}
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	width := byte(0)
	span := uint64(0)
	switch {
	case nulls == len(col):
		lo = null
	case nulls > 0 || lo < hi:
		span = uint64(hi) - uint64(lo)
		width = byte((bits.Len64(span+1) + 7) / 8) // NULL, the smallest number, is not in span
	}
	dst = append(dst, width|flags)
	dst = binary.LittleEndian.AppendUint64(dst, uint64(lo))
	dst = binary.LittleEndian.AppendUint64(dst, span+1)
	if width == 0 {
		return dst
	}
	at := len(dst)
	dst = append(dst, make([]byte, len(col)*int(width)+8)...)
	out := dst[at:]
	for i, v := range col {
		d := uint64(v) - uint64(lo)
		if v == null {
			d = span + 1
		}
		binary.LittleEndian.PutUint64(out[i*int(width):], d)
	}
	return dst[:at+len(col)*int(width)]
}

func allEqual(col []int64) bool {
	for _, v := range col {
		if v != col[0] {
			return false
		}
	}
	return true
}

// read fills b with the next batch, io.EOF after the last.
func (s *scratchRows) read(b Batch) error {
	if s.next == len(s.ends) {
		return io.EOF
	}
	at := int64(0)
	if s.next > 0 {
		at = s.ends[s.next-1]
	}
	n := int(s.ends[s.next] - at)
	s.buf = resize(s.buf, n+8)
	if k, err := s.to.ReadAt(s.buf[:n], at); k < n {
		return fmt.Errorf("reading rows again: %w", cut(err))
	}
	s.next++
	rows := int(binary.LittleEndian.Uint32(s.buf))
	s.from = s.buf[4:]
	cols := b.Columns()
	var near []*[]int64
	for i, col := range cols {
		if s.cols[i].unwanted {
			fillAbsent(&s.cols[i], col, rows)
			continue
		}
		if s.from[0]&nearBase != 0 {
			near = append(near, col.(*[]int64))
		}
		s.column(col, i, rows)
	}
	for _, col := range near { // some stand before the base
		absolute(*col, *cols[s.base].(*[]int64))
	}
	return nil
}

func (s *scratchRows) column(col any, i, rows int) {
	switch c := col.(type) {
	case *[]int64:
		*c = resize(*c, rows)
		s.from = unpackWide(*c, s.from, Null)
	case *[]int32:
		*c = resize(*c, rows)
		s.from = unpackWide(*c, s.from, Null32)
	case *Strings:
		c.Codes, c.Values = resize(c.Codes, rows), s.texts[i]
		s.from = unpackWide(c.Codes, s.from, -1)
	case *[]bool:
		s.wide = resize(s.wide, rows)
		s.from = unpackWide(s.wide, s.from, Null)
		*c = resize(*c, rows)
		for k, v := range s.wide {
			(*c)[k] = v != 0
		}
	}
}

// fillEqual sets all values: copying is faster than a loop.
func fillEqual[T int32 | int64](dst []T, v T) {
	if len(dst) == 0 {
		return
	}
	dst[0] = v
	for n := 1; n < len(dst); n *= 2 {
		copy(dst[n:], dst[:n])
	}
}

// unpackWide undoes pack and returns what follows the column. There are eight
// bytes more than the columns have.
func unpackWide[T int32 | int64](dst []T, from []byte, null T) []byte {
	width, lo, none := int(from[0]&^nearBase), binary.LittleEndian.Uint64(from[1:]), binary.LittleEndian.Uint64(from[9:])
	from = from[packHead:]
	if width == 0 {
		fillEqual(dst, T(lo))
		return from
	}
	mask := ^uint64(0) >> (64 - 8*width)
	for i := range dst {
		d := binary.LittleEndian.Uint64(from[i*width:]) & mask
		dst[i] = T(lo + d)
		if d == none {
			dst[i] = null
		}
	}
	return from[len(dst)*width:]
}
