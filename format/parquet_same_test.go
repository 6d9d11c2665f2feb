package format

import (
	"bytes"
	"errors"
	"io"
	"math"
	"strconv"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/parquet-go/parquet-go"
)

// TestParquetPagesOfOneValue writes batches that are pages of their own and have one
// value in every column, which are encoded without the encoders, and reads them with
// our reader and with parquet-go's.
func TestParquetPagesOfOneValue(t *testing.T) {
	t.Parallel()
	var many Strings
	for i := range 300 { // more than one byte of a code
		many.Values = append(many.Values, "s"+strconv.Itoa(i))
	}
	for _, n := range []int{wholeRows, wholeRows + 1, 2*wholeRows - 127, pageRows} {
		var want []any
		var buf bytes.Buffer
		w, err := NewParquetWriter(&buf, SendSchema(), ParquetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		for k, v := range []int64{0, 1, -1, math.MaxInt64, math.MinInt64 + 1, 1796000000123456789} {
			b := oneValue(n, v, int32([]int{0, 1, 127, 128, 255, 299}[k]), many.Values)
			if err := w.Write(b); err != nil {
				t.Fatal(err)
			}
			want = append(want, rowsOf(b)[0])
		}
		if err := w.Close(); err != nil {
			t.Fatal(err)
		}
		l, err := openBytes(buf.Bytes())
		if err != nil {
			t.Fatal(err)
		}
		rows, err := readRows(l)
		if err != nil || len(rows) != n*len(want) {
			t.Fatalf("%d rows, %v; want %d", len(rows), err, n*len(want))
		}
		for i := 0; i < len(rows); i += max(1, n/3) {
			if d := cmp.Diff(want[i/n], any(rows[i])); d != "" {
				t.Fatalf("row %d (-written +read):\n%s", i, d)
			}
		}
		sameByParquetGo(t, buf.Bytes(), rows)
	}
}

// oneValue is n equal rows.
func oneValue(n int, v int64, code int32, values []string) *Send {
	b := &Send{}
	for _, col := range b.Columns() {
		switch c := col.(type) {
		case *[]int32:
			for range n {
				*c = append(*c, int32(v))
			}
		case *[]int64:
			for range n {
				*c = append(*c, v)
			}
		case *Strings:
			c.Values = values
			for range n {
				c.Codes = append(c.Codes, code)
			}
		}
	}
	return b
}

// sameByParquetGo compares columns of numbers and strings with what parquet-go reads.
func sameByParquetGo(t *testing.T, file []byte, rows [][]any) {
	t.Helper()
	f, err := parquet.OpenFile(bytes.NewReader(file), int64(len(file)))
	if err != nil {
		t.Fatal(err)
	}
	at := 0
	for _, group := range f.RowGroups() {
		r := group.Rows()
		buf := make([]parquet.Row, 512)
		for {
			n, err := r.ReadRows(buf)
			for _, row := range buf[:n] {
				for c, v := range row {
					switch want := rows[at][c].(type) {
					case int32:
						if v.Int32() != want {
							t.Fatalf("row %d, column %d: %v, want %d", at, c, v, want)
						}
					case int64:
						if v.Int64() != want {
							t.Fatalf("row %d, column %d: %v, want %d", at, c, v, want)
						}
					case string:
						if v.String() != want {
							t.Fatalf("row %d, column %d: %v, want %s", at, c, v, want)
						}
					}
				}
				at++
			}
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := r.Close(); err != nil {
			t.Fatal(err)
		}
	}
	if at != len(rows) {
		t.Fatalf("parquet-go reads %d rows of %d", at, len(rows))
	}
}
