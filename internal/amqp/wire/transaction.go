package wire

// TxRequest is the body of a message to a coordinator (part 4, sections 4.5.2 and
// 4.5.3): a declare, or a discharge.
type TxRequest struct {
	Discharge bool
	GlobalID  any    // of a declare; nil for a local transaction
	TxnID     []byte // of a discharge
	Fail      bool   // of a discharge: roll back
}

// AppendMessage appends the message: an amqp-value section.
func (q *TxRequest) AppendMessage(b []byte) []byte {
	b = appendDescriptor(b, CodeValue)
	if !q.Discharge {
		w := beginComposite(b, CodeDeclare)
		w.value(q.GlobalID)
		return w.end()
	}
	w := beginComposite(b, CodeDischarge)
	w.field()
	w.b = appendBinary(w.b, q.TxnID)
	w.bool(q.Fail)
	return w.end()
}

// DecodeMessage sets every field from an encoded message. Sections before the body
// are passed over. TxnID is a view of message.
func (q *TxRequest) DecodeMessage(message []byte) error {
	*q = TxRequest{}
	r := Reader{b: message}
	for r.err == nil {
		s, rest, err := CutSection(r.b)
		if err != nil {
			return err
		}
		if s.Code == CodeValue {
			v := Reader{b: s.Value}
			q.read(&v)
			return v.err
		}
		r.b = rest
	}
	return r.err
}

func (q *TxRequest) read(r *Reader) {
	switch r.peekDescriptor() {
	case CodeDeclare:
		f := r.composite(CodeDeclare, "declare")
		q.GlobalID = f.value()
		r.adopt(&f.r)
	case CodeDischarge:
		q.Discharge = true
		f := r.composite(CodeDischarge, "discharge")
		if f.need("txn-id") {
			q.TxnID = f.r.Binary()
		}
		q.Fail = f.bool()
		r.adopt(&f.r)
	default:
		r.fail("neither declare nor discharge")
	}
}
