package hdr

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math"
)

// Cookies of the V2 encoding with the word size mark that its writers set.
const (
	cookieV2           = 0x1c849303 | 0x10
	cookieV2Compressed = 0x1c849304 | 0x10
)

// encoder writes histograms as V2 compressed base64. It keeps its compressor
// and buffers: the library makes a new compressor for each histogram, which
// takes several times as long as the compression.
type encoder struct {
	payload    []byte
	compressed bytes.Buffer
	zlib       *zlib.Writer
	out        []byte
}

// encode returns the text of a histogram, valid until the next call.
func (e *encoder) encode(h *Histogram) ([]byte, error) {
	h.settle()
	const header = 40
	p := append(e.payload[:0], make([]byte, header)...)
	next := 0
	for _, b := range h.buckets {
		at := h.geo.index(b.low)
		switch zeros := int64(at - next); zeros {
		case 0:
		case 1:
			p = appendZigZag(p, 0)
		default:
			p = appendZigZag(p, -zeros)
		}
		p = appendZigZag(p, b.count)
		next = at + 1
	}
	if next == 0 {
		p = appendZigZag(p, 0) // as Java: an empty histogram has one count of 0
	}
	binary.BigEndian.PutUint32(p[0:], cookieV2)
	binary.BigEndian.PutUint32(p[4:], uint32(len(p)-header))
	binary.BigEndian.PutUint32(p[8:], 0) // normalizing index offset
	binary.BigEndian.PutUint32(p[12:], uint32(h.shape.Digits))
	binary.BigEndian.PutUint64(p[16:], uint64(h.shape.Lowest))
	binary.BigEndian.PutUint64(p[24:], uint64(h.shape.Highest))
	binary.BigEndian.PutUint64(p[32:], math.Float64bits(1)) // integer to double ratio
	e.payload = p

	e.compressed.Reset()
	e.compressed.Write(make([]byte, 8))
	if e.zlib == nil {
		z, err := zlib.NewWriterLevel(&e.compressed, zlib.BestCompression)
		if err != nil {
			return nil, fmt.Errorf("compressing a histogram: %w", err)
		}
		e.zlib = z
	} else {
		e.zlib.Reset(&e.compressed)
	}
	if _, err := e.zlib.Write(p); err != nil {
		return nil, fmt.Errorf("compressing a histogram: %w", err)
	}
	if err := e.zlib.Close(); err != nil {
		return nil, fmt.Errorf("compressing a histogram: %w", err)
	}
	raw := e.compressed.Bytes()
	binary.BigEndian.PutUint32(raw[0:], cookieV2Compressed)
	binary.BigEndian.PutUint32(raw[4:], uint32(len(raw)-8))
	e.out = base64.StdEncoding.AppendEncode(e.out[:0], raw)
	return e.out, nil
}

// appendZigZag writes a LEB128-64b9B number: seven bits a byte, the ninth byte
// has eight.
func appendZigZag(p []byte, v int64) []byte {
	u := uint64(v<<1) ^ uint64(v>>63)
	for range 8 {
		if u < 0x80 {
			return append(p, byte(u))
		}
		p = append(p, byte(u)|0x80)
		u >>= 7
	}
	return append(p, byte(u))
}
