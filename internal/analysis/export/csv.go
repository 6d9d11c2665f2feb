package export

import (
	"bufio"
	"io"
	"strings"

	"amqpperf/format"
)

// CSV writes RFC 4180 with a header line; a NULL is an empty field, an empty
// string is "". Fields that a spreadsheet would take for a formula (they begin
// with = + - @ and are text) get a quote mark in front.
type CSV struct {
	w      *bufio.Writer
	line   []byte
	header bool
}

// NewCSV returns a writer to w.
func NewCSV(w io.Writer) *CSV { return &CSV{w: bufio.NewWriterSize(w, 1<<16)} }

// Header writes the header line unless it is there already: without rows a
// reader still wants it.
func (c *CSV) Header(s *format.Schema) error {
	if c.header {
		return nil
	}
	c.header = true
	for i, column := range s.Columns {
		if i > 0 {
			c.line = append(c.line, ',')
		}
		c.line = append(c.line, column.Name...)
	}
	c.line = append(c.line, '\n')
	_, err := c.w.Write(c.line)
	return err
}

// Write implements Writer.
func (c *CSV) Write(b format.Batch) error {
	if err := c.Header(b.Schema()); err != nil {
		return err
	}
	values := fields(b, appendCSV)
	for i := range b.Len() {
		line := c.line[:0]
		for at := range values {
			if at > 0 {
				line = append(line, ',')
			}
			start := len(line)
			var null bool
			if line, null = values[at](line, i); null {
				line = line[:start]
			}
		}
		c.line = append(line, '\n')
		if _, err := c.w.Write(c.line); err != nil {
			return err
		}
	}
	return nil
}

// Flush implements Writer.
func (c *CSV) Flush() error { return c.w.Flush() }

func appendCSV(dst []byte, s string) []byte {
	formula := s != "" && strings.ContainsRune("=+-@", rune(s[0]))
	if s != "" && !formula && !strings.ContainsAny(s, ",\"\r\n") {
		return append(dst, s...)
	}
	dst = append(dst, '"')
	if formula {
		dst = append(dst, '\'')
	}
	dst = append(dst, strings.ReplaceAll(s, `"`, `""`)...)
	return append(dst, '"')
}
