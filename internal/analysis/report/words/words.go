// Package words prints numbers as the sentences and tables of a report have
// them: counts with thousands separators, rates, shares, and text of peers and
// files that is safe for a terminal and for one line.
package words

import (
	"fmt"
	"strconv"
	"strings"
	"unicode"
)

// Count prints an integer with thousands separators.
func Count(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}

// Messages prints a number of messages.
func Messages(n int64) string {
	if n == 1 {
		return "1 message"
	}
	return Count(n) + " messages"
}

// PerSecond prints a rate: whole messages from 1,000/s on.
func PerSecond(f float64) string {
	switch {
	case f >= 999.95 || f == 0:
		return Count(int64(f+0.5)) + "/s"
	case f >= 100:
		return fmt.Sprintf("%.1f/s", f)
	}
	return fmt.Sprintf("%.3g/s", f)
}

// Percent prints a share.
func Percent(share float64) string {
	switch p := share * 100; {
	case p == 0:
		return "0 %"
	case p < 0.1 && p > -0.1:
		return fmt.Sprintf("%.2g %%", p)
	case p < 10 && p > -10:
		return fmt.Sprintf("%.1f %%", p)
	case p > 99 && p < 100:
		return fmt.Sprintf("%.1f %%", min(p, 99.9))
	default:
		return fmt.Sprintf("%.0f %%", p)
	}
}

// Plain makes text of peers and files safe for a terminal and for one line:
// control characters and what cannot be seen are written as escapes.
func Plain(s string) string {
	if strings.IndexFunc(s, unprintable) < 0 {
		return s
	}
	var b strings.Builder
	for _, r := range s {
		if unprintable(r) {
			q := strconv.QuoteRune(r)
			b.WriteString(q[1 : len(q)-1])
		} else {
			b.WriteRune(r)
		}
	}
	return b.String()
}

func unprintable(r rune) bool { return r == unicode.ReplacementChar || !unicode.IsPrint(r) }
