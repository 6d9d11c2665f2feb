package chart

import (
	"math"
	"strconv"
	"strings"
	"unicode"

	"golang.org/x/image/font/sfnt"
	"gonum.org/v1/plot/text"
	"gonum.org/v1/plot/vg"
)

// longestText bounds, in runes, what is measured for a picture; names come from
// files of others.
const longestText = 500

// clean makes text safe to draw: line breaks and control characters become
// blanks, invisible formatting (direction overrides among them) is dropped, and
// letters that the font does not have become "?".
func (t *theme) clean(s string) string {
	face := t.fonts.Lookup(t.style(tickSize, false, black()).Font, vg.Points(tickSize)).Face
	var buf sfnt.Buffer
	var b strings.Builder
	n := 0
	for _, r := range s {
		if n++; n > longestText {
			break
		}
		switch {
		case unicode.IsControl(r) || unicode.IsSpace(r):
			r = ' '
		case unicode.Is(unicode.Cf, r) || unicode.Is(unicode.Mn, r):
			continue
		default:
			if i, err := face.GlyphIndex(&buf, r); err != nil || i == 0 {
				r = '?'
			}
		}
		b.WriteRune(r)
	}
	return strings.TrimSpace(b.String())
}

// fit cuts text to a width, with an ellipsis in place of what is cut.
func fit(s string, sty text.Style, width vg.Length) string {
	if sty.Width(s) <= width {
		return s
	}
	runes := []rune(s)
	lo, hi := 0, len(runes) // the longest prefix that fits lies in [lo, hi)
	for lo+1 < hi {
		mid := (lo + hi) / 2
		if sty.Width(string(runes[:mid])+"…") <= width {
			lo = mid
		} else {
			hi = mid
		}
	}
	return strings.TrimRight(string(runes[:lo]), " ") + "…"
}

// wrap breaks text at blanks into at most limit lines of a width; the last one
// is cut when there is more.
func wrap(s string, sty text.Style, width vg.Length, limit int) []string {
	var lines []string
	words := strings.Fields(s)
	for len(words) > 0 {
		if len(lines) == limit-1 {
			return append(lines, fit(strings.Join(words, " "), sty, width))
		}
		n := 1
		for n < len(words) && sty.Width(strings.Join(words[:n+1], " ")) <= width {
			n++
		}
		lines = append(lines, fit(strings.Join(words[:n], " "), sty, width))
		words = words[n:]
	}
	return lines
}

// duration writes ns with three significant digits and the unit that suits it.
func duration(ns float64) string {
	unit, scale := durationUnit(math.Abs(ns))
	return significant(ns/scale, 3) + " " + unit
}

func durationUnit(ns float64) (string, float64) {
	switch {
	case ns < 999.5:
		return "ns", 1
	case ns < 999.5e3:
		return "µs", 1e3
	case ns < 999.5e6:
		return "ms", 1e6
	}
	return "s", 1e9
}

// significant writes a number plainly with n significant digits at most.
func significant(v float64, n int) string {
	if v == 0 {
		return "0"
	}
	decimals := max(0, n-1-int(math.Floor(math.Log10(math.Abs(v)))))
	s := strconv.FormatFloat(v, 'f', decimals, 64)
	if strings.Contains(s, ".") {
		s = strings.TrimRight(strings.TrimRight(s, "0"), ".")
	}
	return s
}

// count writes a number of messages with thousands separated by commas.
func count(v float64) string {
	s := significant(math.Abs(v), 4)
	whole, frac, _ := strings.Cut(s, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if frac != "" {
		whole += "." + frac
	}
	if v < 0 {
		whole = "-" + whole
	}
	return whole
}
