package export

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
	"unicode"
	"unicode/utf8"

	"amqpperf/format"
)

// Lines writes one line a delivery, in a form that does not change:
//
//	kind received_ns e2e_us transit_us sender producer seq consumer destination outcome
//
// Kind is D for a delivery, L for a lost message, E for an event (received_ns
// is then its instant, destination its link, outcome its kind). "-" stands for
// NULL, also for one-way times whose clock offset is unknown. Blanks, control
// and format characters and the per cent sign in text are written as %XX per
// byte, so that a line always has ten fields.
type Lines struct {
	w    *bufio.Writer
	line []byte
}

// NewLines returns a writer to w.
func NewLines(w io.Writer) *Lines { return &Lines{w: bufio.NewWriterSize(w, 1<<16)} }

// Write writes the deliveries and losses of merged rows.
func (l *Lines) Write(batch format.Batch) error {
	b, ok := batch.(*format.Merged)
	if !ok {
		return fmt.Errorf("%s rows cannot be written as lines", batch.Schema().Name)
	}
	for i := range b.Seq {
		kind, outcome := byte('D'), &b.RecvOutcome
		if b.Received[i] == format.Null {
			if fate, _ := b.RecvOutcome.At(i); fate != format.Lost {
				continue
			}
			kind, outcome = 'L', &b.Outcome
		}
		line := append(l.line[:0], kind)
		line = appendInt(line, b.Received[i])
		line = appendMicros(line, b.Received[i], b.Intended[i], b.Bound[i])
		line = appendMicros(line, b.Received[i], b.Sent[i], b.Bound[i])
		line = appendInt(line, int64(b.Sender[i]))
		line = appendInt(line, int64(b.Producer[i]))
		line = appendInt(line, b.Seq[i])
		line = appendInt32(line, b.Consumer[i])
		line = appendText(line, &b.Destination, i)
		l.line = append(appendText(line, outcome, i), '\n')
		if _, err := l.w.Write(l.line); err != nil {
			return err
		}
	}
	return nil
}

// WriteEvents writes events.
func (l *Lines) WriteEvents(b *format.Event) error {
	for i := range b.Instant {
		line := append(l.line[:0], 'E')
		line = appendInt(line, b.Instant[i])
		line = append(line, " - - - - - -"...)
		line = appendText(line, &b.Link, i)
		l.line = append(appendText(line, &b.Kind, i), '\n')
		if _, err := l.w.Write(l.line); err != nil {
			return err
		}
	}
	return nil
}

// Flush implements Writer.
func (l *Lines) Flush() error { return l.w.Flush() }

func appendInt(dst []byte, v int64) []byte {
	if v == format.Null {
		return append(dst, " -"...)
	}
	return strconv.AppendInt(append(dst, ' '), v, 10)
}

func appendInt32(dst []byte, v int32) []byte {
	if v == format.Null32 {
		return append(dst, " -"...)
	}
	return appendInt(dst, int64(v))
}

// appendMicros appends to − from in µs with three decimals, exactly.
func appendMicros(dst []byte, to, from, bound int64) []byte {
	if to == format.Null || from == format.Null || bound == format.Null {
		return append(dst, " -"...)
	}
	d := to - from
	dst = append(dst, ' ')
	if d < 0 {
		dst, d = append(dst, '-'), -d
	}
	dst = strconv.AppendInt(dst, d/1000, 10)
	ns := d % 1000
	return append(dst, '.', byte('0'+ns/100), byte('0'+ns/10%10), byte('0'+ns%10))
}

func appendText(dst []byte, s *format.Strings, i int) []byte {
	dst = append(dst, ' ')
	text, ok := s.At(i)
	if !ok || text == "" {
		return append(dst, '-')
	}
	if text == "-" {
		return append(dst, "%2D"...)
	}
	for len(text) > 0 {
		r, n := utf8.DecodeRuneInString(text)
		if plain(r, n) {
			dst = append(dst, text[:n]...)
		} else {
			for _, c := range []byte(text[:n]) {
				dst = fmt.Appendf(dst, "%%%02X", c)
			}
		}
		text = text[n:]
	}
	return dst
}

func plain(r rune, size int) bool {
	return r != '%' && unicode.IsGraphic(r) && !unicode.IsSpace(r) && (r != utf8.RuneError || size != 1)
}
