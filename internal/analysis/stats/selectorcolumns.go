package stats

import "math/bits"

// AddColumns takes in the finite values to[i] − from[i] of rows, each in the bin
// of its place: the same as Add of each.
func (s *Selector) AddColumns(bins []uint32, to, from []int64) {
	bins, from = bins[:len(to)], from[:len(to)]
	stride, counts, segments := s.stride, s.counts, s.segments
	s.seen += int64(len(to))
	for i, t := range to {
		v := t - from[i]
		side, u := &s.pos, uint64(v)
		if v < 0 {
			side, u = &s.neg, ^u
		}
		chunk := bits.Len64(u) - finePrecision
		shift := uint(chunk-1) & 63
		if chunk <= 0 {
			chunk, shift = 0, 0
		}
		g := &segments[0]
		if table := side[chunk&(maxChunks-1)]; table != nil {
			g = &segments[table[int(u>>shift)&(len(table)-1)]]
		}
		counts[int(bins[i])*stride+int(g.above)]++
		if g.kept {
			s.keep(g, bins[i], v)
		}
	}
}
