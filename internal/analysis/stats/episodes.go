package stats

import "slices"

// Exceedance is a number of slow messages at one instant.
type Exceedance struct {
	At int64 // ns
	N  int64
}

// Episodes returns how many stretches of exceedances, more than gap ns apart
// from one another, carry the share (0 to 1) of all of them, the heaviest
// first, and how many stretches there are. It is the honest number of events
// behind a far quantile. The exceedances ascend by instant.
func Episodes(all []Exceedance, gap int64, share float64) (carrying, total int) {
	var sizes []int64
	var sum, last int64
	for _, e := range all {
		if e.N == 0 {
			continue
		}
		if len(sizes) == 0 || e.At-last > gap {
			sizes = append(sizes, 0)
		}
		sizes[len(sizes)-1] += e.N
		sum += e.N
		last = e.At
	}
	slices.SortFunc(sizes, func(a, b int64) int { return int(min(max(b-a, -1), 1)) })
	var got int64
	for _, n := range sizes {
		got += n
		carrying++
		if float64(got) >= share*float64(sum) {
			break
		}
	}
	return carrying, len(sizes)
}
