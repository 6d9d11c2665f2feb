package wire

// Transfer carries a message or a part of one (part 2, section 2.7.5).
type Transfer struct {
	Handle        uint32
	DeliveryID    Opt[uint32] // null on continuation frames
	DeliveryTag   []byte      // nil: null
	MessageFormat Opt[uint32]
	Settled       Opt[bool]
	More          bool
	RcvSettleMode Opt[uint8]
	State         State
	Resume        bool
	Aborted       bool
	Batchable     bool
	Payload       []byte
}

// Append implements Performative; it includes the payload.
func (t *Transfer) Append(b []byte) []byte { return append(t.AppendHead(b), t.Payload...) }

// AppendHead appends the performative without the payload, which then follows.
func (t *Transfer) AppendHead(b []byte) []byte {
	w := beginComposite(b, CodeTransfer)
	w.uint32(t.Handle)
	w.optUint32(t.DeliveryID)
	w.binary(t.DeliveryTag)
	w.optUint32(t.MessageFormat)
	w.optBool(t.Settled)
	w.trueOnly(t.More)
	w.optUint8(t.RcvSettleMode)
	w.state(&t.State)
	w.trueOnly(t.Resume)
	w.trueOnly(t.Aborted)
	w.trueOnly(t.Batchable)
	return w.end()
}

// Decode implements Performative. DeliveryTag and Payload are views of body.
func (t *Transfer) Decode(body []byte) error {
	*t = Transfer{}
	r := Reader{b: body}
	f := r.composite(CodeTransfer, "transfer")
	t.Handle = f.needUint32("handle")
	t.DeliveryID = f.optUint32()
	t.DeliveryTag = f.binary()
	t.MessageFormat = f.optUint32()
	t.Settled = f.optBool()
	t.More = f.bool()
	t.RcvSettleMode = f.optUint8()
	if f.next() {
		f.r.state(&t.State)
	}
	t.Resume = f.bool()
	t.Aborted = f.bool()
	t.Batchable = f.bool()
	t.Payload = r.b
	return f.r.err
}

// Disposition tells the state of a range of deliveries (part 2, section 2.7.6).
type Disposition struct {
	Role      bool // of the end that sends this
	First     uint32
	Last      Opt[uint32] // null: First
	Settled   bool
	State     State
	Batchable bool
}

// Append implements Performative.
func (d *Disposition) Append(b []byte) []byte {
	w := beginComposite(b, CodeDisposition)
	w.bool(d.Role)
	w.uint32(d.First)
	w.optUint32(d.Last)
	w.trueOnly(d.Settled)
	w.state(&d.State)
	w.trueOnly(d.Batchable)
	return w.end()
}

// Decode implements Performative.
func (d *Disposition) Decode(body []byte) error {
	*d = Disposition{}
	r := Reader{b: body}
	f := r.composite(CodeDisposition, "disposition")
	if f.need("role") {
		d.Role = f.r.Bool()
	}
	d.First = f.needUint32("first")
	d.Last = f.optUint32()
	d.Settled = f.bool()
	if f.next() {
		f.r.state(&d.State)
	}
	d.Batchable = f.bool()
	return f.r.err
}
