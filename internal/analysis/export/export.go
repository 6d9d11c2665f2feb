// Package export writes merged rows as text: CSV, JSON lines, and the fixed
// one-line-a-delivery form that awk can use. Text from peers and files is
// escaped, so that a line is always one line and a field always one field.
package export

import (
	"bufio"
	"encoding/json"
	"io"
	"strconv"

	"amqpperf/format"
)

// Writer writes batches of rows. Flush must be called at the end; its error is
// that of any write before.
type Writer interface {
	Write(b format.Batch) error
	Flush() error
}

// field appends the value of one column and row; null says that it is NULL.
type field func(dst []byte, i int) (out []byte, null bool)

// fields returns an appender per column of the batch.
func fields(b format.Batch, quote func(dst []byte, s string) []byte) []field {
	columns := b.Columns()
	out := make([]field, len(columns))
	for at, column := range columns {
		out[at] = fieldOf(column, quote)
	}
	return out
}

func fieldOf(column any, quote func(dst []byte, s string) []byte) field {
	switch c := column.(type) {
	case *[]int32:
		return func(dst []byte, i int) ([]byte, bool) {
			v := (*c)[i]
			return strconv.AppendInt(dst, int64(v), 10), v == format.Null32
		}
	case *[]int64:
		return func(dst []byte, i int) ([]byte, bool) {
			v := (*c)[i]
			return strconv.AppendInt(dst, v, 10), v == format.Null
		}
	case *[]bool:
		return func(dst []byte, i int) ([]byte, bool) { return strconv.AppendBool(dst, (*c)[i]), false }
	case *format.Strings:
		return func(dst []byte, i int) ([]byte, bool) {
			s, ok := c.At(i)
			if !ok {
				return dst, true
			}
			return quote(dst, s), false
		}
	}
	panic("export: unknown column type") // a fault of package format, not of data
}

// JSONLines writes one JSON object a row; a NULL is null.
type JSONLines struct {
	w    *bufio.Writer
	line []byte
}

// NewJSONLines returns a writer to w.
func NewJSONLines(w io.Writer) *JSONLines { return &JSONLines{w: bufio.NewWriterSize(w, 1<<16)} }

// Write implements Writer.
func (j *JSONLines) Write(b format.Batch) error {
	columns := b.Schema().Columns
	values := fields(b, appendJSON)
	for i := range b.Len() {
		line := append(j.line[:0], '{')
		for at := range columns {
			if at > 0 {
				line = append(line, ',')
			}
			line = append(line, '"')
			line = append(line, columns[at].Name...)
			line = append(line, '"', ':')
			start := len(line)
			var null bool
			if line, null = values[at](line, i); null {
				line = append(line[:start], "null"...)
			}
		}
		j.line = append(line, '}', '\n')
		if _, err := j.w.Write(j.line); err != nil {
			return err
		}
	}
	return nil
}

// Flush implements Writer.
func (j *JSONLines) Flush() error { return j.w.Flush() }

func appendJSON(dst []byte, s string) []byte {
	b, _ := json.Marshal(s) // a string always has a JSON form
	return append(dst, b...)
}
