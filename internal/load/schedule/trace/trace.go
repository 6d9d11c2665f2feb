// Package trace reads recorded arrivals for a replay: from the send or merged
// log of an earlier run, or from CSV or JSON lines of whatever origin.
package trace

import (
	"bufio"
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"

	"amqpperf/format"
	"amqpperf/internal/load/schedule"
)

// Trace is what was read.
type Trace struct {
	Name string
	// Kind is "send/1", "merged/1", "csv" or "jsonl".
	Kind string
	// Rows are in order of time, rows of one instant in that of (sender, producer,
	// seq), else of the file. Their first offset is 0: what stood there is Origin.
	Rows schedule.Rows
	// Origin is the earliest instant of the input: of a log in ns since the Unix
	// epoch, else as it stands there.
	Origin int64
	// Skipped counts rows that are no arrivals of their own: messages sent again,
	// and further copies in a merged log.
	Skipped int64
	// Warnings are those of the log (incomplete, unknown columns).
	Warnings []string
}

// MaxRows bounds the memory of a trace: 48 bytes a row while it is read.
const MaxRows = 100_000_000

// Read reads a file, a spool, or with "-" standard input. The kind is found by
// looking into it. Errors name the file, and line and column where there are any.
func Read(name string, stdin io.Reader) (t *Trace, err error) {
	if name == "-" {
		return fromStream("standard input", stdin)
	}
	st, err := os.Stat(name)
	if err != nil || st.IsDir() {
		// A folder is a spool, and so may be a name that is not there.
		return openLog(name)
	}
	f, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, f.Close()) }()
	if !st.Mode().IsRegular() {
		return fromStream(name, f)
	}
	var head [4]byte
	n, err := f.ReadAt(head[:], 0)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, err
	}
	if binary(head[:n]) {
		return openLog(name)
	}
	return fromText(name, bufio.NewReaderSize(f, 1<<16))
}

// binary reports whether a file that begins so is none of text: Parquet, an
// Arrow stream, or anything with a control character.
func binary(head []byte) bool {
	return string(head) == "PAR1" || string(head) == "PARE" || string(head) == "\xff\xff\xff\xff" ||
		bytes.ContainsFunc(head, func(r rune) bool { return r < ' ' && r != '\n' && r != '\r' && r != '\t' })
}

func fromStream(name string, r io.Reader) (*Trace, error) {
	b := bufio.NewReaderSize(r, 1<<16)
	head, err := b.Peek(4)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if !bytes.HasPrefix(head, []byte("\xff\xff\xff\xff")) {
		return fromText(name, b)
	}
	l, err := format.OpenStream(name, b)
	if err != nil {
		return nil, err
	}
	return fromLog(l)
}

func openLog(name string) (*Trace, error) {
	l, err := format.Open(name)
	if err != nil {
		return nil, err
	}
	return fromLog(l)
}

// fromText reads CSV, or JSON lines, which begin with a brace.
func fromText(name string, r *bufio.Reader) (*Trace, error) {
	head, err := r.Peek(512)
	if err != nil && !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	const mark = "\xef\xbb\xbf" // of UTF-8, as spreadsheets write it
	if bytes.HasPrefix(head, []byte(mark)) {
		head = head[len(mark):]
		if _, err := r.Discard(len(mark)); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
	}
	if bytes.HasPrefix(bytes.TrimSpace(head), []byte("{")) {
		return fromJSON(name, r)
	}
	return fromCSV(name, r)
}

// collector gathers rows in any order.
type collector struct {
	name    string
	rows    []row
	codes   map[string]int32
	names   []string
	sized   bool
	skipped int64
	limit   int // MaxRows
}

type row struct {
	at               int64
	sender, producer int32
	seq              int64
	size             int32
	destination      int32
}

func newCollector(name string) *collector {
	return &collector{name: name, codes: map[string]int32{}, limit: MaxRows}
}

func (c *collector) add(r row) error {
	if len(c.rows) >= c.limit {
		return fmt.Errorf("%s: more than %d rows", c.name, c.limit)
	}
	c.sized = c.sized || r.size >= 0
	c.rows = append(c.rows, r)
	return nil
}

// code returns the number of a destination.
func (c *collector) code(name string) (int32, error) {
	code, ok := c.codes[name]
	if ok {
		return code, nil
	}
	if len(c.names) > format.MaxStrings {
		return 0, fmt.Errorf("%s: more than %d destinations", c.name, format.MaxStrings)
	}
	code = int32(len(c.names))
	c.codes[name] = code
	c.names = append(c.names, name)
	return code, nil
}

// finish puts the rows in order.
func (c *collector) finish(kind string) (*Trace, error) {
	t := &Trace{Name: c.name, Kind: kind, Skipped: c.skipped}
	if len(c.rows) == 0 {
		return nil, fmt.Errorf("%s: no rows", c.name)
	}
	slices.SortStableFunc(c.rows, func(a, b row) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.sender, b.sender),
			cmp.Compare(a.producer, b.producer), cmp.Compare(a.seq, b.seq))
	})
	first, last := c.rows[0].at, c.rows[len(c.rows)-1].at
	if first < 0 && last > math.MaxInt64+first {
		return nil, fmt.Errorf("%s: rows from %d to %d ns: more than 292 years", c.name, first, last)
	}
	t.Origin = first
	t.Rows.Offsets = make([]int64, len(c.rows))
	if c.sized {
		t.Rows.Sizes = make([]int32, len(c.rows))
	}
	if len(c.names) > 0 {
		t.Rows.Names, t.Rows.Destinations = c.names, make([]int32, len(c.rows))
	}
	for i, r := range c.rows {
		t.Rows.Offsets[i] = r.at - first
		if c.sized {
			t.Rows.Sizes[i] = r.size
		}
		if len(c.names) > 0 {
			t.Rows.Destinations[i] = r.destination
		}
	}
	return t, nil
}
