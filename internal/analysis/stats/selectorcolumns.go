package stats

import "math/bits"

// AddColumns takes in the finite values to[i] − from[i] of rows, each in the bin
// of its place: the same as Add of each.
func (s *Selector) AddColumns(bins []uint32, to, from []int64) {
	bins, from = bins[:len(to)], from[:len(to)]
	s.seen += int64(len(to))
	for i := 0; i < len(to); {
		k := i + 1
		for k < len(to) && bins[k] == bins[i] {
			k++
		}
		s.addBin(bins[i], to[i:k], from[i:k])
		i = k
	}
}

// Several counts in one register: of each spot's place but the first, which is
// what is left, in countBits bits.
const (
	countBits   = 12
	packedSpots = 64 / countBits
	packedRows  = 1 << 10 // fewer than fit countBits, to have the noted ones in a cache
)

// addBin takes in rows of one bin.
func (s *Selector) addBin(bin uint32, to, from []int64) {
	counts := s.counts[int(bin)*s.stride:][:s.stride]
	if len(counts) > packedSpots+1 || len(to) < packedSpots {
		for i, t := range to {
			v := t - from[i]
			above, kept := s.lookUp(v)
			counts[above]++
			if kept != nil {
				s.keep(kept, bin, v)
			}
		}
		return
	}
	for len(to) > 0 {
		n := min(len(to), packedRows)
		s.addPacked(bin, counts, to[:n], from[:n])
		to, from = to[n:], from[n:]
	}
}

// addPacked takes in at most packedRows rows of one bin. Which rows are noted
// is hard to foresee, so that it has no branches for them.
func (s *Selector) addPacked(bin uint32, counts []uint32, to, from []int64) {
	from = from[:len(to)]
	var one [8]uint64 // by code; 0 for noted, too
	for above := 1; above < len(counts); above++ {
		one[above&7] = 1 << (countBits * (above - 1))
	}
	var sum uint64
	lookUp := &s.lookedUp
	n := 0
	for i, t := range to {
		v := t - from[i]
		u := uint64(v)
		// As Histogram.place has it; below zero it is the last chunk.
		shift := uint(bits.Len64(u|1<<DefaultPrecision)) - DefaultPrecision - 1
		at := u >> (shift & 63)
		code := s.coarse[(shift+uint(at>>DefaultPrecision))&(maxChunks-1)][at&(1<<DefaultPrecision-1)]
		sum += one[code&7]
		lookUp[n&(packedRows-1)] = v
		n += int(code >> 15)
	}
	for _, v := range lookUp[:n] {
		above, kept := s.lookUp(v)
		sum += one[above&7]
		if kept != nil {
			s.keep(kept, bin, v)
		}
	}
	rest := uint32(len(to))
	for above := 1; above < len(counts); above++ {
		n := uint32(sum>>(countBits*(above-1))) & (1<<countBits - 1)
		counts[above] += n
		rest -= n
	}
	counts[0] += rest
}

// lookUp returns how many spots are below a value, and its segment if it is kept.
func (s *Selector) lookUp(v int64) (above uint32, kept *segment) {
	side, u := &s.pos, uint64(v)
	if v < 0 {
		side, u = &s.neg, ^u
	}
	chunk, index := s.dist.fine.place(u)
	g := &s.segments[0]
	if table := side[chunk]; table != nil {
		g = &s.segments[table[index]]
	}
	if g.kept {
		kept = g
	}
	return g.above, kept
}
