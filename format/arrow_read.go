package format

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
)

// ipcStream reads one Arrow stream into batches of a schema of ours.
//
// Note: the stream is decoded here and not by the Arrow library, although that
// writes it. Its reader (v15) panics or dies of memory on damaged streams, so
// every length has to be walked before it anyway, and after the walk a column
// is one copy; the library reads 24 M rows/s of 44 bytes.
type ipcStream struct {
	in     *input
	schema *ipcSchema
	def    *Schema
	cols   []ipcColumn
	dicts  map[int64]*ipcDict
	batch  ipcBatch
	parts  []part
	next   int64 // row of the batch at hand that comes next
	done   int64 // rows of earlier batches
	ended  bool  // the end-of-stream marker was there
	valid  []byte
	index  []int32
}

// ipcColumn is a column of ours and where it comes from.
type ipcColumn struct {
	def      Column
	field    int // of the stream's schema, −1 if it has none
	unwanted bool
	book     *codebook
	mapped   *ipcDict // the dictionary that mapping is about
	mapping  []int32
}

// ipcDict is a dictionary as it was sent last.
type ipcDict struct{ values []string }

// openIPC reads the schema that begins a stream. It returns io.EOF if there is
// nothing more to read.
func openIPC(in *input) (*ipcStream, error) {
	m, err := in.message()
	if err != nil {
		return nil, err
	}
	if m == nil || m.kind != msgSchema {
		return nil, fmt.Errorf("no Arrow stream: %w", ErrNotLog)
	}
	s := &ipcStream{in: in, dicts: make(map[int64]*ipcDict)}
	s.schema, err = m.schema()
	return s, err
}

// bind says that the stream is to be read as def. It returns the names of
// columns that def does not know.
func (s *ipcStream) bind(def *Schema) (unknown []string, err error) {
	s.def = def
	names := make(map[string]int)
	for i, f := range s.schema.fields {
		if _, twice := names[f.name]; !twice {
			names[f.name] = i
		}
	}
	var missing []string
	for _, c := range def.Columns {
		col := ipcColumn{def: c, field: -1}
		if i, ok := names[c.Name]; ok {
			col.field = i
			delete(names, c.Name)
			if err := s.schema.fields[i].fits(c); err != nil {
				return nil, fmt.Errorf("column %s: %w", c.Name, err)
			}
		} else if !c.Nullable {
			missing = append(missing, c.Name)
		}
		if c.Type == String {
			col.book = newCodebook(def.Name != metaSchemaName)
		}
		s.cols = append(s.cols, col)
	}
	if missing != nil {
		return nil, fmt.Errorf("%w: %s needs the missing columns %s", ErrNotLog, def.Name, strings.Join(missing, ", "))
	}
	for n := range names {
		unknown = append(unknown, n)
	}
	slices.Sort(unknown)
	return unknown, nil
}

// fits reports whether a field can be read as the column.
func (f *ipcField) fits(c Column) error {
	ok := false
	switch c.Type {
	case Int32, Int64:
		ok = f.typ == typeInt && f.dict == nil && validBits(f.bits)
	case Bool:
		ok = f.typ == typeBool && f.dict == nil
	case String:
		ok = (f.typ == typeUtf8 || f.typ == typeLargeUtf8) && (f.dict == nil || validBits(f.dict.bits))
	}
	if ok || f.typ == typeNull && f.dict == nil && c.Nullable {
		return nil
	}
	return fmt.Errorf("its Arrow type (%d) is not %s", f.typ, [...]string{"int32", "int64", "bool", "utf8"}[c.Type])
}

func validBits(n int) bool { return n == 8 || n == 16 || n == 32 || n == 64 }

// selectColumns limits what fill reads.
func (s *ipcStream) selectColumns(names []string) error {
	for _, n := range names {
		if !slices.ContainsFunc(s.def.Columns, func(c Column) bool { return c.Name == n }) {
			return fmt.Errorf("%s has no column %s", s.def.Name, n)
		}
	}
	for i := range s.cols {
		s.cols[i].unwanted = !slices.Contains(names, s.cols[i].def.Name)
	}
	return nil
}

// share makes the stream use the dictionaries of another of the same schema, so
// that a code keeps its meaning from one to the other.
func (s *ipcStream) share(o *ipcStream) {
	for i := range s.cols {
		s.cols[i].book = o.cols[i].book
	}
}

// advance goes to the next record batch that has rows: io.EOF at the end
// (s.ended tells whether it was marked), errCut if it is missing.
func (s *ipcStream) advance() error {
	for {
		if s.ended {
			return io.EOF
		}
		m, err := s.in.message()
		switch {
		case err != nil:
			return err
		case m == nil:
			s.ended = true
			return io.EOF
		case m.kind == msgDictionary:
			err = s.dictionary(m)
		case m.kind == msgRecord:
			err = s.record(m)
		default:
			err = fmt.Errorf("%w: message of kind %d within a stream", errFlat, m.kind)
		}
		if err != nil {
			return err
		}
		if m.kind == msgRecord && s.batch.rows > 0 {
			return nil
		}
	}
}

func (s *ipcStream) record(m *ipcMessage) error {
	s.done += s.batch.rows
	s.batch.rows, s.next = 0, 0
	b := &s.batch
	if err := m.batch(m.header, b); err != nil {
		b.rows = 0
		return err
	}
	var err error
	s.parts, err = b.parts(s.schema.fields, m.version, s.parts[:0])
	for i := range s.cols {
		if err == nil {
			err = s.check(&s.cols[i])
		}
	}
	if err != nil {
		b.rows = 0
	}
	return err
}

// check compares what a column needs for the rows of the batch with what it has.
func (s *ipcStream) check(c *ipcColumn) error {
	if c.field < 0 {
		return nil
	}
	f, p, b := &s.schema.fields[c.field], s.parts[c.field], &s.batch
	node := b.nodes[p.node]
	if node.rows != b.rows {
		return fmt.Errorf("%w: column %s has %d values in a batch of %d rows", errFlat, c.def.Name, node.rows, b.rows)
	}
	if f.typ == typeNull {
		return nil
	}
	need := b.rows * int64(f.width())
	switch {
	case f.dict != nil:
	case f.typ == typeBool:
		need = (b.rows + 7) / 8
	case f.typ == typeUtf8 || f.typ == typeLargeUtf8:
		need += int64(f.width())
	}
	if have := b.buffers[p.buffer+1].size; have < need && b.rows > 0 {
		return fmt.Errorf("%w: column %s has %d bytes for %d rows", errFlat, c.def.Name, have, b.rows)
	}
	if have := b.buffers[p.buffer].size; node.nulls > 0 && have < (b.rows+7)/8 {
		return fmt.Errorf("%w: column %s has a validity bitmap of %d bytes for %d rows", errFlat, c.def.Name, have, b.rows)
	}
	if node.nulls > 0 && !c.def.Nullable {
		return fmt.Errorf("column %s: %w", c.def.Name, errNullRequired)
	}
	return nil
}

// width returns the bytes per row of the fixed-width buffer of a field.
func (f *ipcField) width() int {
	switch {
	case f.dict != nil:
		return f.dict.bits / 8
	case f.typ == typeInt:
		return f.bits / 8
	case f.typ == typeUtf8:
		return 4
	case f.typ == typeLargeUtf8:
		return 8
	}
	return 0
}

// fill reads up to BatchRows of the next rows into b.
func (s *ipcStream) fill(b Batch) error { return s.fillSome(b, BatchRows) }

// fillSome reads up to so many of the next rows, a multiple of 8: that is where
// bitmaps can be cut.
func (s *ipcStream) fillSome(b Batch, most int) error {
	if s.next >= s.batch.rows {
		if err := s.advance(); err != nil {
			return err
		}
	}
	n := int(min(s.batch.rows-s.next, int64(min(max(most&^7, 8), BatchRows))))
	cols := b.Columns()
	for i := range s.cols {
		if err := s.column(&s.cols[i], cols[i], n); err != nil {
			s.batch.rows = s.next // what is left of the batch is not offered again
			return fmt.Errorf("rows from %d: column %s: %w", s.done+s.next, s.cols[i].def.Name, err)
		}
	}
	s.next += int64(n)
	return nil
}

var errNoDictionary = errors.New("the dictionary is missing")

// dictionary takes a dictionary batch: a new dictionary, a replacement or a delta.
func (s *ipcStream) dictionary(m *ipcMessage) error {
	f := m.flat
	id := f.i64Field(m.header, 0)
	field := findDict(s.schema.fields, id)
	if f.err != nil || field == nil {
		return errors.Join(f.err, errors.New("a dictionary that no column has"))
	}
	delta := f.byteField(m.header, 2) != 0
	if field.typ != typeUtf8 && field.typ != typeLargeUtf8 {
		return nil // of a column that is not ours
	}
	var b ipcBatch
	if err := m.batch(f.tableField(m.header, 1), &b); err != nil {
		return err
	}
	plain := ipcField{name: field.name, typ: field.typ}
	parts, err := b.parts([]ipcField{plain}, m.version, nil)
	if err != nil {
		return err
	}
	values, err := s.strings(&plain, &b, parts[0])
	if err != nil {
		return fmt.Errorf("dictionary of column %s: %w", field.name, err)
	}
	if old := s.dicts[id]; delta && old != nil {
		values = append(slices.Clip(old.values), values...)
	}
	s.dicts[id] = &ipcDict{values: values}
	return nil
}

func findDict(fields []ipcField, id int64) *ipcField {
	for i := range fields {
		if d := fields[i].dict; d != nil && d.id == id {
			return &fields[i]
		}
		if f := findDict(fields[i].children, id); f != nil {
			return f
		}
	}
	return nil
}

// strings reads all values of a dictionary. NULL values become "".
func (s *ipcStream) strings(f *ipcField, b *ipcBatch, p part) ([]string, error) {
	if b.rows == 0 {
		return nil, nil
	}
	width := int64(f.width())
	offs := b.buffers[p.buffer+1]
	if need := (b.rows + 1) * width; offs.size < need {
		return nil, fmt.Errorf("%w: %d bytes of offsets for %d values", errFlat, offs.size, b.rows)
	}
	raw, err := s.in.part(offs.offset, (b.rows+1)*width)
	if err != nil {
		return nil, err
	}
	ends := make([]int64, b.rows+1)
	if err := decodeOffsets(ends, raw, int(width), b.buffers[p.buffer+2].size); err != nil {
		return nil, err
	}
	text := b.buffers[p.buffer+2]
	data, err := s.in.part(text.offset+ends[0], ends[b.rows]-ends[0])
	if err != nil {
		return nil, err
	}
	all := string(data) // one copy for all values
	values := make([]string, b.rows)
	for i := range values {
		values[i] = all[ends[i]-ends[0] : ends[i+1]-ends[0]]
	}
	return values, nil
}
