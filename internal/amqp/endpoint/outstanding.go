package endpoint

import "slices"

// Outstanding holds values by ascending 64-bit keys, most of which are taken out
// in about the order in which they went in: unsettled deliveries. The zero value
// is empty. Putting, getting and taking cost a few nanoseconds and allocate only
// while it grows; a value that stays long does not keep the places of all that
// came after it.
type Outstanding[T any] struct {
	ring []slot[T]   // length a power of two
	base int64       // key of the oldest place
	n    int         // places in use, empty ones between included
	live int         // values in ring
	far  map[int64]T // stragglers, below base
}

type slot[T any] struct {
	v  T
	ok bool
}

const sparseAt = 1024 // places from which on a sparse ring is given up

// Len is the number of values.
func (o *Outstanding[T]) Len() int { return o.live + len(o.far) }

func (o *Outstanding[T]) at(key int64) *slot[T] { return &o.ring[key&int64(len(o.ring)-1)] }

// Put adds a value; its key must be above all keys put before.
func (o *Outstanding[T]) Put(key int64, v T) {
	switch {
	case o.n == 0:
		o.base = key
	case key != o.base+int64(o.n):
		o.spill()
		o.base = key
	}
	if o.n == len(o.ring) {
		o.grow()
	}
	*o.at(key) = slot[T]{v, true}
	o.n++
	o.live++
}

func (o *Outstanding[T]) grow() {
	old := o.ring
	o.ring = make([]slot[T], max(16, 2*len(old)))
	for k := o.base; k < o.base+int64(o.n); k++ {
		*o.at(k) = old[k&int64(len(old)-1)]
	}
}

// spill moves what is left in the ring to the stragglers.
func (o *Outstanding[T]) spill() {
	for k := o.base; k < o.base+int64(o.n); k++ {
		if s := o.at(k); s.ok {
			if o.far == nil {
				o.far = make(map[int64]T)
			}
			o.far[k] = s.v
			*s = slot[T]{}
		}
	}
	o.n, o.live = 0, 0
}

func (o *Outstanding[T]) inRing(key int64) bool { return key >= o.base && key < o.base+int64(o.n) }

// Get returns the value of a key.
func (o *Outstanding[T]) Get(key int64) (v T, ok bool) {
	if o.inRing(key) {
		s := o.at(key)
		return s.v, s.ok
	}
	v, ok = o.far[key]
	return v, ok
}

// Take removes and returns the value of a key.
func (o *Outstanding[T]) Take(key int64) (v T, ok bool) {
	if !o.inRing(key) {
		if v, ok = o.far[key]; ok {
			delete(o.far, key)
		}
		return v, ok
	}
	s := o.at(key)
	if v, ok = s.v, s.ok; ok {
		*s = slot[T]{}
		o.live--
		o.trim()
	}
	return v, ok
}

// trim gives up empty places at the old end, or all when few are used.
func (o *Outstanding[T]) trim() {
	if o.live == 0 {
		o.base += int64(o.n)
		o.n = 0
		return
	}
	for !o.at(o.base).ok {
		o.base++
		o.n--
	}
	if o.n > sparseAt && o.live*8 < o.n {
		o.spill()
	}
}

// TakeRange removes the values with keys from first to last, both included, and
// calls fn for each in ascending order. fn must not change o.
func (o *Outstanding[T]) TakeRange(first, last int64, fn func(key int64, v T)) {
	for _, k := range o.farKeys(first, last) {
		v := o.far[k]
		delete(o.far, k)
		fn(k, v)
	}
	lo, hi := max(first, o.base), min(last, o.base+int64(o.n)-1)
	for k := lo; k <= hi; k++ {
		if s := o.at(k); s.ok {
			v := s.v
			*s = slot[T]{}
			o.live--
			fn(k, v)
		}
	}
	if lo <= hi {
		o.trim()
	}
}

func (o *Outstanding[T]) farKeys(first, last int64) []int64 {
	if len(o.far) == 0 || first >= o.base && o.n > 0 {
		return nil
	}
	var keys []int64
	for k := range o.far {
		if k >= first && k <= last {
			keys = append(keys, k)
		}
	}
	slices.Sort(keys)
	return keys
}

// All calls fn for each value in ascending order of keys. fn must not change o.
func (o *Outstanding[T]) All(fn func(key int64, v T)) {
	keys := make([]int64, 0, len(o.far))
	for k := range o.far {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	for _, k := range keys {
		fn(k, o.far[k])
	}
	for k := o.base; k < o.base+int64(o.n); k++ {
		if s := o.at(k); s.ok {
			fn(k, s.v)
		}
	}
}

// TakeIf removes the values for which drop is true.
func (o *Outstanding[T]) TakeIf(drop func(key int64, v T) bool) {
	for k, v := range o.far {
		if drop(k, v) {
			delete(o.far, k)
		}
	}
	for k := o.base; k < o.base+int64(o.n); k++ {
		if s := o.at(k); s.ok && drop(k, s.v) {
			*s = slot[T]{}
			o.live--
		}
	}
	if o.n > 0 {
		o.trim()
	}
}
