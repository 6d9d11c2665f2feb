package format

import (
	"bytes"
	"errors"
	"io"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/apache/arrow/go/v15/arrow"
	"github.com/apache/arrow/go/v15/arrow/array"
	"github.com/apache/arrow/go/v15/arrow/ipc"
	"github.com/apache/arrow/go/v15/arrow/memory"
	"github.com/google/go-cmp/cmp"
)

// foreignColumn is a column as another program writes it.
type foreignColumn struct {
	name string
	typ  arrow.DataType
	json string // its values
}

// foreignStream writes a stream with the Arrow library, value by value.
func foreignStream(t *testing.T, meta map[string]string, cols ...foreignColumn) []byte {
	t.Helper()
	var fields []arrow.Field
	var arrays []arrow.Array
	for _, c := range cols {
		fields = append(fields, arrow.Field{Name: c.name, Type: c.typ, Nullable: true})
		arr, _, err := array.FromJSON(memory.DefaultAllocator, c.typ, strings.NewReader(c.json))
		must(t, err)
		arrays = append(arrays, arr)
	}
	md := arrow.MetadataFrom(meta)
	schema := arrow.NewSchema(fields, &md)
	var buf bytes.Buffer
	w := ipc.NewWriter(&buf, ipc.WithSchema(schema))
	must(t, w.Write(array.NewRecord(schema, arrays, int64(arrays[0].Len()))))
	must(t, w.Close())
	return buf.Bytes()
}

func dictOf(index, value arrow.DataType) arrow.DataType {
	return &arrow.DictionaryType{IndexType: index, ValueType: value}
}

func foreignSend() []foreignColumn {
	p, s := arrow.PrimitiveTypes, arrow.BinaryTypes
	return []foreignColumn{
		{"nested", arrow.ListOf(arrow.StructOf(arrow.Field{Name: "a", Type: p.Int8})), `[[{"a":1},{"a":2}],null]`},
		{"run", s.LargeString, `["r1","r1"]`},
		{"sender", p.Int64, `[7,8]`},
		{"producer", p.Uint8, `[0,200]`},
		{"seq", p.Uint64, `[5,6]`},
		{"attempt", p.Int16, `[0,1]`},
		{"other", dictOf(p.Uint16, p.Int64), `[4,4]`},
		{"destination", dictOf(p.Int8, s.String), `["q","p"]`},
		{"size", p.Int32, `[10,20]`},
		{"intended", p.Int64, `[1,2]`},
		{"sent", p.Int64, `[null,3]`},
		{"acked", arrow.Null, `[null,null]`},
		{"flags", arrow.FixedWidthTypes.Boolean, `[true,false]`},
		{"outcome", dictOf(p.Int64, s.String), `["unsent","accepted"]`},
		{"wait", s.String, `["none","none"]`},
		{"error", s.String, `[null,"amqp:x"]`},
		{"connection", p.Int32, `[0,0]`},
	}
}

func foreignMeta() map[string]string { return map[string]string{KeySchema: "send/1", KeyRun: "r1"} }

func TestForeignStream(t *testing.T) {
	t.Parallel()
	l, err := OpenStream("x", bytes.NewReader(foreignStream(t, foreignMeta(), foreignSend()...)))
	must(t, err)
	null := "-9223372036854775808 "
	want := []string{
		`"r1" 7 0 5 0 "q" 10 1 ` + null + null + null + `"unsent" "none" NULL 0 `,
		`"r1" 8 200 6 1 "p" 20 2 ` + null + "3 " + null + `"accepted" "none" "amqp:x" 0 `,
	}
	if diff := cmp.Diff(want, readAll(t, l)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]string{"unknown columns ignored: flags, nested, other"}, l.Warnings()); diff != "" || !l.Complete() {
		t.Errorf("complete %v, warnings (-want +got):\n%s", l.Complete(), diff)
	}
}

func TestForeignStreamFaults(t *testing.T) {
	t.Parallel()
	replace := func(name string, typ arrow.DataType, json string) []foreignColumn {
		cols := foreignSend()
		for i := range cols {
			if cols[i].name == name {
				cols[i].typ, cols[i].json = typ, json
			}
		}
		return cols
	}
	p := arrow.PrimitiveTypes
	for name, tc := range map[string]struct {
		meta map[string]string
		cols []foreignColumn
		want string
		not  bool // a log of ours
	}{
		"no schema name":   {map[string]string{KeyRun: "r"}, foreignSend(), KeySchema, true},
		"another schema":   {map[string]string{KeySchema: "shop/1"}, foreignSend(), "shop/1", true},
		"newer":            {map[string]string{KeySchema: "send/2"}, foreignSend(), "newer", false},
		"side table":       {map[string]string{KeySchema: "event/1"}, foreignSend(), "side table", true},
		"missing columns":  {foreignMeta(), foreignSend()[:8], "size, intended, outcome, wait, connection", true},
		"wrong type":       {foreignMeta(), replace("intended", p.Float64, `[1,2]`), "column intended", false},
		"NULL in required": {foreignMeta(), replace("intended", p.Int64, `[1,null]`), "column intended: NULL in a required column", false},
		"NULL by sentinel": {foreignMeta(), replace("intended", p.Int64, `[1,-9223372036854775808]`), "NULL in a required column", false},
		"NULL in strings":  {foreignMeta(), replace("wait", arrow.BinaryTypes.String, `["none",null]`), "column wait: NULL in a required column", false},
		"too large":        {foreignMeta(), replace("size", p.Int64, `[1,3000000000]`), "3000000000 does not fit", false},
		"too large uint64": {foreignMeta(), replace("seq", p.Uint64, `[1,9223372036854775809]`), "does not fit", false},
	} {
		_, _, err := readSome(t, foreignStream(t, tc.meta, tc.cols...))
		if err == nil || !strings.Contains(err.Error(), tc.want) || errors.Is(err, ErrNotLog) != tc.not {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, raw := range map[string]string{"empty": "", "text": "hello world, this is no stream", "file format": "ARROW1\x00\x00 and more", "end only": "\xff\xff\xff\xff\x00\x00\x00\x00"} {
		if _, err := OpenStream("x", strings.NewReader(raw)); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}

// TestLibraryReadsStream: the Arrow library, and so everybody, reads what we write.
func TestLibraryReadsStream(t *testing.T) {
	t.Parallel()
	a, b := sendRows(0, 0, 9), sendRows(1, 0, 7)
	raw := bytes.NewReader(writeStream(t, Meta{KeyRun: "run-1"}, a, b))
	var schemas []string
	rows, nulls := int64(0), 0
	for raw.Len() > 0 {
		r, err := ipc.NewReader(raw)
		must(t, err)
		md := r.Schema().Metadata()
		name, _ := md.GetValue(KeySchema)
		schemas = append(schemas, name)
		for r.Next() {
			rec := r.Record()
			if name == "send/1" {
				rows += rec.NumRows()
				nulls += rec.Column(10).NullN() // acked
				if d := rec.Column(5).(*array.Dictionary); rec.NumRows() > 0 && !strings.HasPrefix(d.Dictionary().(*array.String).Value(d.GetValueIndex(0)), "queue://q") {
					t.Errorf("destination %v", d)
				}
			}
		}
		if err := r.Err(); err != nil && !errors.Is(err, io.EOF) {
			t.Fatal(err)
		}
		r.Release()
	}
	if diff := cmp.Diff([]string{"send/1", "event/1", "sample/1", "clock/1", "meta/1"}, schemas); diff != "" || rows != 16 || nulls != 2 {
		t.Errorf("%d rows, %d NULLs, schemas (-want +got):\n%s", rows, nulls, diff)
	}
}

func TestStreamFileSelectAndRewind(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "s")
	must(t, os.WriteFile(path, writeStream(t, nil, sendRows(0, 0, 4)), 0o600))
	l, err := Open(path)
	must(t, err)
	defer func() { must(t, l.Close()) }()
	if err := l.Select("nonsense"); err == nil {
		t.Error("a column that does not exist was selected")
	}
	must(t, l.Select("seq", "error"))
	null := "-9223372036854775808 "
	var want []string
	for _, s := range []string{"0", "1", "2", "3"} {
		want = append(want, `"" 0 0 `+s+` 0 "" 0 0 `+null+null+null+`"" "" NULL 0 `)
	}
	for range 2 {
		if diff := cmp.Diff(want, readAll(t, l)); diff != "" {
			t.Errorf("rows (-want +got):\n%s", diff)
		}
		if l.Kind() != Stream || !l.Complete() || l.NumRows() != -1 || l.RowsRead() != 4 {
			t.Errorf("kind %s, complete %v, rows %d, read %d", l.Kind(), l.Complete(), l.NumRows(), l.RowsRead())
		}
		must(t, l.Rewind())
	}
	pipe, err := OpenStream("pipe", bytes.NewReader(writeStream(t, nil, sendRows(0, 0, 1))))
	must(t, err)
	if err := pipe.Rewind(); !errors.Is(err, errors.ErrUnsupported) {
		t.Errorf("rewind of a pipe: %v", err)
	}
}

// TestBatchLargerThanOurs: one huge record batch comes in parts.
func TestBatchLargerThanOurs(t *testing.T) {
	t.Parallel()
	const n = BatchRows + 13
	path := filepath.Join(t.TempDir(), "s")
	raw := writeStream(t, nil, sendRows(0, 0, n))
	must(t, os.WriteFile(path, raw, 0o600))
	file, err := Open(path)
	must(t, err)
	defer func() { must(t, file.Close()) }()
	pipe, err := OpenStream("pipe", bytes.NewReader(raw))
	must(t, err)
	for _, l := range []*Log{file, pipe} {
		b := &Send{}
		next := int64(0)
		for l.Read(b) == nil {
			if b.Len() > BatchRows {
				t.Fatalf("%d rows in a batch", b.Len())
			}
			for i, seq := range b.Seq {
				if want := 1e18 + seq*1000 + 200; seq != next || b.Acked[i] != want && (b.Acked[i] != Null || seq%7 != 3) {
					t.Fatalf("row %d: seq %d, acked %d", next, seq, b.Acked[i])
				}
				next++
			}
		}
		if next != n {
			t.Errorf("%d rows, want %d", next, n)
		}
	}
}

func TestStreamWriterRefuses(t *testing.T) {
	t.Parallel()
	null := sendRows(0, 0, 3)
	null.Intended[1] = Null
	short := sendRows(0, 0, 3)
	short.Size = short.Size[:2]
	for name, b := range map[string]Batch{"NULL": null, "unequal columns": short, "another schema": recvRows([]int64{1}, []int64{1})} {
		w := NewStreamWriter(io.Discard, SendSchema(), nil)
		if err := w.Write(b); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
	w := NewStreamWriter(io.Discard, SendSchema(), nil)
	if err := w.Table(sendRows(0, 0, 1)); err == nil {
		t.Error("rows as a side table: no error")
	}
}

func TestManyDistinctStrings(t *testing.T) {
	t.Parallel()
	b := sendRows(0, 0, MaxStrings+10)
	b.Error = Strings{}
	for i := range b.Len() {
		b.Error.Values = append(b.Error.Values, strconv.Itoa(i)+strings.Repeat("é", i%400))
		b.Error.Codes = append(b.Error.Codes, int32(i))
	}
	l, err := OpenStream("x", bytes.NewReader(writeStream(t, nil, b)))
	must(t, err)
	got := &Send{}
	must(t, l.Read(got))
	others := 0
	for i := range got.Len() {
		v, ok := got.Error.At(i)
		switch {
		case !ok || len(v) > MaxStringLen:
			t.Fatalf("row %d: %q", i, v)
		case v == OtherString:
			others++
		}
	}
	if others != b.Len()-MaxStrings || len(got.Error.Values) > MaxStrings+1 {
		t.Errorf("%d others, %d values", others, len(got.Error.Values))
	}
}
