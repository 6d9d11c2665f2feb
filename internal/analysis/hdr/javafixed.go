package hdr

import (
	"math"
	"strconv"
	"strings"
)

// fixed writes a number with a number of decimals as Java's %.nf does: the
// shortest decimal that gives the number, rounded half up. Go and C round the
// exact binary value; 1.0005 is 1.001 in Java and 1.000 there.
func fixed(v float64, decimals int) string {
	if math.IsInf(v, 0) || math.IsNaN(v) {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	s := strconv.FormatFloat(math.Abs(v), 'f', -1, 64)
	whole, frac, _ := strings.Cut(s, ".")
	digits := []byte(whole)
	for i := range decimals {
		if i < len(frac) {
			digits = append(digits, frac[i])
		} else {
			digits = append(digits, '0')
		}
	}
	if len(frac) > decimals && frac[decimals] >= '5' {
		digits = increment(digits)
	}
	out := string(digits[:len(digits)-decimals])
	if decimals > 0 {
		out += "." + string(digits[len(digits)-decimals:])
	}
	if v < 0 {
		out = "-" + out
	}
	return out
}

// increment adds one to a decimal number.
func increment(digits []byte) []byte {
	for i := len(digits) - 1; i >= 0; i-- {
		if digits[i] != '9' {
			digits[i]++
			return digits
		}
		digits[i] = '0'
	}
	return append([]byte{'1'}, digits...)
}
