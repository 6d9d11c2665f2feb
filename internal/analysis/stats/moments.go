package stats

import (
	"math"
	"math/big"
	"math/bits"
)

// Moments accumulates count, extremes, sum and sum of squares of int64 values.
// The sum has 128 bits and the sum of squares 192, so that both are exact for
// every input and independent of its order. The zero value is ready for use.
type Moments struct {
	n        int64
	min, max int64
	sum      [2]uint64 // two's complement, low word first
	squares  [3]uint64
}

// Add takes in one value.
func (m *Moments) Add(v int64) {
	if m.n == 0 || v < m.min {
		m.min = v
	}
	if m.n == 0 || v > m.max {
		m.max = v
	}
	m.n++
	var c uint64
	m.sum[0], c = bits.Add64(m.sum[0], uint64(v), 0)
	m.sum[1], _ = bits.Add64(m.sum[1], uint64(v>>63), c)
	u := uint64(v)
	if v < 0 {
		u = -u
	}
	hi, lo := bits.Mul64(u, u)
	m.squares[0], c = bits.Add64(m.squares[0], lo, 0)
	m.squares[1], c = bits.Add64(m.squares[1], hi, c)
	m.squares[2] += c
}

// AddDifferences takes in to[i] − from[i] for all i. It is Add for columns.
func (m *Moments) AddDifferences(to, from []int64) {
	from = from[:len(to)]
	for len(to) > 0 {
		n := min(len(to), mostAtOnce)
		m.addSome(to[:n], from[:n])
		to, from = to[n:], from[n:]
	}
}

// Up to so many values below smallValue have a sum of squares of 64 bits.
const (
	mostAtOnce = 1 << 10
	smallValue = 1 << 26 // 67 ms
)

// addSome takes in at most mostAtOnce differences, one at least; if all are small,
// in 64 bits. It returns their extremes.
func (m *Moments) addSome(to, from []int64) (lowest, highest int64) {
	lowest, highest = to[0]-from[0], to[0]-from[0]
	sum, squares := int64(0), uint64(0)
	for i, t := range to {
		v := t - from[i]
		lowest, highest = min(lowest, v), max(highest, v)
		sum += v
		squares += uint64(v * v) // if it wraps it is not used
	}
	if lowest <= -smallValue || highest >= smallValue {
		for i, t := range to {
			m.Add(t - from[i])
		}
		return lowest, highest
	}
	var c uint64
	m.sum[0], c = bits.Add64(m.sum[0], uint64(sum), 0)
	m.sum[1], _ = bits.Add64(m.sum[1], uint64(sum>>63), c)
	m.squares[0], c = bits.Add64(m.squares[0], squares, 0)
	m.squares[1], c = bits.Add64(m.squares[1], 0, c)
	m.squares[2] += c
	if m.n == 0 {
		m.min, m.max = lowest, highest
	}
	m.min, m.max = min(m.min, lowest), max(m.max, highest)
	m.n += int64(len(to))
	return lowest, highest
}

// AddN takes in a value n times, n at least 0.
func (m *Moments) AddN(v, n int64) {
	if n <= 0 {
		return
	}
	var one Moments
	one.Add(v)
	var c uint64
	hi, lo := bits.Mul64(one.sum[0], uint64(n))
	m.sum[0], c = bits.Add64(m.sum[0], lo, 0)
	m.sum[1], _ = bits.Add64(m.sum[1], hi+one.sum[1]*uint64(n), c)
	h0, l0 := bits.Mul64(one.squares[0], uint64(n))
	h1, l1 := bits.Mul64(one.squares[1], uint64(n))
	m.squares[0], c = bits.Add64(m.squares[0], l0, 0)
	m.squares[1], c = bits.Add64(m.squares[1], h0, c)
	m.squares[2] += c
	m.squares[1], c = bits.Add64(m.squares[1], l1, 0)
	m.squares[2] += h1 + c
	if m.n == 0 {
		m.min, m.max = v, v
	}
	m.min, m.max = min(m.min, v), max(m.max, v)
	m.n += n
}

// Merge takes in all values of o.
func (m *Moments) Merge(o *Moments) {
	if o.n == 0 {
		return
	}
	if m.n == 0 {
		*m = *o
		return
	}
	m.min, m.max = min(m.min, o.min), max(m.max, o.max)
	m.n += o.n
	var c uint64
	m.sum[0], c = bits.Add64(m.sum[0], o.sum[0], 0)
	m.sum[1], _ = bits.Add64(m.sum[1], o.sum[1], c)
	m.squares[0], c = bits.Add64(m.squares[0], o.squares[0], 0)
	m.squares[1], c = bits.Add64(m.squares[1], o.squares[1], c)
	m.squares[2], _ = bits.Add64(m.squares[2], o.squares[2], c)
}

// N returns the number of values.
func (m *Moments) N() int64 { return m.n }

// Min returns the smallest value, 0 when there is none.
func (m *Moments) Min() int64 { return m.min }

// Max returns the largest value, 0 when there is none.
func (m *Moments) Max() int64 { return m.max }

// Mean returns the arithmetic mean, NaN when there is no value.
func (m *Moments) Mean() float64 {
	if m.n == 0 {
		return math.NaN()
	}
	f, _ := new(big.Rat).SetFrac(m.bigSum(), big.NewInt(m.n)).Float64()
	return f
}

// StdDev returns the sample standard deviation (divisor n−1), NaN below two
// values.
func (m *Moments) StdDev() float64 {
	if m.n < 2 {
		return math.NaN()
	}
	n := big.NewInt(m.n)
	sum, squares := m.bigSum(), new(big.Int)
	for i := 2; i >= 0; i-- {
		squares.Lsh(squares, 64).Or(squares, new(big.Int).SetUint64(m.squares[i]))
	}
	// (n·Σx² − (Σx)²) / (n(n−1)): integers until the last step.
	num := squares.Mul(squares, n)
	num.Sub(num, sum.Mul(sum, sum))
	den := new(big.Int).Mul(n, big.NewInt(m.n-1))
	f, _ := new(big.Rat).SetFrac(num, den).Float64()
	return math.Sqrt(f)
}

func (m *Moments) bigSum() *big.Int {
	s := new(big.Int).Lsh(big.NewInt(int64(m.sum[1])), 64)
	return s.Add(s, new(big.Int).SetUint64(m.sum[0]))
}
