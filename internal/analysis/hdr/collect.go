package hdr

import (
	"fmt"
	"regexp"
	"time"
)

// warmupPrefix goes before the name of a series in the tag of its warm-up
// intervals.
const warmupPrefix = "warmup-"

// Shape is the geometry of histograms.
type Shape struct {
	Lowest, Highest int64 // ns
	Digits          int
}

// DefaultHighest is the largest value recorded unless configured otherwise.
const DefaultHighest = time.Hour

// Config describes a log to be written.
type Config struct {
	Start    int64         // ns since the Unix epoch: start of the run and of the first interval
	End      int64         // ns: end of the run, cuts the last interval; 0: unknown
	Interval time.Duration // whole milliseconds; 0: one second
	// WarmupEnd ends the warm-up, ns: values before it are tagged warmup-NAME,
	// those of the untagged series too. 0: there was none.
	WarmupEnd int64
	Highest   time.Duration // largest value; 0: DefaultHighest
	Comments  []string      // header lines, such as tool and run
}

// Collector gathers values into one histogram for each series and interval.
// Values come in any order of time. It is not safe for concurrent use; Merge
// joins collectors that were filled in parallel.
type Collector struct {
	config Config
	shape  Shape
	series []*Series
}

// NewCollector returns a collector for series of the given names. The first is
// the headline and is written without a tag, so that tools that know no tags
// show it; the others are tagged with their names.
func NewCollector(c Config, names ...string) (*Collector, error) {
	if c.Interval == 0 {
		c.Interval = time.Second
	}
	if c.Highest == 0 {
		c.Highest = DefaultHighest
	}
	if c.Interval < time.Millisecond || c.Interval%time.Millisecond != 0 {
		return nil, fmt.Errorf("interval %s of an HDR log: want whole milliseconds, which its times have", c.Interval)
	}
	if c.Highest < 2 {
		return nil, fmt.Errorf("highest value %s of an HDR log: want at least 2ns", c.Highest)
	}
	if len(names) == 0 {
		return nil, fmt.Errorf("an HDR log without a series")
	}
	shape := Shape{Lowest: 1, Highest: int64(c.Highest), Digits: 3}
	col := &Collector{config: c, shape: shape}
	for i, name := range names {
		if err := CheckTag(name); err != nil {
			return nil, err
		}
		for _, s := range col.series {
			if s.name == name {
				return nil, fmt.Errorf("series %q of an HDR log: given twice", name)
			}
		}
		col.series = append(col.series, &Series{name: name, headline: i == 0, config: &col.config, shape: shape, cells: map[key]*cell{}, count: newScratch(shape)})
	}
	return col, nil
}

// CheckTag reports whether a tag survives every reader: no blank and no comma,
// which end a field, but letters, digits and ._:- only.
func CheckTag(tag string) error {
	if !regexp.MustCompile(`^[A-Za-z0-9_.:-]+$`).MatchString(tag) {
		return fmt.Errorf("tag %q of an HDR log: want letters, digits and ._:- only", tag)
	}
	return nil
}

// Series returns the i-th series, in the order of the names.
func (c *Collector) Series(i int) *Series { return c.series[i] }

// Series is one metric of a log.
type Series struct {
	name     string
	headline bool
	config   *Config
	shape    Shape
	cells    map[key]*cell
	current  *cell // the one that counts is for
	currentK key
	count    *scratch
	totals   Totals
}

// key is an interval; a warm-up that ends inside of one divides it in two.
type key struct {
	index  int64 // intervals since the start
	warmup bool
}

type cell struct {
	hist *Histogram
	max  int64 // exact, ns
}

// Totals account for every value a series was given.
type Totals struct {
	Recorded int64 // in a histogram, warm-up included
	Zeroed   int64 // of them, negative within the clock's bound: recorded as 0
	Negative int64 // below −bound: not recorded
	TooLarge int64 // above the highest value: not recorded
	Infinite int64 // without an answer: not recorded
}

// Errors returns how many values could not be recorded though they are finite.
func (t Totals) Errors() int64 { return t.Negative + t.TooLarge }

func (t *Totals) add(o Totals) {
	t.Recorded += o.Recorded
	t.Zeroed += o.Zeroed
	t.Negative += o.Negative
	t.TooLarge += o.TooLarge
	t.Infinite += o.Infinite
}

// Totals returns the account so far.
func (s *Series) Totals() Totals { return s.totals }

// Name returns the name of the series.
func (s *Series) Name() string { return s.name }

// Record takes in a value in ns of a message intended at an instant (ns since
// the Unix epoch): the intended instant decides the interval, whenever the
// answer came. A negative value is counted and not recorded.
func (s *Series) Record(at, v int64) { s.RecordWithin(at, v, 0) }

// RecordWithin is Record for a value that clock correction may have made wrong
// by bound ns: from −bound to 0 it is consistent with 0 and recorded as 0.
func (s *Series) RecordWithin(at, v, bound int64) {
	zeroed := v < 0 && v >= -max(bound, 0)
	if zeroed {
		v = 0
	}
	if v < 0 {
		s.totals.Negative++
		return
	}
	if v > s.shape.Highest {
		s.totals.TooLarge++
		return
	}
	c := s.cell(at)
	s.count.record(v)
	c.max = max(c.max, v)
	s.totals.Recorded++
	if zeroed {
		s.totals.Zeroed++
	}
}

// Main returns one histogram of all intervals but those of the warm-up.
func (s *Series) Main() (*Histogram, error) {
	s.settle()
	all := NewHistogram(s.shape)
	for k, cell := range s.cells {
		if k.warmup {
			continue
		}
		if err := all.Merge(cell.hist); err != nil {
			return nil, fmt.Errorf("adding up HDR series %q: %w", s.name, err)
		}
	}
	return all, nil
}

// Infinite counts a message without an answer, which no histogram can hold.
func (s *Series) Infinite() { s.totals.Infinite++ }

func (s *Series) cell(at int64) *cell {
	k := key{index: floorDiv(at-s.config.Start, int64(s.config.Interval)), warmup: at < s.config.WarmupEnd}
	if s.current != nil && s.currentK == k {
		return s.current
	}
	s.settle()
	c := s.cells[k]
	if c == nil {
		c = s.newCell()
		s.cells[k] = c
	}
	s.current, s.currentK = c, k
	return c
}

// settle moves what was counted last into its histogram.
func (s *Series) settle() {
	if s.current != nil {
		s.count.moveTo(s.current.hist)
		s.current = nil
	}
}

func (s *Series) newCell() *cell {
	return &cell{hist: NewHistogram(s.shape)}
}

func floorDiv(a, b int64) int64 {
	q := a / b
	if a%b < 0 {
		q--
	}
	return q
}

// Merge takes in everything of o, which has the same configuration and series.
func (c *Collector) Merge(o *Collector) error {
	if len(c.series) != len(o.series) || c.shape != o.shape || c.config.Start != o.config.Start ||
		c.config.Interval != o.config.Interval || c.config.WarmupEnd != o.config.WarmupEnd {
		return fmt.Errorf("HDR logs of different configuration cannot be merged")
	}
	for i, s := range c.series {
		from := o.series[i]
		s.settle()
		from.settle()
		if s.name != from.name {
			return fmt.Errorf("HDR series %q and %q cannot be merged", s.name, from.name)
		}
		s.totals.add(from.totals)
		for k, cell := range from.cells {
			to := s.cells[k]
			if to == nil {
				to = s.newCell()
				s.cells[k] = to
			}
			if err := to.hist.Merge(cell.hist); err != nil {
				return fmt.Errorf("merging HDR series %q: %w", s.name, err)
			}
			to.max = max(to.max, cell.max)
		}
	}
	return nil
}
