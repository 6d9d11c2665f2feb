package format

import "slices"

const noCode int32 = -2 // a code of the caller that was not looked up yet

const metaSchemaName = "meta/1"

// codebook gathers the distinct values of one string column. A bounded one
// is what a log may hold: MaxStrings values of MaxStringLen bytes, then
// OtherString for all the rest.
type codebook struct {
	bounded bool
	values  []string
	index   map[string]int32
	seen    []string // the caller's dictionary that was adopted last
	mapping []int32  // code of the caller's dictionary → code of ours
	scratch []int32
}

func newCodebook(bounded bool) *codebook {
	return &codebook{bounded: bounded, index: make(map[string]int32)}
}

// code returns the code of a value and adds it if there is room.
func (d *codebook) code(s string) int32 {
	if d.bounded {
		s = CleanString(s)
	}
	if c, ok := d.index[s]; ok {
		return c
	}
	if d.bounded && len(d.values) >= MaxStrings && s != OtherString {
		return d.code(OtherString)
	}
	c := int32(len(d.values))
	d.values = append(d.values, s)
	d.index[s] = c
	return c
}

// codes translates the codes of a caller's column, NULL (−1) included. The
// result is valid until the next call and may be the caller's own slice.
func (d *codebook) codes(s *Strings) []int32 {
	if d.adopt(s.Values) {
		return s.Codes
	}
	d.mapping = d.mapping[:0]
	for range s.Values {
		d.mapping = append(d.mapping, noCode)
	}
	d.scratch = slices.Grow(d.scratch[:0], len(s.Codes))[:len(s.Codes)]
	for i, c := range s.Codes {
		if c < 0 {
			d.scratch[i] = -1
			continue
		}
		m := d.mapping[c]
		if m == noCode {
			m = d.code(s.Values[c])
			d.mapping[c] = m
		}
		d.scratch[i] = m
	}
	return d.scratch
}

// adopt takes over the end of a dictionary that begins like ours, and reports
// whether the caller's codes are now ours: true for every batch of a log that
// is written from one growing dictionary, which needs no translation then.
func (d *codebook) adopt(values []string) bool {
	if len(values) > 0 && len(values) == len(d.seen) && &values[0] == &d.seen[0] {
		return true
	}
	n := min(len(values), len(d.values))
	if !slices.Equal(values[:n], d.values[:n]) {
		return false
	}
	for i := n; i < len(values); i++ {
		if d.code(values[i]) != int32(i) {
			return false
		}
	}
	d.seen = values
	return true
}
