package hdr

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"math"
	"regexp"
	"strconv"
	"strings"
)

// mostRows bounds the rows of a percentile file: a halving has some rows, and a
// count has 63 halvings.
const mostRows = 1 << 20

// Percentiles is a percentile file. Its values are in a unit that the file does
// not tell. It is a curve and no histogram: two of them cannot be added up.
type Percentiles struct {
	Rows []PercentileRow // ascending; the last one is 100 %
	N    int64           // values in all, of the last row
	// Of the footer; NaN when the file has none.
	Mean, StdDev, Max float64
}

// PercentileRow says that Count values are at or below Value.
type PercentileRow struct {
	Value    float64
	Fraction float64 // 0 to 1
	Count    int64
}

// ReadHgrm reads a percentile file as the tools of the HdrHistogram family and
// wrk2 write it. name is used in errors only.
func ReadHgrm(r io.Reader, name string) (*Percentiles, error) {
	p := &Percentiles{Mean: math.NaN(), StdDev: math.NaN(), Max: math.NaN()}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 4096), 64<<10)
	n, begun := 0, false
	fail := func(err error) (*Percentiles, error) {
		return p, fmt.Errorf("%s: line %d: %w (%d rows before it)", name, n, err, len(p.Rows))
	}
	for lines.Scan() {
		n++
		text := strings.TrimSpace(lines.Text())
		switch {
		case text == "":
		case strings.HasPrefix(text, "#"):
			if err := p.footer(text); err != nil {
				return fail(err)
			}
		case !begun:
			f := strings.Fields(text)
			if len(f) < 3 || f[0] != "Value" || f[1] != "Percentile" || f[2] != "TotalCount" {
				return fail(errors.New("not a percentile file: no line Value Percentile TotalCount"))
			}
			begun = true
		default:
			if err := p.row(strings.Fields(text)); err != nil {
				return fail(err)
			}
		}
	}
	if err := lines.Err(); err != nil {
		n++
		return fail(err)
	}
	if !begun {
		return fail(errors.New("not a percentile file: no line Value Percentile TotalCount"))
	}
	if len(p.Rows) > 0 {
		p.N = p.Rows[len(p.Rows)-1].Count
	}
	return p, nil
}

func (p *Percentiles) row(fields []string) error {
	if len(fields) != 3 && len(fields) != 4 {
		return fmt.Errorf("%d fields where 3 or 4 are wanted", len(fields))
	}
	value, err := strconv.ParseFloat(fields[0], 64)
	if err != nil || math.IsNaN(value) || math.IsInf(value, 0) {
		return fmt.Errorf("value %.40q is not a number", fields[0])
	}
	fraction, err := strconv.ParseFloat(fields[1], 64)
	if err != nil || !(fraction >= 0 && fraction <= 1) {
		return fmt.Errorf("percentile %.40q is not between 0 and 1", fields[1])
	}
	total, err := strconv.ParseInt(fields[2], 10, 64)
	if err != nil || total < 0 {
		return fmt.Errorf("count %.40q is not a whole number", fields[2])
	}
	if len(p.Rows) >= mostRows {
		return fmt.Errorf("more than %d rows", mostRows)
	}
	if k := len(p.Rows) - 1; k >= 0 {
		last := p.Rows[k]
		if value < last.Value || fraction < last.Fraction || total < last.Count {
			return errors.New("value, percentile or count is below the row before: two files in one?")
		}
	}
	p.Rows = append(p.Rows, PercentileRow{value, fraction, total})
	return nil
}

// footer takes mean, deviation and maximum from the lines at the end, and
// leaves other comments alone.
func (p *Percentiles) footer(text string) error {
	for _, m := range regexp.MustCompile(`(Mean|StdDeviation|Max)\s*=\s*([^,\]\s]+)`).FindAllStringSubmatch(text, -1) {
		v, err := strconv.ParseFloat(m[2], 64)
		if err != nil {
			return fmt.Errorf("%s %.40q is not a number", m[1], m[2])
		}
		switch m[1] {
		case "Mean":
			p.Mean = v
		case "StdDeviation":
			p.StdDev = v
		case "Max":
			p.Max = v
		}
	}
	return nil
}

// At returns the value of the first row at or above a fraction, 0 to 1; ok is
// false when there is none.
func (p *Percentiles) At(fraction float64) (v float64, ok bool) {
	for _, r := range p.Rows {
		if r.Fraction >= fraction {
			return r.Value, true
		}
	}
	return 0, false
}
