package wire

// Begin starts a session (part 2, section 2.7.2).
type Begin struct {
	RemoteChannel       Opt[uint16] // set in an answer only
	NextOutgoingID      uint32      // transfer-id of the next transfer frame
	IncomingWindow      uint32      // transfer frames
	OutgoingWindow      uint32      // transfer frames
	HandleMax           Opt[uint32] // null: 2³²−1
	OfferedCapabilities []Symbol
	DesiredCapabilities []Symbol
	Properties          Map
}

// Append implements Performative.
func (p *Begin) Append(b []byte) []byte {
	w := beginComposite(b, CodeBegin)
	w.optUint16(p.RemoteChannel)
	w.uint32(p.NextOutgoingID)
	w.uint32(p.IncomingWindow)
	w.uint32(p.OutgoingWindow)
	w.optUint32(p.HandleMax)
	w.symbols(p.OfferedCapabilities)
	w.symbols(p.DesiredCapabilities)
	w.mapping(p.Properties)
	return w.end()
}

// Decode implements Performative.
func (p *Begin) Decode(body []byte) error {
	*p = Begin{}
	r := Reader{b: body}
	f := r.composite(CodeBegin, "begin")
	p.RemoteChannel = f.optUint16()
	p.NextOutgoingID = f.needUint32("next-outgoing-id")
	p.IncomingWindow = f.needUint32("incoming-window")
	p.OutgoingWindow = f.needUint32("outgoing-window")
	p.HandleMax = f.optUint32()
	p.OfferedCapabilities = f.symbols()
	p.DesiredCapabilities = f.symbols()
	p.Properties = f.mapping()
	return f.r.err
}

// End ends a session (part 2, section 2.7.8).
type End struct{ Error *Error }

// Append implements Performative.
func (e *End) Append(b []byte) []byte { return appendEnd(b, CodeEnd, e.Error) }

// Decode implements Performative.
func (e *End) Decode(body []byte) (err error) {
	e.Error, err = decodeEnd(body, CodeEnd, "end")
	return err
}

// Flow updates the state of a session, and of a link if Handle is set
// (part 2, section 2.7.4). Nulls matter: see the endpoint package.
type Flow struct {
	NextIncomingID Opt[uint32]
	IncomingWindow uint32 // transfer frames
	NextOutgoingID uint32
	OutgoingWindow uint32 // transfer frames
	Handle         Opt[uint32]
	DeliveryCount  Opt[uint32]
	LinkCredit     Opt[uint32] // deliveries
	Available      Opt[uint32] // deliveries
	Drain          bool
	Echo           bool
	Properties     Map
}

// Append implements Performative.
func (p *Flow) Append(b []byte) []byte {
	w := beginComposite(b, CodeFlow)
	w.optUint32(p.NextIncomingID)
	w.uint32(p.IncomingWindow)
	w.uint32(p.NextOutgoingID)
	w.uint32(p.OutgoingWindow)
	w.optUint32(p.Handle)
	w.optUint32(p.DeliveryCount)
	w.optUint32(p.LinkCredit)
	w.optUint32(p.Available)
	w.trueOnly(p.Drain)
	w.trueOnly(p.Echo)
	w.mapping(p.Properties)
	return w.end()
}

// Decode implements Performative.
func (p *Flow) Decode(body []byte) error {
	*p = Flow{}
	r := Reader{b: body}
	f := r.composite(CodeFlow, "flow")
	p.NextIncomingID = f.optUint32()
	p.IncomingWindow = f.needUint32("incoming-window")
	p.NextOutgoingID = f.needUint32("next-outgoing-id")
	p.OutgoingWindow = f.needUint32("outgoing-window")
	p.Handle = f.optUint32()
	p.DeliveryCount = f.optUint32()
	p.LinkCredit = f.optUint32()
	p.Available = f.optUint32()
	p.Drain = f.bool()
	p.Echo = f.bool()
	p.Properties = f.mapping()
	return f.r.err
}
