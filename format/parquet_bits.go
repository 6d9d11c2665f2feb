package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
)

// bitPadding is how many bytes beyond its end a page buffer must have, so that
// the decoders may load eight bytes wherever a value begins.
const bitPadding = 16

var (
	errPageShort  = errors.New("the page is cut short")
	errFewValues  = errors.New("fewer values than the page header says")
	errFewLevels  = errors.New("fewer definition levels than the page header says")
	errLevelRange = errors.New("a definition level above 1")
)

// pageBytes is the encoded part of a page; buf has bitPadding bytes behind end.
type pageBytes struct {
	buf []byte
	pos int
	end int
}

func (p *pageBytes) uvarint() (uint64, error) {
	v, n := binary.Uvarint(p.buf[p.pos:p.end])
	if n <= 0 {
		return 0, errPageShort
	}
	p.pos += n
	return v, nil
}

func (p *pageBytes) zigzag() (int64, error) {
	v, err := p.uvarint()
	return int64(v>>1) ^ -int64(v&1), err
}

// rleReader decodes the hybrid of run lengths and bit packing
// (Encodings.md, "Run Length Encoding / Bit-Packing Hybrid") in steps of any
// size, so that a run of two thousand million costs nothing until it is asked for.
type rleReader struct {
	pageBytes
	width  uint
	run    int // values left of a run
	value  int32
	packed int // values left of bit-packed groups
	bit    int // where the next one begins
}

func newRLE(p pageBytes, width uint) (rleReader, error) {
	if width > 32 {
		return rleReader{}, fmt.Errorf("bit width %d", width)
	}
	return rleReader{pageBytes: p, width: width}, nil
}

// maxRun keeps counts within an int; a page has fewer values.
const maxRun = 1 << 31

func (r *rleReader) fill(none error) error {
	for r.run == 0 && r.packed == 0 {
		if r.pos >= r.end {
			return none
		}
		h, err := r.uvarint()
		if err != nil {
			return err
		}
		n := int(min(h>>1, maxRun)) // bounded
		if h&1 == 0 {
			bytes := int(r.width+7) / 8
			if bytes > r.end-r.pos {
				return errPageShort
			}
			x := binary.LittleEndian.Uint32(r.buf[r.pos:])
			r.value = int32(x & uint32(uint64(1)<<(8*bytes)-1)) // codes are compared with the dictionary
			r.pos += bytes
			r.run = n
			continue
		}
		r.packed = min(n, maxRun/8) * 8
		r.bit = r.pos * 8
		if r.width > 0 {
			// Some writers cut the padding of the last group.
			r.packed = min(r.packed, (r.end-r.pos)*8/int(r.width))
			r.pos += min(n*int(r.width), r.end-r.pos)
		}
	}
	return nil
}

// uniform takes n values if they are one run.
func (r *rleReader) uniform(n int, none error) (value int32, ok bool, err error) {
	if err := r.fill(none); err != nil {
		return 0, false, err
	}
	if r.run < n {
		return 0, false, nil
	}
	r.run -= n
	return r.value, true, nil
}

func rleNext[T int32 | uint8](r *rleReader, dst []T, none error) error {
	for len(dst) > 0 {
		if err := r.fill(none); err != nil {
			return err
		}
		if r.run > 0 {
			n := min(r.run, len(dst))
			v := T(r.value) // levels have one bit
			for i := range dst[:n] {
				dst[i] = v
			}
			r.run -= n
			dst = dst[n:]
			continue
		}
		n := min(r.packed, len(dst))
		unpack(dst[:n], r.buf, r.bit, r.width)
		r.packed -= n
		r.bit += n * int(r.width)
		dst = dst[n:]
	}
	return nil
}

// unpack takes values of at most 32 bits, least significant bit first.
func unpack[T int32 | uint8](dst []T, buf []byte, bit int, width uint) {
	mask := uint64(1)<<width - 1
	for i := range dst {
		x := binary.LittleEndian.Uint64(buf[bit>>3:])
		dst[i] = T(x >> (bit & 7) & mask) // width is checked
		bit += int(width)
	}
}

// deltaReader decodes DELTA_BINARY_PACKED in steps of any size.
type deltaReader[T int32 | int64] struct {
	pageBytes
	left     int  // values still to come
	same     bool // all of them are last
	first    bool
	last     T
	minis    int
	perMini  int
	widths   []byte // of the miniblocks of this block
	mini     int
	miniLeft int
	bit      int
	width    uint
	minDelta T
}

const maxDeltaBlock = 1 << 20

func newDelta[T int32 | int64](p pageBytes) (d deltaReader[T], err error) {
	d.pageBytes = p
	if p.pos == p.end {
		return d, nil // no value
	}
	var head [3]uint64
	for i := range head {
		if head[i], err = d.uvarint(); err != nil {
			return d, err
		}
	}
	first, err := d.zigzag()
	if err != nil {
		return d, err
	}
	block, minis, total := head[0], head[1], head[2]
	if block == 0 || block > maxDeltaBlock || minis == 0 || block%minis != 0 || block/minis%8 != 0 || total > maxRun {
		return d, fmt.Errorf("delta header: %d values in blocks of %d with %d miniblocks", total, block, minis)
	}
	d.minis, d.perMini, d.left = int(minis), int(block/minis), int(total)
	d.mini = d.minis
	d.first, d.last = true, T(first)
	// A column of one value is common: all its differences and widths are 0.
	blocks := (max(int(total), 1) - 1 + int(block) - 1) / int(block)
	rest := p.buf[d.pos:d.end]
	d.same = len(rest) >= blocks*(1+d.minis) && len(bytes.Trim(rest, "\x00")) == 0
	return d, nil
}

func (d *deltaReader[T]) next(dst []T) error {
	if len(dst) > d.left {
		return errFewValues
	}
	d.left -= len(dst)
	if d.same {
		fillSame(dst, d.last)
		return nil
	}
	if d.first && len(dst) > 0 {
		dst[0], d.first = d.last, false
		dst = dst[1:]
	}
	for len(dst) > 0 {
		if d.miniLeft == 0 {
			if err := d.nextMini(len(dst) + d.left); err != nil {
				return err
			}
		}
		n := min(d.miniLeft, len(dst))
		d.last = unpackDelta(dst[:n], d.buf, d.bit, d.width, d.minDelta, d.last)
		d.bit += n * int(d.width)
		d.miniLeft -= n
		dst = dst[n:]
	}
	return nil
}

// nextMini goes to the next miniblock; remain values are still to come.
func (d *deltaReader[T]) nextMini(remain int) error {
	if d.mini == d.minis {
		v, err := d.zigzag()
		if err != nil {
			return err
		}
		if d.minis > d.end-d.pos {
			return errPageShort
		}
		d.minDelta = T(v)
		d.widths = d.buf[d.pos : d.pos+d.minis]
		d.pos += d.minis
		d.mini = 0
	}
	d.width = uint(d.widths[d.mini])
	d.mini++
	if d.width > 64 {
		return fmt.Errorf("delta bit width %d", d.width)
	}
	d.miniLeft = d.perMini
	d.bit = d.pos * 8
	// The last miniblock may be cut behind its last value.
	if need := (min(remain, d.perMini)*int(d.width) + 7) / 8; need > d.end-d.pos {
		return errPageShort
	}
	d.pos += min(d.perMini*int(d.width)/8, d.end-d.pos)
	return nil
}

func unpackDelta[T int32 | int64](dst []T, buf []byte, bit int, width uint, minDelta, last T) T {
	switch {
	case width == 0:
		for i := range dst {
			last += minDelta
			dst[i] = last
		}
	case width <= 28: // two at a time
		mask, w := uint64(1)<<width-1, width&31
		for ; len(dst) >= 2; dst = dst[2:] {
			x := binary.LittleEndian.Uint64(buf[bit>>3:]) >> (bit & 7)
			first := last + T(x&mask) + minDelta // wraps by definition
			last = first + T(x>>w&mask) + minDelta
			dst[0], dst[1] = first, last
			bit += 2 * int(w)
		}
		if len(dst) == 1 {
			last += T(binary.LittleEndian.Uint64(buf[bit>>3:])>>(bit&7)&mask) + minDelta
			dst[0] = last
		}
	case width <= 57:
		mask := uint64(1)<<width - 1
		for i := range dst {
			x := binary.LittleEndian.Uint64(buf[bit>>3:])
			last += T(x>>(bit&7)&mask) + minDelta // wraps by definition
			dst[i] = last
			bit += int(width)
		}
	default:
		mask := ^uint64(0) >> (64 - width)
		for i := range dst {
			at, sh := bit>>3, uint(bit&7)
			x := binary.LittleEndian.Uint64(buf[at:])>>sh | uint64(buf[at+8])<<(64-sh)
			last += T(x&mask) + minDelta // wraps by definition
			dst[i] = last
			bit += int(width)
		}
	}
	return last
}
