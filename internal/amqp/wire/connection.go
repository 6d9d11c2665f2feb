package wire

// Open is the first performative of a connection (part 2, section 2.7.1).
type Open struct {
	ContainerID         string
	Hostname            string
	MaxFrameSize        Opt[uint32] // bytes; null: no limit
	ChannelMax          Opt[uint16] // null: 65535
	IdleTimeout         Opt[uint32] // ms; null or 0: none
	OutgoingLocales     []Symbol
	IncomingLocales     []Symbol
	OfferedCapabilities []Symbol
	DesiredCapabilities []Symbol
	Properties          Map
}

// Append implements Performative.
func (o *Open) Append(b []byte) []byte {
	w := beginComposite(b, CodeOpen)
	w.field()
	w.b = appendString(w.b, o.ContainerID)
	w.string(o.Hostname)
	w.optUint32(o.MaxFrameSize)
	w.optUint16(o.ChannelMax)
	w.optUint32(o.IdleTimeout)
	w.symbols(o.OutgoingLocales)
	w.symbols(o.IncomingLocales)
	w.symbols(o.OfferedCapabilities)
	w.symbols(o.DesiredCapabilities)
	w.mapping(o.Properties)
	return w.end()
}

// Decode implements Performative.
func (o *Open) Decode(body []byte) error {
	*o = Open{}
	r := Reader{b: body}
	f := r.composite(CodeOpen, "open")
	if f.need("container-id") {
		o.ContainerID = f.r.String()
	}
	o.Hostname = f.string()
	o.MaxFrameSize = f.optUint32()
	o.ChannelMax = f.optUint16()
	o.IdleTimeout = f.optUint32()
	o.OutgoingLocales = f.symbols()
	o.IncomingLocales = f.symbols()
	o.OfferedCapabilities = f.symbols()
	o.DesiredCapabilities = f.symbols()
	o.Properties = f.mapping()
	return f.r.err
}

// Close ends a connection (part 2, section 2.7.9).
type Close struct{ Error *Error }

// Append implements Performative.
func (c *Close) Append(b []byte) []byte { return appendEnd(b, CodeClose, c.Error) }

// Decode implements Performative.
func (c *Close) Decode(body []byte) (err error) {
	c.Error, err = decodeEnd(body, CodeClose, "close")
	return err
}

func appendEnd(b []byte, code Code, e *Error) []byte {
	w := beginComposite(b, code)
	w.error(e)
	return w.end()
}

func decodeEnd(body []byte, code Code, name string) (e *Error, err error) {
	r := Reader{b: body}
	f := r.composite(code, name)
	if f.next() {
		e = f.r.errorValue()
	}
	return e, f.r.err
}

// Error tells why a link, session or connection ended or a delivery was
// rejected (part 2, section 2.8.14). It is also a Go error.
type Error struct {
	Condition   Symbol
	Description string
	Info        Map
}

// Error gives condition and description.
func (e *Error) Error() string {
	if e.Description == "" {
		return string(e.Condition)
	}
	return string(e.Condition) + ": " + e.Description
}

// Append appends the encoded error.
func (e *Error) Append(b []byte) []byte {
	w := beginComposite(b, CodeError)
	w.field()
	w.b = appendSymbol(w.b, e.Condition)
	w.string(e.Description)
	w.mapping(e.Info)
	return w.end()
}

func (r *Reader) errorValue() *Error {
	e := new(Error)
	f := r.composite(CodeError, "error")
	if f.need("condition") {
		e.Condition = f.r.Symbol()
	}
	e.Description = f.string()
	e.Info = f.mapping()
	r.adopt(&f.r)
	return e
}

// adopt takes over the error of a reader of a part.
func (r *Reader) adopt(part *Reader) {
	if r.err == nil && part.err != nil {
		r.err, r.b = part.err, nil
	}
}
