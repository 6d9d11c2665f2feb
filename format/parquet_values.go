package format

import (
	"encoding/binary"
	"errors"
	"fmt"
)

var errCode = errors.New("a code beyond the dictionary")

// intPage decodes the integers of one page.
type intPage[T int32 | int64] struct {
	encoding int32
	plain    pageBytes
	delta    deltaReader[T]
	codes    rleReader
	scratch  []int32
	dict     []T // of the column chunk
}

func intSize[T int32 | int64]() int {
	if _, ok := any(T(0)).(int64); ok {
		return 8
	}
	return 4
}

// loadDict reads the dictionary page.
func (p *intPage[T]) loadDict(m *budget, b pageBytes, n int) (err error) {
	if b.end-b.pos < n*intSize[T]() {
		return errPageShort
	}
	if p.dict, err = grow(m, p.dict, n); err != nil {
		return err
	}
	p.plain = b
	return p.nextPlain(p.dict)
}

func (p *intPage[T]) open(b pageBytes, encoding int32) (err error) {
	p.encoding = encoding
	switch encoding {
	case encPlain:
		p.plain = b
	case encDelta:
		p.delta, err = newDelta[T](b)
	case encRLEDictionary, encPlainDictionary:
		p.encoding = encRLEDictionary
		p.codes, err = openCodes(b)
	default:
		err = fmt.Errorf("encoding %d of an integer column is not supported", encoding)
	}
	return err
}

// openCodes reads the bit width that begins a page of dictionary codes.
func openCodes(b pageBytes) (rleReader, error) {
	if b.pos == b.end {
		return newRLE(b, 0) // no value
	}
	width := uint(b.buf[b.pos])
	b.pos++
	return newRLE(b, width)
}

func (p *intPage[T]) next(dst []T) error {
	switch p.encoding {
	case encPlain:
		return p.nextPlain(dst)
	case encDelta:
		return p.delta.next(dst)
	}
	p.scratch = sized(p.scratch, len(dst))
	return lookUp(&p.codes, p.scratch, dst, p.dict)
}

// lookUp reads dictionary codes and sets dst to what they stand for. The
// codes go through scratch, which may be dst itself.
func lookUp[T int32 | int64](codes *rleReader, scratch []int32, dst, dict []T) error {
	if len(dst) == 0 {
		return nil
	}
	c, ok, err := codes.uniform(len(dst), errFewValues)
	if err != nil {
		return err
	}
	if ok {
		if uint(c) >= uint(len(dict)) { // negative is beyond, too
			return errCode
		}
		fillSame(dst, dict[c])
		return nil
	}
	if err := rleNext(codes, scratch, errFewValues); err != nil {
		return err
	}
	for i, c := range scratch {
		if uint(c) >= uint(len(dict)) { // negative is beyond, too
			return errCode
		}
		dst[i] = dict[c]
	}
	return nil
}

func (p *intPage[T]) nextPlain(dst []T) error {
	size := intSize[T]()
	if (p.plain.end-p.plain.pos)/size < len(dst) {
		return errFewValues
	}
	b := p.plain.buf[p.plain.pos:]
	p.plain.pos += len(dst) * size
	if size == 8 {
		for i := range dst {
			dst[i] = T(binary.LittleEndian.Uint64(b[i*8:])) // two's complement
		}
		return nil
	}
	for i := range dst {
		dst[i] = T(int32(binary.LittleEndian.Uint32(b[i*4:]))) // two's complement
	}
	return nil
}

// boolPage decodes the booleans of one page.
type boolPage struct {
	rle  bool
	runs rleReader
	bits pageBytes
	bit  int
}

func (p *boolPage) open(b pageBytes, encoding int32) (err error) {
	switch encoding {
	case encPlain:
		p.rle, p.bits, p.bit = false, b, b.pos*8
	case encRLE:
		p.rle = true
		if b, err = b.prefixed(); err == nil {
			p.runs, err = newRLE(b, 1)
		}
	default:
		err = fmt.Errorf("encoding %d of a boolean column is not supported", encoding)
	}
	return err
}

func (p *boolPage) next(dst []uint8) error {
	if p.rle {
		return rleNext(&p.runs, dst, errFewValues)
	}
	if p.bits.end*8-p.bit < len(dst) {
		return errFewValues
	}
	unpack(dst, p.bits.buf, p.bit, 1)
	p.bit += len(dst)
	return nil
}

// prefixed returns the part whose length, four bytes, stands before it.
func (p *pageBytes) prefixed() (part pageBytes, err error) {
	if p.end-p.pos < 4 {
		return part, errPageShort
	}
	n := int(binary.LittleEndian.Uint32(p.buf[p.pos:]))
	p.pos += 4
	if n > p.end-p.pos {
		return part, errPageShort
	}
	part = pageBytes{buf: p.buf, pos: p.pos, end: p.pos + n}
	p.pos += n
	return part, nil
}

// sized returns s with n elements of any content.
func sized[T any](s []T, n int) []T {
	if n <= cap(s) {
		return s[:n]
	}
	return make([]T, n)
}
