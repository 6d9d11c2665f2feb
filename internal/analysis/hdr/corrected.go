package hdr

import "fmt"

// mostSteps bounds the values that a correction makes up.
const mostSteps = 10_000_000

// Corrected returns a copy that is corrected for coordinated omission as the Java
// version's copyCorrectedForCoordinatedOmission does: for every value v, taken
// as the highest equivalent one, v − T, v − 2T, … down to T are added as often as
// v was counted. It is right for one request in flight at a constant interval T
// ns whose requests were omitted during a stall, and for nothing else.
func (h *Histogram) Corrected(expected int64) (*Histogram, error) {
	if expected < 1 {
		return nil, fmt.Errorf("expected interval of %d ns: must be above 0", expected)
	}
	out := NewHistogram(h.shape)
	if err := out.Merge(h); err != nil {
		return nil, err
	}
	added := map[int64]int64{}
	steps := int64(0)
	for b := range h.Buckets {
		if steps += b.High / expected; steps > mostSteps {
			return nil, fmt.Errorf("an expected interval of %d ns is too short for values of %d ns", expected, b.High)
		}
		for v := b.High - expected; v >= expected; v -= expected {
			added[h.geo.low(v)] += b.Count
		}
	}
	for low, n := range added {
		out.loose = append(out.loose, bucket{low, n})
		out.n += n
	}
	return out, nil
}
