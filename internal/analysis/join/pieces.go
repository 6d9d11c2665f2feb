package join

// piece is some values that are taken from one stretch of a column.
type piece struct{ to, from, n int32 }

// worthPieces is how long pieces must be on average for copying them as such
// to be cheaper than row by row.
const worthPieces = 16

// pieces divides rows, of which those below 0 are none, into stretches that
// follow one another. ok is false where there are too many.
func pieces(dst []piece, rows []int32) (out []piece, ok bool) {
	most := len(rows)/worthPieces + 4
	out = dst[:0]
	for k := 0; k < len(rows); {
		first, from := k, rows[k]
		k++
		if from < 0 {
			continue
		}
		for k < len(rows) && rows[k]-from == int32(k-first) { //nolint:gosec // rows of a batch
			k++
		}
		if len(out) == most {
			return out[:0], false
		}
		out = append(out, piece{int32(first), from, int32(k - first)}) //nolint:gosec // rows of a batch
	}
	return out, true
}

// picker copies values of the same rows from one column after the other.
type picker struct {
	rows   []int32
	pieces []piece
	whole  bool // pieces is to be used
}

func (p *picker) use(rows []int32) {
	p.rows = rows
	p.pieces, p.whole = pieces(p.pieces, rows)
}

// get copies the values of the rows; those of a row below 0 are any. src must not be empty.
func get[T any](p *picker, dst, src []T) {
	if p.whole {
		for _, c := range p.pieces {
			copy(dst[c.to:c.to+c.n], src[c.from:])
		}
		return
	}
	for k, i := range p.rows {
		dst[k] = src[max(i, 0)]
	}
}

// getCodes is get for codes of one dictionary that become those of another.
func getCodes(p *picker, dst, src, codes []int32) {
	get(p, dst, src)
	translate(dst, codes)
}

// translate replaces codes; what is below 0 stays. Values of rows that are none
// may be out of range: they are overwritten later.
func translate(dst, codes []int32) {
	if len(dst) > 0 && uniform(dst) {
		if c := dst[0]; c >= 0 && int(c) < len(codes) && codes[c] != c {
			fillWith(dst, codes[c])
		}
		return
	}
	for k, c := range dst {
		if uint(c) < uint(len(codes)) { //nolint:gosec // below 0 is beyond
			dst[k] = codes[c]
		}
	}
}

// shiftAll moves the instants that are not NULL.
func shiftAll(s []int64, by int64) {
	if by == 0 {
		return
	}
	for k, v := range s {
		s[k] = moved(v, by)
	}
}

// shiftEach is shiftAll with an amount for every row.
func shiftEach(s, by []int64) {
	for k, v := range s {
		s[k] = moved(v, by[k])
	}
}

// uniform reports whether all values are equal; no values are.
func uniform[T comparable](s []T) bool {
	if len(s) == 0 {
		return true
	}
	first := s[0]
	if s[len(s)-1] != first || s[len(s)/2] != first {
		return false
	}
	for ; len(s) >= 8; s = s[8:] {
		if s[0] != first || s[1] != first || s[2] != first || s[3] != first ||
			s[4] != first || s[5] != first || s[6] != first || s[7] != first {
			return false
		}
	}
	for _, v := range s {
		if v != first {
			return false
		}
	}
	return true
}

// fillWith gives all elements one value.
func fillWith[T any](s []T, v T) {
	if len(s) == 0 {
		return
	}
	s[0] = v
	for n := 1; n < len(s); n *= 2 {
		copy(s[n:], s[:n])
	}
}
