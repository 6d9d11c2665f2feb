package stats

import "math/bits"

// classes say of every bucket of the first pass where it lies among the wanted
// ones: 2k is above k of them and below the others, 2k+1 is the k-th itself. One
// look-up takes the place of comparisons with all bounds.
type classes struct {
	pos   [maxChunks][]uint8
	own   []int   // places in wanted of those that count
	below []int32 // scratch: values of a run by how many wanted buckets they are above
}

// mostClasses is how many wanted buckets there can be.
const mostClasses = 100

func (s *Selector) classify() (c classes) {
	for i := range s.wanted {
		if s.wanted[i].twin == i {
			c.own = append(c.own, i)
		}
	}
	if len(c.own) > mostClasses {
		return classes{}
	}
	c.below = make([]int32, len(c.own)+1)
	h := s.dist.hist
	for chunk, counts := range h.pos {
		if counts == nil {
			continue
		}
		c.pos[chunk] = make([]uint8, len(counts))
		for index := range counts {
			lo, hi := h.edges(chunk, index)
			for k, place := range c.own {
				b := s.wanted[place].bucket
				switch {
				case int64(hi) < b.Low:
				case int64(lo) > b.High:
					c.pos[chunk][index] = uint8(2*k + 2)
				default:
					c.pos[chunk][index] = uint8(2*k + 1)
				}
			}
		}
	}
	return c
}

// AddRun takes in the finite values to[i] − from[i] of rows that are all in one
// bin: the same as Add of each.
func (s *Selector) AddRun(bin int, to, from []int64) {
	from = from[:len(to)]
	c := &s.classes
	if c.below == nil {
		for i, t := range to {
			s.Add(bin, t-from[i])
		}
		return
	}
	clear(c.below)
	precision := s.dist.hist.precision
	counted := 0
	for i, t := range to {
		v := t - from[i]
		u := uint64(v)
		chunk := bits.Len64(u) - precision
		shift := uint(chunk-1) & 63
		if chunk <= 0 {
			chunk, shift = 0, 0
		}
		table := c.pos[chunk&(maxChunks-1)]
		if v < 0 || table == nil {
			s.Add(bin, v)
			continue
		}
		class := table[int(u>>shift)&(len(table)-1)]
		if class&1 != 0 {
			s.Add(bin, v)
			continue
		}
		c.below[class>>1]++
		counted++
	}
	s.seen += int64(counted)
	s.counts[bin] += uint32(counted)
	above := uint32(0)
	for k := len(c.own) - 1; k >= 0; k-- {
		above += uint32(c.below[k+1])
		s.wanted[c.own[k]].exceed[bin] += above
	}
}
