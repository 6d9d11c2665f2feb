package format

import (
	"encoding/binary"
	"hash/crc32"
	"math/bits"
	"slices"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/delta"
	"github.com/parquet-go/parquet-go/encoding/rle"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pq "github.com/parquet-go/parquet-go/format"
)

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
	w.i64, w.i32, w.bools, w.levels = w.i64[:0], w.i32[:0], w.bools[:0], w.levels[:0]
	w.rows, w.nulls = 0, 0
	w.lent64, w.lent32, w.same = nil, nil, false
}

// encodeValues cannot fail: widths and types are this package's own.
func (w *columnWriter) encodeValues(dst []byte) ([]byte, pq.Encoding) {
	i64, i32 := w.i64, w.i32
	if w.lent64 != nil {
		i64 = w.lent64
	}
	if w.lent32 != nil {
		i32 = w.lent32
	}
	if w.same {
		return w.encodeSame(dst[:0])
	}
	switch w.typ {
	case Int64:
		dst, _ = new(delta.BinaryPackedEncoding).EncodeInt64(dst[:0], i64)
		return dst, pq.DeltaBinaryPacked
	case Int32:
		dst, _ = new(delta.BinaryPackedEncoding).EncodeInt32(dst[:0], i32)
		return dst, pq.DeltaBinaryPacked
	case Bool:
		dst, _ = (&rle.Encoding{BitWidth: 1}).EncodeLevels(dst[:0], w.bools)
		length := binary.LittleEndian.AppendUint32(nil, uint32(len(dst)))
		return append(length, dst...), pq.RLE
	default:
		dst, _ = new(rle.DictionaryEncoding).EncodeInt32(dst[:0], i32)
		return dst, pq.RLEDictionary
	}
}

// encodeSame is encodeValues for rows that all have one value: what the
// encoders would make of it, without looking at every row.
func (w *columnWriter) encodeSame(dst []byte) ([]byte, pq.Encoding) {
	switch w.typ {
	case Int64, Int32:
		const block, minis = 128, 4
		dst = binary.AppendUvarint(dst, block)
		dst = binary.AppendUvarint(dst, minis)
		dst = binary.AppendUvarint(dst, uint64(w.rows))
		dst = binary.AppendVarint(dst, w.sameVal)
		blocks := (w.rows - 1 + block - 1) / block
		n := len(dst) + blocks*(1+minis) // each the least difference, 0, and the widths, all 0
		dst = slices.Grow(dst, n-len(dst))
		clear(dst[len(dst):n])
		return dst[:n], pq.DeltaBinaryPacked
	case Bool:
		run := append(binary.AppendUvarint(nil, uint64(w.rows)<<1), byte(w.sameVal))
		return append(binary.LittleEndian.AppendUint32(dst, uint32(len(run))), run...), pq.RLE
	default:
		width := bits.Len32(uint32(w.sameVal)) // at most MaxStrings
		dst = append(dst, byte(width))
		dst = binary.AppendUvarint(dst, uint64(w.rows)<<1)
		for v := w.sameVal; width > 0; width -= 8 {
			dst = append(dst, byte(v))
			v >>= 8
		}
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
