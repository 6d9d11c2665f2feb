package format

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
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
	bits   []uint8 // booleans
	levels []uint8 // 1 = there is a value; nullable columns only, of pages where some are NULL and some not
	rows   int     // rows of the page
	nulls  int     // NULLs among them

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
	lo, hi := bounds(src)
	switch { // null is the smallest number
	case lo != null:
		w.addLevels(1, len(src))
		*dst = append(*dst, src...)
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
	for _, v := range src {
		var b uint8
		if v {
			b = 1
		}
		w.bits = append(w.bits, b)
		w.bound(int64(b), int64(b))
	}
}

func (w *columnWriter) addStrings(s *Strings, from, to int) (row int, err error) {
	w.dict.use(s.Values)
	codes := s.Codes[from:to]
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

// endPage encodes the rows added since the last page.
func (w *columnWriter) endPage(z *zstd.Encoder) {
	h := pq.DataPageHeaderV2{
		NumValues: int32(w.rows), NumNulls: int32(w.nulls), NumRows: int32(w.rows), // at most pageRows
	}
	w.enc, h.Encoding = w.encodeValues(w.enc)
	var levels []byte
	if w.nullable {
		levels = w.encodeLevels()
		h.DefinitionLevelsByteLength = int32(len(levels)) // at most pageRows
	}
	body, compressed := w.compress(z, w.enc)
	h.IsCompressed = thrift.New(compressed)
	w.writePage(pq.PageHeader{
		Type:                 pq.DataPageV2,
		UncompressedPageSize: int32(len(levels) + len(w.enc)), // some 600 KiB
		DataPageHeaderV2:     thrift.New(h),
	}, levels, body)
	w.values += int64(w.rows)
	w.nullCount += int64(w.nulls)
	w.i64, w.i32, w.bits, w.levels = w.i64[:0], w.i32[:0], w.bits[:0], w.levels[:0]
	w.rows, w.nulls = 0, 0
}

// encodeValues cannot fail: widths and types are this package's own.
func (w *columnWriter) encodeValues(dst []byte) ([]byte, pq.Encoding) {
	switch w.typ {
	case Int64:
		dst, _ = new(delta.BinaryPackedEncoding).EncodeInt64(dst[:0], w.i64)
		return dst, pq.DeltaBinaryPacked
	case Int32:
		dst, _ = new(delta.BinaryPackedEncoding).EncodeInt32(dst[:0], w.i32)
		return dst, pq.DeltaBinaryPacked
	case Bool:
		dst, _ = (&rle.Encoding{BitWidth: 1}).EncodeLevels(dst[:0], w.bits)
		length := binary.LittleEndian.AppendUint32(nil, uint32(len(dst)))
		return append(length, dst...), pq.RLE
	default:
		dst, _ = new(rle.DictionaryEncoding).EncodeInt32(dst[:0], w.i32)
		return dst, pq.RLEDictionary
	}
}

func (w *columnWriter) encodeLevels() []byte {
	if len(w.levels) == 0 { // one run
		var v byte
		if w.nulls == 0 {
			v = 1
		}
		return append(binary.AppendUvarint(nil, uint64(w.rows)<<1), v)
	}
	b, _ := (&rle.Encoding{BitWidth: 1}).EncodeLevels(nil, w.levels)
	return b
}

// compress returns b compressed, or b itself where that is no gain.
func (w *columnWriter) compress(z *zstd.Encoder, b []byte) ([]byte, bool) {
	w.packed = z.EncodeAll(b, w.packed[:0])
	if len(w.packed) >= len(b) {
		return b, false
	}
	return w.packed, true
}

func (w *columnWriter) writePage(h pq.PageHeader, levels, body []byte) {
	h.CompressedPageSize = int32(len(levels) + len(body)) // some 600 KiB
	h.CRC = int32(crc32.Update(crc32.ChecksumIEEE(levels), crc32.IEEETable, body))
	head, _ := thrift.Marshal(new(thrift.CompactProtocol), &h) // into memory
	w.buf = append(append(append(w.buf, head...), levels...), body...)
	w.uncompressed += int64(len(head)) + int64(h.UncompressedPageSize)
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
