// Package message makes the sections of a message that stand before its body,
// from templates: header, message annotations, properties and application
// properties. A template is read once; to encode a message then copies what never
// changes and fills the slots, without an allocation. It knows no link, no
// clock and no body.
package message

import (
	"encoding/binary"
	"fmt"
	"math"
	"time"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/wire"
)

// DefaultPriority is that of AMQP (part 3, section 3.2.1).
const DefaultPriority = 4

// Spec says what the messages of all producers have before their bodies. The zero
// value is a header of priority 0.
type Spec struct {
	Durable  bool
	Priority uint8
	// TTL is how long a message lives, in whole ms up to 2³²−1; 0: for ever.
	TTL time.Duration
	// Annotations are message annotations (keys are symbols), Properties application
	// properties, both in this order.
	Annotations, Properties []Pair
	// Standard properties. Of a Value without Type and text there is none. The
	// message-id may be string, ulong or binary.
	MessageID      Value
	Subject, Group Template
	ContentType    string
	// Seed of what the templates draw.
	Seed uint64
}

// Check reports the first thing in s that cannot be encoded.
func (s *Spec) Check() error {
	_, err := s.New(0, nil)
	return err
}

// Plain reports whether s is no more than a header that a link makes by itself.
func (s *Spec) Plain() bool {
	return s.Priority == DefaultPriority && s.TTL == 0 && len(s.Annotations) == 0 && len(s.Properties) == 0 && !s.hasProperties()
}

func (s *Spec) hasProperties() bool {
	return s.MessageID.Template.text != "" || s.Subject.text != "" || s.Group.text != "" || s.ContentType != ""
}

// Stamper makes the stamp of a message.
type Stamper interface {
	AppendStamp(dst []byte, m *amqp.Message) []byte
}

// Encoder makes the sections of the messages of one producer; it is an
// amqp.Sections. It is for one goroutine at a time.
type Encoder struct {
	source source
	head   []byte // header, and what follows it up to the first slot
	parts  []block
	stamp  Stamper
}

// block is a section, or a run of encoded sections that never change.
type block struct {
	static []byte // then nothing else
	code   wire.Code
	fields []field
	count  uint32 // elements of the list or map
	stamp  bool
}

// field is an element of a list, or key and value of a map.
type field struct {
	static []byte
	value  *value
}

// New makes the encoder of a producer. With a stamper, the stamp goes into the
// application properties, under amqp.StampKey.
func (s *Spec) New(producer int32, stamp Stamper) (*Encoder, error) {
	e := &Encoder{source: source{seed: s.Seed, producer: producer}, stamp: stamp}
	header := wire.Header{Durable: s.Durable, Priority: wire.Some(s.Priority)}
	if s.TTL != 0 {
		ms := s.TTL.Milliseconds()
		if ms < 1 || ms > math.MaxUint32 || time.Duration(ms)*time.Millisecond != s.TTL {
			return nil, fmt.Errorf("a time to live of %v: whole ms, from 1ms to %v", s.TTL, math.MaxUint32*time.Millisecond)
		}
		header.TTL = wire.Some(uint32(ms))
	}
	e.head = header.Append(nil)
	annotations, err := mapOf(wire.CodeMessageAnnotations, s.Annotations, 1<<10, nil)
	if err != nil {
		return nil, fmt.Errorf("annotation %w", err)
	}
	properties, err := s.properties()
	if err != nil {
		return nil, err
	}
	application, err := mapOf(wire.CodeApplicationProperties, s.Properties, 2<<10, stamp)
	if err != nil {
		return nil, fmt.Errorf("property %w", err)
	}
	for _, b := range []block{annotations, properties, application} {
		e.add(b)
	}
	return e, nil
}

// add adds a section; one that never changes is encoded now.
func (e *Encoder) add(b block) {
	if b.count == 0 {
		return
	}
	changes := b.stamp
	for _, f := range b.fields {
		changes = changes || f.value != nil
	}
	switch {
	case changes:
		e.parts = append(e.parts, b)
	case len(e.parts) == 0:
		e.head = b.append(e.head, e, nil)
	default:
		e.parts = append(e.parts, block{static: b.append(nil, e, nil)})
	}
}

// AppendSections implements amqp.Sections.
func (e *Encoder) AppendSections(dst []byte, m *amqp.Message) []byte {
	dst = append(dst, e.head...)
	for i := range e.parts {
		b := &e.parts[i]
		if b.static != nil {
			dst = append(dst, b.static...)
			continue
		}
		dst = b.append(dst, e, m)
	}
	return dst
}

// codeList32 and codeMap32 begin a list and a map with their size and count in
// four bytes each (part 1, section 1.6).
const (
	codeList32 = 0xd0
	codeMap32  = 0xd1
)

func (b *block) append(dst []byte, e *Encoder, m *amqp.Message) []byte {
	kind := byte(codeMap32)
	if b.code == wire.CodeProperties {
		kind = codeList32
	}
	// A descriptor is a small ulong (0x53) after 0x00.
	dst = append(dst, 0x00, 0x53, byte(b.code), kind, 0, 0, 0, 0)
	at := len(dst)
	dst = binary.BigEndian.AppendUint32(dst, b.count)
	for i := range b.fields {
		f := &b.fields[i]
		dst = append(dst, f.static...)
		if f.value != nil {
			dst = f.value.append(dst, &e.source, m)
		}
	}
	if b.stamp {
		dst = wire.AppendValue(dst, amqp.StampKey)
		start := len(dst)
		dst = sized8(e.stamp.AppendStamp(append(dst, codeBin8, 0), m), start)
	}
	binary.BigEndian.PutUint32(dst[at-4:], uint32(len(dst)-at))
	return dst
}

// mapOf makes a section that is a map.
func mapOf(code wire.Code, pairs []Pair, place uint32, stamp Stamper) (block, error) {
	b := block{code: code, count: uint32(2 * len(pairs)), stamp: stamp != nil}
	seen := map[string]bool{}
	for i, p := range pairs {
		var key any = p.Key
		if code == wire.CodeMessageAnnotations {
			if err := ascii(p.Key); err != nil {
				return b, fmt.Errorf("%q: the key is a symbol: ASCII only", p.Key)
			}
			key = wire.Symbol(p.Key)
		}
		switch {
		case seen[p.Key]:
			return b, fmt.Errorf("%q is given twice", p.Key)
		case p.Key == amqp.StampKey:
			return b, fmt.Errorf("%q is the key of our own stamp", p.Key)
		}
		seen[p.Key] = true
		v, err := compile(p.Value, place+uint32(i)<<12)
		if err != nil {
			return b, fmt.Errorf("%q: %w", p.Key, err)
		}
		b.fields = append(b.fields, fieldOf(wire.AppendValue(nil, key), v))
	}
	if stamp != nil {
		b.count += 2
	}
	return b, nil
}

func fieldOf(static []byte, v value) field {
	if v.constant() {
		return field{static: append(static, v.static...)}
	}
	return field{static: static, value: &v}
}

// codeNull is the encoded null.
const codeNull = 0x40

// The places of the standard properties that are set here (part 3, section 3.2.4).
const (
	atMessageID   = 0
	atSubject     = 3
	atContentType = 6
	atGroup       = 10
)

// properties makes the section of the standard properties.
func (s *Spec) properties() (block, error) {
	b := block{code: wire.CodeProperties}
	set := func(at uint32, v Value, name string) error {
		if v.Template.text == "" {
			return nil
		}
		ready, err := compile(v, at<<12)
		if err != nil {
			return fmt.Errorf("%s: %w", name, err)
		}
		var nulls []byte
		for ; b.count < at; b.count++ {
			nulls = append(nulls, codeNull)
		}
		b.fields = append(b.fields, fieldOf(nulls, ready))
		b.count++
		return nil
	}
	switch s.MessageID.Type {
	case "", "string", "ulong", "binary":
	default:
		return b, fmt.Errorf("message-id of type %q: string, ulong or binary", s.MessageID.Type)
	}
	contentType := Value{Type: "symbol"}
	if s.ContentType != "" {
		contentType.Template = Template{text: s.ContentType, parts: []part{{text: s.ContentType}}}
	}
	for _, p := range []struct {
		at   uint32
		v    Value
		name string
	}{
		{atMessageID, s.MessageID, "message-id"}, {atSubject, Value{Template: s.Subject}, "subject"},
		{atContentType, contentType, "content-type"}, {atGroup, Value{Template: s.Group}, "group"},
	} {
		if err := set(p.at, p.v, p.name); err != nil {
			return b, err
		}
	}
	return b, nil
}
