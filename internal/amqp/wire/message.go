package wire

import "encoding/binary"

// Header is the first section of a message (part 3, section 3.2.1).
type Header struct {
	Durable       bool
	Priority      Opt[uint8]  // null: 4
	TTL           Opt[uint32] // ms; null: for ever
	FirstAcquirer bool
	DeliveryCount uint32 // earlier attempts that failed
}

// Append appends the encoded section.
func (h *Header) Append(b []byte) []byte {
	w := beginComposite(b, CodeHeader)
	w.trueOnly(h.Durable)
	w.optUint8(h.Priority)
	w.optUint32(h.TTL)
	w.trueOnly(h.FirstAcquirer)
	w.optUint32(Opt[uint32]{h.DeliveryCount, h.DeliveryCount != 0})
	return w.end()
}

// Decode sets every field from an encoded section, descriptor included.
func (h *Header) Decode(section []byte) error {
	r := Reader{b: section}
	h.read(&r)
	return r.err
}

func (h *Header) read(r *Reader) {
	*h = Header{}
	f := r.composite(CodeHeader, "header")
	h.Durable = f.bool()
	h.Priority = f.optUint8()
	h.TTL = f.optUint32()
	h.FirstAcquirer = f.bool()
	h.DeliveryCount = f.optUint32().V
	r.adopt(&f.r)
}

// Properties are the standard properties of a message (part 3, section 3.2.4).
type Properties struct {
	MessageID          any // ulong, UUID, binary or string
	UserID             []byte
	To                 Opt[string]
	Subject            Opt[string]
	ReplyTo            Opt[string]
	CorrelationID      any // ulong, UUID, binary or string
	ContentType        Symbol
	ContentEncoding    Symbol
	AbsoluteExpiryTime Opt[Timestamp]
	CreationTime       Opt[Timestamp]
	GroupID            Opt[string]
	GroupSequence      Opt[uint32]
	ReplyToGroupID     Opt[string]
}

// Append appends the encoded section.
func (p *Properties) Append(b []byte) []byte {
	w := beginComposite(b, CodeProperties)
	w.value(p.MessageID)
	w.binary(p.UserID)
	w.optString(p.To)
	w.optString(p.Subject)
	w.optString(p.ReplyTo)
	w.value(p.CorrelationID)
	w.symbol(p.ContentType)
	w.symbol(p.ContentEncoding)
	w.timestamp(p.AbsoluteExpiryTime)
	w.timestamp(p.CreationTime)
	w.optString(p.GroupID)
	w.optUint32(p.GroupSequence)
	w.optString(p.ReplyToGroupID)
	return w.end()
}

func (w *listWriter) timestamp(v Opt[Timestamp]) {
	if !v.OK {
		w.null()
		return
	}
	w.field()
	w.b = binary.BigEndian.AppendUint64(append(w.b, codeTimestamp), uint64(v.V))
}

func (p *Properties) read(r *Reader) {
	*p = Properties{}
	f := r.composite(CodeProperties, "properties")
	p.MessageID = f.value()
	p.UserID = f.binary()
	p.To = f.optString()
	p.Subject = f.optString()
	p.ReplyTo = f.optString()
	p.CorrelationID = f.value()
	p.ContentType = f.symbol()
	p.ContentEncoding = f.symbol()
	if f.next() {
		p.AbsoluteExpiryTime = Some(f.r.Timestamp())
	}
	if f.next() {
		p.CreationTime = Some(f.r.Timestamp())
	}
	p.GroupID = f.optString()
	p.GroupSequence = f.optUint32()
	p.ReplyToGroupID = f.optString()
	r.adopt(&f.r)
}

// Message is a whole message, taken apart (part 3, section 3.2). At most one of
// Data, Sequence and Value is there.
type Message struct {
	Header                *Header
	DeliveryAnnotations   Map
	MessageAnnotations    Map
	Properties            *Properties
	ApplicationProperties Map
	Data                  [][]byte
	Sequence              []List
	Value                 Opt[any] // Some(nil) is a body that is a null
	Footer                Map
}

// Append appends the encoded message.
func (m *Message) Append(b []byte) []byte {
	if m.Header != nil {
		b = m.Header.Append(b)
	}
	b = appendMapSection(b, CodeDeliveryAnnotations, m.DeliveryAnnotations)
	b = appendMapSection(b, CodeMessageAnnotations, m.MessageAnnotations)
	if m.Properties != nil {
		b = m.Properties.Append(b)
	}
	b = appendMapSection(b, CodeApplicationProperties, m.ApplicationProperties)
	for _, d := range m.Data {
		b = AppendData(b, d)
	}
	for _, s := range m.Sequence {
		b = AppendValue(appendDescriptor(b, CodeSequence), s)
	}
	if m.Value.OK {
		b = AppendValue(appendDescriptor(b, CodeValue), m.Value.V)
	}
	return appendMapSection(b, CodeFooter, m.Footer)
}

func appendMapSection(b []byte, c Code, m Map) []byte {
	if m == nil {
		return b
	}
	return appendMap(appendDescriptor(b, c), m)
}

// AppendData appends a data section that holds d.
func AppendData(b, d []byte) []byte { return append(AppendDataHead(b, len(d)), d...) }

// AppendDataHead appends the start of a data section; exactly n bytes must follow.
func AppendDataHead(b []byte, n int) []byte {
	return appendSized(appendDescriptor(b, CodeData), codeBin8, n)
}

// AppendValueHead appends the start of an amqp-value section that holds a binary;
// exactly n bytes must follow.
func AppendValueHead(b []byte, n int) []byte {
	return appendSized(appendDescriptor(b, CodeValue), codeBin8, n)
}

// Decode takes an encoded message apart. Sections must come in the order of the
// specification; byte slices are views of b.
func (m *Message) Decode(b []byte) error {
	*m = Message{}
	r := Reader{b: b}
	for last := Code(0); r.err == nil && len(r.b) > 0; {
		c := r.peekDescriptor()
		if r.err != nil {
			break
		}
		repeat := c == last && (c == CodeData || c == CodeSequence)
		bodies := c > CodeData && c <= CodeValue && last >= CodeData && last <= CodeValue && !repeat
		if c < CodeHeader || c > CodeFooter || c <= last && !repeat || bodies {
			r.fail("message section %#x after %#x", uint64(c), uint64(last))
			break
		}
		m.section(&r, c)
		last = c
	}
	return r.err
}

func (m *Message) section(r *Reader, c Code) {
	switch c {
	case CodeHeader:
		m.Header = new(Header)
		m.Header.read(r)
		return
	case CodeProperties:
		m.Properties = new(Properties)
		m.Properties.read(r)
		return
	}
	r.expect(c)
	switch c {
	case CodeDeliveryAnnotations:
		m.DeliveryAnnotations = r.Map()
	case CodeMessageAnnotations:
		m.MessageAnnotations = r.Map()
	case CodeApplicationProperties:
		m.ApplicationProperties = r.Map()
	case CodeData:
		m.Data = append(m.Data, r.Binary())
	case CodeSequence:
		l, ok := r.Value().(List)
		if !ok {
			r.fail("sequence section without a list")
		}
		m.Sequence = append(m.Sequence, l)
	case CodeValue:
		m.Value = Some(r.Value())
	case CodeFooter:
		m.Footer = r.Map()
	}
}

// Section is one section of a message, not decoded.
type Section struct {
	Code  Code
	Bytes []byte // with its descriptor
	Value []byte // the encoded value after the descriptor
}

// CutSection takes the first section off a message. Only sizes are checked.
func CutSection(b []byte) (s Section, rest []byte, err error) {
	r := Reader{b: b}
	s.Code = r.descriptor()
	at := len(b) - len(r.b)
	r.Skip()
	if r.err != nil {
		return Section{}, nil, r.err
	}
	n := len(b) - len(r.b)
	s.Bytes, s.Value = b[:n:n], b[at:n:n]
	return s, r.b, nil
}

// FirstData returns a view of the first data section of a message, without
// decoding the rest. ok is false if the body is of another kind or the message
// is malformed before it.
func FirstData(b []byte) (data []byte, ok bool) {
	for len(b) > 0 {
		s, rest, err := CutSection(b)
		if err != nil {
			return nil, false
		}
		if s.Code == CodeData {
			r := Reader{b: s.Value}
			data = r.Binary()
			return data, r.err == nil
		}
		b = rest
	}
	return nil, false
}
