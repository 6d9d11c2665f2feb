package format

import (
	"errors"
	"fmt"
	"strings"
)

// logStrings is the dictionary of one string column of a log, over all its
// row groups: it only grows, so a code keeps its meaning.
type logStrings struct {
	values   []string
	index    map[string]int32
	key      bool // part of the identity: folding would merge messages
	other    int32
	overflow int64 // values read as OtherString
}

func newLogStrings(column string) *logStrings {
	return &logStrings{index: map[string]int32{}, key: column == "run", other: -1}
}

var errManyStrings = fmt.Errorf("more than %d distinct values", MaxStrings)

// code returns the code of a value that is still part of a page.
func (d *logStrings) code(b []byte) (int32, error) {
	if c, ok := d.index[string(b)]; ok {
		return c, nil
	}
	s := CleanString(string(b[:min(len(b), MaxStringLen+8)]))
	if c, ok := d.index[s]; ok {
		return c, nil
	}
	if len(d.values) >= MaxStrings && s != OtherString {
		if d.key {
			return 0, errManyStrings
		}
		if d.other >= 0 {
			d.overflow++
			return d.other, nil
		}
		s = OtherString
	}
	c := int32(len(d.values)) //nolint:gosec // at most MaxStrings
	if s == OtherString {
		d.other = c
	}
	d.values = append(d.values, strings.Clone(s))
	d.index[d.values[c]] = c
	return c, nil
}

// textPage decodes the strings of one page to codes of the log's dictionary.
type textPage struct {
	encoding int32
	bytes    pageBytes // PLAIN, or what follows the lengths
	lengths  []int32
	prefixes []int32
	previous []byte
	codes    rleReader
	dict     []int32 // code of the column chunk → code of the log
	strings  *logStrings
}

func (p *textPage) loadDict(m *budget, b pageBytes, n int) (err error) {
	if (b.end-b.pos)/4 < n {
		return errPageShort
	}
	if p.dict, err = grow(m, p.dict, n); err != nil {
		return err
	}
	p.bytes = b
	return p.nextPlain(p.dict)
}

func (p *textPage) open(b pageBytes, encoding int32) (err error) {
	p.encoding = encoding
	switch encoding {
	case encPlain:
		p.bytes = b
	case encRLEDictionary, encPlainDictionary:
		p.encoding = encRLEDictionary
		p.codes, err = openCodes(b)
	case encDeltaLength, encDeltaByteArray:
		p.previous, p.prefixes = p.previous[:0], nil
		if encoding == encDeltaByteArray {
			p.prefixes, err = readLengths(&b)
		}
		if err == nil {
			p.lengths, err = readLengths(&b)
		}
		p.bytes = b
	default:
		err = fmt.Errorf("encoding %d of a string column is not supported", encoding)
	}
	return err
}

// readLengths takes all values of a delta sequence, which an uncompressed byte
// of the page backs at least: every string but an empty one has a byte.
func readLengths(b *pageBytes) ([]int32, error) {
	d, err := newDelta[int32](*b)
	if err != nil {
		return nil, err
	}
	const step = 1 << 12
	var lengths []int32
	for d.left > 0 {
		if len(lengths) > 8*(b.end-b.pos)+step {
			return nil, errBudget
		}
		n := min(d.left, step)
		lengths = append(lengths, make([]int32, n)...)
		if err := d.next(lengths[len(lengths)-n:]); err != nil {
			return nil, err
		}
	}
	// Behind the last miniblock the rest of its block is empty.
	b.pos = d.pos
	return lengths, nil
}

func (p *textPage) next(dst []int32) error {
	switch p.encoding {
	case encPlain:
		return p.nextPlain(dst)
	case encDeltaLength, encDeltaByteArray:
		return p.nextDelta(dst)
	}
	if err := rleNext(&p.codes, dst, errFewValues); err != nil {
		return err
	}
	for i, c := range dst {
		if uint(c) >= uint(len(p.dict)) { //nolint:gosec // negative is beyond, too
			return errCode
		}
		dst[i] = p.dict[c]
	}
	return nil
}

func (p *textPage) nextPlain(dst []int32) error {
	for i := range dst {
		s, err := p.bytes.prefixed()
		if err != nil {
			return errors.Join(errFewValues, err)
		}
		if dst[i], err = p.strings.code(s.buf[s.pos:s.end]); err != nil {
			return err
		}
	}
	return nil
}

func (p *textPage) nextDelta(dst []int32) (err error) {
	if len(dst) > len(p.lengths) {
		return errFewValues
	}
	for i := range dst {
		n := int(p.lengths[i])
		if n < 0 || n > p.bytes.end-p.bytes.pos {
			return errPageShort
		}
		s := p.bytes.buf[p.bytes.pos : p.bytes.pos+n]
		p.bytes.pos += n
		if p.encoding == encDeltaByteArray {
			if i >= len(p.prefixes) || p.prefixes[i] < 0 || int(p.prefixes[i]) > len(p.previous) {
				return errors.New("a prefix longer than the string before it")
			}
			p.previous = append(p.previous[:p.prefixes[i]], s...)
			s = p.previous
		}
		if dst[i], err = p.strings.code(s); err != nil {
			return err
		}
	}
	p.lengths = p.lengths[len(dst):]
	if p.encoding == encDeltaByteArray {
		p.prefixes = p.prefixes[len(dst):]
	}
	return nil
}
