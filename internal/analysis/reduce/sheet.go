package reduce

import "math/bits"

// sheet holds the values of a batch by metric.
type sheet struct {
	values   [numMetrics][]int64
	bins     [numMetrics][]int32 // of the values; second pass only
	infinite [numMetrics][]int32 // bins of the infinite ones

	lower         []int64 // lower ends of the bracket; second pass only
	lowerInfinite int64
}

func (s *sheet) add(v *values, bin int) {
	for set := v.finite; set != 0; set &= set - 1 {
		m := bits.TrailingZeros16(set)
		s.values[m] = append(s.values[m], v.v[m])
		s.bins[m] = append(s.bins[m], int32(bin))
	}
	for set := v.infinite; set != 0; set &= set - 1 {
		m := bits.TrailingZeros16(set)
		s.infinite[m] = append(s.infinite[m], int32(bin))
	}
}

func (s *sheet) reset() {
	for m := range s.values {
		s.values[m], s.bins[m], s.infinite[m] = s.values[m][:0], s.bins[m][:0], s.infinite[m][:0]
	}
	s.lower, s.lowerInfinite = s.lower[:0], 0
}

// press works sheets off in a goroutine of its own while the next one is being
// filled. What it does with them must not depend on their order.
type press struct {
	sheet *sheet // being filled
	full  chan *sheet
	free  chan *sheet // has room for all there are: one being filled, one being worked off
	done  chan struct{}
}

func newPress(work func(*sheet)) *press {
	p := &press{sheet: &sheet{}, full: make(chan *sheet, 1), free: make(chan *sheet, 2), done: make(chan struct{})}
	p.free <- &sheet{}
	go func() {
		defer close(p.done)
		for s := range p.full {
			work(s)
			s.reset()
			p.free <- s
		}
	}()
	return p
}

// turn hands the sheet over and takes an empty one.
func (p *press) turn() {
	p.full <- p.sheet
	p.sheet = <-p.free
}

// finish waits until all sheets are worked off.
func (p *press) finish() {
	p.full <- p.sheet
	close(p.full)
	<-p.done
}
