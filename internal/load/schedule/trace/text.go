package trace

import (
	"bufio"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"
	"time"

	"amqpperf/format"
)

// The columns of CSV and the keys of JSON lines that are read; others are not
// looked at, so the CSV and JSON of perf-merge are good as they are.
const (
	colOffset    = "offset"      // ns, or a duration: 1500000, 1.5ms
	colOffsetNS  = "offset_ns"   // the same
	colIntended  = "intended"    // the same: the name in our logs
	colSize      = "size"        // bytes of a body; empty: not known
	colDest      = "destination" // empty: not known
	colAttempt   = "attempt"     // above 0: not an arrival of its own
	colPrimary   = "primary"     // false: not an arrival of its own
	maxLine      = 1 << 20
	offsetSyntax = "not a whole number of ns and not a duration (examples: 1500000, 1.5ms)"
)

func isOffset(name string) bool {
	return name == colOffset || name == colOffsetNS || name == colIntended
}

// fromCSV reads rows with a header, which names the columns, or without one:
// offset, and perhaps size and destination.
func fromCSV(name string, r io.Reader) (*Trace, error) {
	in := csv.NewReader(bufio.NewReader(r))
	in.ReuseRecord, in.FieldsPerRecord, in.TrimLeadingSpace, in.Comment = true, -1, true, '#'
	c := newCollector(name)
	var header []string
	for {
		record, err := in.Read()
		if errors.Is(err, io.EOF) {
			break
		}
		var syntax *csv.ParseError
		if errors.As(err, &syntax) {
			return nil, fmt.Errorf("%s:%d:%d: %w", name, syntax.Line, syntax.Column, syntax.Err)
		}
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		line, _ := in.FieldPos(0)
		if header == nil {
			var isHeader bool
			if header, isHeader, err = csvHeader(record); err != nil {
				return nil, fmt.Errorf("%s:%d: %w", name, line, err)
			}
			if isHeader {
				continue
			}
		}
		if len(record) != len(header) {
			return nil, fmt.Errorf("%s:%d: %d fields where the first line has %d", name, line, len(record), len(header))
		}
		f := newFields()
		for i, v := range record {
			if err := f.set(header[i], strings.TrimSpace(v)); err != nil {
				fieldLine, column := in.FieldPos(i)
				return nil, fmt.Errorf("%s:%d:%d: %s %q: %w", name, fieldLine, column, header[i], clip(v), err)
			}
		}
		if err := c.addFields(f); err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	return c.finish("csv")
}

// csvHeader returns the names of the columns, from the first record if it is a
// header: if its first field is not an offset.
func csvHeader(first []string) (header []string, is bool, err error) {
	if _, err := parseOffset(strings.TrimSpace(first[0])); err == nil {
		if len(first) > 3 {
			return nil, false, fmt.Errorf("%d columns without a header: only offset, size, destination can be told apart", len(first))
		}
		return []string{colOffset, colSize, colDest}[:len(first)], false, nil
	}
	seen := map[string]bool{}
	offsets := 0
	for _, v := range first {
		v = strings.TrimSpace(v)
		header = append(header, v)
		if isOffset(v) {
			offsets++
		}
		if seen[v] && (isOffset(v) || v == colSize || v == colDest || v == colAttempt || v == colPrimary) {
			return nil, false, fmt.Errorf("two columns %s", v)
		}
		seen[v] = true
	}
	if offsets != 1 {
		return nil, false, fmt.Errorf("%d columns of offset, offset_ns, intended: exactly one is needed, after a header or as the first", offsets)
	}
	return header, true, nil
}

// fromJSON reads one object a line.
func fromJSON(name string, r io.Reader) (*Trace, error) {
	in := bufio.NewScanner(r)
	in.Buffer(make([]byte, 0, 1<<16), maxLine)
	c := newCollector(name)
	line := 0
	for in.Scan() {
		line++
		text := strings.TrimSpace(in.Text())
		if text == "" {
			continue
		}
		f, err := jsonFields(text)
		if err == nil {
			err = c.addFields(f)
		}
		if err != nil {
			return nil, fmt.Errorf("%s:%d: %w", name, line, err)
		}
	}
	if err := in.Err(); err != nil {
		return nil, fmt.Errorf("%s:%d: %w", name, line+1, err)
	}
	return c.finish("jsonl")
}

func jsonFields(text string) (*fields, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var object map[string]any
	if err := d.Decode(&object); err != nil {
		return nil, fmt.Errorf("column %d: %w", d.InputOffset()+1, err)
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return nil, fmt.Errorf("column %d: more than one JSON value", d.InputOffset())
	}
	f, offsets := newFields(), 0
	for key, value := range object {
		var text string
		switch v := value.(type) {
		case nil:
			continue
		case json.Number:
			text = v.String()
		case string:
			text = v
		case bool:
			text = strconv.FormatBool(v)
		default:
			continue // an object or array is nothing of ours
		}
		if isOffset(key) {
			offsets++
		}
		if err := f.set(key, text); err != nil {
			return nil, fmt.Errorf("%s %q: %w", key, clip(text), err)
		}
	}
	if offsets != 1 {
		return nil, fmt.Errorf("%d keys of offset, offset_ns, intended: exactly one is needed", offsets)
	}
	return f, nil
}

// fields is a row of text while it is read.
type fields struct {
	at   int64
	size int32
	dest string
	skip bool
}

func newFields() *fields { return &fields{size: -1} }

func (f *fields) set(column, text string) (err error) {
	switch {
	case isOffset(column):
		f.at, err = parseOffset(text)
	case column == colSize && text != "":
		size, perr := strconv.ParseInt(text, 10, 64)
		if perr != nil || size < 0 || size > math.MaxInt32 {
			return fmt.Errorf("not a whole number of bytes from 0 to %d", math.MaxInt32)
		}
		f.size = int32(size)
	case column == colDest:
		if f.dest = text; len(text) > format.MaxStringLen {
			return fmt.Errorf("more than %d bytes", format.MaxStringLen)
		}
	case column == colAttempt && text != "":
		attempt, perr := strconv.ParseUint(text, 10, 31)
		if perr != nil {
			return errors.New("not a number of attempts")
		}
		f.skip = f.skip || attempt > 0
	case column == colPrimary && text != "":
		primary, perr := strconv.ParseBool(text)
		if perr != nil {
			return errors.New("not true or false")
		}
		f.skip = f.skip || !primary
	}
	return err
}

// parseOffset reads whole ns or a duration. 1.5 without a unit is refused: there
// would be no telling whether seconds or ms were meant.
func parseOffset(s string) (int64, error) {
	if at, err := strconv.ParseInt(s, 10, 64); err == nil {
		return at, nil
	}
	d, err := time.ParseDuration(s)
	if err != nil {
		return 0, errors.New(offsetSyntax)
	}
	return int64(d), nil
}

func (c *collector) addFields(f *fields) error {
	if f.skip {
		c.skipped++
		return nil
	}
	r := row{at: f.at, size: f.size, destination: -1}
	if f.dest != "" {
		var err error
		if r.destination, err = c.code(f.dest); err != nil {
			return err
		}
	}
	return c.add(r)
}

// clip shortens a text of others for a message, which quotes it.
func clip(s string) string {
	if len(s) > 40 {
		return s[:40] + "…"
	}
	return s
}
