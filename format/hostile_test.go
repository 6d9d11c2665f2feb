package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/klauspost/compress/zstd"
	"github.com/parquet-go/parquet-go/encoding/thrift"
	pq "github.com/parquet-go/parquet-go/format"
)

// The rule for every bad file: an error, never a panic, never more than 64 MiB
// above the size of the file, less than a second.
const (
	hostileBytes = 64 << 20
	hostileTime  = 20 * time.Second // a hang, not a slow machine
)

// smallLog is a send log with every encoding, NULLs and a side table.
func smallLog(t testing.TB) []byte {
	t.Helper()
	var buf bytes.Buffer
	w, err := NewParquetWriter(&buf, SendSchema(), ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(smallSend()); err != nil {
		t.Fatal(err)
	}
	if err := w.Table(&Sample{Instant: []int64{1}, What: Strings{[]string{"x"}, []int32{0}}, Value: []int64{2}}); err != nil {
		t.Fatal(err)
	}
	w.SetMeta(Meta{KeyRun: "run"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func smallSend() *Send {
	b := &Send{}
	b.Run.Values, b.Destination.Values = []string{"run"}, []string{"a", "b"}
	b.Outcome.Values, b.Wait.Values = []string{Accepted, Unsettled}, []string{WaitNone, WaitCredit}
	b.Error.Values = []string{"amqp:internal-error"}
	for i := range 40 {
		late := int64(i*i) * 1000
		acked, outcome, e := int64(1796e15)+late+70, int32(0), int32(-1)
		if i%9 == 4 {
			acked, outcome, e = Null, 1, 0
		}
		b.Run.Codes = append(b.Run.Codes, 0)
		b.Sender, b.Producer = append(b.Sender, 1234567), append(b.Producer, int32(i%3))
		b.Seq, b.Attempt = append(b.Seq, int64(i/3)), append(b.Attempt, 0)
		b.Destination.Codes = append(b.Destination.Codes, int32(i%2))
		b.Size = append(b.Size, int32(100+i*i))
		b.Intended, b.Ready = append(b.Intended, 1796e15+int64(i)), append(b.Ready, 1796e15+late)
		b.Sent, b.Acked = append(b.Sent, 1796e15+late+5), append(b.Acked, acked)
		b.Outcome.Codes, b.Wait.Codes = append(b.Outcome.Codes, outcome), append(b.Wait.Codes, int32(i/20))
		b.Error.Codes, b.Connection = append(b.Error.Codes, e), append(b.Connection, 0)
	}
	return b
}

// drain reads a log with its tables and gives up after some million rows.
func drain(b []byte) error {
	l, err := openBytes(b)
	if err != nil {
		return err
	}
	defer func() { _ = l.Close() }()
	rows := emptyBatch(l.Schema())
	for l.RowsRead() < 4<<20 {
		if err := l.Read(rows); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return err
		}
	}
	return errors.Join(l.Table(&Event{}), l.Table(&Sample{}), l.Table(&ClockRow{}))
}

// within runs f and reports whether it kept to the rule. What f allocates in all is
// at least what it holds at any moment.
func within(t *testing.T, size int, what string, f func() error) error {
	t.Helper()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	err := f()
	took := time.Since(start)
	runtime.ReadMemStats(&after)
	if n := after.TotalAlloc - before.TotalAlloc; n > hostileBytes+uint64(size) {
		t.Errorf("%s: %d MiB allocated", what, n>>20)
	}
	if took > hostileTime {
		t.Errorf("%s: took %v", what, took)
	}
	if err != nil && strings.Contains(err.Error(), "not foreseen") {
		t.Errorf("%s: %v", what, err)
	}
	return err
}

// Not parallel: it counts the memory of the process
func TestEveryTruncationIsRefused(t *testing.T) {
	log := smallLog(t)
	if err := drain(log); err != nil {
		t.Fatal(err)
	}
	for n := range log {
		if err := within(t, n, "truncation", func() error { return drain(log[:n]) }); err == nil {
			t.Fatalf("%d of %d bytes were read as a log", n, len(log))
		} else if n < len(log)-8 && !errors.Is(err, errNotClosed) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
}

// Not parallel: it counts the memory of the process
func TestBitFlips(t *testing.T) {
	log := smallLog(t)
	damaged := bytes.Clone(log)
	seen, flips := 0, 0
	for i := 0; i < len(log); i += stride(7) {
		for _, mask := range []byte{0x01, 0x80, 0xff, 0x10} {
			damaged[i] = log[i] ^ mask
			flips++
			if within(t, len(log), "bit flip", func() error { return drain(damaged) }) != nil {
				seen++
			}
		}
		damaged[i] = log[i]
	}
	// What is not seen is in statistics, names and values of metadata, and unused fields.
	if seen < flips*3/4 {
		t.Errorf("%d of %d changes are seen", seen, flips)
	}
	t.Logf("%d bit flips in a Parquet file", flips)
}

// page is a page with its header, as it would stand in a column chunk.
func page(t *testing.T, h pq.PageHeader, body []byte) []byte {
	t.Helper()
	if h.CompressedPageSize == 0 {
		h.CompressedPageSize = int32(len(body))
	}
	if h.UncompressedPageSize == 0 {
		h.UncompressedPageSize = int32(len(body))
	}
	head, err := thrift.Marshal(new(thrift.CompactProtocol), &h)
	if err != nil {
		t.Fatal(err)
	}
	return append(head, body...)
}

func dataPage(values int32, enc pq.Encoding) pq.PageHeader {
	return pq.PageHeader{Type: pq.DataPage, DataPageHeader: thrift.New(pq.DataPageHeader{
		NumValues: values, Encoding: enc, DefinitionLevelEncoding: pq.RLE, RepetitionLevelEncoding: pq.RLE,
	})}
}

func dictPage(values int32) pq.PageHeader {
	return pq.PageHeader{Type: pq.DictionaryPage,
		DictionaryPageHeader: thrift.New(pq.DictionaryPageHeader{NumValues: values, Encoding: pq.Plain})}
}

// readPages reads a chunk that claims to have so many values.
func readPages(t *testing.T, c Column, codec int32, values int64, pages ...[]byte) error {
	t.Helper()
	data := bytes.Join(pages, nil)
	phys := map[Type]int32{Int32: physInt32, Int64: physInt64, Bool: physBool, String: physByteArray}[c.Type]
	zdec, err := newZstd()
	if err != nil {
		t.Fatal(err)
	}
	defer zdec.Close()
	s := &parquetSource{r: bytes.NewReader(data), size: int64(len(data)), zdec: zdec,
		fileCols: []fileColumn{{name: c.Name, phys: phys, repetition: map[bool]int32{true: repOptional}[c.Nullable]}},
		m: &fileMeta{rows: values, groupRows: []int64{values},
			chunks: [][]chunk{{{size: int64(len(data)), values: values, phys: phys, codec: codec}}}}}
	s.def = &Schema{Name: "one/1", Columns: []Column{c}}
	s.readers = []*columnReader{s.newReader(c, 0, budgetFor(s.size))}
	b := &oneColumn{schema: s.def}
	switch c.Type {
	case Int32:
		b.col = new([]int32)
	case Int64:
		b.col = new([]int64)
	case Bool:
		b.col = new([]bool)
	case String:
		b.col = new(Strings)
	}
	for s.row < min(values, 1<<20) {
		if err := s.read(b); err != nil {
			return err
		}
	}
	return nil
}

type oneColumn struct {
	schema *Schema
	col    any
}

func (b *oneColumn) Schema() *Schema { return b.schema }
func (b *oneColumn) Columns() []any  { return []any{b.col} }
func (b *oneColumn) Len() int        { return 0 }

// Not parallel: it counts the memory of the process
func TestHostilePages(t *testing.T) {
	num, opt := Column{Name: "n", Type: Int64}, Column{Name: "o", Type: Int64, Nullable: true}
	text, flag := Column{Name: "s", Type: String}, Column{Name: "f", Type: Bool}
	const many = math.MaxInt32
	uv := func(vs ...uint64) (b []byte) {
		for _, v := range vs {
			b = binary.AppendUvarint(b, v)
		}
		return b
	}
	bomb := func() []byte { // 1 GiB of zeroes in some KiB
		var buf bytes.Buffer
		z, err := zstd.NewWriter(&buf, zstd.WithEncoderConcurrency(1))
		if err != nil {
			t.Fatal(err)
		}
		for range 256 {
			if _, err := z.Write(make([]byte, 1<<20)); err != nil {
				t.Fatal(err)
			}
		}
		if err := z.Close(); err != nil {
			t.Fatal(err)
		}
		return buf.Bytes()
	}()
	huge := dataPage(1, pq.Plain)
	huge.UncompressedPageSize, huge.CompressedPageSize = 1<<30, 8
	small := dataPage(1, pq.Plain)
	small.UncompressedPageSize = 8
	tests := []struct {
		name, want string
		err        func() error
	}{
		{"uncompressed size", "too large", func() error { return readPages(t, num, codecZstd, 1, page(t, huge, make([]byte, 8))) }},
		{"zstd bomb", "ZSTD", func() error { return readPages(t, num, codecZstd, 1, page(t, small, bomb)) }},
		{"zstd content size", "ZSTD", func() error {
			frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0xe0, 0, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0}
			return readPages(t, num, codecZstd, 1, page(t, small, frame))
		}},
		{"zstd window", "ZSTD", func() error {
			frame := []byte{0x28, 0xb5, 0x2f, 0xfd, 0x00, 0xf8, 0x0d, 0, 0, 0x10, 1, 0, 0, 0}
			return readPages(t, num, codecZstd, 1, page(t, small, frame))
		}},
		{"delta total", "fewer values", func() error {
			return readPages(t, num, codecNone, 5, page(t, dataPage(5, pq.DeltaBinaryPacked), uv(128, 4, 2, 0, 0, 0)))
		}},
		{"delta blocks", "delta header", func() error {
			return readPages(t, num, codecNone, 5, page(t, dataPage(5, pq.DeltaBinaryPacked), uv(1<<40, 4, 5, 0)))
		}},
		{"delta width", "bit width", func() error {
			return readPages(t, num, codecNone, 5, page(t, dataPage(5, pq.DeltaBinaryPacked), append(uv(128, 4, 5, 0, 0), 200, 0, 0, 0)))
		}},
		{"delta short", "cut short", func() error {
			return readPages(t, num, codecNone, 5, page(t, dataPage(5, pq.DeltaBinaryPacked), append(uv(128, 4, 5, 0, 0), 64, 0, 0, 0)))
		}},
		{"string lengths", "too large", func() error {
			return readPages(t, text, codecNone, 5, page(t, dataPage(5, pq.DeltaLengthByteArray), append(uv(128, 4, many, 0, 0), 0, 0, 0, 0)))
		}},
		{"string length", "cut short", func() error {
			return readPages(t, text, codecNone, 1, page(t, dataPage(1, pq.Plain), []byte{255, 255, 255, 127, 'x'}))
		}},
		{"dictionary count", "dictionary of", func() error { return readPages(t, num, codecNone, 1, page(t, dictPage(many), make([]byte, 8))) }},
		{"negative dictionary count", "-1 values", func() error { return readPages(t, num, codecNone, 1, page(t, dictPage(-1), make([]byte, 8))) }},
		{"dictionary short", "cut short", func() error { return readPages(t, text, codecNone, 1, page(t, dictPage(8), make([]byte, 8))) }},
		{"no dictionary", "without a dictionary", func() error {
			return readPages(t, text, codecNone, 1, page(t, dataPage(1, pq.RLEDictionary), []byte{1, 2, 0}))
		}},
		{"code beyond", "beyond the dictionary", func() error {
			return readPages(t, num, codecNone, 1, page(t, dictPage(1), make([]byte, 8)), page(t, dataPage(1, pq.RLEDictionary), []byte{8, 2, 7}))
		}},
		{"code width", "bit width", func() error {
			return readPages(t, num, codecNone, 1, page(t, dictPage(1), make([]byte, 8)), page(t, dataPage(1, pq.RLEDictionary), []byte{99, 2, 7}))
		}},
		{"packed groups", "fewer values", func() error {
			return readPages(t, num, codecNone, 9, page(t, dictPage(1), make([]byte, 8)), page(t, dataPage(9, pq.RLEDictionary), append([]byte{1}, uv(1<<50|1, 0)...)))
		}},
		{"levels beyond page", "cut short", func() error {
			return readPages(t, opt, codecNone, 9, page(t, dataPage(9, pq.Plain), []byte{255, 255, 255, 255}))
		}},
		{"few levels", "fewer definition levels", func() error {
			return readPages(t, opt, codecNone, 9, page(t, dataPage(9, pq.Plain), append([]byte{2, 0, 0, 0, 4, 0}, make([]byte, 64)...)))
		}},
		{"NULL in a required column", "row 2: column n: NULL", func() error {
			o := opt
			o.Name, o.Nullable = "n", true
			return readRequired(t, o, page(t, dataPage(3, pq.Plain), append([]byte{2, 0, 0, 0, 3, 3}, make([]byte, 24)...)))
		}},
		{"values beyond chunk", "chunk has 1 left", func() error { return readPages(t, num, codecNone, 1, page(t, dataPage(2, pq.Plain), make([]byte, 16))) }},
		{"values missing", "fewer values", func() error { return readPages(t, num, codecNone, 3, page(t, dataPage(2, pq.Plain), make([]byte, 16))) }},
		{"boolean runs", "fewer values", func() error {
			return readPages(t, flag, codecNone, 9, page(t, dataPage(9, pq.RLE), []byte{2, 0, 0, 0, 2, 1}))
		}},
		{"codec", "BROTLI is not supported", func() error { return readPages(t, num, 4, 1, page(t, dataPage(1, pq.Plain), make([]byte, 8))) }},
		{"encoding", "encoding 9", func() error { return readPages(t, num, codecNone, 1, page(t, dataPage(1, 9), make([]byte, 8))) }},
		{"snappy length", "SNAPPY", func() error { return readPages(t, num, codecSnappy, 1, page(t, small, uv(1<<31, 0))) }},
		{"page header", "header", func() error { return readPages(t, num, codecNone, 1, bytes.Repeat([]byte{0x1c}, 64)) }},
		{"long header", "header", func() error { return readPages(t, num, codecNone, 1, append([]byte{0x18}, uv(1<<31, 0, 0, 0)...)) }},
		{"no pages", "fewer values", func() error { return readPages(t, num, codecNone, 1) }},
	}
	for _, tt := range tests {
		err := within(t, 1<<10, tt.name, tt.err)
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

// readRequired reads a column that the file declares optional and the schema does not.
func readRequired(t *testing.T, c Column, data []byte) error {
	t.Helper()
	m := &fileMeta{rows: 3, groupRows: []int64{3}, chunks: [][]chunk{{{size: int64(len(data)), values: 3, phys: physInt64}}}}
	s := &parquetSource{r: bytes.NewReader(data), m: m, fileCols: []fileColumn{{phys: physInt64, repetition: repOptional}}}
	c.Nullable = false
	s.def = &Schema{Name: "one/1", Columns: []Column{c}}
	s.readers = []*columnReader{s.newReader(c, 0, budgetFor(0))}
	return s.read(&oneColumn{schema: s.def, col: new([]int64)})
}

// TestRunsCostNothing: a page of two thousand million equal values, or NULLs,
// is legal and some bytes long; memory must not follow its count.
//
// Not parallel: it counts the memory of the process
func TestRunsCostNothing(t *testing.T) {
	num, opt := Column{Name: "n", Type: Int64}, Column{Name: "o", Type: Int64, Nullable: true}
	const many = math.MaxInt32
	run := binary.AppendUvarint([]byte{1}, many<<1)
	err := within(t, 0, "codes", func() error {
		return readPages(t, num, codecNone, many, page(t, dictPage(1), make([]byte, 8)),
			page(t, dataPage(many, pq.RLEDictionary), append(run, 0)))
	})
	if err != nil {
		t.Error(err)
	}
	levels := append(binary.AppendUvarint(nil, many<<1), 0)
	body := append(binary.LittleEndian.AppendUint32(nil, uint32(len(levels))), levels...)
	err = within(t, 0, "NULLs", func() error { return readPages(t, opt, codecNone, many, page(t, dataPage(many, pq.Plain), body)) })
	if err != nil {
		t.Error(err)
	}
}

// Not parallel: it counts the memory of the process
func TestHostileFooters(t *testing.T) {
	file := func(footer []byte) []byte {
		b := append([]byte(parquetMagic), footer...)
		b = binary.LittleEndian.AppendUint32(b, uint32(len(footer)))
		return append(b, parquetMagic...)
	}
	length := func(n uint32) []byte {
		return append(binary.LittleEndian.AppendUint32([]byte(parquetMagic), n), parquetMagic...)
	}
	tests := []struct {
		name, want string
		file       []byte
	}{
		{"empty", "not closed", nil},
		{"magic only", "not closed", []byte(parquetMagic)},
		{"PAR1PAR1", "not closed", []byte("PAR1PAR1")},
		{"footer length", "footer of 4294967295 bytes", length(math.MaxUint32)},
		{"footer length 1", "footer of 1 bytes", length(1)},
		{"no footer", "cut short", file(nil)},
		{"list of two thousand million", "elements", file([]byte{0x29, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x07})},
		{"nested", "too deep", file(bytes.Repeat([]byte{0x1c}, 1<<20))},
		{"nested lists", "too deep", file(append([]byte{0xa9}, bytes.Repeat([]byte{0x19}, 1<<20)...))},
		{"encrypted", "encrypted", append([]byte("PAR1xxxxxxxx"), "PARE"...)},
		{"not ours at the end", "not closed", []byte("PAR1 and then some text")},
	}
	for _, tt := range tests {
		err := within(t, len(tt.file), tt.name, func() error { return drain(tt.file) })
		if err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", tt.name, err, tt.want)
		}
	}
}

func TestOpenSaysWhatAFileIs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, tt := range map[string]struct{ content, want string }{
		"empty.parquet": {"", "not closed"},
		"text.csv":      {"a,b\n1,2\n", "neither Parquet nor an Arrow stream"},
		"short":         {"x", "neither Parquet nor an Arrow stream"},
		"crypt.parquet": {"PAREPARE", "encrypted"},
	} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(tt.content), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := Open(path); err == nil || !strings.Contains(err.Error(), tt.want) || strings.Count(err.Error(), path) != 1 {
			t.Errorf("%s: %v, want %q and the name once", name, err, tt.want)
		}
	}
	if _, err := Open(filepath.Join(dir, "nothing")); !errors.Is(err, os.ErrNotExist) {
		t.Errorf("missing file: %v", err)
	}
}

func FuzzOpen(f *testing.F) {
	log := smallLog(f)
	f.Add(log)
	f.Add([]byte("PAR1PAR1"))
	f.Add(log[:len(log)/2])
	f.Fuzz(func(t *testing.T, b []byte) {
		if err := drain(b); err != nil && strings.Contains(err.Error(), "not foreseen") {
			t.Fatal(err)
		}
	})
}
