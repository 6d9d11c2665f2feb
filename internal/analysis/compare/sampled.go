package compare

import (
	"math"
	"math/bits"
	"math/rand/v2"
	"time"

	"amqpperf/internal/analysis/reduce"
)

const (
	// mostBins and leastWidth are how finely a run's time is divided: blocks begin
	// at bins.
	mostBins   = 512
	leastWidth = int64(100 * time.Millisecond)
	// perOctave buckets divide each doubling; the top one holds what is infinite.
	perOctave = 512
	octaves   = 42 // up to 73 min
	buckets   = octaves*perOctave + 1
	infinite  = buckets - 1
)

// Sampled keeps the values of one metric of a run by the time they were intended
// for, in at most 50 MiB; it implements reduce.Sink. The warm-up is left out.
type Sampled struct {
	// Choose picks the metric when the run is known.
	Choose func(d *reduce.Data) reduce.Metric
	Metric reduce.Metric

	start, end, width int64
	bins              [][]uint32 // nil: empty
	sparse            [][]cell
	n                 int64
	length            int // of a block, in bins; 0: not known yet
}

// cell is a bucket of a bin with its count.
type cell struct {
	bucket int32
	n      uint32
}

// Begin implements reduce.Sink.
func (s *Sampled) Begin(d *reduce.Data) error {
	if s.Choose != nil {
		s.Metric = s.Choose(d)
	}
	s.start, s.end = d.Window.First, d.Window.Last
	s.width = max(leastWidth, (s.end-s.start)/mostBins+1)
	s.bins = make([][]uint32, (s.end-s.start)/s.width+1)
	return nil
}

// Sample implements reduce.Sink.
func (s *Sampled) Sample(m reduce.Metric, intended, v, _ int64) {
	if m == s.Metric {
		s.add(intended, bucketOf(v))
	}
}

// Infinite implements reduce.Sink.
func (s *Sampled) Infinite(m reduce.Metric, intended int64) {
	if m == s.Metric {
		s.add(intended, infinite)
	}
}

func (s *Sampled) add(intended int64, bucket int) {
	if intended < s.start || intended > s.end {
		return
	}
	i := (intended - s.start) / s.width
	if s.bins[i] == nil {
		s.bins[i] = make([]uint32, buckets)
	}
	s.bins[i][bucket]++
	s.n++
}

// bucketOf numbers buckets whose edges are 1/512 of their octave apart. All
// values below 512 ns have one of their own; what is not above 0 is in the first.
func bucketOf(v int64) int {
	if v < 1 {
		return 0
	}
	octave := bits.Len64(uint64(v)) - 1
	if octave >= octaves {
		return infinite - 1
	}
	if octave < 9 {
		return octave*perOctave + int(v-1<<octave)<<(9-octave)
	}
	return octave*perOctave + int(v>>(octave-9)) - perOctave
}

// valueOf is the middle of a bucket.
func valueOf(bucket int) float64 {
	if bucket == infinite {
		return math.Inf(1)
	}
	octave := bucket / perOctave
	low := math.Ldexp(1+float64(bucket%perOctave)/perOctave, octave)
	if octave < 9 {
		return low
	}
	return low + math.Ldexp(1, octave-9)/2
}

// pack turns the bins into lists of what is in them.
func (s *Sampled) pack() {
	if s.sparse != nil {
		return
	}
	s.sparse = make([][]cell, len(s.bins))
	for i, bin := range s.bins {
		for b, n := range bin {
			if n > 0 {
				s.sparse[i] = append(s.sparse[i], cell{int32(b), n})
			}
		}
		s.bins[i] = nil
	}
}

// filled is the number of bins up to the last one with a value.
func (s *Sampled) filled() int {
	s.pack()
	for i := len(s.sparse) - 1; i >= 0; i-- {
		if s.sparse[i] != nil {
			return i + 1
		}
	}
	return 0
}

// quantiles are those of all values.
func (s *Sampled) quantiles(fractions []float64) []float64 {
	s.pack()
	counts := make([]uint64, buckets)
	for _, bin := range s.sparse {
		for _, c := range bin {
			counts[c.bucket] += uint64(c.n)
		}
	}
	return walk(counts, fractions)
}

// walk returns the nearest-rank quantiles of counts by bucket; fractions ascend.
func walk(counts []uint64, fractions []float64) []float64 {
	var n uint64
	for _, c := range counts {
		n += c
	}
	out := make([]float64, len(fractions))
	bucket, seen := 0, counts[0]
	for i, p := range fractions {
		rank := max(1, uint64(math.Ceil(p*float64(n)-1e-9)))
		for seen < rank && bucket < len(counts)-1 {
			bucket++
			seen += counts[bucket]
		}
		out[i] = valueOf(bucket)
	}
	return out
}

// draw is one resampling: blocks that begin anywhere, drawn with replacement,
// until they are as long as the run.
func (s *Sampled) draw(r *rand.Rand, counts []uint64, fractions []float64) []float64 {
	clear(counts)
	n, length := s.filled(), s.block()
	for left := n; left > 0; {
		take := min(length, left)
		from := r.IntN(n - length + 1)
		for _, bin := range s.sparse[from : from+take] {
			for _, c := range bin {
				counts[c.bucket] += uint64(c.n)
			}
		}
		left -= take
	}
	return walk(counts, fractions)
}

// block is the length of a block in bins: at least a second, and twice the batch
// over which exceedances of the median and of p99 are most clustered (the b that
// maximises the variance inflation).
func (s *Sampled) block() int {
	if s.length > 0 {
		return s.length
	}
	bins := max(1, int((int64(time.Second)+s.width-1)/s.width))
	edges := s.quantiles([]float64{0.5, 0.99})
	for _, edge := range edges {
		bins = max(bins, 2*s.clustered(edge))
	}
	s.length = bins
	return bins
}

// clustered returns the number of bins of the batch with the largest variance
// inflation, of batches of 1, 2, 4, … bins of which there are at least 30.
func (s *Sampled) clustered(edge float64) int {
	s.pack()
	counts, above := make([]float64, len(s.sparse)), make([]float64, len(s.sparse))
	var n, e float64
	for i, bin := range s.sparse {
		for _, c := range bin {
			counts[i] += float64(c.n)
			if valueOf(int(c.bucket)) > edge {
				above[i] += float64(c.n)
			}
		}
		n, e = n+counts[i], e+above[i]
	}
	if e == 0 || e == n {
		return 1
	}
	best, longest := 0.0, 1
	for batch := 1; len(counts)/batch >= 30; batch *= 2 {
		sum, filled := 0.0, 0.0
		for i := 0; i < len(counts); i += batch {
			var bn, be float64
			for k := i; k < min(i+batch, len(counts)); k++ {
				bn, be = bn+counts[k], be+above[k]
			}
			if bn > 0 {
				d := be - e/n*bn
				sum, filled = sum+d*d, filled+1
			}
		}
		if filled < 2 {
			break
		}
		if vif := filled / (filled - 1) * sum; vif > best*1.0000001 {
			best, longest = vif, batch
		}
	}
	return longest
}

var _ reduce.Sink = (*Sampled)(nil)
