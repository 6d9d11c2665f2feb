package hdr

import (
	"bufio"
	"fmt"
	"io"
)

// textWriter keeps the first error of many writes.
type textWriter struct {
	w   *bufio.Writer
	err error
}

func newTextWriter(w io.Writer) *textWriter { return &textWriter{w: bufio.NewWriter(w)} }

func (t *textWriter) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// flush writes what is left and returns the first error.
func (t *textWriter) flush() error {
	if t.err == nil {
		t.err = t.w.Flush()
	}
	return t.err
}
