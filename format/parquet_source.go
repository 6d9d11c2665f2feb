package format

import (
	"bytes"
	"encoding/base64"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"slices"
	"strings"

	"github.com/klauspost/compress/zstd"
)

// parquetSource reads a Parquet log by columns. Every length, count and offset
// is compared with the bytes that are there before it is used.
//
// Note: parquet-go's reader is not used here. It trusts what pages say (a run
// of two thousand million values is allocated before it is counted), and the
// decoders that are needed for a few plain types are small.
type parquetSource struct {
	r        io.ReaderAt
	size     int64
	file     *os.File // nil for a table in memory
	def      *Schema
	m        *fileMeta
	inFile   []int             // schema column → index in fileCols and chunks, −1 if missing
	fileCols []fileColumn      // the file's columns that are ours
	present  []string          // their names
	tables   map[string]string // side tables as they stand in the footer
	notes    []string

	readers []*columnReader // by schema column, nil: filled with NULL or zero
	zdec    *zstd.Decoder
	group   int   // the next row group to start
	left    int64 // rows of the open row group not yet read
	row     int64 // rows read
	err     error // sticky: after an error the columns are not in step
}

func (s *parquetSource) init(m *fileMeta) (err error) {
	s.m = m
	s.tables = map[string]string{}
	for key, value := range m.meta {
		// They are read through table; in copies of the metadata they would be a burden.
		if name, ok := strings.CutPrefix(key, KeyTable); ok {
			s.tables[name] = value
			delete(m.meta, key)
		}
	}
	if s.zdec, err = newZstd(); err != nil {
		return fmt.Errorf("zstd: %w", err)
	}
	if m.meta[KeyRun] == "" && s.isLog() {
		s.notes = append(s.notes, "the metadata key "+KeyRun+" is missing")
	}
	memory := budgetFor(s.size)
	s.readers = make([]*columnReader, len(s.def.Columns))
	for i, c := range s.def.Columns {
		if s.inFile[i] >= 0 {
			s.readers[i] = s.newReader(c, s.inFile[i], memory)
		}
	}
	for g, chunks := range m.chunks {
		for i, c := range chunks {
			if c.phys != s.fileCols[i].phys {
				return fmt.Errorf("row group %d: column %s: its type is not that of the schema", g, s.present[i])
			}
		}
	}
	return nil
}

func (s *parquetSource) isLog() bool {
	_, table := tableName(s.def.Name)
	return !table
}

func (s *parquetSource) newReader(c Column, at int, memory *budget) *columnReader {
	f := s.fileCols[at]
	r := &columnReader{
		def: c, leveled: f.repetition == repOptional, phys: f.phys, zdec: s.zdec, budget: memory,
		chunkOf: func(group int) chunk { return s.m.chunks[group][at] },
		in:      chunkInput{r: s.r, budget: memory},
	}
	if c.Type == String {
		r.strings = newLogStrings(c.Name)
		r.text.strings, r.text.budget = r.strings, memory
	}
	return r
}

func (s *parquetSource) schema() string { return s.def.Name }
func (s *parquetSource) meta() Meta     { return s.m.meta }
func (s *parquetSource) rows() int64    { return s.m.rows }

// complete: a log of ours says so; one that names no tool was not recorded by
// ours, and has nothing to say otherwise.
func (s *parquetSource) complete() bool {
	v, ok := s.m.meta[KeyComplete]
	return v == "true" || (!ok && s.m.meta[KeyTool] == "")
}

func (s *parquetSource) warnings() []string {
	notes := slices.Clone(s.notes)
	for _, r := range s.readers {
		if r != nil && r.strings != nil && r.strings.overflow > 0 {
			notes = append(notes, fmt.Sprintf("column %s has more than %d distinct values: the others are read as %s",
				r.def.Name, MaxStrings, OtherString))
		}
	}
	return notes
}

func (s *parquetSource) selectColumns(names []string) error {
	if s.row > 0 {
		return errors.New("columns must be selected before reading")
	}
	for _, n := range names {
		if !slices.ContainsFunc(s.def.Columns, func(c Column) bool { return c.Name == n }) {
			return fmt.Errorf("%s has no column %s", s.def.Name, n)
		}
	}
	for i, c := range s.def.Columns {
		if !slices.Contains(names, c.Name) {
			s.readers[i] = nil
		}
	}
	return nil
}

func (s *parquetSource) rewind() error {
	s.group, s.left, s.row, s.err = 0, 0, 0, nil
	return nil
}

func (s *parquetSource) read(b Batch) error { return s.readSome(b, BatchRows) }

func (s *parquetSource) readSome(b Batch, limit int) (err error) {
	if s.err != nil {
		return s.err
	}
	defer func() { s.err = err }()
	defer recoverTo(&err)
	return s.readBatch(b, limit)
}

func (s *parquetSource) readBatch(b Batch, limit int) error {
	cols := b.Columns()
	n := int(min(int64(limit), s.m.rows-s.row))
	for i, col := range cols {
		resizeColumn(col, n)
		if s.readers[i] == nil {
			fillColumn(col, s.def.Columns[i].Nullable)
		}
	}
	if n == 0 {
		return io.EOF
	}
	for at := 0; at < n; {
		for s.left == 0 {
			s.startGroup()
		}
		k := int(min(int64(n-at), s.left))
		if err := s.readRows(cols, at, at+k); err != nil {
			for _, col := range cols {
				resizeColumn(col, 0)
			}
			return err
		}
		at += k
		s.left -= int64(k)
		s.row += int64(k)
	}
	return nil
}

func (s *parquetSource) startGroup() {
	s.left = s.m.groupRows[s.group]
	for _, r := range s.readers {
		if r != nil {
			r.start(s.group)
		}
	}
	s.group++
}

func (s *parquetSource) readRows(cols []any, from, to int) error {
	for i, r := range s.readers {
		if r == nil {
			continue
		}
		row, err := r.read(cols[i], from, to)
		if errors.Is(err, errNullRequired) {
			return &RowError{Row: s.row + int64(row-from), Column: r.def.Name, Msg: err.Error()}
		}
		if err != nil {
			// Whoever wrote a file that cannot be read is worth knowing.
			return fmt.Errorf("made by %q: %w", CleanString(s.m.createdBy), err)
		}
		if at := r.smallest(cols[i], from, to); at >= 0 {
			return &RowError{Row: s.row + int64(at), Column: r.def.Name, Msg: "the smallest number stands for NULL"}
		}
	}
	return nil
}

// smallest keeps a promise of the package: what stands for NULL in a batch is
// not a value of a required column. It returns the first row of from…to−1 that
// breaks it, counted from from, −1 if none does.
func (c *columnReader) smallest(col any, from, to int) int {
	if c.def.Nullable {
		return -1
	}
	switch v := col.(type) {
	case *[]int64:
		return indexSmallest((*v)[from:to], Null)
	case *[]int32:
		return indexSmallest((*v)[from:to], Null32)
	}
	return -1
}

func indexSmallest[T int32 | int64](s []T, null T) int {
	if !hasSmallest(s, null) {
		return -1
	}
	return slices.Index(s, null)
}

// hasSmallest reports whether some value is null, below which there is none.
func hasSmallest[T int32 | int64](s []T, null T) bool {
	if len(s) == 0 {
		return false
	}
	l0, l1, l2, l3 := s[0], s[0], s[0], s[0]
	for ; len(s) >= 8; s = s[8:] {
		l0, l1, l2, l3 = min(l0, s[0], s[4]), min(l1, s[1], s[5]), min(l2, s[2], s[6]), min(l3, s[3], s[7])
	}
	for _, v := range s {
		l0 = min(l0, v)
	}
	return min(l0, l1, l2, l3) == null
}

// table decodes a side table: base64 of a Parquet file.
func (s *parquetSource) table(b Batch) (err error) {
	defer recoverTo(&err)
	for _, col := range b.Columns() {
		resizeColumn(col, 0)
	}
	schema := b.Schema()
	name, ok := tableName(schema.Name)
	if !ok {
		return fmt.Errorf("%s is not a side table", schema.Name)
	}
	text, ok := s.tables[name]
	if !ok {
		return nil
	}
	raw, err := base64.StdEncoding.DecodeString(text)
	if err != nil {
		return fmt.Errorf("%s%s: %w", KeyTable, name, err)
	}
	t, err := newParquetSource(bytes.NewReader(raw), int64(len(raw)), schema.Name)
	if err != nil {
		return fmt.Errorf("%s%s: %w", KeyTable, name, err)
	}
	defer t.zdec.Close()
	if width := int64(8 * len(schema.Columns)); t.m.rows > (budgetFor(t.size).left+8*t.size)/width {
		return fmt.Errorf("%s%s: %d rows: %w", KeyTable, name, t.m.rows, errBudget)
	}
	if err := t.readBatch(b, int(t.m.rows)); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s%s: %w", KeyTable, name, err)
	}
	return nil
}

// close leaves the metadata and the side tables, for which thousands of logs
// may be kept.
func (s *parquetSource) close() error {
	s.zdec.Close()
	s.notes, s.readers = s.warnings(), nil
	if s.err == nil {
		s.err = fs.ErrClosed
	}
	if s.file == nil {
		return nil
	}
	return s.file.Close()
}

// resizeColumn gives a column n rows of any content.
func resizeColumn(col any, n int) {
	switch v := col.(type) {
	case *[]int32:
		*v = sized(*v, n)
	case *[]int64:
		*v = sized(*v, n)
	case *[]bool:
		*v = sized(*v, n)
	case *Strings:
		v.Codes = sized(v.Codes, n)
	}
}

// fillColumn fills a column that is not read: with NULL, or zero ("" in a
// string column) where it cannot be NULL.
func fillColumn(col any, nullable bool) {
	switch v := col.(type) {
	case *[]int32:
		fill(*v, nullable, Null32)
	case *[]int64:
		fill(*v, nullable, Null)
	case *[]bool:
		clear(*v)
	case *Strings:
		fill(v.Codes, nullable, -1)
		v.Values = nil
		if !nullable {
			v.Values = []string{""}
		}
	}
}

func fill[T int32 | int64](s []T, nullable bool, null T) {
	if !nullable {
		clear(s)
		return
	}
	fillSame(s, null)
}

// fillSame gives all elements one value.
func fillSame[T any](s []T, v T) {
	if len(s) == 0 {
		return
	}
	s[0] = v
	for n := 1; n < len(s); n *= 2 {
		copy(s[n:], s[:n])
	}
}
