package format

import (
	"errors"
	"fmt"
	"hash/crc32"
	"io"
	"unsafe"
)

// pageHeader is what a page says about itself.
type pageHeader struct {
	typ                      int32
	uncompressed, compressed int32
	crc                      uint32
	hasCRC                   bool
	values, nulls, rows      int32 // nulls is −1 where the page does not say
	encoding                 int32
	levelEncoding            int32
	repBytes, defBytes       int32
	plain                    bool // v2: not compressed
}

func parsePageHeader(b []byte) (h pageHeader, size int, err error) {
	r := &thriftReader{b: b}
	h.values, h.nulls = -1, -1
	r.fields(func(id int16, typ byte) {
		switch {
		case id == 1 && r.want(id, typ, tI32):
			h.typ = r.int32()
		case id == 2 && r.want(id, typ, tI32):
			h.uncompressed = r.int32()
		case id == 3 && r.want(id, typ, tI32):
			h.compressed = r.int32()
		case id == 4 && r.want(id, typ, tI32):
			h.crc, h.hasCRC = uint32(r.int32()), true // 32 bits
		case id == 5 && r.want(id, typ, tStruct):
			h.parseData(r)
		case id == 7 && r.want(id, typ, tStruct):
			h.parseDictionary(r)
		case id == 8 && r.want(id, typ, tStruct):
			h.parseDataV2(r)
		default:
			r.skip(typ, false)
		}
	})
	return h, r.pos, r.err
}

func (h *pageHeader) parseData(r *thriftReader) {
	h.fields(r, &h.values, &h.encoding, &h.levelEncoding)
}

func (h *pageHeader) parseDictionary(r *thriftReader) { h.fields(r, &h.values, &h.encoding) }

func (h *pageHeader) parseDataV2(r *thriftReader) {
	h.levelEncoding = encRLE
	r.fields(func(id int16, typ byte) {
		if id == 7 && r.want(id, typ, tTrue) {
			h.plain = typ == tFalse
			return
		}
		h.field(r, id, typ, &h.values, &h.nulls, &h.rows, &h.encoding, &h.defBytes, &h.repBytes)
	})
}

// fields reads a structure whose first fields are the given numbers.
func (h *pageHeader) fields(r *thriftReader, dst ...*int32) {
	r.fields(func(id int16, typ byte) { h.field(r, id, typ, dst...) })
}

func (h *pageHeader) field(r *thriftReader, id int16, typ byte, dst ...*int32) {
	if id < 1 || int(id) > len(dst) {
		r.skip(typ, false)
	} else if r.want(id, typ, tI32) {
		*dst[id-1] = r.int32()
	}
}

// check compares a header with what is left of the chunk.
func (h *pageHeader) check(bytesLeft, valuesLeft int64) error {
	switch {
	case h.compressed < 0 || h.uncompressed < 0:
		return fmt.Errorf("%d bytes, %d uncompressed", h.compressed, h.uncompressed)
	case int64(h.compressed) > bytesLeft:
		return fmt.Errorf("%d bytes, the column chunk has %d left", h.compressed, bytesLeft)
	case h.typ != pageData && h.typ != pageDataV2 && h.typ != pageDictionary:
		return nil // an index, or what a later version of the format adds
	case h.values < 0:
		return fmt.Errorf("%d values", h.values)
	case h.typ == pageDictionary:
		return nil
	case int64(h.values) > valuesLeft:
		return fmt.Errorf("%d values, the column chunk has %d left", h.values, valuesLeft)
	}
	if h.typ == pageDataV2 {
		switch {
		case h.defBytes < 0 || h.repBytes != 0 || h.defBytes > h.compressed || h.defBytes > h.uncompressed:
			return fmt.Errorf("%d bytes of definition levels, %d of repetition levels", h.defBytes, h.repBytes)
		case h.nulls < 0 || h.nulls > h.values:
			return fmt.Errorf("%d NULLs among %d values", h.nulls, h.values)
		case h.rows != h.values:
			return fmt.Errorf("%d rows with %d values", h.rows, h.values)
		}
	}
	return nil
}

// budget is the memory that a log's page buffers may take together.
type budget struct{ left int64 }

var errBudget = errors.New("too large for a file of this size")

// budgetFor allows 32 MiB and eight times the size of the file. Pages of our own are
// below 1 MiB; others write pages of a whole row group.
func budgetFor(size int64) *budget { return &budget{left: 32<<20 + 8*min(size, 1<<40)} }

// grow returns s with n elements of any content and charges what is new.
func grow[T byte | int32 | int64](b *budget, s []T, n int) ([]T, error) {
	if n <= cap(s) {
		return s[:n], nil
	}
	more := int64(n-cap(s)) * int64(unsafe.Sizeof(*new(T)))
	if more > b.left {
		return nil, fmt.Errorf("%d bytes: %w", more, errBudget)
	}
	b.left -= more
	return make([]T, n), nil
}

// chunkInput reads a column chunk through a window.
type chunkInput struct {
	r      io.ReaderAt
	budget *budget
	off    int64 // of what follows the window
	left   int64 // bytes of the chunk behind the window
	buf    []byte
	at, n  int // the window is buf[at:n]
}

const windowBytes = 64 << 10

func (in *chunkInput) reset(c chunk) { in.off, in.left, in.at, in.n = c.offset, c.size, 0, 0 }

// remaining returns the bytes of the chunk not yet taken.
func (in *chunkInput) remaining() int64 { return in.left + int64(in.n-in.at) }

// peek returns the next n bytes, fewer at the end of the chunk.
func (in *chunkInput) peek(n int) ([]byte, error) {
	if have := in.n - in.at; have < n && in.left > 0 {
		want := max(n, windowBytes)
		buf, err := grow(in.budget, in.buf[:0], int(min(int64(want), int64(have)+in.left)))
		if err != nil {
			return nil, err
		}
		copy(buf, in.buf[in.at:in.n])
		in.buf, in.at, in.n = buf, 0, have
		k, err := in.r.ReadAt(buf[have:], in.off)
		if k < len(buf)-have {
			return nil, fmt.Errorf("offset %d: %w", in.off+int64(k), errors.Join(io.ErrUnexpectedEOF, err))
		}
		in.n += k
		in.off += int64(k)
		in.left -= int64(k)
	}
	return in.buf[in.at:min(in.at+n, in.n)], nil
}

func (in *chunkInput) skip(n int) {
	if have := in.n - in.at; n > have {
		in.off += int64(n - have)
		in.left -= int64(n - have)
		n = have
	}
	in.at += n
}

const maxHeaderBytes = 1 << 20

// header reads the next page header.
func (in *chunkInput) header() (pageHeader, error) {
	for n := 1 << 10; ; n *= 8 {
		b, err := in.peek(n)
		if err != nil {
			return pageHeader{}, err
		}
		h, size, err := parsePageHeader(b)
		if errors.Is(err, errThriftShort) && len(b) == n && n < maxHeaderBytes {
			continue
		}
		if err != nil {
			return h, fmt.Errorf("header: %w", err)
		}
		in.skip(size)
		return h, nil
	}
}

// body reads what follows a page header and verifies its checksum.
func (in *chunkInput) body(h pageHeader) ([]byte, error) {
	b, err := in.peek(int(h.compressed))
	if err != nil {
		return nil, err
	}
	in.at += len(b)
	if len(b) != int(h.compressed) {
		return nil, errPageShort
	}
	if h.hasCRC && crc32.ChecksumIEEE(b) != h.crc {
		return nil, errors.New("checksum does not match")
	}
	return b, nil
}
