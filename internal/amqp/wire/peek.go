package wire

// The functions in this file find one value in an encoded section without
// decoding, or allocating, anything else. They are for hot paths.

// MapInt returns the integer or timestamp that an encoded map has under a symbol
// (or string) key. ok is false if it has none, or is no map.
func MapInt(m []byte, key string) (v int64, ok bool) {
	r := Reader{b: m}
	c := r.code()
	if c != codeMap8 && c != codeMap32 {
		return 0, false
	}
	content, n := r.compound(c)
	e := Reader{b: content, err: r.err, depth: 1}
	for ; n >= 2 && e.err == nil; n -= 2 {
		if k := e.keyBytes(); k != nil && string(k) == key {
			return e.anyInt()
		}
		e.Skip()
	}
	return 0, false
}

// MapBinary returns a view of the binary that an encoded map has under a string (or
// symbol) key; nil if it has none, or is no map. An empty binary is not nil.
func MapBinary(m []byte, key string) []byte {
	r := Reader{b: m}
	c := r.code()
	if c != codeMap8 && c != codeMap32 {
		return nil
	}
	content, n := r.compound(c)
	e := Reader{b: content, err: r.err, depth: 1}
	for ; n >= 2 && e.err == nil; n -= 2 {
		if k := e.keyBytes(); k == nil || string(k) != key {
			e.Skip()
			continue
		}
		c := e.code()
		if c != codeBin8 && c != codeBin32 {
			return nil
		}
		return e.varBytes(c)
	}
	return nil
}

// keyBytes reads a symbol or string; any other value is passed over and gives nil.
func (r *Reader) keyBytes() []byte {
	if len(r.b) == 0 {
		r.fail("key missing at the end of the data")
		return nil
	}
	switch c := r.b[0]; c {
	case codeSym8, codeSym32, codeStr8, codeStr32:
		r.b = r.b[1:]
		if c == codeSym8 || c == codeStr8 {
			return r.take(uint64(r.u8()))
		}
		return r.take(uint64(r.u32()))
	}
	r.Skip()
	return nil
}

// anyInt reads an integer of 64 bits or a timestamp.
func (r *Reader) anyInt() (int64, bool) {
	switch c := r.code(); c {
	case codeLong, codeUlong, codeTimestamp:
		v := int64(r.u64())
		return v, r.err == nil
	case codeSmallLong:
		v := int64(int8(r.u8()))
		return v, r.err == nil
	case codeSmallUlong:
		v := int64(r.u8())
		return v, r.err == nil
	case codeUlong0:
		return 0, true
	}
	return 0, false
}

// ContentType returns a view of the content-type of a properties section,
// descriptor included; nil if it has none.
func ContentType(section []byte) []byte {
	const before = 6 // fields
	r := Reader{b: section}
	f := r.composite(CodeProperties, "properties")
	for range before {
		if f.next() {
			f.r.Skip()
		}
	}
	if !f.next() {
		return nil
	}
	return f.r.symbolBytes()
}
