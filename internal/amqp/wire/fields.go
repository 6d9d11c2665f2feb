package wire

// Opt is a field that may be null. The zero value is null.
type Opt[T any] struct {
	V  T
	OK bool // false: null
}

// Some is a field that is not null.
func Some[T any](v T) Opt[T] { return Opt[T]{V: v, OK: true} }

// Or is the value, or def for null.
func (o Opt[T]) Or(def T) T {
	if o.OK {
		return o.V
	}
	return def
}

// fields reads the fields of a composite in order. Missing trailing fields are
// null; fields beyond those known are passed over.
type fields struct {
	r    Reader
	left int
	name string // of the composite, for errors
}

// composite reads descriptor and list header of a composite.
func (r *Reader) composite(c Code, name string) fields {
	r.expect(c)
	content, n := r.list()
	return fields{r: Reader{b: content, err: r.err, depth: r.depth + 1}, left: n, name: name}
}

// next advances to the next field and reports whether it has a value.
func (f *fields) next() bool {
	if f.left == 0 || f.r.err != nil {
		return false
	}
	f.left--
	return !f.r.Null()
}

// need advances to a mandatory field.
func (f *fields) need(field string) bool {
	if f.next() {
		return true
	}
	if f.r.err == nil {
		f.r.fail("%s without %s", f.name, field)
	}
	return false
}

func (f *fields) optBool() (v Opt[bool]) {
	if f.next() {
		v = Some(f.r.Bool())
	}
	return v
}

func (f *fields) bool() bool {
	return f.next() && f.r.Bool()
}

func (f *fields) optUint8() (v Opt[uint8]) {
	if f.next() {
		v = Some(f.r.Uint8())
	}
	return v
}

func (f *fields) optUint16() (v Opt[uint16]) {
	if f.next() {
		v = Some(f.r.Uint16())
	}
	return v
}

func (f *fields) optUint32() (v Opt[uint32]) {
	if f.next() {
		v = Some(f.r.Uint32())
	}
	return v
}

func (f *fields) needUint32(field string) (v uint32) {
	if f.need(field) {
		v = f.r.Uint32()
	}
	return v
}

func (f *fields) uint64() (v uint64) {
	if f.next() {
		v = f.r.Uint64()
	}
	return v
}

func (f *fields) string() (v string) {
	if f.next() {
		v = f.r.String()
	}
	return v
}

func (f *fields) optString() (v Opt[string]) {
	if f.next() {
		v = Some(f.r.String())
	}
	return v
}

func (f *fields) symbol() (v Symbol) {
	if f.next() {
		v = f.r.Symbol()
	}
	return v
}

func (f *fields) symbols() (v []Symbol) {
	if f.next() {
		v = f.r.Symbols()
	}
	return v
}

func (f *fields) binary() (v []byte) {
	if f.next() {
		v = f.r.Binary()
	}
	return v
}

func (f *fields) mapping() (v Map) {
	if f.next() {
		v = f.r.Map()
	}
	return v
}

func (f *fields) value() (v any) {
	if f.next() {
		v = f.r.Value()
	}
	return v
}

// The writers below are the counterparts: each writes a value or holds a null back.

func (w *listWriter) bool(v bool) {
	w.field()
	w.b = appendBool(w.b, v)
}

// trueOnly writes a boolean whose default is false.
func (w *listWriter) trueOnly(v bool) {
	if v {
		w.bool(true)
	} else {
		w.null()
	}
}

func (w *listWriter) optBool(v Opt[bool]) {
	if v.OK {
		w.bool(v.V)
	} else {
		w.null()
	}
}

func (w *listWriter) optUint8(v Opt[uint8]) {
	if v.OK {
		w.field()
		w.b = append(w.b, codeUbyte, v.V)
	} else {
		w.null()
	}
}

func (w *listWriter) optUint16(v Opt[uint16]) {
	if v.OK {
		w.field()
		w.b = append(w.b, codeUshort, byte(v.V>>8), byte(v.V))
	} else {
		w.null()
	}
}

func (w *listWriter) uint32(v uint32) {
	w.field()
	w.b = appendUint(w.b, v)
}

func (w *listWriter) optUint32(v Opt[uint32]) {
	if v.OK {
		w.uint32(v.V)
	} else {
		w.null()
	}
}

// uint64 writes a ulong that is null when 0.
func (w *listWriter) uint64(v uint64) {
	if v == 0 {
		w.null()
		return
	}
	w.field()
	w.b = appendUlong(w.b, v)
}

// string writes a string that is null when empty.
func (w *listWriter) string(v string) {
	if v == "" {
		w.null()
		return
	}
	w.field()
	w.b = appendString(w.b, v)
}

func (w *listWriter) optString(v Opt[string]) {
	if !v.OK {
		w.null()
		return
	}
	w.field()
	w.b = appendString(w.b, v.V)
}

// symbol writes a symbol that is null when empty.
func (w *listWriter) symbol(v Symbol) {
	if v == "" {
		w.null()
		return
	}
	w.field()
	w.b = appendSymbol(w.b, v)
}

func (w *listWriter) symbols(v []Symbol) {
	if len(v) == 0 {
		w.null()
		return
	}
	w.field()
	w.b = appendArray(w.b, NewSymbols(v))
}

// binary writes a binary that is null when nil.
func (w *listWriter) binary(v []byte) {
	if v == nil {
		w.null()
		return
	}
	w.field()
	w.b = appendBinary(w.b, v)
}

func (w *listWriter) mapping(v Map) {
	if v == nil {
		w.null()
		return
	}
	w.field()
	w.b = appendMap(w.b, v)
}

func (w *listWriter) value(v any) {
	if v == nil {
		w.null()
		return
	}
	w.field()
	w.b = AppendValue(w.b, v)
}

func (w *listWriter) error(e *Error) {
	if e == nil {
		w.null()
		return
	}
	w.field()
	w.b = e.Append(w.b)
}
