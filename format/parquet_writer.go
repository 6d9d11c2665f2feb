package format

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math"
	"strings"

	"github.com/klauspost/compress/zstd"
)

const (
	pageRows     = BatchRows     // rows of every page of every column, at most
	wholeRows    = BatchRows / 4 // so many rows in one batch are a page, without being copied
	rowGroupRows = 1 << 20       // rows of a row group at most
	// rowGroupBytes bounds a row group, and with it the writer's memory, by its
	// compressed size.
	rowGroupBytes = 64 << 20
	zstdWindow    = 1 << 20 // a page is smaller
	parquetMagic  = "PAR1"
)

// ParquetOptions are the choices of a Parquet writer; the zero value is good.
type ParquetOptions struct {
	CreatedBy string // goes into the footer, "perf-send version 1.2.0"; "perf" if empty
	Force     bool   // CreateParquet replaces an existing file (see CreateFile)
}

// ParquetWriter writes a log as one Parquet file: columns straight from the
// slices of batches to pages, without rows in between. It implements [Writer].
//
// Integers and instants are DELTA_BINARY_PACKED, strings dictionaries, booleans
// RLE; pages hold at most 65,536 rows, are compressed with zstd at its fastest level
// and carry a CRC; a row group has at most 1,048,576 rows and about 64 MiB.
// Memory is that of one compressed row group, whatever the number of rows.
type ParquetWriter struct {
	w       io.Writer
	file    *File // nil when w is the caller's
	offset  int64
	schema  *Schema
	cols    []*columnWriter
	zenc    *zstd.Encoder
	pending int // rows that the columns hold back until a page is full
	inGroup int // rows in finished pages of the open row group
	rows    int64
	footer  footerBuilder
	meta    Meta
	tables  map[string]*tableBuffer
	err     error // the first error; nothing is written after it
	closed  bool
}

var _ Writer = (*ParquetWriter)(nil)

// CreateParquet starts the log file path through [CreateFile]: it appears
// under its name only when Close has returned nil.
func CreateParquet(path string, s *Schema, o ParquetOptions) (*ParquetWriter, error) {
	f, err := CreateFile(path, o.Force)
	if err != nil {
		return nil, err
	}
	w, err := NewParquetWriter(f, s, o)
	if err != nil {
		return nil, errors.Join(err, f.Abort())
	}
	w.file = f
	return w, nil
}

// NewParquetWriter writes a log to w, which is not closed.
func NewParquetWriter(w io.Writer, s *Schema, o ParquetOptions) (*ParquetWriter, error) {
	zenc, err := zstd.NewWriter(nil, zstd.WithEncoderLevel(zstd.SpeedFastest),
		zstd.WithEncoderConcurrency(1), zstd.WithEncoderCRC(false), zstd.WithWindowSize(zstdWindow))
	if err != nil {
		return nil, fmt.Errorf("zstd: %w", err)
	}
	p := &ParquetWriter{w: w, schema: s, zenc: zenc, meta: Meta{}, tables: map[string]*tableBuffer{}}
	p.footer.createdBy = o.CreatedBy
	if p.footer.createdBy == "" {
		p.footer.createdBy = "perf"
	}
	for _, c := range s.Columns {
		p.cols = append(p.cols, newColumnWriter(c))
	}
	p.write([]byte(parquetMagic))
	return p, p.err
}

// SetMeta implements Writer.
func (p *ParquetWriter) SetMeta(m Meta) { maps.Copy(p.meta, m) }

// Rows returns the number of rows written so far.
func (p *ParquetWriter) Rows() int64 { return p.rows }

// Overflow returns, by column, how many rows were written as OtherString
// because the column had more than MaxStrings distinct values.
func (p *ParquetWriter) Overflow() map[string]int64 {
	m := map[string]int64{}
	for _, c := range p.cols {
		if c.dict != nil && c.dict.overflow > 0 {
			m[c.name] = c.dict.overflow
		}
	}
	return m
}

// Write implements Writer.
func (p *ParquetWriter) Write(b Batch) error {
	if p.closed {
		return errors.New("write to a closed log")
	}
	if p.err != nil {
		return p.err
	}
	p.err = p.writeBatch(b)
	return p.err
}

func (p *ParquetWriter) writeBatch(b Batch) error {
	if b.Schema().Name != p.schema.Name {
		return fmt.Errorf("a %s batch cannot be written to a %s log", b.Schema().Name, p.schema.Name)
	}
	cols, n := b.Columns(), b.Len()
	for i, c := range p.cols {
		if err := c.check(cols[i], n); err != nil {
			return err
		}
	}
	for at := 0; at < n; {
		k := min(n-at, pageRows-p.pending)
		add := (*columnWriter).add
		whole := p.pending == 0 && k >= wholeRows
		if whole {
			add = (*columnWriter).addPage
		}
		for i, c := range p.cols {
			if row, err := add(c, cols[i], at, at+k); err != nil {
				return &RowError{Row: p.rows + int64(row), Column: c.name, Msg: err.Error()}
			}
		}
		at += k
		p.rows += int64(k)
		p.pending += k
		if p.pending == pageRows || whole {
			if err := p.endPage(); err != nil {
				return err
			}
		}
	}
	return nil
}

// endPage finishes a page of every column, and the row group when it is full.
func (p *ParquetWriter) endPage() error {
	size := 0
	for _, c := range p.cols {
		c.endPage(p.zenc)
		size += len(c.buf)
	}
	p.inGroup += p.pending
	p.pending = 0
	if p.inGroup > rowGroupRows-pageRows || size >= rowGroupBytes {
		return p.endRowGroup()
	}
	return nil
}

func (p *ParquetWriter) endRowGroup() error {
	if p.inGroup == 0 {
		return nil
	}
	if len(p.footer.groups) == math.MaxInt16 {
		return fmt.Errorf("more than %d row groups", math.MaxInt16)
	}
	start := p.offset
	chunks := make([]chunkInfo, 0, len(p.cols))
	for _, c := range p.cols {
		chunk := c.endChunk(p.zenc, p.offset, int64(p.inGroup))
		p.write(c.dictPage)
		p.write(c.buf)
		c.reset()
		chunks = append(chunks, chunk)
	}
	p.footer.addGroup(chunks, int64(p.inGroup), start, p.offset-start)
	p.inGroup = 0
	return p.err
}

func (p *ParquetWriter) write(b []byte) {
	if p.err != nil || len(b) == 0 {
		return
	}
	n, err := p.w.Write(b)
	p.offset += int64(n)
	p.err = err
}

// Table implements Writer.
func (p *ParquetWriter) Table(b Batch) error {
	name, ok := tableName(b.Schema().Name)
	if !ok {
		return fmt.Errorf("%s is not a side table", b.Schema().Name)
	}
	t := p.tables[name]
	if t == nil {
		var err error
		if t, err = newTableBuffer(b.Schema(), p.footer.createdBy); err != nil {
			return err
		}
		p.tables[name] = t
	}
	return t.w.Write(b)
}

// Close implements Writer. If it fails, a file made by CreateParquet does not
// appear under its name.
func (p *ParquetWriter) Close() error {
	if p.closed {
		return nil
	}
	p.closed = true
	if p.err == nil {
		p.err = p.finish()
	}
	err := errors.Join(p.err, p.zenc.Close())
	if p.file == nil {
		return err
	}
	if err != nil {
		return fmt.Errorf("%s: %w", p.file.Name(), errors.Join(err, p.file.leave()))
	}
	return p.file.Close()
}

// Abort gives the log up; a file made by CreateParquet is removed. It does
// nothing after Close.
func (p *ParquetWriter) Abort() error {
	if p.closed {
		return nil
	}
	p.closed = true
	err := p.zenc.Close()
	if p.file != nil {
		err = errors.Join(err, p.file.Abort())
	}
	return err
}

func (p *ParquetWriter) finish() error {
	if p.pending > 0 {
		if err := p.endPage(); err != nil {
			return err
		}
	}
	if err := p.endRowGroup(); err != nil {
		return err
	}
	meta := p.meta.Clone()
	maps.DeleteFunc(meta, func(k, _ string) bool { return strings.HasPrefix(k, KeyTable) }) // the writer's own
	meta[KeySchema] = p.schema.Name
	for name, t := range p.tables {
		text, err := t.encode()
		if err != nil {
			return fmt.Errorf("table %s: %w", name, err)
		}
		meta[KeyTable+name] = text
	}
	b, err := p.footer.encode(p.schema, meta, p.rows)
	if err != nil {
		return fmt.Errorf("footer: %w", err)
	}
	p.write(b)
	return p.err
}
