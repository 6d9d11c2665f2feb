package format

import (
	"encoding/binary"
	"slices"
	"strings"
	"unicode/utf8"
)

// stringDict maps the dictionaries of batches to that of the file (bounded by
// MaxStrings) and further to that of the open row group, which holds only what
// the row group uses.
type stringDict struct {
	values   []string
	index    map[string]int32
	other    int32 // code of OtherString, −1 while it is not in use
	overflow int64 // rows written as OtherString

	source []string // dictionary of the last batch
	remap  []int32  // its codes → codes of the file
	local  []int32  // codes of the file → codes of the row group, −1 = not there yet
	used   []int32  // codes of the row group → codes of the file
}

func newStringDict() *stringDict {
	return &stringDict{index: map[string]int32{}, other: -1}
}

// use makes source the dictionary that codes refer to. Batches of one origin
// keep or extend their dictionary, so mostly nothing is new.
func (d *stringDict) use(source []string) {
	same := 0
	for same < len(source) && same < len(d.source) && source[same] == d.source[same] {
		same++
	}
	d.source, d.remap = d.source[:same], d.remap[:same]
	for _, s := range source[same:] {
		d.source = append(d.source, s)
		d.remap = append(d.remap, -1) // looked up when it is used
	}
}

// codes returns the row group's code of the source's code c, for n rows.
func (d *stringDict) codes(c int32, n int) int32 {
	g := d.remap[c]
	if g < 0 {
		g = d.global(d.source[c])
		d.remap[c] = g
	}
	if g == d.other {
		d.overflow += int64(n)
	}
	l := d.local[g]
	if l < 0 {
		l = int32(len(d.used)) // at most MaxStrings + 1
		d.local[g] = l
		d.used = append(d.used, g)
	}
	return l
}

func (d *stringDict) global(s string) int32 {
	s = CleanString(s)
	if g, ok := d.index[s]; ok {
		return g
	}
	if len(d.values) >= MaxStrings {
		if d.other >= 0 {
			return d.other
		}
		s = OtherString
		d.other = int32(len(d.values)) // MaxStrings
	}
	g := int32(len(d.values)) // at most MaxStrings
	s = strings.Clone(s)
	d.values = append(d.values, s)
	d.index[s] = g
	d.local = append(d.local, -1)
	return g
}

// plain appends the row group's dictionary in PLAIN encoding.
func (d *stringDict) plain(dst []byte) (page []byte, n int) {
	for _, g := range d.used {
		s := d.values[g]
		dst = binary.LittleEndian.AppendUint32(dst, uint32(len(s))) // at most MaxStringLen
		dst = append(dst, s...)
	}
	return dst, len(d.used)
}

// bounds returns the smallest and largest string of the row group, nil if it has none.
func (d *stringDict) bounds() (lo, hi []byte) {
	if len(d.used) == 0 {
		return nil, nil
	}
	used := make([]string, 0, len(d.used))
	for _, g := range d.used {
		used = append(used, d.values[g])
	}
	return []byte(slices.Min(used)), []byte(slices.Max(used))
}

func (d *stringDict) endGroup() {
	for _, g := range d.used {
		d.local[g] = -1
	}
	d.used = d.used[:0]
}

// CleanString returns s as a string column holds it: valid UTF-8 of at most
// MaxStringLen bytes, cut at a character boundary.
func CleanString(s string) string {
	if len(s) <= MaxStringLen && utf8.ValidString(s) {
		return s
	}
	s = strings.ToValidUTF8(s[:min(len(s), MaxStringLen+utf8.UTFMax)], "\uFFFD")
	if len(s) <= MaxStringLen {
		return s
	}
	n := MaxStringLen
	for !utf8.RuneStart(s[n]) {
		n--
	}
	return s[:n]
}
