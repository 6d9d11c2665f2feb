// Package live holds the small statistics that perf-send and perf-recv print
// while they run and in their SUMMARY. They are a convenience: every number of
// a report comes from the rows of the logs, never from here.
package live

import (
	"math"
	"math/bits"
)

// A value below 2^subBits has a bucket of its own; above, every power of two is
// divided into 2^subBits buckets, so a bucket is at most 1/32 of its values wide.
const (
	subBits = 5
	sub     = 1 << subBits
	octaves = 63 - subBits + 1

	fewValues = 16
)

// Histogram counts values of ns in log-linear buckets; quantiles are at most
// 3.2 % too high, minimum, maximum and mean are exact. The zero value is ready.
// It takes 256 bytes for every power of two that occurs and allocates them at
// their first use only; the first few values are kept as they are, because a
// thousand producers with ten messages a second each are collected every second.
// It is not safe for concurrent use.
type Histogram struct {
	counts   [octaves]*[sub]uint64
	few      [fewValues]int64
	counted  bool // the values are in counts and no longer in few
	n        int64
	sum      float64
	min, max int64
}

// Record adds a value; a negative one (clocks of two hosts) counts as 0 in the
// buckets, as itself in Min.
func (h *Histogram) Record(v int64) {
	if h.n == 0 {
		h.min, h.max = v, v
	}
	h.n++
	h.sum += float64(v)
	h.min = min(h.min, v)
	h.max = max(h.max, v)
	if !h.counted && h.n <= fewValues {
		h.few[h.n-1] = v
		return
	}
	h.spread(h.n - 1)
	h.count(v)
}

// spread counts the first n values, which are in few unless they were counted.
func (h *Histogram) spread(n int64) {
	if h.counted {
		return
	}
	h.counted = true
	for _, v := range h.few[:n] {
		h.count(v)
	}
}

// count counts a value in its bucket.
func (h *Histogram) count(v int64) {
	octave, i := bucket(uint64(max(v, 0)))
	if h.counts[octave] == nil {
		h.counts[octave] = new([sub]uint64)
	}
	h.counts[octave][i]++
}

// bucket returns where v is counted: octave 0 holds 0…31 one by one, octave o
// the values 2^(o+4) … 2^(o+5)−1 in steps of 2^(o−1).
func bucket(v uint64) (octave, i int) {
	octave = max(0, bits.Len64(v)-subBits)
	if octave == 0 {
		return 0, int(v)
	}
	return octave, int(v>>(octave-1)) & (sub - 1)
}

// upper returns the largest value of a bucket.
func upper(octave, i int) int64 {
	if octave == 0 {
		return int64(i)
	}
	return int64((uint64(sub+i)+1)<<(octave-1) - 1)
}

// Merge adds what o counted.
func (h *Histogram) Merge(o *Histogram) {
	if o.n == 0 {
		return
	}
	h.spread(h.n)
	if h.n == 0 {
		h.min, h.max = o.min, o.max
	}
	h.n += o.n
	h.sum += o.sum
	h.min = min(h.min, o.min)
	h.max = max(h.max, o.max)
	if !o.counted {
		for _, v := range o.few[:o.n] {
			h.count(v)
		}
		return
	}
	for octave, from := range o.counts {
		if from == nil {
			continue
		}
		if h.counts[octave] == nil {
			h.counts[octave] = new([sub]uint64)
		}
		for i, c := range from {
			h.counts[octave][i] += c
		}
	}
}

// Reset forgets the values and keeps the memory.
func (h *Histogram) Reset() {
	if h.counted {
		for _, c := range h.counts {
			if c != nil {
				clear(c[:])
			}
		}
	}
	h.counted = false
	h.n, h.sum, h.min, h.max = 0, 0, 0, 0
}

// N returns the number of values.
func (h *Histogram) N() int64 { return h.n }

// Min returns the smallest value, 0 if there is none.
func (h *Histogram) Min() int64 { return h.min }

// Max returns the largest value, 0 if there is none.
func (h *Histogram) Max() int64 { return h.max }

// Mean returns the mean, 0 if there is no value.
func (h *Histogram) Mean() float64 {
	if h.n == 0 {
		return 0
	}
	return h.sum / float64(h.n)
}

// Quantile returns the upper edge of the bucket that holds the value of rank
// ⌈p·n⌉, never more than Max; 0 if there is no value.
func (h *Histogram) Quantile(p float64) int64 {
	h.spread(h.n)
	rank := uint64(max(1, math.Ceil(p*float64(h.n))))
	seen := uint64(0)
	for octave, c := range h.counts {
		if c == nil {
			continue
		}
		for i, k := range c {
			if seen += k; seen >= rank {
				return max(h.min, min(h.max, upper(octave, i)))
			}
		}
	}
	return h.max
}
