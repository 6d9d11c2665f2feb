package format

import (
	"bytes"
	"errors"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/parquet-go/parquet-go"
)

// anyBatch is a batch of any schema.
type anyBatch struct {
	schema *Schema
	cols   []any
	n      int
}

func (b *anyBatch) Schema() *Schema { return b.schema }
func (b *anyBatch) Columns() []any  { return b.cols }
func (b *anyBatch) Len() int        { return b.n }

// variant writes goldenSend under another schema name, with its columns changed.
func variant(t *testing.T, name string, change func(c *Column, col any) (any, bool)) []byte {
	t.Helper()
	send := goldenSend()
	b := &anyBatch{schema: &Schema{Name: name}, n: send.Len()}
	for i, c := range SendSchema().Columns {
		col := send.Columns()[i]
		keep := true
		if change != nil {
			col, keep = change(&c, col)
		}
		if keep {
			b.schema.Columns = append(b.schema.Columns, c)
			b.cols = append(b.cols, col)
		}
	}
	var buf bytes.Buffer
	w, err := NewParquetWriter(&buf, b.schema, ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	w.SetMeta(Meta{KeyRun: "r"})
	if err := errors.Join(w.Write(b), w.Close()); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func without(name string) func(*Column, any) (any, bool) {
	return func(c *Column, col any) (any, bool) { return col, c.Name != name }
}

// widen makes a column int64 and nullable, and sets one value.
func widen(name string, row int, v int64) func(*Column, any) (any, bool) {
	return func(c *Column, col any) (any, bool) {
		if c.Name != name {
			return col, true
		}
		c.Type, c.Nullable = Int64, true
		wide := make([]int64, 8)
		switch x := col.(type) {
		case *[]int32:
			for i, v := range *x {
				wide[i] = int64(v)
			}
		case *[]int64:
			copy(wide, *x)
		}
		wide[row] = v
		return &wide, true
	}
}

func TestRefusedLogs(t *testing.T) {
	t.Parallel()
	text := func(name string) func(*Column, any) (any, bool) {
		return func(c *Column, col any) (any, bool) {
			if c.Name == name {
				c.Type = String
				col = &Strings{Values: []string{"x"}, Codes: make([]int32, 8)}
			}
			return col, true
		}
	}
	for name, tt := range map[string]struct {
		file   []byte
		want   string
		notLog bool
	}{
		"newer version":         {variant(t, "send/2", nil), "schema send/2 is newer than this program, which reads send/1", false},
		"unknown schema":        {variant(t, "dance/1", nil), `schema "dance/1" is unknown`, true},
		"version 0":             {variant(t, "send/0", nil), `schema "send/0" is unknown`, true},
		"a side table":          {variant(t, "clock/1", nil), "clock/1 is a side table", true},
		"required is missing":   {variant(t, "send/1", without("seq")), "column seq of send/1 is missing", false},
		"type":                  {variant(t, "send/1", text("seq")), "column seq: its type is BYTE_ARRAY STRING, wanted is INT64", false},
		"NULL":                  {variant(t, "send/1", widen("intended", 5, Null)), "row 5: column intended: NULL in a required column", false},
		"number too large":      {variant(t, "send/1", widen("size", 3, math.MaxInt32+1)), "column size: page 0: 2147483648 does not fit an int32", false},
		"number that is NULL32": {variant(t, "send/1", widen("size", 3, math.MinInt32)), "does not fit an int32", false},
	} {
		l, err := openBytes(tt.file)
		if err == nil {
			_, err = readRows(l)
		}
		if err == nil || !strings.Contains(err.Error(), tt.want) || errors.Is(err, ErrNotLog) != tt.notLog {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
	}
}

func TestNullRowNamesTheFile(t *testing.T) {
	t.Parallel()
	l, err := openBytes(variant(t, "send/1", widen("intended", 5, Null)))
	if err != nil {
		t.Fatal(err)
	}
	var e *RowError
	if err := l.Read(&Send{}); !errors.As(err, &e) || e.File != "test.parquet" || e.Row != 5 || e.Column != "intended" {
		t.Errorf("%v", err)
	}
}

func TestWiderAndNullableColumnsAreRead(t *testing.T) {
	t.Parallel()
	l, err := openBytes(variant(t, "send/1", widen("size", 3, 77)))
	if err != nil {
		t.Fatal(err)
	}
	b := &Send{}
	if err := l.Read(b); err != nil || b.Size[3] != 77 || b.Size[0] != 1024 {
		t.Errorf("%v, %v", b.Size, err)
	}
}

func TestMissingOptionalColumnIsNull(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"acked", "error"} {
		l, err := openBytes(variant(t, "send/1", without(name)))
		if err != nil {
			t.Fatal(err)
		}
		b := &Send{}
		if err := l.Read(b); err != nil {
			t.Fatal(err)
		}
		for i := range b.Len() {
			if _, ok := b.Error.At(i); (name == "acked" && b.Acked[i] != Null) || (name == "error" && ok) {
				t.Errorf("row %d: %s is not NULL", i, name)
			}
		}
	}
}

func TestForeignParquet(t *testing.T) {
	t.Parallel()
	type row struct {
		Run  string  `parquet:"run"`
		Seq  float64 `parquet:"seq"`
		List []int64 `parquet:"list"`
	}
	var buf bytes.Buffer
	if err := parquet.Write(&buf, []row{{"r", 1, []int64{1, 2}}}); err != nil {
		t.Fatal(err)
	}
	_, err := openBytes(buf.Bytes())
	want := "not a perf log: columns missing: sender, producer, attempt, destination, size, intended, outcome, wait, connection"
	if !errors.Is(err, ErrNotLog) || err.Error() != want {
		t.Errorf("got %v\nwant %s", err, want)
	}
	buf.Reset()
	if err := parquet.Write(&buf, []row{{"r", 1, nil}}, parquet.KeyValueMetadata(KeySchema, "sample/1")); err != nil {
		t.Fatal(err)
	}
	if _, err := openBytes(buf.Bytes()); err == nil || !strings.Contains(err.Error(), "sample/1 is a side table") {
		t.Errorf("%v", err)
	}
}

// TestUnits: instants in another unit would be wrong by a factor of 1000 without anyone noticing.
func TestUnits(t *testing.T) {
	t.Parallel()
	node := func(unit parquet.TimeUnit) fileColumn {
		var buf bytes.Buffer
		w := parquet.NewWriter(&buf, parquet.NewSchema("x", parquet.Group{"intended": parquet.Timestamp(unit)}))
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		footer, _, err := readFooter(bytes.NewReader(buf.Bytes()), int64(buf.Len()))
		if err != nil {
			t.Fatal(err)
		}
		m, damage, err := parseFooter(footer, func(*fileMeta) ([]int, error) { return nil, nil })
		if err := errors.Join(damage, err); err != nil {
			t.Fatal(err)
		}
		return m.columns[0]
	}
	c := Column{Name: "intended", Type: Int64, Unit: instant}
	if err := fits(c, node(parquet.Nanosecond)); err != nil {
		t.Error(err)
	}
	for name, unit := range map[string]parquet.TimeUnit{"MICROS": parquet.Microsecond, "MILLIS": parquet.Millisecond} {
		if err := fits(c, node(unit)); err == nil || !strings.Contains(err.Error(), "INT64 TIMESTAMP("+name+"), wanted is INT64") {
			t.Errorf("%v", err)
		}
	}
}

func TestSelect(t *testing.T) {
	t.Parallel()
	l, err := openBytes(variant(t, "send/1", nil))
	if err != nil {
		t.Fatal(err)
	}
	if err := l.Select("seq", "nonsense"); err == nil || !strings.Contains(err.Error(), "send/1 has no column nonsense") {
		t.Errorf("%v", err)
	}
	if err := l.Select("seq", "outcome"); err != nil {
		t.Fatal(err)
	}
	b := &Send{}
	if err := l.Read(b); err != nil {
		t.Fatal(err)
	}
	want := goldenSend()
	for i := range b.Len() {
		outcome, _ := b.Outcome.At(i)
		wantOutcome, _ := want.Outcome.At(i)
		run, ok := b.Run.At(i)
		_, hasError := b.Error.At(i)
		if b.Seq[i] != want.Seq[i] || outcome != wantOutcome || b.Intended[i] != 0 || b.Acked[i] != Null || run != "" || !ok || hasError {
			t.Errorf("row %d: seq %d outcome %q intended %d acked %d run %q %v", i, b.Seq[i], outcome, b.Intended[i], b.Acked[i], run, ok)
		}
	}
	if err := l.Select("run"); err == nil {
		t.Error("Select after Read")
	}
}

// seqOnly is a batch of send/1 without room for other columns.
type seqOnly struct {
	Send
	columns []any
}

func (b *seqOnly) Columns() []any { return b.columns }

// A batch need not have columns that are not read.
func TestNarrowBatch(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	must(t, os.WriteFile(path, writeStream(t, nil, goldenSend()), 0o600))
	stream, err := Open(path)
	must(t, err)
	defer func() { must(t, stream.Close()) }()
	file, err := openBytes(variant(t, "send/1", nil))
	must(t, err)
	for _, l := range []*Log{file, stream} {
		must(t, l.Select("seq"))
		b := &seqOnly{columns: make([]any, len(SendSchema().Columns))}
		b.columns[slices.IndexFunc(SendSchema().Columns, func(c Column) bool { return c.Name == "seq" })] = &b.Seq
		must(t, l.Read(b))
		if !slices.Equal(b.Seq, goldenSend().Seq) || b.Acked != nil {
			t.Errorf("%s: seq %d, acked %d", l.Kind(), b.Seq, b.Acked)
		}
	}
}

func TestParquetWriterRefuses(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		spoil func(*Send)
		want  string
	}{
		"NULL instant": {func(b *Send) { b.Intended[3] = Null }, "row 3: column intended: NULL in a required column"},
		"NULL int":     {func(b *Send) { b.Producer[7] = Null32 }, "row 7: column producer: NULL"},
		"NULL string":  {func(b *Send) { b.Run.Codes[1] = -1 }, "row 1: column run: NULL"},
		"code":         {func(b *Send) { b.Run.Codes[1] = 9 }, "row 1: column run: code 9"},
		"lengths":      {func(b *Send) { b.Acked = b.Acked[:7] }, "column acked: 7 values in a batch of 8 rows"},
	} {
		w, err := NewParquetWriter(&bytes.Buffer{}, SendSchema(), ParquetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		b := goldenSend()
		tt.spoil(b)
		if err := w.Write(b); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%s: %v, want %q", name, err, tt.want)
		}
		if err := w.Close(); err == nil {
			t.Errorf("%s: Close says the log is good", name)
		}
	}
	w, err := NewParquetWriter(&bytes.Buffer{}, SendSchema(), ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(goldenRecv()); err == nil || !strings.Contains(err.Error(), "recv/1 batch cannot be written to a send/1 log") {
		t.Errorf("%v", err)
	}
}

func TestManyAndLongStrings(t *testing.T) {
	t.Parallel()
	const n = 2*MaxStrings + 10
	e := &Event{Instant: make([]int64, n), Connection: make([]int32, n)}
	s := Strings{Codes: make([]int32, n)}
	for i := range n {
		s.Values = append(s.Values, strings.Repeat("ü", MaxStringLen/2)+string(rune('a'+i%26)))
		if i > 0 {
			s.Values[i] = "v" + strings.Repeat("x", i%7) + string(rune(0x4e00+i))
		}
		s.Codes[i] = int32(i)
	}
	e.Kind, e.Link, e.Condition, e.Text = text(same(n, "k")...), s, s, s
	s.Values[1] = "bad \xff byte"
	var buf bytes.Buffer
	w, err := NewParquetWriter(&buf, EventSchema(), ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(w.Write(e), w.Close()); err != nil {
		t.Fatal(err)
	}
	if got := w.Overflow()["text"]; got != n-MaxStrings {
		t.Errorf("overflow %d, want %d", got, n-MaxStrings)
	}
	src, err := newParquetSource(bytes.NewReader(buf.Bytes()), int64(buf.Len()), "event/1")
	if err != nil {
		t.Fatal(err)
	}
	got := &Event{}
	if err := src.read(got); err != nil {
		t.Fatal(err)
	}
	for i, want := range map[int]string{
		0: strings.Repeat("ü", MaxStringLen/2), 1: "bad \uFFFD byte", 5: s.Values[5], MaxStrings - 1: s.Values[MaxStrings-1],
		MaxStrings: OtherString, n - 1: OtherString,
	} {
		if v, _ := got.Text.At(i); v != want {
			t.Errorf("row %d: %q, want %q", i, v, want)
		}
	}
}
