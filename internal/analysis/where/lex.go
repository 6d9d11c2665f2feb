package where

import (
	"fmt"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"amqpperf/internal/units"
)

// Error is a fault in an expression.
type Error struct {
	Expr string
	Pos  int // byte offset of the fault
	Msg  string
}

// Error implements error: the message, with the column counted from 1 in
// characters.
func (e *Error) Error() string {
	at := min(e.Pos, len(e.Expr))
	return fmt.Sprintf("column %d: %s", utf8.RuneCountInString(e.Expr[:at])+1, e.Msg)
}

type tokenKind int

const (
	tokenEnd tokenKind = iota
	tokenName
	tokenString
	tokenInteger
	tokenDuration
	tokenSize
	tokenOperator // of one or two characters
)

type token struct {
	kind tokenKind
	pos  int
	text string // as typed; of a string its value
	n    int64
}

func (t token) String() string {
	switch t.kind {
	case tokenEnd:
		return "the end"
	case tokenString:
		return fmt.Sprintf("%.40q", t.text)
	}
	return fmt.Sprintf("%.40s", t.text)
}

// longest bounds an expression.
const longest = 64 << 10

type lexer struct {
	src string
	pos int
}

func (l *lexer) fail(pos int, format string, args ...any) error {
	return &Error{Expr: l.src, Pos: pos, Msg: fmt.Sprintf(format, args...)}
}

func (l *lexer) next() (token, error) {
	for l.pos < len(l.src) && strings.IndexByte(" \t\r\n", l.src[l.pos]) >= 0 {
		l.pos++
	}
	t := token{pos: l.pos}
	if l.pos == len(l.src) {
		return t, nil
	}
	switch c := l.src[l.pos]; {
	case letter(c):
		t.kind, t.text = tokenName, l.take(func(c byte) bool { return letter(c) || digit(c) })
		return t, nil
	case digit(c), c == '-' && l.pos+1 < len(l.src) && digit(l.src[l.pos+1]):
		return l.number(t)
	case c == '"':
		return l.text(t)
	}
	for _, op := range []string{"==", "!=", "<=", ">=", "&&", "||", "<", ">", "!", "(", ")"} {
		if strings.HasPrefix(l.src[l.pos:], op) {
			l.pos += len(op)
			t.kind, t.text = tokenOperator, op
			return t, nil
		}
	}
	switch l.src[l.pos] {
	case '=':
		return t, l.fail(t.pos, "= compares nothing: write ==")
	case '&', '|':
		return t, l.fail(t.pos, "write && or ||")
	case '\'':
		return t, l.fail(t.pos, `strings stand in double quotes: destination == "q1"`)
	}
	r, _ := utf8.DecodeRuneInString(l.src[l.pos:])
	return t, l.fail(t.pos, "%q is not part of an expression", r)
}

func letter(c byte) bool { return c == '_' || (c|0x20 >= 'a' && c|0x20 <= 'z') }
func digit(c byte) bool  { return c >= '0' && c <= '9' }

func (l *lexer) take(ok func(byte) bool) string {
	from := l.pos
	for l.pos < len(l.src) && ok(l.src[l.pos]) {
		l.pos++
	}
	return l.src[from:l.pos]
}

// number reads an integer, a duration or a size: digits with what follows them.
func (l *lexer) number(t token) (token, error) {
	from := l.pos
	if l.src[l.pos] == '-' {
		l.pos++
	}
	l.take(func(c byte) bool { return digit(c) || c == '.' || letter(c) })
	t.text = l.src[from:l.pos]
	bare := strings.TrimPrefix(t.text, "-")
	if strings.Trim(bare, "0123456789") == "" {
		t.kind = tokenInteger
		var err error
		if t.n, err = strconv.ParseInt(t.text, 10, 64); err != nil {
			return t, l.fail(t.pos, "%.40s is too large", t.text)
		}
		return t, nil
	}
	if strings.HasSuffix(bare, "B") {
		size, err := units.ParseSize(bare)
		if err != nil {
			return t, l.fail(t.pos, "%s", err)
		}
		t.kind, t.n = tokenSize, int64(size)
		if bare != t.text {
			t.n = -t.n
		}
		return t, nil
	}
	d, err := time.ParseDuration(t.text)
	if err != nil {
		return t, l.fail(t.pos, "%.40s is no number, duration (5ms) or size (1KiB)", t.text)
	}
	t.kind, t.n = tokenDuration, int64(d)
	return t, nil
}

// text reads a string in double quotes.
func (l *lexer) text(t token) (token, error) {
	var b strings.Builder
	for i := l.pos + 1; i < len(l.src); i++ {
		switch c := l.src[i]; c {
		case '"':
			l.pos = i + 1
			t.kind, t.text = tokenString, b.String()
			return t, nil
		case '\\':
			i++
			if i == len(l.src) || (l.src[i] != '"' && l.src[i] != '\\') {
				return t, l.fail(i-1, `a backslash is followed by " or \`)
			}
			b.WriteByte(l.src[i])
		default:
			b.WriteByte(c)
		}
	}
	return t, l.fail(t.pos, "the string has no end")
}
