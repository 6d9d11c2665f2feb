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
	c := int32(len(d.values)) // at most MaxStrings
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
	at       int // how many of the lengths are used
	budget   *budget
	codes    rleReader
	dict     []int32 // code of the column chunk → code of the log
	strings  *logStrings
}

func (p *textPage) loadDict(b pageBytes, n int) (err error) {
	if (b.end-b.pos)/4 < n {
		return errPageShort
	}
	if p.dict, err = grow(p.budget, p.dict, n); err != nil {
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
		p.previous, p.at = p.previous[:0], 0
		if encoding == encDeltaByteArray {
			p.prefixes, err = p.readLengths(&b, p.prefixes)
		}
		if err == nil {
			p.lengths, err = p.readLengths(&b, p.lengths)
		}
		p.bytes = b
	default:
		err = fmt.Errorf("encoding %d of a string column is not supported", encoding)
	}
	return err
}

// readLengths takes all values of a delta sequence; their number is bounded
// by the memory budget, which counts them before they are made.
func (p *textPage) readLengths(b *pageBytes, lengths []int32) ([]int32, error) {
	d, err := newDelta[int32](*b)
	if err != nil {
		return nil, err
	}
	if lengths, err = grow(p.budget, lengths, d.left); err != nil {
		return nil, err
	}
	err = d.next(lengths)
	b.pos = d.pos
	return lengths, err
}

func (p *textPage) next(dst []int32) error {
	switch p.encoding {
	case encPlain:
		return p.nextPlain(dst)
	case encDeltaLength, encDeltaByteArray:
		return p.nextDelta(dst)
	}
	return lookUp(&p.codes, dst, dst, p.dict)
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
	if len(dst) > len(p.lengths)-p.at {
		return errFewValues
	}
	for i := range dst {
		n := int(p.lengths[p.at])
		if n < 0 || n > p.bytes.end-p.bytes.pos {
			return errPageShort
		}
		s := p.bytes.buf[p.bytes.pos : p.bytes.pos+n]
		p.bytes.pos += n
		if p.encoding == encDeltaByteArray {
			if s, err = p.withPrefix(s); err != nil {
				return err
			}
		}
		p.at++
		if dst[i], err = p.strings.code(s); err != nil {
			return err
		}
	}
	return nil
}

// withPrefix puts the part that a string shares with the one before it in front.
// Its length is bounded, or prefixes would make a page grow with the square of
// its size.
func (p *textPage) withPrefix(s []byte) ([]byte, error) {
	if p.at >= len(p.prefixes) || p.prefixes[p.at] < 0 || int(p.prefixes[p.at]) > len(p.previous) {
		return nil, errors.New("a prefix longer than the string before it")
	}
	p.previous = append(p.previous[:p.prefixes[p.at]], s...)
	if len(p.previous) > maxPrefixed {
		return nil, fmt.Errorf("a string of more than %d bytes", maxPrefixed)
	}
	return p.previous, nil
}

// maxPrefixed bounds strings in DELTA_BYTE_ARRAY.
const maxPrefixed = 1 << 20
