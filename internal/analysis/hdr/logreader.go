package hdr

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
)

const (
	longestLine = 16 << 20
	// latestSecond is the largest time in seconds that can be meant: larger ones
	// are milliseconds, as Go writers up to 1.1.2 wrote them, with the end in
	// place of the length.
	latestSecond = 1e11
	year         = 365 * 24 * 3600.0
	// mostBuckets bounds what ReadLog keeps, 16 bytes each.
	mostBuckets = 4 << 20
)

// Log is an interval log of any tool of the HdrHistogram family.
type Log struct {
	Comments []string // header lines without their "#"
	// Start is when the log began, ms since the Unix epoch, if HasStart; without
	// it the times of the intervals are as they stand in the file.
	Start     int64
	HasStart  bool
	Intervals []Interval // in order of time
	Warnings  []string   // what is odd and was read all the same, with line numbers
}

// Interval is one line.
type Interval struct {
	Line       int
	Tag        string // "" when untagged; tags of others may hold blanks
	Start, End int64  // ms since the Unix epoch, or as they stand (Log.HasStart)
	Histogram  *Histogram
}

// ReadLog reads a whole log. name is used in errors only. On an error the log
// holds what was read before it.
func ReadLog(r io.Reader, name string) (*Log, error) {
	kept := 0
	var intervals []Interval
	log, err := ScanLog(r, name, func(iv Interval) error {
		if kept += len(iv.Histogram.buckets); kept > mostBuckets {
			return fmt.Errorf("more than %d buckets in all", mostBuckets)
		}
		intervals = append(intervals, iv)
		return nil
	})
	log.Intervals = intervals
	slices.SortStableFunc(log.Intervals, func(a, b Interval) int {
		switch {
		case a.Start < b.Start:
			return -1
		case a.Start > b.Start:
			return 1
		}
		return 0
	})
	return log, err
}

// ScanLog hands the intervals of a log to each in the order of the file, one at
// a time. An error of each ends the reading and is returned with file and line;
// every other error names the line that is wrong and how many intervals came
// before. The log returned has no intervals.
//
// Read are format 1.0 to 1.3 with their histograms of encoding V0, V1 and V2,
// lines with CR LF or blanks at the end, empty lines, and comments anywhere.
// Refused are lines with other than four fields, times in milliseconds and
// decimal commas.
func ScanLog(r io.Reader, name string, each func(Interval) error) (*Log, error) {
	s := logScanner{log: &Log{}, each: each}
	lines := bufio.NewScanner(r)
	lines.Buffer(make([]byte, 64<<10), longestLine)
	for lines.Scan() {
		s.line++
		if err := s.scan(bytes.TrimRight(lines.Bytes(), " \t\r")); err != nil {
			return s.log, s.wrap(name, err)
		}
	}
	if err := lines.Err(); err != nil {
		s.line++
		if errors.Is(err, bufio.ErrTooLong) {
			err = fmt.Errorf("longer than %d bytes", longestLine)
		}
		return s.log, s.wrap(name, err)
	}
	return s.log, nil
}

func (s *logScanner) wrap(name string, err error) error {
	return fmt.Errorf("%s: line %d: %w (%d intervals before it)", name, s.line, err, s.intervals)
}

// logScanner is the state of reading a log.
type logScanner struct {
	log       *Log
	each      func(Interval) error
	line      int
	intervals int
	start     float64 // s, of the header, or of the first interval
	base      float64 // s, added to the times of the lines
	hasBase   bool
	baseKnown bool
}

func (s *logScanner) scan(line []byte) error {
	switch {
	case len(bytes.TrimSpace(line)) == 0:
		return nil
	case line[0] == '#':
		return s.comment(string(line[1:]))
	case bytes.HasPrefix(line, []byte(`"StartTimestamp"`)):
		return nil
	}
	iv := Interval{Line: s.line}
	if rest, ok := bytes.CutPrefix(line, []byte("Tag=")); ok {
		tag, rest, found := bytes.Cut(rest, []byte(","))
		if !found {
			s.log.Warnings = append(s.log.Warnings, fmt.Sprintf("line %d: a tag and nothing else", s.line))
			return nil
		}
		iv.Tag, line = string(tag), rest
	}
	return s.interval(iv, strings.Split(string(line), ","))
}

// comment keeps a header line and takes StartTime and BaseTime from it, however
// they are spelled.
func (s *logScanner) comment(text string) error {
	if len(s.log.Comments) < 1000 {
		s.log.Comments = append(s.log.Comments, text)
	}
	key, rest, ok := strings.Cut(strings.TrimPrefix(text, "["), ":")
	if !ok {
		return nil
	}
	value, _, _ := strings.Cut(strings.TrimSpace(rest), " ")
	value = strings.TrimRight(value, "]")
	switch strings.ToLower(key) {
	case "starttime":
		v, err := number("StartTime", value, latestSecond)
		if err != nil {
			return err
		}
		if !s.log.HasStart {
			s.log.HasStart, s.start, s.log.Start = true, v, milliseconds(v)
		}
	case "basetime":
		v, err := number("BaseTime", value, latestSecond)
		if err != nil {
			return err
		}
		s.hasBase, s.base = true, v
	}
	return nil
}

func (s *logScanner) interval(iv Interval, fields []string) error {
	if len(fields) != 4 {
		if len(fields) == 7 {
			return errors.New("7 fields where 4 are wanted: are the numbers written with decimal commas?")
		}
		return fmt.Errorf("%d fields where 4 are wanted (start, length, maximum, histogram)", len(fields))
	}
	var times [3]float64
	for i, what := range []string{"start", "length", "maximum"} {
		limit := latestSecond
		if i == 2 {
			limit = math.MaxFloat64
		}
		v, err := number(what, strings.TrimSpace(fields[i]), limit)
		if err != nil {
			return err
		}
		times[i] = v
	}
	h, err := decode([]byte(strings.TrimSpace(fields[3])))
	if err != nil {
		return err
	}
	s.findBase(times[0])
	iv.Start = milliseconds(s.base + times[0])
	iv.End = iv.Start + milliseconds(times[1])
	iv.Histogram = h
	if err := s.each(iv); err != nil {
		return err
	}
	s.intervals++
	return nil
}

// findBase decides at the first interval what its times count from: the base
// time of the header; the start, when they lie more than a year before it; else
// the epoch.
func (s *logScanner) findBase(first float64) {
	if s.baseKnown {
		return
	}
	s.baseKnown = true
	if s.hasBase {
		if !s.log.HasStart {
			s.log.HasStart, s.log.Start = true, milliseconds(s.base+first)
		}
		return
	}
	if s.log.HasStart && first < s.start-year {
		s.base = s.start
	}
}

// number reads a decimal of 0 to limit.
func number(what, text string, limit float64) (float64, error) {
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || strings.ContainsAny(text, "xXpP_iInN") {
		return 0, fmt.Errorf("%s %.40q is not a number with a decimal point", what, text)
	}
	if v < 0 || math.IsInf(v, 0) {
		return 0, fmt.Errorf("%s %.40q is not a possible value", what, text)
	}
	if v > limit {
		return 0, fmt.Errorf("%s %.40q is no time in seconds: an old Go writer's log, in milliseconds?", what, text)
	}
	return v, nil
}

func milliseconds(s float64) int64 { return int64(math.Round(s * 1000)) }

// Tags returns the tags of a log in order of their first appearance; "" stands
// for the untagged intervals.
func (l *Log) Tags() []string {
	var tags []string
	for _, iv := range l.Intervals {
		if !slices.Contains(tags, iv.Tag) {
			tags = append(tags, iv.Tag)
		}
	}
	return tags
}

// Sum adds up histograms of intervals. Where all have one geometry the sum has
// it too; else it has three digits, and own is false: then buckets of fewer
// digits were added at their smallest value.
func Sum(intervals []Interval) (sum *Histogram, own bool, err error) {
	shape := Shape{Lowest: 1, Highest: math.MaxInt64, Digits: 3}
	own = len(intervals) > 0
	for _, iv := range intervals {
		own = own && iv.Histogram.geo == intervals[0].Histogram.geo
	}
	if own {
		shape = intervals[0].Histogram.shape
		shape.Highest = math.MaxInt64
	}
	sum, err = sumInto(shape, intervals)
	return sum, own, err
}

func sumInto(shape Shape, intervals []Interval) (*Histogram, error) {
	sum := NewHistogram(shape)
	for _, iv := range intervals {
		if err := sum.Merge(iv.Histogram); err != nil {
			return nil, fmt.Errorf("line %d: %w", iv.Line, err)
		}
	}
	return sum, nil
}
