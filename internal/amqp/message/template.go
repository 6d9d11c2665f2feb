package message

import (
	"fmt"
	"math/bits"
	"strconv"
	"strings"
	"unicode/utf8"

	"amqpperf/internal/amqp"
)

// Template is a text with slots, as users write it:
//
//	{seq}            the number of the message within its producer, from 0
//	{producer}       the number of the producer, from 0
//	{random:a|b|c}   one of these texts, drawn for each message
//	{{ and }}        the braces themselves
//
// The zero value is the empty text. What is drawn is a function of seed, producer
// and seq, so a message that is sent again is the same one.
type Template struct {
	text  string
	parts []part
}

type slot uint8

const (
	literal slot = iota
	seqSlot
	producerSlot
	randomSlot
)

// part is a literal, or a slot.
type part struct {
	slot    slot
	text    string
	choices []string
}

// ParseTemplate reads a template. Errors name the place.
func ParseTemplate(text string) (Template, error) {
	t := Template{text: text}
	if !utf8.ValidString(text) {
		return t, fmt.Errorf("template %q: not valid UTF-8", text)
	}
	var plain strings.Builder
	flush := func() {
		if plain.Len() > 0 {
			t.parts = append(t.parts, part{text: plain.String()})
			plain.Reset()
		}
	}
	for rest := text; rest != ""; {
		at := strings.IndexAny(rest, "{}")
		if at < 0 {
			plain.WriteString(rest)
			break
		}
		plain.WriteString(rest[:at])
		brace := rest[at]
		rest = rest[at:]
		if len(rest) > 1 && rest[1] == brace {
			plain.WriteByte(brace)
			rest = rest[2:]
			continue
		}
		end := strings.IndexByte(rest, '}')
		if brace == '}' || end < 0 {
			return t, fmt.Errorf("template %q: a single %q at byte %d: write it twice to mean itself", text, string(brace), len(text)-len(rest))
		}
		p, err := parseSlot(rest[1:end])
		if err != nil {
			return t, fmt.Errorf("template %q: %w", text, err)
		}
		flush()
		t.parts = append(t.parts, p)
		rest = rest[end+1:]
	}
	flush()
	return t, nil
}

func parseSlot(s string) (part, error) {
	switch name, choices, many := strings.Cut(s, ":"); {
	case s == "seq":
		return part{slot: seqSlot}, nil
	case s == "producer":
		return part{slot: producerSlot}, nil
	case name == "random" && many:
		p := part{slot: randomSlot, choices: strings.Split(choices, "|")}
		if len(p.choices) < 2 {
			return p, fmt.Errorf("{%s}: at least two texts, such as {random:a|b}", s)
		}
		return p, nil
	}
	return part{}, fmt.Errorf("{%s}: there are {seq}, {producer} and {random:a|b|c}", s)
}

// String returns the template as it was written.
func (t Template) String() string { return t.text }

// Constant reports whether the text is the same in all messages.
func (t Template) Constant() bool {
	return len(t.parts) == 0 || len(t.parts) == 1 && t.parts[0].slot == literal
}

// Random reports whether something is drawn.
func (t Template) Random() bool {
	for i := range t.parts {
		if t.parts[i].slot == randomSlot {
			return true
		}
	}
	return false
}

// constant returns the text of a constant template.
func (t Template) constant() string {
	if len(t.parts) == 0 {
		return ""
	}
	return t.parts[0].text
}

// only returns the slot that the template is nothing but; literal if it is not so.
func (t Template) only() *part {
	if len(t.parts) == 1 {
		return &t.parts[0]
	}
	return &part{}
}

// check calls do with every piece of text that may occur.
func (t Template) check(do func(string) error) error {
	for i := range t.parts {
		for _, text := range append([]string{t.parts[i].text}, t.parts[i].choices...) {
			if err := do(text); err != nil {
				return err
			}
		}
	}
	return nil
}

// source is what the slots of a message are filled with.
type source struct {
	seed     uint64
	producer int32
}

// draw returns a number below n: a function of seed, producer, seq and the place
// of the slot.
func (s *source) draw(seq int64, place uint32, n int) int {
	x := mix(s.seed ^ uint64(uint32(s.producer))<<32 ^ uint64(place))
	hi, _ := bits.Mul64(mix(x+uint64(seq)), uint64(n))
	return int(hi)
}

// mix is the finalizer of SplitMix64 (Steele, Lea, Flood, OOPSLA 2014): every bit
// of the result depends on every bit of x.
func mix(x uint64) uint64 {
	x += 0x9e3779b97f4a7c15
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// append appends the text of a message; place tells its slots from those of other
// templates.
func (t *Template) append(dst []byte, s *source, m *amqp.Message, place uint32) []byte {
	for i := range t.parts {
		switch p := &t.parts[i]; p.slot {
		case literal:
			dst = append(dst, p.text...)
		case seqSlot:
			dst = strconv.AppendInt(dst, m.Seq, 10)
		case producerSlot:
			dst = strconv.AppendInt(dst, int64(s.producer), 10)
		case randomSlot:
			dst = append(dst, p.choices[s.draw(m.Seq, place+uint32(i), len(p.choices))]...)
		}
	}
	return dst
}
