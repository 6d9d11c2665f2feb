// Package size says how large bodies are: the same for all messages, or drawn from
// a distribution. The size of a message is a function of seed, producer and
// seq, so one that was never sent has a size too, and one that is sent again the
// same.
package size

import (
	"fmt"
	"math"
	"math/bits"
	"strconv"
	"strings"

	"amqpperf/internal/units"
)

// Dist is a distribution of sizes in bytes. It is a pflag.Value.
type Dist struct {
	low, high float64 // uniform; equal: all the same
	median    float64 // log-normal if above 0
	factor    float64
	text      string
}

// Fixed returns the distribution of which all sizes are n.
func Fixed(n int64) Dist {
	s := units.Size(n)
	return Dist{low: float64(n), high: float64(n), text: s.String()}
}

// spread is how far a log-normal size goes at most, in standard deviations of its
// logarithm: once in 500 million draws without the bound.
const spread = 6

// Parse reads "1KiB" (all the same), "100..4k" (all sizes from 100 to 4000 equally
// often), or "lognormal(1k,2)": the median, and the factor within which, up or
// down, two thirds of the sizes are, at most 6 such factors away.
func Parse(s string) (Dist, error) {
	if rest, ok := strings.CutPrefix(s, "lognormal("); ok {
		return parseLogNormal(s, rest)
	}
	from, to, ok := strings.Cut(s, "..")
	low, err := units.ParseSize(from)
	if err != nil {
		return Dist{}, err
	}
	if !ok {
		d := Fixed(int64(low))
		d.text = s
		return d, nil
	}
	high, err := units.ParseSize(to)
	if err != nil {
		return Dist{}, err
	}
	if low > high {
		return Dist{}, fmt.Errorf("size %q: the smallest is above the largest", s)
	}
	return Dist{low: float64(low), high: float64(high), text: s}, nil
}

func parseLogNormal(s, rest string) (Dist, error) {
	inner, ok := strings.CutSuffix(rest, ")")
	first, second, two := strings.Cut(inner, ",")
	if !ok || !two {
		return Dist{}, fmt.Errorf("size %q: not lognormal(MEDIAN,FACTOR) (example: lognormal(1k,2))", s)
	}
	median, err := units.ParseSize(strings.TrimSpace(first))
	if err != nil {
		return Dist{}, err
	}
	factor, err := strconv.ParseFloat(strings.TrimSpace(second), 64)
	d := Dist{median: float64(median), factor: factor, text: s}
	switch {
	case err != nil || !(factor >= 1) || factor > 100:
		return Dist{}, fmt.Errorf("size %q: the factor is a number from 1 to 100", s)
	case median < 1:
		return Dist{}, fmt.Errorf("size %q: the median must be above 0", s)
	case d.median*math.Pow(factor, spread) > math.MaxInt32:
		return Dist{}, fmt.Errorf("size %q: the largest would be above %d bytes", s, math.MaxInt32)
	}
	return d, nil
}

// Set implements pflag.Value.
func (d *Dist) Set(s string) (err error) { *d, err = Parse(s); return err }

// String implements pflag.Value.
func (d *Dist) String() string { return d.text }

// Type implements pflag.Value.
func (d *Dist) Type() string { return "size" }

// Fixed reports whether all sizes are the same.
func (d *Dist) Fixed() bool { return d.low == d.high && d.median == 0 || d.factor == 1 }

// Unbounded reports whether sizes have no bounds that somebody has chosen: they
// are cut where one must be.
func (d *Dist) Unbounded() bool { return d.median > 0 }

// Min returns the smallest size.
func (d *Dist) Min() int64 {
	if d.median > 0 {
		return int64(math.Round(d.median / math.Pow(d.factor, spread)))
	}
	return int64(d.low)
}

// Max returns the largest size.
func (d *Dist) Max() int64 {
	if d.median > 0 {
		return int64(math.Round(d.median * math.Pow(d.factor, spread)))
	}
	return int64(d.high)
}

// Of returns the size of a message.
func (d *Dist) Of(seed uint64, producer int32, seq int64) int32 {
	if d.Fixed() {
		return int32(d.Max())
	}
	x := mix(mix(seed^uint64(uint32(producer))<<32) + uint64(seq))
	if d.median == 0 {
		hi, _ := bits.Mul64(x, uint64(d.high-d.low)+1)
		return int32(int64(d.low) + int64(hi))
	}
	z := max(-spread, min(spread, normal(x)))
	return int32(math.Round(d.median * math.Pow(d.factor, z)))
}

// normal returns a standard normal variate made of 64 random bits (Box and Muller,
// 1958).
func normal(x uint64) float64 {
	u, v := float64(x>>11+1)/(1<<53), float64(mix(x)>>11)/(1<<53)
	return math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014).
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
