package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pq "github.com/parquet-go/parquet-go/format"
)

var errNullRequired = errors.New("NULL in a required column")

// columnWriter turns one column's values into pages of one row group.
//
// Note: parquet-go's own writers take structs or []Value (24 bytes a value),
// which costs more than encoding and compressing together; its encodings are
// public, and a page is little more than an encoding with a header.
type columnWriter struct {
	name     string
	typ      Type
	nullable bool

	// The page being filled: the values that are not NULL, and one level per row.
	i64    []int64
	i32    []int32 // int32 values, or local dictionary codes
	bools  []uint8 // booleans
	levels []uint8 // 1 = there is a value; nullable columns only, of pages where some are NULL and some not
	rows   int     // rows of the page
	nulls  int     // NULLs among them

	// A page made of one batch alone is not copied: its values are these, or the
	// one value that all rows have.
	whole   bool
	lent64  []int64
	lent32  []int32
	same    bool
	sameVal int64

	dict *stringDict // string columns only

	// The row group so far.
	buf          []byte
	dictPage     []byte
	uncompressed int64
	values       int64
	nullCount    int64
	min, max     int64 // of integers and booleans
	any          bool  // min and max are set

	enc, packed []byte // scratch
}

func newColumnWriter(c Column) *columnWriter {
	w := &columnWriter{name: c.Name, typ: c.Type, nullable: c.Nullable}
	if c.Type == String {
		w.dict = newStringDict()
	}
	return w
}

// check reports whether col is a column of w's type with n rows.
func (w *columnWriter) check(col any, n int) error {
	var got int
	ok := false
	switch v := col.(type) {
	case *[]int32:
		got, ok = len(*v), w.typ == Int32
	case *[]int64:
		got, ok = len(*v), w.typ == Int64
	case *[]bool:
		got, ok = len(*v), w.typ == Bool
	case *Strings:
		got, ok = len(v.Codes), w.typ == String
	}
	if !ok {
		return fmt.Errorf("column %s: a %T does not fit", w.name, col)
	}
	if got != n {
		return fmt.Errorf("column %s: %d values in a batch of %d rows", w.name, got, n)
	}
	return nil
}

// add appends rows from…to of col to the page. On error it returns the row, counted
// from the first one of this call.
func (w *columnWriter) add(col any, from, to int) (row int, err error) {
	w.rows += to - from
	w.whole = false
	return w.addTo(col, from, to)
}

// addPage is add for rows that are a page of their own, which endPage is to
// finish before the batch changes.
func (w *columnWriter) addPage(col any, from, to int) (row int, err error) {
	w.rows += to - from
	w.whole = true
	return w.addTo(col, from, to)
}

func (w *columnWriter) addTo(col any, from, to int) (row int, err error) {
	switch v := col.(type) {
	case *[]int64:
		return addInts(w, &w.i64, (*v)[from:to], Null)
	case *[]int32:
		return addInts(w, &w.i32, (*v)[from:to], Null32)
	case *[]bool:
		w.addBools((*v)[from:to])
	case *Strings:
		return w.addStrings(v, from, to)
	}
	return 0, nil
}

func addInts[T int32 | int64](w *columnWriter, dst *[]T, src []T, null T) (row int, err error) {
	if len(src) == 0 {
		return 0, nil
	}
	lo, hi := src[0], src[0]
	if !uniform(src) {
		lo, hi = bounds(src)
	}
	switch { // null is the smallest number
	case lo != null:
		w.addLevels(1, len(src))
		switch {
		case w.whole && lo == hi:
			w.same, w.sameVal = true, int64(lo)
		case w.whole:
			w.lend(src)
		default:
			*dst = append(*dst, src...)
		}
	case !w.nullable:
		return slices.Index(src, null), errNullRequired
	case hi == null:
		w.addLevels(0, len(src))
		return 0, nil
	default:
		added := addNullable(w, dst, src, null)
		lo, hi = bounds(added)
	}
	w.bound(int64(lo), int64(hi))
	return 0, nil
}

// lend makes src the values of the page.
func (w *columnWriter) lend(src any) {
	switch v := src.(type) {
	case []int64:
		w.lent64 = v
	case []int32:
		w.lent32 = v
	}
}

// uniform reports whether all values are equal.
func uniform[T comparable](s []T) bool {
	if len(s) == 0 || s[0] != s[len(s)-1] || s[0] != s[len(s)/2] {
		return false
	}
	first := s[0]
	for ; len(s) >= 8; s = s[8:] {
		if s[0] != first || s[1] != first || s[2] != first || s[3] != first ||
			s[4] != first || s[5] != first || s[6] != first || s[7] != first {
			return false
		}
	}
	for _, v := range s {
		if v != first {
			return false
		}
	}
	return true
}

// bounds returns the smallest and the largest value. Four at a time depend less
// on one another.
func bounds[T int32 | int64](s []T) (lo, hi T) {
	lo, hi = s[0], s[0]
	l1, h1, l2, h2, l3, h3 := lo, hi, lo, hi, lo, hi
	for ; len(s) >= 4; s = s[4:] {
		lo, hi = min(lo, s[0]), max(hi, s[0])
		l1, h1 = min(l1, s[1]), max(h1, s[1])
		l2, h2 = min(l2, s[2]), max(h2, s[2])
		l3, h3 = min(l3, s[3]), max(h3, s[3])
	}
	for _, v := range s {
		lo, hi = min(lo, v), max(hi, v)
	}
	return min(lo, l1, l2, l3), max(hi, h1, h2, h3)
}

// addLevels notes n rows that all have a value (1) or are all NULL (0).
func (w *columnWriter) addLevels(v uint8, n int) {
	if !w.nullable {
		return
	}
	uniform := len(w.levels) == 0
	before := w.rows - n // add has counted the rows
	if v == 0 {
		if uniform && w.nulls == before {
			w.nulls += n
			return
		}
		w.spell(before)
		w.nulls += n
	} else {
		if uniform && w.nulls == 0 {
			return
		}
		w.spell(before)
	}
	for range n {
		w.levels = append(w.levels, v)
	}
}

// spell writes the levels of the rows so far out, which were uniform until now.
func (w *columnWriter) spell(rows int) {
	if len(w.levels) > 0 {
		return
	}
	var v uint8
	if w.nulls == 0 {
		v = 1
	}
	for range rows {
		w.levels = append(w.levels, v)
	}
}

// addNullable appends the values that are not NULL, and the levels of all.
func addNullable[T int32 | int64](w *columnWriter, dst *[]T, src []T, null T) (added []T) {
	w.spell(w.rows - len(src))
	before := len(*dst)
	d := slices.Grow(*dst, len(src))[:before+len(src)]
	levels := slices.Grow(w.levels, len(src))
	k := before
	for _, v := range src {
		d[k] = v
		var there uint8
		if v != null {
			there = 1
		}
		levels = append(levels, there)
		k += int(there)
	}
	w.levels = levels
	w.nulls += len(d) - k
	*dst = d[:k]
	return d[before:k]
}

func (w *columnWriter) addBools(src []bool) {
	if w.whole && uniform(src) {
		var b int64
		if src[0] {
			b = 1
		}
		w.same, w.sameVal = true, b
		w.bound(b, b)
		return
	}
	for _, v := range src {
		var b uint8
		if v {
			b = 1
		}
		w.bools = append(w.bools, b)
		w.bound(int64(b), int64(b))
	}
}

func (w *columnWriter) addStrings(s *Strings, from, to int) (row int, err error) {
	w.dict.use(s.Values)
	codes := s.Codes[from:to]
	if c := codes[0]; w.whole && c >= 0 && int(c) < len(s.Values) && uniform(codes) {
		w.addLevels(1, len(codes))
		w.same, w.sameVal = true, int64(w.dict.codes(c, len(codes)))
		return 0, nil
	}
	w.rows -= len(codes) // counted run by run
	for i := 0; i < len(codes); {
		c, n := codes[i], i+1
		for n < len(codes) && codes[n] == c {
			n++
		}
		w.rows += n - i
		switch {
		case c >= 0 && int(c) < len(s.Values):
			w.addLevels(1, n-i)
			code := w.dict.codes(c, n-i)
			for range n - i {
				w.i32 = append(w.i32, code)
			}
		case c >= 0:
			return i, fmt.Errorf("code %d, the dictionary has %d values", c, len(s.Values))
		case !w.nullable:
			return i, errNullRequired
		default:
			w.addLevels(0, n-i)
		}
		i = n
	}
	return 0, nil
}

func (w *columnWriter) bound(lo, hi int64) {
	if !w.any {
		w.min, w.max, w.any = lo, hi, true
		return
	}
	w.min, w.max = min(w.min, lo), max(w.max, hi)
}

// endChunk finishes the row group: it makes the dictionary page and returns
// what the footer says, given where the chunk begins.
func (w *columnWriter) endChunk(z *zstd.Encoder, offset, rows int64) chunkInfo {
	m := pq.ColumnMetaData{
		Type: physical(w.typ), Codec: pq.Zstd, PathInSchema: []string{w.name},
		NumValues: rows, DataPageOffset: offset,
		Statistics: pq.Statistics{NullCount: w.nullCount},
	}
	switch w.typ {
	case String:
		w.makeDictPage(z)
		m.Encoding = []pq.Encoding{pq.Plain, pq.RLEDictionary, pq.RLE}
		m.DictionaryPageOffset = offset
		m.DataPageOffset = offset + int64(len(w.dictPage))
		m.Statistics.MinValue, m.Statistics.MaxValue = w.dict.bounds()
	case Bool:
		m.Encoding = []pq.Encoding{pq.RLE}
	default:
		m.Encoding = []pq.Encoding{pq.DeltaBinaryPacked, pq.RLE}
	}
	if w.any {
		m.Statistics.MinValue, m.Statistics.MaxValue = plainValue(w.typ, w.min), plainValue(w.typ, w.max)
	}
	m.TotalCompressedSize = int64(len(w.dictPage) + len(w.buf))
	m.TotalUncompressedSize = w.uncompressed
	return chunkInfo{meta: m}
}

func (w *columnWriter) makeDictPage(z *zstd.Encoder) {
	data := w.buf
	w.buf = w.dictPage[:0]
	plain, n := w.dict.plain(w.enc[:0])
	w.enc = plain
	body := z.EncodeAll(plain, w.packed[:0]) // a dictionary page has no "not compressed"
	w.packed = body
	w.writePage(pq.PageHeader{
		Type:                 pq.DictionaryPage,
		UncompressedPageSize: int32(len(plain)),                                                            // at most MaxStrings × MaxStringLen
		DictionaryPageHeader: thrift.New(pq.DictionaryPageHeader{NumValues: int32(n), Encoding: pq.Plain}), // MaxStrings
	}, nil, body)
	w.dictPage, w.buf = w.buf, data
}

func (w *columnWriter) reset() {
	w.buf, w.dictPage = w.buf[:0], w.dictPage[:0]
	w.uncompressed, w.values, w.nullCount, w.any = 0, 0, 0, false
	if w.dict != nil {
		w.dict.endGroup()
	}
}

func plainValue(t Type, v int64) []byte {
	switch t {
	case Bool:
		return []byte{byte(v)}
	case Int32:
		return binary.LittleEndian.AppendUint32(nil, uint32(v))
	default:
		return binary.LittleEndian.AppendUint64(nil, uint64(v))
	}
}
