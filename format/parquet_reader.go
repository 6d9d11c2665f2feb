package format

import (
	"errors"
	"fmt"

	"github.com/klauspost/compress/zstd"
)

// columnReader reads one column of a file from page to page, into slices of
// any length. It keeps one page in memory.
type columnReader struct {
	def      Column
	leveled  bool // the file declares it optional
	chunkOf  func(group int) chunk
	zdec     *zstd.Decoder
	budget   *budget
	in       chunkInput
	group    int
	chunk    chunk
	left     int64 // values of the chunk in pages not yet opened
	pageNo   int
	page     []byte
	pageLeft int // values of the page not yet read
	hasDict  bool
	phys     int32

	levels  rleReader
	flags   []uint8 // levels of the rows being read
	i32     intPage[int32]
	i64     intPage[int64]
	bits    boolPage
	text    textPage
	wide    []int64
	narrow  []int32
	strings *logStrings
}

// start goes to the chunk of a row group.
func (c *columnReader) start(group int) {
	c.group, c.chunk = group, c.chunkOf(group)
	c.in.reset(c.chunk)
	c.left, c.pageLeft, c.pageNo, c.hasDict = c.chunk.values, 0, -1, false
	c.text.dict, c.i32.dict, c.i64.dict = c.text.dict[:0], c.i32.dict[:0], c.i64.dict[:0]
}

func (c *columnReader) wrap(err error) error {
	if c.pageNo < 0 {
		return fmt.Errorf("row group %d: column %s: %w", c.group, c.def.Name, err)
	}
	return fmt.Errorf("row group %d: column %s: page %d: %w", c.group, c.def.Name, c.pageNo, err)
}

// nextPage opens the next page that has values.
func (c *columnReader) nextPage() error {
	for c.pageLeft == 0 {
		if c.in.remaining() == 0 {
			return errFewValues
		}
		c.pageNo++
		h, err := c.in.header()
		if err != nil {
			return err
		}
		if err := h.check(c.in.remaining(), c.left); err != nil {
			return err
		}
		switch h.typ {
		case pageData, pageDataV2:
			err = c.openData(h)
		case pageDictionary:
			err = c.openDict(h)
		default:
			c.in.skip(int(h.compressed))
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// load decompresses a page body, of which the first raw bytes are as they are.
func (c *columnReader) load(h pageHeader, raw int) (pageBytes, error) {
	body, err := c.in.body(h)
	if err != nil {
		return pageBytes{}, err
	}
	n := int(h.uncompressed)
	if c.page, err = grow(c.budget, c.page, n+bitPadding); err != nil {
		return pageBytes{}, err
	}
	copy(c.page[:raw], body[:raw])
	if n > raw || len(body) > raw { // an empty page may be compressed to nothing
		codec := c.chunk.codec
		if h.plain {
			codec = codecNone
		}
		if err := decompress(c.zdec, codec, c.page[raw:n], body[raw:]); err != nil {
			return pageBytes{}, err
		}
	}
	clear(c.page[n:])
	return pageBytes{buf: c.page, end: n}, nil
}

func (c *columnReader) openDict(h pageHeader) error {
	if c.hasDict || c.left != c.chunk.values {
		return errors.New("a dictionary page that is not the first page")
	}
	if h.encoding != encPlain && h.encoding != encPlainDictionary {
		return fmt.Errorf("encoding %d of a dictionary page", h.encoding)
	}
	// Each value takes a byte of the page at least, so this bounds the dictionary.
	if h.values > h.uncompressed {
		return fmt.Errorf("%d values in a dictionary of %d bytes", h.values, h.uncompressed)
	}
	b, err := c.load(h, 0)
	if err != nil {
		return err
	}
	c.hasDict = true
	switch c.phys {
	case physInt32, physFloat:
		return c.i32.loadDict(c.budget, b, int(h.values))
	case physInt64, physDouble:
		return c.i64.loadDict(c.budget, b, int(h.values))
	case physByteArray:
		return c.text.loadDict(b, int(h.values))
	default:
		return errors.New("a dictionary of booleans")
	}
}

func (c *columnReader) openData(h pageHeader) error {
	b, err := c.load(h, int(h.defBytes))
	if err != nil {
		return err
	}
	c.left -= int64(h.values)
	if h.values == 0 {
		return nil
	}
	if c.leveled {
		levels := pageBytes{buf: b.buf, end: int(h.defBytes)}
		if h.typ == pageData {
			if h.levelEncoding != encRLE {
				return fmt.Errorf("encoding %d of definition levels is not supported", h.levelEncoding)
			}
			if levels, err = b.prefixed(); err != nil {
				return fmt.Errorf("definition levels: %w", err)
			}
		}
		if c.levels, err = newRLE(levels, 1); err != nil {
			return err
		}
	}
	if h.typ == pageDataV2 {
		b.pos = int(h.defBytes)
	}
	c.pageLeft = int(h.values)
	if dict := h.encoding == encRLEDictionary || h.encoding == encPlainDictionary; dict && !c.hasDict {
		return errors.New("dictionary codes without a dictionary page")
	}
	switch c.phys {
	case physInt32, physFloat:
		return c.i32.open(b, h.encoding)
	case physInt64, physDouble:
		return c.i64.open(b, h.encoding)
	case physByteArray:
		return c.text.open(b, h.encoding)
	default:
		return c.bits.open(b, h.encoding)
	}
}

// read fills rows from…to of col, all of the row group that start chose. On
// error it returns the row where a NULL was found, if that was the error.
func (c *columnReader) read(col any, from, to int) (row int, err error) {
	for from < to {
		if err := c.nextPage(); err != nil {
			return 0, c.wrap(err)
		}
		n := min(to-from, c.pageLeft)
		k, uniform, err := c.readLevels(n)
		if err != nil {
			return 0, c.wrap(err)
		}
		if k < n && !c.def.Nullable {
			return from + firstZero(c.flags, uniform), errNullRequired
		}
		if err := c.readValues(col, from, n, k); err != nil {
			return 0, c.wrap(err)
		}
		c.pageLeft -= n
		from += n
	}
	return 0, nil
}

func firstZero(flags []uint8, uniform bool) int {
	for i, f := range flags {
		if f == 0 && !uniform {
			return i
		}
	}
	return 0
}

// readLevels reads n definition levels: k of the n rows have a value. The
// levels are in c.flags unless they are uniform.
func (c *columnReader) readLevels(n int) (k int, uniform bool, err error) {
	if !c.leveled {
		return n, true, nil
	}
	v, ok, err := c.levels.uniform(n, errFewLevels)
	if err != nil {
		return 0, false, err
	}
	if ok {
		if v > 1 || v < 0 {
			return 0, false, errLevelRange
		}
		return int(v) * n, true, nil
	}
	c.flags = sized(c.flags, n)
	if err := rleNext(&c.levels, c.flags, errFewLevels); err != nil {
		return 0, false, err
	}
	for _, f := range c.flags {
		if f > 1 {
			return 0, false, errLevelRange
		}
		k += int(f)
	}
	return k, false, nil
}

// readValues reads k values into n rows.
func (c *columnReader) readValues(col any, from, n, k int) error {
	switch v := col.(type) {
	case *[]int64:
		dst := (*v)[from : from+n]
		if err := c.readInt64(dst[:k]); err != nil {
			return err
		}
		spread(dst, c.flags, k, Null)
	case *[]int32:
		dst := (*v)[from : from+n]
		if err := c.readInt32(dst[:k]); err != nil {
			return err
		}
		spread(dst, c.flags, k, Null32)
	case *[]bool:
		flags := sized(c.flags, n) // no boolean of ours is nullable
		if err := c.bits.next(flags); err != nil {
			return err
		}
		dst := (*v)[from : from+n]
		for i, f := range flags {
			dst[i] = f != 0
		}
		c.flags = flags
	case *Strings:
		dst := v.Codes[from : from+n]
		if err := c.text.next(dst[:k]); err != nil {
			return err
		}
		spread(dst, c.flags, k, -1)
		v.Values = c.strings.values[:len(c.strings.values):len(c.strings.values)]
	}
	return nil
}

// spread moves the k values at the start of dst to the rows that have one.
func spread[T int32 | int64](dst []T, flags []uint8, k int, null T) {
	if k == len(dst) {
		return
	}
	if k == 0 {
		for i := range dst {
			dst[i] = null
		}
		return
	}
	for i := len(dst) - 1; i >= 0; i-- {
		if flags[i] == 0 {
			dst[i] = null
			continue
		}
		k--
		dst[i] = dst[k]
	}
}

func (c *columnReader) readInt64(dst []int64) error {
	if c.phys == physInt64 || c.phys == physDouble {
		return c.i64.next(dst)
	}
	c.narrow = sized(c.narrow, len(dst))
	if err := c.i32.next(c.narrow); err != nil {
		return err
	}
	for i, v := range c.narrow {
		dst[i] = int64(v)
	}
	return nil
}

func (c *columnReader) readInt32(dst []int32) error {
	if c.phys == physInt32 || c.phys == physFloat {
		return c.i32.next(dst)
	}
	c.wide = sized(c.wide, len(dst))
	if err := c.i64.next(c.wide); err != nil {
		return err
	}
	for i, v := range c.wide {
		dst[i] = int32(v) // compared
		if int64(dst[i]) != v || dst[i] == Null32 {
			return fmt.Errorf("%d does not fit an int32", v)
		}
	}
	return nil
}
