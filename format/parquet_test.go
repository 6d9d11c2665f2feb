package format

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
	"pgregory.net/rapid"
)

// rowsOf is a batch as plain rows: what must be equal however it was split.
func rowsOf(b Batch) [][]any {
	rows := make([][]any, b.Len())
	for _, col := range b.Columns() {
		for i := range rows {
			var v any
			switch c := col.(type) {
			case *[]int32:
				v = (*c)[i]
			case *[]int64:
				v = (*c)[i]
			case *[]bool:
				v = (*c)[i]
			case *Strings:
				if s, ok := c.At(i); ok {
					v = s
				}
			}
			rows[i] = append(rows[i], v)
		}
	}
	return rows
}

// emptyBatch returns a batch of a schema.
func emptyBatch(schema string) Batch {
	switch schema {
	case "send/1":
		return &Send{}
	case "recv/1":
		return &Recv{}
	case "merged/1":
		return &Merged{}
	case "event/1":
		return &Event{}
	case "sample/1":
		return &Sample{}
	default:
		return &ClockRow{}
	}
}

func drawBatch(t *rapid.T, schema string, n int) Batch {
	b := emptyBatch(schema)
	for i, col := range b.Columns() {
		c := b.Schema().Columns[i]
		switch v := col.(type) {
		case *[]int32:
			*v = drawInts(t, c, n, []int32{0, 1, -1, 77, math.MaxInt32, math.MinInt32 + 1}, Null32)
		case *[]int64:
			*v = drawInts(t, c, n, []int64{0, 1, -1, 1796000000123456789, math.MaxInt64, math.MinInt64 + 1}, Null)
		case *[]bool:
			*v = rapid.SliceOfN(rapid.Bool(), n, n).Draw(t, c.Name)
		case *Strings:
			drawStrings(t, c, v, n)
		}
	}
	return b
}

func drawInts[T int32 | int64](t *rapid.T, c Column, n int, some []T, null T) []T {
	if c.Nullable {
		some = append(some, null, null)
	}
	// Runs, because that is what encoders treat apart.
	var s []T
	for len(s) < n {
		v := rapid.SampledFrom(some).Draw(t, c.Name)
		for range rapid.IntRange(1, 40).Draw(t, "run") {
			s = append(s, v)
		}
	}
	return s[:n]
}

func drawStrings(t *rapid.T, c Column, v *Strings, n int) {
	v.Values = []string{"", "a", "queue://Ü", string(bytes.Repeat([]byte("x"), MaxStringLen))}
	low := int32(0)
	if c.Nullable {
		low = -1
	}
	for len(v.Codes) < n {
		code := rapid.Int32Range(low, int32(len(v.Values)-1)).Draw(t, c.Name)
		for range rapid.IntRange(1, 40).Draw(t, "run") {
			v.Codes = append(v.Codes, code)
		}
	}
	v.Codes = v.Codes[:n]
}

// rowRange returns rows from…to of b, with memory of its own.
func rowRange(b Batch, from, to int) Batch {
	p := emptyBatch(b.Schema().Name)
	dst := p.Columns()
	for i, col := range b.Columns() {
		switch v := col.(type) {
		case *[]int32:
			*dst[i].(*[]int32) = append([]int32(nil), (*v)[from:to]...)
		case *[]int64:
			*dst[i].(*[]int64) = append([]int64(nil), (*v)[from:to]...)
		case *[]bool:
			*dst[i].(*[]bool) = append([]bool(nil), (*v)[from:to]...)
		case *Strings:
			*dst[i].(*Strings) = Strings{Values: v.Values, Codes: append([]int32(nil), v.Codes[from:to]...)}
		}
	}
	return p
}

func openBytes(b []byte) (*Log, error) {
	src, err := newParquetSource(bytes.NewReader(b), int64(len(b)), "")
	if err != nil {
		return nil, err
	}
	return &Log{name: "test.parquet", kind: Parquet, src: src}, nil
}

func readRows(l *Log) (rows [][]any, err error) {
	b := emptyBatch(l.Schema())
	for {
		err := l.Read(b)
		if errors.Is(err, io.EOF) {
			return rows, nil
		}
		if err != nil {
			return rows, err
		}
		rows = append(rows, rowsOf(b)...)
	}
}

func TestParquetKeepsRowsHoweverTheyAreSplit(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		schema := rapid.SampledFrom([]string{"send/1", "recv/1", "merged/1"}).Draw(t, "schema")
		n := rapid.IntRange(0, 300).Draw(t, "rows")
		b := drawBatch(t, schema, n)
		var buf bytes.Buffer
		w, err := NewParquetWriter(&buf, b.Schema(), ParquetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for at := 0; at < n; {
			k := rapid.IntRange(1, n-at).Draw(t, "split")
			if err := w.Write(rowRange(b, at, at+k)); err != nil {
				t.Fatal(err)
			}
			at += k
		}
		side := drawBatch(t, rapid.SampledFrom([]string{"event/1", "sample/1", "clock/1"}).Draw(t, "table"),
			rapid.IntRange(0, 20).Draw(t, "side rows"))
		if err := w.Table(side); err != nil {
			t.Fatal(err)
		}
		w.SetMeta(Meta{KeyRun: "r", "x": "ü"})
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		l, err := openBytes(buf.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		for range 2 {
			rows, err := readRows(l)
			if err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(rowsOf(b), append([][]any{}, rows...)); d != "" {
				t.Fatalf("rows (-written +read):\n%s", d)
			}
			if err := l.Rewind(); err != nil {
				t.Fatal(err)
			}
		}
		got := emptyBatch(side.Schema().Name)
		if err := l.Table(got); err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(rowsOf(side), rowsOf(got)); d != "" {
			t.Fatalf("side table (-written +read):\n%s", d)
		}
		if l.Meta()[KeyRun] != "r" || l.Meta()["x"] != "ü" || l.Meta()[KeySchema] != schema {
			t.Fatalf("metadata %v", l.Meta())
		}
	})
}

// TestParquetAcrossPages has more rows than a page and than a row group, and
// reads them back with our reader and with parquet-go's.
func TestParquetAcrossPages(t *testing.T) {
	t.Parallel()
	n := rowGroupRows + 3*pageRows/2 + 17
	if raced && !soak() {
		n = 4*pageRows + 17
	}
	b := &Send{}
	b.Run.Values, b.Destination.Values = []string{"run"}, []string{"q1", "q2", "q3"}
	b.Outcome.Values, b.Wait.Values, b.Error.Values = []string{Accepted}, []string{WaitNone}, []string{"e"}
	for i := range n {
		b.Run.Codes = append(b.Run.Codes, 0)
		b.Sender = append(b.Sender, 5)
		b.Producer = append(b.Producer, int32(i%7))
		b.Seq = append(b.Seq, int64(i/7))
		b.Attempt = append(b.Attempt, int32(i%2))
		b.Destination.Codes = append(b.Destination.Codes, int32(i*i%3))
		b.Size = append(b.Size, int32(i))
		b.Intended = append(b.Intended, int64(i)*1_000_003)
		acked := int64(i) * 1_000_033
		if i%1000 == 0 || i > n-2*pageRows {
			acked = Null
		}
		b.Ready = append(b.Ready, Null)
		b.Sent = append(b.Sent, int64(i)*-1_000_003)
		b.Acked = append(b.Acked, acked)
		b.Outcome.Codes = append(b.Outcome.Codes, 0)
		b.Wait.Codes = append(b.Wait.Codes, 0)
		b.Error.Codes = append(b.Error.Codes, int32(i%2)-1)
		b.Connection = append(b.Connection, 0)
	}
	path := filepath.Join(t.TempDir(), "send.parquet")
	w, err := CreateParquet(path, SendSchema(), ParquetOptions{CreatedBy: "perf-test"})
	if err != nil {
		t.Fatal(err)
	}
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	w.SetMeta(Meta{KeyRun: "run", KeyComplete: "true"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	compareWithOwnReader(t, path, b)
	if !raced { // the library's goroutines are its own affair, and it takes a minute
		compareWithParquetGo(t, path, b)
	}
}

func compareWithOwnReader(t *testing.T, path string, b *Send) {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	if l.NumRows() != int64(b.Len()) || !l.Complete() || l.Kind() != Parquet || len(l.Warnings()) != 0 {
		t.Errorf("%d rows, complete %v, kind %s, warnings %v", l.NumRows(), l.Complete(), l.Kind(), l.Warnings())
	}
	got, at := &Send{}, 0
	for {
		err := l.Read(got)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
		want := rowRange(b, at, at+got.Len())
		for i, col := range want.Columns() {
			if !sameNumbers(col, got.Columns()[i]) {
				t.Fatalf("rows from %d: column %s differs", at, b.Schema().Columns[i].Name)
			}
		}
		for i := range got.Len() {
			w, wok := b.Destination.At(at + i)
			g, gok := got.Destination.At(i)
			we, weok := b.Error.At(at + i)
			ge, geok := got.Error.At(i)
			if w != g || wok != gok || we != ge || weok != geok {
				t.Fatalf("row %d: %q %v %q %v, want %q %v %q %v", at+i, g, gok, ge, geok, w, wok, we, weok)
			}
		}
		at += got.Len()
	}
	if at != b.Len() || l.RowsRead() != int64(at) {
		t.Errorf("read %d rows, RowsRead %d, want %d", at, l.RowsRead(), b.Len())
	}
}

// sameNumbers compares columns of numbers; cmp would take seconds.
func sameNumbers(a, b any) bool {
	switch x := a.(type) {
	case *[]int32:
		return slices.Equal(*x, *b.(*[]int32))
	case *[]int64:
		return slices.Equal(*x, *b.(*[]int64))
	}
	return true
}

func compareWithParquetGo(t *testing.T, path string, b *Send) {
	t.Helper()
	type row struct {
		Seq         int64   `parquet:"seq"`
		Acked       *int64  `parquet:"acked,optional"`
		Ready       *int64  `parquet:"ready,optional"`
		Size        int32   `parquet:"size"`
		Destination string  `parquet:"destination"`
		Error       *string `parquet:"error,optional"`
	}
	f, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	r := parquet.NewGenericReader[row](f)
	rows := make([]row, 1000)
	at := 0
	for {
		n, err := r.Read(rows)
		for i, x := range rows[:n] {
			d, _ := b.Destination.At(at + i)
			_, hasError := b.Error.At(at + i)
			acked := Null
			if x.Acked != nil {
				acked = *x.Acked
			}
			if x.Seq != b.Seq[at+i] || acked != b.Acked[at+i] || x.Ready != nil || x.Size != b.Size[at+i] ||
				x.Destination != d || (x.Error != nil) != hasError {
				t.Fatalf("row %d: %+v", at+i, x)
			}
		}
		at += n
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	if at != b.Len() {
		t.Errorf("parquet-go reads %d rows, want %d", at, b.Len())
	}
}
