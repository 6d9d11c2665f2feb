package stats

import (
	"fmt"
	"math/bits"
	"strings"
)

// maxDecimals bounds the decimals of a percentile, so that its numerator times
// a row count fits 128 bits with room to spare.
const maxDecimals = 10

// Percentile is a point of a distribution, 0 to 100, held as the exact decimal
// that was typed. A float would not do: 0.07*100 is 7.000000000000001, and its
// ceiling the wrong rank.
//
// The zero value is percentile 0, the minimum. Percentiles are comparable; two
// spellings of one number ("99.9", "99.90") differ in their label only.
type Percentile struct {
	label    string
	num, den uint64 // the fraction num/den in [0,1]; den 0 stands for 1
}

// ParsePercentile reads a percentile such as "50", "97.5" or "99.999". The
// range is 0 to 100, with at most ten decimals; signs, exponents and blanks
// are refused.
func ParsePercentile(s string) (Percentile, error) {
	whole, frac, dotted := strings.Cut(s, ".")
	if whole == "" || (dotted && frac == "") || !digits(whole) || !digits(frac) {
		return Percentile{}, fmt.Errorf("percentile %q: want a number from 0 to 100 such as 99.9", s)
	}
	if len(frac) > maxDecimals {
		return Percentile{}, fmt.Errorf("percentile %q: more than %d decimals", s, maxDecimals)
	}
	trimmed := strings.TrimLeft(whole, "0")
	if len(trimmed) > 3 {
		return Percentile{}, fmt.Errorf("percentile %q: above 100", s)
	}
	p := Percentile{label: s, den: 100}
	for _, c := range trimmed + frac {
		p.num = p.num*10 + uint64(c-'0')
	}
	for range frac {
		p.den *= 10
	}
	if p.num > p.den {
		return Percentile{}, fmt.Errorf("percentile %q: above 100", s)
	}
	return p, nil
}

func digits(s string) bool {
	for _, c := range []byte(s) {
		if c < '0' || c > '9' {
			return false
		}
	}
	return true
}

// mostPercentiles bounds the memory of a Selector, and fits its tables.
const mostPercentiles = 1000

// ParsePercentiles reads a comma-separated list in any order, at most 1,000 of
// them. An error names the bad entry; the same number twice is an error.
func ParsePercentiles(list string) ([]Percentile, error) {
	var ps []Percentile
	for entry := range strings.SplitSeq(list, ",") {
		if len(ps) == mostPercentiles {
			return nil, fmt.Errorf("more than %d percentiles", mostPercentiles)
		}
		p, err := ParsePercentile(entry)
		if err != nil {
			return nil, err
		}
		for _, q := range ps {
			if p.Compare(q) == 0 {
				return nil, fmt.Errorf("percentile %q: given twice", entry)
			}
		}
		ps = append(ps, p)
	}
	return ps, nil
}

// MustPercentiles is ParsePercentiles for constants. It panics on an error.
func MustPercentiles(list string) []Percentile {
	ps, err := ParsePercentiles(list)
	if err != nil {
		panic(err)
	}
	return ps
}

// DefaultPercentiles returns 50, 90, 99, 99.9 and 99.99, what a report shows
// unless told otherwise.
func DefaultPercentiles() []Percentile { return MustPercentiles("50,90,99,99.9,99.99") }

// String returns the percentile as it was typed: the key in JSON and the label
// in tables.
func (p Percentile) String() string {
	if p.label == "" {
		return "0"
	}
	return p.label
}

func (p Percentile) denominator() uint64 {
	if p.den == 0 {
		return 1
	}
	return p.den
}

// Fraction returns p as a fraction, 0 to 1.
func (p Percentile) Fraction() float64 { return float64(p.num) / float64(p.denominator()) }

// Tail returns 1−p. It is computed from the decimal, so that 99.9999 gives
// 1e-6 and not its rounding error.
func (p Percentile) Tail() float64 {
	return float64(p.denominator()-p.num) / float64(p.denominator())
}

// LooksLikeFraction reports whether p is above 0 and below 1: who types 0.99
// mostly meant 99. Callers warn.
func (p Percentile) LooksLikeFraction() bool {
	return p.num > 0 && p.num < p.denominator()/100
}

// Compare orders by value: -1, 0 or 1.
func (p Percentile) Compare(q Percentile) int {
	ahi, alo := bits.Mul64(p.num, q.denominator())
	bhi, blo := bits.Mul64(q.num, p.denominator())
	switch {
	case ahi < bhi || (ahi == bhi && alo < blo):
		return -1
	case ahi == bhi && alo == blo:
		return 0
	}
	return 1
}

// Rank returns the nearest rank ⌈p·n⌉, at least 1, at most n: the quantile is
// the value at this place, counted from 1, in ascending order. It is exact for
// every n ≥ 1; for n < 1 it is 0.
//
// This is the definition of HdrHistogram's Java and JavaScript versions and of
// SQL's percentile_disc.
func (p Percentile) Rank(n int64) int64 {
	if n < 1 {
		return 0
	}
	hi, lo := bits.Mul64(p.num, uint64(n))
	lo, carry := bits.Add64(lo, p.denominator()-1, 0)
	quo, _ := bits.Div64(hi+carry, lo, p.denominator())
	return max(1, int64(quo))
}
