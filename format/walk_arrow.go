package format

import (
	"errors"
	"fmt"
	"math"
)

// Numbers of the Arrow IPC format (Message.fbs and Schema.fbs of
// https://github.com/apache/arrow/tree/main/format).
const (
	msgSchema     = 1
	msgDictionary = 2
	msgRecord     = 3

	metadataV4 = 3
	metadataV5 = 4

	typeNull            = 1
	typeInt             = 2
	typeFloat           = 3
	typeBinary          = 4
	typeUtf8            = 5
	typeBool            = 6
	typeList            = 12
	typeStruct          = 13
	typeUnion           = 14
	typeFixedSizeBinary = 15
	typeFixedSizeList   = 16
	typeMap             = 17
	typeLargeBinary     = 19
	typeLargeUtf8       = 20
	typeLargeList       = 21
	typeRunEndEncoded   = 22
	typeBinaryView      = 23
	typeUtf8View        = 24
	typeListView        = 25
	typeLargeListView   = 26
)

const (
	maxNesting = 16      // of fields within fields
	maxFields  = 10_000  // of one schema, nested ones included
	maxRows    = 1 << 31 // of one record batch
)

// ipcMessage is the frame of one message.
type ipcMessage struct {
	kind    byte
	version int
	body    int64
	flat    *flat
	header  table
}

// ipcField is a column of a stream's schema.
type ipcField struct {
	name     string
	nullable bool
	typ      byte
	bits     int // of typeInt
	signed   bool
	dense    bool // of typeUnion
	children []ipcField
	dict     *ipcIndex // dictionary-encoded: the type above is that of the values
}

// ipcIndex is the dictionary encoding of a column.
type ipcIndex struct {
	id     int64
	bits   int
	signed bool
}

// ipcSchema is the schema that begins a stream.
type ipcSchema struct {
	version int
	fields  []ipcField
	meta    Meta
}

// ipcBatch is the description of a record batch: where its parts lie in the body.
type ipcBatch struct {
	rows     int64
	nodes    []ipcNode
	buffers  []ipcBuffer
	variadic []int64
}

type ipcNode struct{ rows, nulls int64 }

type ipcBuffer struct{ offset, size int64 }

// parseMessage walks the metadata of a message.
func parseMessage(b []byte) (ipcMessage, error) {
	f := newFlat(b)
	root := f.root()
	m := ipcMessage{flat: f, version: f.u16Field(root, 0), kind: f.byteField(root, 1), body: f.i64Field(root, 3)}
	m.header = f.tableField(root, 2)
	switch {
	case f.err != nil:
		return m, f.err
	case m.header == table{}:
		return m, fmt.Errorf("%w: message without header", errFlat)
	case m.body < 0:
		return m, fmt.Errorf("%w: body of %d bytes", errFlat, m.body)
	case m.version != metadataV4 && m.version != metadataV5:
		return m, fmt.Errorf("metadata version V%d is not supported", m.version+1)
	}
	return m, nil
}

func (m *ipcMessage) schema() (*ipcSchema, error) {
	f := m.flat
	if f.u16Field(m.header, 0) != 0 {
		return nil, errors.New("a big-endian stream is not supported")
	}
	s := &ipcSchema{version: m.version, meta: Meta{}}
	left := maxFields
	s.fields = m.fields(m.header, 1, maxNesting, &left)
	pos, n := f.vector(m.header, 2, 4)
	for j := 0; j < n && f.err == nil; j++ {
		kv := f.tableAt(pos, j)
		s.meta[f.stringField(kv, 0)] = f.stringField(kv, 1)
	}
	return s, f.err
}

// fields reads the vector of fields that is field i of t.
func (m *ipcMessage) fields(t table, i, depth int, left *int) []ipcField {
	f := m.flat
	pos, n := f.vector(t, i, 4)
	if *left -= n; *left < 0 || depth == 0 && n > 0 {
		f.fail("too many or too deeply nested fields")
	}
	var out []ipcField
	for j := 0; j < n && f.err == nil; j++ {
		ft := f.tableAt(pos, j)
		fd := ipcField{name: f.stringField(ft, 0), nullable: f.byteField(ft, 1) != 0, typ: f.byteField(ft, 2)}
		typ := f.tableField(ft, 3)
		switch fd.typ {
		case typeInt:
			fd.bits, fd.signed = f.i32Field(typ, 0), f.byteField(typ, 1) != 0
		case typeUnion:
			fd.dense = f.u16Field(typ, 0) != 0
		}
		if dt := f.tableField(ft, 4); dt != (table{}) {
			fd.dict = &ipcIndex{id: f.i64Field(dt, 0), bits: 32, signed: true}
			if it := f.tableField(dt, 1); it != (table{}) {
				fd.dict.bits, fd.dict.signed = f.i32Field(it, 0), f.byteField(it, 1) != 0
			}
		}
		fd.children = m.fields(ft, 5, depth-1, left)
		out = append(out, fd)
	}
	return out
}

// batch reads the record batch of a record or dictionary message into b,
// whose memory it reuses, and checks every part of it against the body.
func (m *ipcMessage) batch(t table, b *ipcBatch) error {
	f := m.flat
	b.rows = f.i64Field(t, 0)
	b.nodes, b.buffers, b.variadic = b.nodes[:0], b.buffers[:0], b.variadic[:0]
	pos, n := f.vector(t, 1, 16)
	for j := range n {
		b.nodes = append(b.nodes, ipcNode{f.i64(pos + 16*j), f.i64(pos + 16*j + 8)})
	}
	pos, n = f.vector(t, 2, 16)
	for j := range n {
		b.buffers = append(b.buffers, ipcBuffer{f.i64(pos + 16*j), f.i64(pos + 16*j + 8)})
	}
	if f.tableField(t, 3) != (table{}) {
		return errors.New("compressed Arrow streams are not supported")
	}
	pos, n = f.vector(t, 4, 8)
	for j := range n {
		b.variadic = append(b.variadic, f.i64(pos+8*j))
	}
	if f.err != nil {
		return f.err
	}
	return b.check(m.body)
}

func (b *ipcBatch) check(body int64) error {
	if b.rows < 0 || b.rows > maxRows {
		return fmt.Errorf("%w: %d rows in a batch", errFlat, b.rows)
	}
	for _, n := range b.nodes {
		if n.rows < 0 || n.nulls < 0 || n.nulls > n.rows {
			return fmt.Errorf("%w: %d NULLs in %d values", errFlat, n.nulls, n.rows)
		}
	}
	for _, p := range b.buffers {
		if p.offset < 0 || p.size < 0 || p.size > body || p.offset > body-p.size {
			return fmt.Errorf("%w: a buffer of %d bytes at %d in a body of %d", errFlat, p.size, p.offset, body)
		}
	}
	for _, n := range b.variadic {
		if n < 0 || n > int64(len(b.buffers)) {
			return fmt.Errorf("%w: %d buffers of a view", errFlat, n)
		}
	}
	return nil
}

// part is where a column begins in the nodes and buffers of a batch.
type part struct{ node, buffer int }

// parts appends where each of the fields begins, and checks that the batch has
// exactly the nodes and buffers that the fields need.
func (b *ipcBatch) parts(fields []ipcField, version int, dst []part) ([]part, error) {
	l := layout{version: version, variadic: b.variadic}
	for i := range fields {
		dst = append(dst, part{l.node, l.buffer})
		l.field(&fields[i])
	}
	if l.err != nil {
		return dst, l.err
	}
	if l.node != len(b.nodes) || l.buffer != len(b.buffers) || len(l.variadic) != 0 {
		return dst, fmt.Errorf("%w: %d nodes and %d buffers where the schema needs %d and %d",
			errFlat, len(b.nodes), len(b.buffers), l.node, l.buffer)
	}
	return dst, nil
}

// layout counts nodes and buffers of fields (the Arrow columnar format, "Buffer
// listing for each layout").
type layout struct {
	version      int
	variadic     []int64
	node, buffer int
	err          error
}

func (l *layout) field(f *ipcField) {
	l.node++
	if f.dict != nil {
		l.buffer += 2 // the indices; the values are in dictionary batches
		return
	}
	switch f.typ {
	case typeNull:
	case typeBinary, typeUtf8, typeLargeBinary, typeLargeUtf8:
		l.buffer += 3
	case typeStruct, typeFixedSizeList:
		l.buffer++
	case typeListView, typeLargeListView:
		l.buffer += 3
	case typeUnion:
		l.buffer++
		if f.dense {
			l.buffer++
		}
		if l.version == metadataV4 {
			l.buffer++ // a validity bitmap, until V5
		}
	case typeRunEndEncoded:
	case typeBinaryView, typeUtf8View:
		l.buffer += 2
		if len(l.variadic) == 0 {
			l.fail("no number of buffers for the view in column " + f.name)
			return
		}
		l.buffer += int(l.variadic[0]) // bounded by the number of buffers
		l.variadic = l.variadic[1:]
	default: // one validity bitmap and one buffer of values or offsets
		l.buffer += 2
	}
	if l.buffer > math.MaxInt32 {
		l.fail("too many buffers")
		return
	}
	for i := range f.children {
		l.field(&f.children[i])
	}
}

func (l *layout) fail(what string) {
	if l.err == nil {
		l.err = fmt.Errorf("%w: %s", errFlat, what)
	}
}
