package hdr

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"runtime"
	"slices"
	"strings"
	"sync"
	"time"
)

// noCorrection tells users of the Java tool what not to do with our logs.
const noCorrection = "CO: latencies measured from intended send time; do NOT apply -correctLogWithKnownCoordinatedOmission"

// longestComment keeps header lines within what the C reader's buffer holds.
const longestComment = 120

// line is one interval of one series in the file.
type line struct {
	tag        string // "" for the headline
	start, end int64  // ms since the Unix epoch
	series     int
	cell       *cell
}

// WriteLog writes the log: header, then the intervals in order of time and, of
// one instant, the untagged series first. Readers that are asked for a range of
// time stop at the first line behind it, so the series cannot follow one
// another.
//
// Intervals without a value are left out. A log has at least one untagged line,
// an empty one if need be: without it HistogramLogProcessor fails.
func (c *Collector) WriteLog(w io.Writer) error {
	b := newTextWriter(w)
	lines := c.lines()
	c.writeHeader(b, lines)
	encoders := make([]encoder, max(1, min(runtime.GOMAXPROCS(0), mostEncoders)))
	for some := range slices.Chunk(lines, linesTogether) {
		texts, err := encodeLines(encoders, some)
		if err != nil {
			return err
		}
		for i, l := range some {
			if l.tag != "" {
				b.printf("Tag=%s,", l.tag)
			}
			b.printf("%s,%s,%s,%s\n", seconds(l.start), seconds(l.end-l.start), fixed(float64(l.cell.max)/1e6, 3), texts[i])
		}
	}
	if err := b.flush(); err != nil {
		return fmt.Errorf("writing an HDR log: %w", err)
	}
	return nil
}

const (
	// mostEncoders bounds the memory of compressors, about a MiB each.
	mostEncoders = 8
	// linesTogether is how many lines are held as text.
	linesTogether = 256
)

// encodeLines encodes lines beside one another, the i-th into the i-th text.
func encodeLines(encoders []encoder, lines []line) ([][]byte, error) {
	texts, errs := make([][]byte, len(lines)), make([]error, len(encoders))
	var all sync.WaitGroup
	for e := range encoders {
		all.Go(func() {
			for i := e; i < len(lines) && errs[e] == nil; i += len(encoders) {
				text, err := encoders[e].encode(lines[i].cell.hist)
				texts[i], errs[e] = slices.Clone(text), err
			}
		})
	}
	all.Wait()
	return texts, errors.Join(errs...)
}

func (c *Collector) writeHeader(b *textWriter, lines []line) {
	comment := func(s string) {
		s = strings.Map(func(r rune) rune {
			if r < ' ' || r > '~' {
				return '?'
			}
			return r
		}, s)
		b.printf("#[%.*s]\n", longestComment, s)
	}
	for _, s := range c.config.Comments {
		comment(s)
	}
	comment(noCorrection)
	for _, s := range c.series {
		t := s.totals
		if t.Infinite > 0 {
			comment(fmt.Sprintf("%s: %d without an answer are infinite and not in these histograms", s.name, t.Infinite))
		}
		if t.Errors() > 0 {
			comment(fmt.Sprintf("%s: %d negative and %d above %s are not in these histograms", s.name, t.Negative, t.TooLarge, time.Duration(c.shape.Highest)))
		}
		if t.Zeroed > 0 {
			comment(fmt.Sprintf("%s: %d negative within the clock's bound are recorded as 0", s.name, t.Zeroed))
		}
	}
	comment("Histogram log format version 1.3")
	start := floorDiv(c.config.Start, 1e6)
	if len(lines) > 0 {
		start = min(start, lines[0].start) // readers skip what is before the start
	}
	b.printf("#[StartTime: %s (seconds since epoch), %s]\n", seconds(start), javaDate(start))
	b.printf("%s\n", `"StartTimestamp","Interval_Length","Interval_Max","Interval_Compressed_Histogram"`)
}

func (c *Collector) lines() []line {
	var lines []line
	headline := false
	for i, s := range c.series {
		s.settle()
		for k, cell := range s.cells {
			l := line{series: i, cell: cell}
			l.start, l.end = c.span(k)
			switch {
			case k.warmup:
				l.tag = warmupPrefix + s.name
			case !s.headline:
				l.tag = s.name
			default:
				headline = true
			}
			lines = append(lines, l)
		}
	}
	slices.SortFunc(lines, func(a, b line) int {
		return cmp.Or(cmp.Compare(a.start, b.start), cmp.Compare(a.series, b.series), cmp.Compare(a.end, b.end))
	})
	if !headline {
		start := floorDiv(max(c.config.Start, c.config.WarmupEnd), 1e6)
		empty := line{start: start, end: max(start, floorDiv(c.config.End, 1e6)), cell: c.series[0].newCell()}
		at, _ := slices.BinarySearchFunc(lines, empty, func(a, b line) int {
			return cmp.Or(cmp.Compare(a.start, b.start), 1)
		})
		lines = slices.Insert(lines, at, empty)
	}
	return lines
}

// span returns an interval in ms: cut where the warm-up ends inside of it, and
// at the end of the run.
func (c *Collector) span(k key) (start, end int64) {
	from := c.config.Start + k.index*int64(c.config.Interval)
	to := from + int64(c.config.Interval)
	if w := c.config.WarmupEnd; w > from && w < to {
		if k.warmup {
			to = w
		} else {
			from = w
		}
	}
	if e := c.config.End; e > from && e < to {
		to = e
	}
	return floorDiv(from, 1e6), floorDiv(to, 1e6)
}

// total adds up the intervals of a series without its warm-up.
func (s *Series) total() (*Histogram, error) {
	s.settle()
	sum := NewHistogram(s.shape)
	for k, c := range s.cells {
		if k.warmup {
			continue
		}
		if err := sum.Merge(c.hist); err != nil {
			return nil, fmt.Errorf("adding up HDR series %q: %w", s.name, err)
		}
	}
	return sum, nil
}

// seconds writes ms as seconds with three decimals.
func seconds(ms int64) string {
	sign := ""
	if ms < 0 {
		sign, ms = "-", -ms
	}
	return fmt.Sprintf("%s%d.%03d", sign, ms/1000, ms%1000)
}

// javaDate writes ms since the epoch as java.util.Date does in UTC.
func javaDate(ms int64) string {
	return time.UnixMilli(ms).UTC().Format("Mon Jan 02 15:04:05 UTC 2006")
}
