package hdr

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"math/bits"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Cookies without the word size, and of the two older encodings. The compressed
// ones stand before the compression, the others inside it.
const (
	cookieMask         = 0xf0
	cookieV0           = 0x1c849308
	cookieV0Compressed = 0x1c849309
	cookieV1           = 0x1c849301
	cookieV1Compressed = 0x1c849302
	cookieDouble       = 0x0c72124e
)

// maxPayload bounds the counts of one histogram: a few bytes of a file can
// expand to any size. Full histograms of three digits have 300 KB at most.
const maxPayload = 2 << 20

// header is the part of an encoded histogram before the counts.
type header struct {
	version  int
	word     int   // bytes a count, V0 and V1
	payload  int64 // bytes of counts
	digits   int32
	lowest   int64
	highest  int64
	inflated io.Reader // what follows the header
}

// decode reads the text of a histogram: V2, as all tools write today, and V0 and
// V1 of jHiccup before 2.0.7.
func decode(text []byte) (*Histogram, error) {
	raw := make([]byte, base64.StdEncoding.DecodedLen(len(text)))
	n, err := base64.StdEncoding.Decode(raw, text)
	if err != nil {
		return nil, fmt.Errorf("histogram is not base64: %w", err)
	}
	h, err := parseHeader(raw[:n])
	if err != nil {
		return nil, err
	}
	if h.version == 2 {
		return decodeV2(text, h)
	}
	return decodeWords(h)
}

func parseHeader(raw []byte) (header, error) {
	var h header
	if len(raw) < 8 {
		return h, fmt.Errorf("histogram of %d bytes is cut", len(raw))
	}
	size := 40
	switch cookie := binary.BigEndian.Uint32(raw) &^ cookieMask; cookie {
	case cookieV2Compressed &^ cookieMask:
		h.version = 2
	case cookieV1Compressed:
		h.version = 1
	case cookieV0Compressed:
		h.version, size = 0, 32
	default:
		if binary.BigEndian.Uint32(raw)&^1 == cookieDouble { // plain or compressed
			return h, errors.New("histogram of floating point values (DoubleHistogram): only integer ones can be read")
		}
		return h, fmt.Errorf("not an HDR histogram: it begins with %#08x", binary.BigEndian.Uint32(raw))
	}
	length := binary.BigEndian.Uint32(raw[4:])
	if uint64(length) > uint64(len(raw)-8) {
		return h, fmt.Errorf("histogram is cut: %d bytes of %d", len(raw)-8, length)
	}
	z, err := zlib.NewReader(bytes.NewReader(raw[8 : 8+int(length)]))
	if err != nil {
		return h, fmt.Errorf("compression of the histogram: %w", err)
	}
	fixed := make([]byte, size)
	if _, err := io.ReadFull(z, fixed); err != nil {
		return h, fmt.Errorf("header of the histogram: %w", err)
	}
	h.inflated = z
	return h, h.fill(fixed)
}

// fill takes the fields of a header and checks them.
func (h *header) fill(b []byte) error {
	cookie := binary.BigEndian.Uint32(b)
	want := map[int]uint32{0: cookieV0, 1: cookieV1, 2: cookieV2 &^ cookieMask}[h.version]
	if cookie&^cookieMask != want {
		return fmt.Errorf("histogram begins with %#08x inside its compression, want %#08x", cookie, want)
	}
	h.word = int(cookie&cookieMask) >> 4
	if h.version == 0 {
		h.digits = int32(binary.BigEndian.Uint32(b[4:]))
		h.lowest, h.highest = int64(binary.BigEndian.Uint64(b[8:])), int64(binary.BigEndian.Uint64(b[16:]))
		h.payload = maxPayload // not told
	} else {
		h.payload = int64(int32(binary.BigEndian.Uint32(b[4:])))
		// Bytes 8 to 11, the normalizing index offset, say how the writer kept
		// its counts in memory; the payload is in order whatever they say.
		h.digits = int32(binary.BigEndian.Uint32(b[12:]))
		h.lowest, h.highest = int64(binary.BigEndian.Uint64(b[16:])), int64(binary.BigEndian.Uint64(b[24:]))
	}
	switch {
	case h.digits < 0 || h.digits > 5:
		return fmt.Errorf("histogram of %d significant digits: want 0 to 5", h.digits)
	case h.payload < 0 || h.payload > maxPayload:
		return fmt.Errorf("histogram of %d bytes of counts: more than %d", h.payload, maxPayload)
	case h.highest < 1:
		return fmt.Errorf("histogram of values up to %d", h.highest)
	}
	h.lowest = max(h.lowest, 1) // early Go writers wrote 0 for 1
	if g := h.geometry(); g.unit+g.half > 61 {
		return fmt.Errorf("histogram of lowest value %d and %d digits does not fit 64 bits", h.lowest, h.digits)
	}
	return nil
}

func (h *header) geometry() geometry { return newGeometry(h.lowest, int(h.digits)) }

func (h *header) shape() Shape {
	return Shape{Lowest: h.lowest, Highest: h.highest, Digits: int(h.digits)}
}

// decodeV2 leaves the counts to the library, in its sparse form: a dense one of
// a wide geometry takes 50 MB, whatever is in it.
func decodeV2(text []byte, h header) (*Histogram, error) {
	packed, err := hdrhistogram.DecodePacked(text)
	if err != nil {
		return nil, fmt.Errorf("histogram: %w", err)
	}
	out := NewHistogram(h.shape())
	for value, count := range packed.ForEachBucket {
		if value < 0 || count < 0 || out.n+count < 0 {
			return nil, errors.New("histogram: counts do not fit 64 bits")
		}
		out.buckets = append(out.buckets, bucket{value, count})
		out.n += count
	}
	return out, nil
}

// decodeWords reads the counts of V0 and V1: one after the other, in words of 2,
// 4 or 8 bytes.
func decodeWords(h header) (*Histogram, error) {
	if h.word != 2 && h.word != 4 && h.word != 8 {
		return nil, fmt.Errorf("histogram with counts of %d bytes: want 2, 4 or 8", h.word)
	}
	payload, err := io.ReadAll(io.LimitReader(h.inflated, h.payload+1))
	if err != nil {
		return nil, fmt.Errorf("counts of the histogram: %w", err)
	}
	if int64(len(payload)) > h.payload || (h.version == 1 && int64(len(payload)) < h.payload) || len(payload)%h.word != 0 {
		return nil, fmt.Errorf("histogram has %d bytes of counts, not %d", len(payload), h.payload)
	}
	out := NewHistogram(h.shape())
	for i := range len(payload) / h.word {
		var count uint64
		for _, b := range payload[i*h.word : (i+1)*h.word] {
			count = count<<8 | uint64(b)
		}
		if count == 0 {
			continue
		}
		if count > math.MaxInt64 || out.n+int64(count) < 0 || !out.geo.holds(i) {
			return nil, fmt.Errorf("histogram has %d values in bucket %d: not possible", count, i)
		}
		out.buckets = append(out.buckets, bucket{out.geo.value(i), int64(count)})
		out.n += int64(count)
	}
	return out, nil
}

// holds reports whether the bucket of an index is within int64.
func (g geometry) holds(index int) bool {
	if index < 2<<g.half {
		return bits.Len(uint(index))+g.unit <= 63
	}
	return index>>g.half-1+g.unit+g.half+1 <= 63
}
