package wire

import "bytes"

// State is a delivery state (part 3, section 3.4; part 4, sections 4.5.4 and
// 4.5.5). Which fields mean something depends on Kind.
type State struct {
	Kind              Code   // 0: null; else CodeReceived … CodeModified, CodeDeclared, CodeTransactional
	DeliveryFailed    bool   // modified
	UndeliverableHere bool   // modified
	SectionNumber     uint32 // received
	SectionOffset     uint64 // received
	Error             *Error // rejected
	Annotations       Map    // modified
	TxnID             []byte // declared, transactional
	Outcome           *State // transactional; nil: none
}

// StateOf is a state of a kind that needs no fields.
func StateOf(kind Code) State { return State{Kind: kind} }

// Terminal reports whether the state is an outcome, not a report of progress.
func (s *State) Terminal() bool { return s.Kind >= CodeAccepted }

// Same reports whether two states are equal and of a kind that is cheap to
// compare, so that their deliveries can share a disposition: accepted, released,
// rejected without an error, modified without annotations, and those inside one
// transaction.
func (s *State) Same(o *State) bool {
	if s.Kind != o.Kind {
		return false
	}
	switch s.Kind {
	case CodeAccepted, CodeReleased:
		return true
	case CodeRejected:
		return s.Error == nil && o.Error == nil
	case CodeModified:
		return s.Annotations == nil && o.Annotations == nil &&
			s.DeliveryFailed == o.DeliveryFailed && s.UndeliverableHere == o.UndeliverableHere
	case CodeTransactional:
		if (s.Outcome == nil) != (o.Outcome == nil) || !bytes.Equal(s.TxnID, o.TxnID) {
			return false
		}
		return s.Outcome == nil || s.Outcome == o.Outcome || s.Outcome.Same(o.Outcome)
	}
	return false
}

// Own makes what Same compares independent of the bytes that s was decoded from.
func (s *State) Own() {
	s.TxnID = bytes.Clone(s.TxnID)
	if s.Outcome != nil {
		o := *s.Outcome
		s.Outcome = &o
	}
}

// Append appends the encoded state; a null if Kind is 0.
func (s *State) Append(b []byte) []byte {
	switch s.Kind {
	case 0:
		return append(b, codeNull)
	case CodeAccepted, CodeReleased:
		return append(appendDescriptor(b, s.Kind), codeList0)
	}
	w := beginComposite(b, s.Kind)
	switch s.Kind {
	case CodeReceived:
		w.uint32(s.SectionNumber)
		w.field()
		w.b = appendUlong(w.b, s.SectionOffset)
	case CodeRejected:
		w.error(s.Error)
	case CodeModified:
		w.trueOnly(s.DeliveryFailed)
		w.trueOnly(s.UndeliverableHere)
		w.mapping(s.Annotations)
	case CodeDeclared:
		w.field()
		w.b = appendBinary(w.b, s.TxnID)
	case CodeTransactional:
		w.field()
		w.b = appendBinary(w.b, s.TxnID)
		if s.Outcome != nil {
			w.field()
			w.b = s.Outcome.Append(w.b)
		}
	}
	return w.end()
}

func (w *listWriter) state(s *State) {
	if s.Kind == 0 {
		w.null()
		return
	}
	w.field()
	w.b = s.Append(w.b)
}

// state reads a delivery state; the short form of accepted and released is the
// fast path.
func (r *Reader) state(s *State) {
	if b := r.b; len(b) >= 4 && b[0] == codeDescribed && b[1] == codeSmallUlong && b[3] == codeList0 &&
		(b[2] == byte(CodeAccepted) || b[2] == byte(CodeReleased)) {
		s.Kind, r.b = Code(b[2]), b[4:]
		return
	}
	s.Kind = r.peekDescriptor()
	f := r.composite(s.Kind, "delivery state")
	switch s.Kind {
	case CodeAccepted, CodeReleased:
	case CodeReceived:
		s.SectionNumber = f.needUint32("section-number")
		if f.need("section-offset") {
			s.SectionOffset = f.r.Uint64()
		}
	case CodeRejected:
		if f.next() {
			s.Error = f.r.errorValue()
		}
	case CodeModified:
		s.DeliveryFailed = f.bool()
		s.UndeliverableHere = f.bool()
		s.Annotations = f.mapping()
	case CodeDeclared:
		if f.need("txn-id") {
			s.TxnID = f.r.Binary()
		}
	case CodeTransactional:
		if f.need("txn-id") {
			s.TxnID = f.r.Binary()
		}
		if f.next() {
			s.Outcome = f.r.outcome()
		}
	default:
		f.r.fail("unknown delivery state %#x", uint64(s.Kind))
	}
	r.adopt(&f.r)
}

// outcome reads the state inside a transactional state, which has none inside.
func (r *Reader) outcome() *State {
	if r.peekDescriptor() == CodeTransactional {
		r.fail("transactional state inside a transactional state")
		return nil
	}
	s := new(State)
	r.state(s)
	return s
}
