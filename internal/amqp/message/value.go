package message

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/wire"
)

// Value is a typed template: a value in a message.
type Value struct {
	Type     string // as in Types; "": string
	Template Template
}

// Types lists the names of the types that a Value can have, those of AMQP.
func Types() []string {
	return []string{
		"string", "symbol", "binary", "boolean", "byte", "short", "int", "long",
		"ubyte", "ushort", "uint", "ulong", "float", "double", "timestamp",
	}
}

// Pair is a key with its value.
type Pair struct {
	Key   string
	Value Value
}

// ParsePair reads KEY=VALUE or KEY:TYPE=VALUE. A key with a colon needs its type.
func ParsePair(s string) (Pair, error) {
	key, text, ok := strings.Cut(s, "=")
	if !ok || key == "" {
		return Pair{}, fmt.Errorf("%q: want KEY=VALUE or KEY:TYPE=VALUE", s)
	}
	p := Pair{Key: key, Value: Value{Type: "string"}}
	if at := strings.LastIndexByte(key, ':'); at >= 0 {
		p.Key, p.Value.Type = key[:at], key[at+1:]
	}
	var err error
	if p.Value.Template, err = ParseTemplate(text); err != nil {
		return p, fmt.Errorf("%q: %w", p.Key, err)
	}
	switch {
	case p.Key == "":
		return p, fmt.Errorf("%q: there is no key before the type", s)
	case !utf8.ValidString(p.Key):
		return p, fmt.Errorf("%q: not valid UTF-8", s)
	}
	if _, err := compile(p.Value, 0); err != nil {
		return p, fmt.Errorf("%q: %w", p.Key, err)
	}
	return p, nil
}

// ParseMessageID reads a message-id: a template, or ulong:, binary: or string: and
// a template.
func ParseMessageID(s string) (Value, error) {
	v := Value{Type: "string"}
	if typ, rest, ok := strings.Cut(s, ":"); ok && (typ == "ulong" || typ == "binary" || typ == "string") {
		v.Type, s = typ, rest
	}
	var err error
	if v.Template, err = ParseTemplate(s); err != nil {
		return v, err
	}
	_, err = compile(v, 0)
	return v, err
}

// String returns the pair as ParsePair reads it.
func (p Pair) String() string {
	return p.Key + ":" + p.Value.Type + "=" + p.Value.Template.String()
}

// value is a Value made ready: exactly one of its ways is used.
type value struct {
	static  []byte   // encoded
	choices [][]byte // encoded, one of them for each message
	number  slot     // seqSlot or producerSlot, in code
	text    Template // a text with slots, of variable width type code8
	code    byte
	place   uint32 // of the slots, for draws
}

// Constructors of what differs from message to message (part 1, section 1.6).
const (
	codeUint      = 0x70
	codeInt       = 0x71
	codeUlong     = 0x80
	codeLong      = 0x81
	codeTimestamp = 0x83
	codeBin8      = 0xa0
	codeStr8      = 0xa1
	codeSym8      = 0xa3
)

// compile checks a value and makes it ready.
func compile(v Value, place uint32) (value, error) {
	out := value{place: place}
	if v.Template.Constant() {
		parsed, err := parseAs(v.Type, v.Template.constant())
		if err != nil {
			return out, err
		}
		out.static = wire.AppendValue(nil, parsed)
		return out, nil
	}
	only := v.Template.only()
	if only.slot == randomSlot {
		for _, text := range only.choices {
			parsed, err := parseAs(v.Type, text)
			if err != nil {
				return out, err
			}
			out.choices = append(out.choices, wire.AppendValue(nil, parsed))
		}
		return out, nil
	}
	switch v.Type {
	case "string", "":
		out.code = codeStr8
	case "binary":
		out.code = codeBin8
	case "symbol":
		out.code = codeSym8
		if err := v.Template.check(ascii); err != nil {
			return out, err
		}
	default:
		return out, out.numeric(v.Type, only)
	}
	out.text = v.Template
	return out, nil
}

// numeric makes a number of a slot ready.
func (v *value) numeric(typ string, only *part) error {
	if !known(typ) {
		return unknown(typ)
	}
	if only.slot == literal {
		return fmt.Errorf("type %s: a number, {seq}, {producer} or {random:1|2}, and nothing around it", typ)
	}
	codes := map[string]byte{"long": codeLong, "ulong": codeUlong, "timestamp": codeTimestamp}
	if only.slot == producerSlot {
		codes["int"], codes["uint"] = codeInt, codeUint
	}
	code, ok := codes[typ]
	if !ok {
		return fmt.Errorf("type %s: too narrow for this slot, take long", typ)
	}
	v.code, v.number = code, only.slot
	return nil
}

func known(typ string) bool {
	for _, t := range Types() {
		if t == typ {
			return true
		}
	}
	return false
}

func unknown(typ string) error {
	return fmt.Errorf("type %q is unknown: %s", typ, strings.Join(Types(), ", "))
}

func ascii(s string) error {
	for i := range len(s) {
		if s[i] >= 0x80 || s[i] < 0x20 {
			return fmt.Errorf("type symbol: %q has characters beside ASCII", s)
		}
	}
	return nil
}

// parseAs reads a text as a value of the type.
func parseAs(typ, s string) (any, error) {
	switch typ {
	case "string", "":
		return s, nil
	case "symbol":
		return wire.Symbol(s), ascii(s)
	case "binary":
		return []byte(s), nil
	case "boolean":
		switch s {
		case "true":
			return true, nil
		case "false":
			return false, nil
		}
		return nil, fmt.Errorf("type boolean: %q is neither true nor false", s)
	case "float", "double":
		return parseFloat(typ, s)
	}
	v, err := parseInteger(typ, s)
	if errors.Is(err, strconv.ErrRange) || errors.Is(err, strconv.ErrSyntax) {
		return nil, fmt.Errorf("type %s: %q is no such number", typ, s)
	}
	return v, err
}

func parseFloat(typ, s string) (any, error) {
	width := 64
	if typ == "float" {
		width = 32
	}
	f, err := strconv.ParseFloat(s, width)
	switch {
	case err != nil || math.IsNaN(f) || math.IsInf(f, 0):
		return nil, fmt.Errorf("type %s: %q is no such number", typ, s)
	case width == 32:
		return float32(f), nil
	}
	return f, nil
}

func parseInteger(typ, s string) (any, error) {
	signed := func(width int) (int64, error) { return strconv.ParseInt(s, 10, width) }
	unsigned := func(width int) (uint64, error) { return strconv.ParseUint(s, 10, width) }
	switch typ {
	case "byte":
		v, err := signed(8)
		return int8(v), err
	case "short":
		v, err := signed(16)
		return int16(v), err
	case "int":
		v, err := signed(32)
		return int32(v), err
	case "long":
		return signed(64)
	case "timestamp":
		v, err := signed(64)
		return wire.Timestamp(v), err
	case "ubyte":
		v, err := unsigned(8)
		return uint8(v), err
	case "ushort":
		v, err := unsigned(16)
		return uint16(v), err
	case "uint":
		v, err := unsigned(32)
		return uint32(v), err
	case "ulong":
		return unsigned(64)
	}
	return nil, unknown(typ)
}

// constant reports whether the value is the same in all messages.
func (v *value) constant() bool { return v.static != nil }

// append appends the encoded value of a message.
func (v *value) append(dst []byte, s *source, m *amqp.Message) []byte {
	switch {
	case v.static != nil:
		return append(dst, v.static...)
	case v.choices != nil:
		return append(dst, v.choices[s.draw(m.Seq, v.place, len(v.choices))]...)
	case v.number != literal:
		n := uint64(m.Seq)
		if v.number == producerSlot {
			n = uint64(uint32(s.producer))
		}
		if v.code == codeInt || v.code == codeUint {
			return binary.BigEndian.AppendUint32(append(dst, v.code), uint32(n))
		}
		return binary.BigEndian.AppendUint64(append(dst, v.code), n)
	}
	at := len(dst)
	dst = v.text.append(append(dst, v.code, 0), s, m, v.place)
	return sized8(dst, at)
}

// sized8 fills in the size of a value of variable width that begins at at with a
// constructor of one byte of size, and makes it the one of four if it must.
func sized8(dst []byte, at int) []byte {
	n := len(dst) - at - 2
	if n < 256 {
		dst[at+1] = byte(n)
		return dst
	}
	dst = append(dst, 0, 0, 0)
	copy(dst[at+5:], dst[at+2:at+2+n])
	dst[at] |= 0x10
	binary.BigEndian.PutUint32(dst[at+1:], uint32(n))
	return dst
}
