package wire

import "encoding/binary"

// Array is an AMQP array, kept encoded: its elements may take no bytes at all, so
// a decoded one could be larger than its input by any factor.
type Array struct {
	Code       byte // the elements' constructor
	Descriptor any  // of the elements; nil if they are not described
	N          int  // number of elements
	Data       []byte
}

// Values decodes the elements of an array. Elements without bytes of their own
// (null, true, …) are refused above 1024, as they cost the sender nothing.
func (a Array) Values() (List, error) {
	r := Reader{b: a.Data}
	if elementWidth(a.Code) == 0 && a.N > 1024 {
		r.fail("array of %d elements without bytes", a.N)
		return nil, r.err
	}
	out := make(List, 0, min(a.N, len(a.Data)+1024))
	for i := 0; i < a.N && r.err == nil; i++ {
		v := r.valueOf(a.Code)
		if a.Descriptor != nil {
			v = Described{Descriptor: a.Descriptor, Value: v}
		}
		out = append(out, v)
	}
	return out, r.err
}

// NewSymbols makes the array form of symbols.
func NewSymbols(s []Symbol) Array {
	a := Array{Code: codeSym32, N: len(s)}
	for _, v := range s {
		a.Data = binary.BigEndian.AppendUint32(a.Data, uint32(len(v)))
		a.Data = append(a.Data, v...)
	}
	return a
}

func (r *Reader) array() Array {
	c := r.code()
	if c != codeArray8 && c != codeArray32 {
		r.wrong("an array", c)
		return Array{}
	}
	a, _ := r.arrayOf(c).(Array)
	return a
}

// arrayOf reads an array and checks that its elements fill it exactly.
func (r *Reader) arrayOf(c byte) any {
	if c != codeArray8 && c != codeArray32 {
		r.fail("unknown constructor 0x%02x", c)
		return nil
	}
	content, n := r.compound(c)
	if r.err != nil || !r.enter() {
		return nil
	}
	defer func() { r.depth-- }()
	e := Reader{b: content, depth: r.depth}
	a := Array{N: int(n)}
	a.Code = e.code()
	if a.Code == codeDescribed {
		if a.Descriptor = e.Value(); a.Descriptor == nil {
			e.fail("array with a null descriptor")
		}
		a.Code = e.code()
	}
	a.Data = e.b
	w := elementWidth(a.Code)
	switch {
	case e.err != nil:
	case w == widthUnknown:
		e.fail("array of unknown constructor 0x%02x", a.Code)
	case w >= 0:
		if uint64(w)*n != uint64(len(a.Data)) {
			e.fail("array of %d elements of %d bytes in %d", n, w, len(a.Data))
		}
		e.b = nil
	default:
		for i := uint64(0); i < n && e.err == nil; i++ {
			e.skipSized(w)
		}
	}
	if r.leave(&e, c); r.err != nil {
		return nil
	}
	return a
}
