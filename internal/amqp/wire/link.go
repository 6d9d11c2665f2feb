package wire

// Roles of a link's end (part 2, section 2.8.1).
const (
	RoleSender   = false
	RoleReceiver = true
)

// Settle modes (part 2, sections 2.8.2 and 2.8.3).
const (
	SenderUnsettled uint8 = 0
	SenderSettled   uint8 = 1
	SenderMixed     uint8 = 2
	ReceiverFirst   uint8 = 0
	ReceiverSecond  uint8 = 1
)

// Attach starts a link (part 2, section 2.7.3). A null Source or Target in an
// answer is a refusal that a detach follows.
type Attach struct {
	Name                 string
	Handle               uint32
	Role                 bool // RoleSender or RoleReceiver
	SndSettleMode        Opt[uint8]
	RcvSettleMode        Opt[uint8]
	Source               *Source
	Target               *Target
	Coordinator          *Coordinator // instead of Target
	Unsettled            Map
	IncompleteUnsettled  bool
	InitialDeliveryCount Opt[uint32] // mandatory for the sender, absent for the receiver
	MaxMessageSize       uint64      // bytes; 0: no limit
	OfferedCapabilities  []Symbol
	DesiredCapabilities  []Symbol
	Properties           Map
}

// Append implements Performative.
func (a *Attach) Append(b []byte) []byte {
	w := beginComposite(b, CodeAttach)
	w.field()
	w.b = appendString(w.b, a.Name)
	w.uint32(a.Handle)
	w.bool(a.Role)
	w.optUint8(a.SndSettleMode)
	w.optUint8(a.RcvSettleMode)
	if a.Source != nil {
		w.field()
		w.b = a.Source.Append(w.b)
	} else {
		w.null()
	}
	switch {
	case a.Coordinator != nil:
		w.field()
		w.b = a.Coordinator.Append(w.b)
	case a.Target != nil:
		w.field()
		w.b = a.Target.Append(w.b)
	default:
		w.null()
	}
	w.mapping(a.Unsettled)
	w.trueOnly(a.IncompleteUnsettled)
	w.optUint32(a.InitialDeliveryCount)
	w.uint64(a.MaxMessageSize)
	w.symbols(a.OfferedCapabilities)
	w.symbols(a.DesiredCapabilities)
	w.mapping(a.Properties)
	return w.end()
}

// Decode implements Performative.
func (a *Attach) Decode(body []byte) error {
	*a = Attach{}
	r := Reader{b: body}
	f := r.composite(CodeAttach, "attach")
	if f.need("name") {
		a.Name = f.r.String()
	}
	a.Handle = f.needUint32("handle")
	if f.need("role") {
		a.Role = f.r.Bool()
	}
	a.SndSettleMode = f.optUint8()
	a.RcvSettleMode = f.optUint8()
	if f.next() {
		a.Source = f.r.source()
	}
	if f.next() {
		if f.r.peekDescriptor() == CodeCoordinator {
			a.Coordinator = f.r.coordinator()
		} else {
			a.Target = f.r.target()
		}
	}
	a.Unsettled = f.mapping()
	a.IncompleteUnsettled = f.bool()
	a.InitialDeliveryCount = f.optUint32()
	a.MaxMessageSize = f.uint64()
	a.OfferedCapabilities = f.symbols()
	a.DesiredCapabilities = f.symbols()
	a.Properties = f.mapping()
	return f.r.err
}

// Detach ends a link, for good if Closed (part 2, section 2.7.7).
type Detach struct {
	Handle uint32
	Closed bool
	Error  *Error
}

// Append implements Performative.
func (d *Detach) Append(b []byte) []byte {
	w := beginComposite(b, CodeDetach)
	w.uint32(d.Handle)
	w.trueOnly(d.Closed)
	w.error(d.Error)
	return w.end()
}

// Decode implements Performative.
func (d *Detach) Decode(body []byte) error {
	*d = Detach{}
	r := Reader{b: body}
	f := r.composite(CodeDetach, "detach")
	d.Handle = f.needUint32("handle")
	d.Closed = f.bool()
	if f.next() {
		d.Error = f.r.errorValue()
	}
	return f.r.err
}
