package format

import (
	"bytes"
	"errors"
	"io"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// anyMerged draws rows with every kind of value: NULLs, equal ones, ends of their
// types.
func anyMerged(t *rapid.T, n int) *Merged {
	b := &Merged{}
	schema := MergedSchema()
	for i, col := range b.Columns() {
		def := schema.Columns[i]
		kind := rapid.IntRange(0, 3).Draw(t, def.Name)
		null := func() bool { return def.Nullable && (kind == 3 || rapid.IntRange(0, 5).Draw(t, "null") == 0) }
		wide := func() int64 {
			switch kind {
			case 0:
				return 1_790_000_000_000_000_000
			case 1:
				return 1_790_000_000_000_000_000 + rapid.Int64Range(-3, 1<<33).Draw(t, "v")
			}
			return rapid.OneOf(rapid.Int64Range(math.MinInt64+1, math.MaxInt64), rapid.SampledFrom([]int64{math.MinInt64 + 1, math.MaxInt64, 0})).Draw(t, "v")
		}
		switch c := col.(type) {
		case *[]int64:
			for range n {
				v := wide()
				if null() {
					v = Null
				}
				*c = append(*c, v)
			}
		case *[]int32:
			for range n {
				v := max(int32(wide()), Null32+1)
				if null() {
					v = Null32
				}
				*c = append(*c, v)
			}
		case *[]bool:
			for range n {
				*c = append(*c, kind == 0 || kind == 1 && rapid.Bool().Draw(t, "v"))
			}
		case *Strings:
			c.Values = []string{"", "a", "bb"}
			for range n {
				v := int32(max(0, kind-1))
				if null() {
					v = -1
				}
				c.Codes = append(c.Codes, v)
			}
		}
	}
	return b
}

// Rows that come back are those that came, however often, in batches of any size
// and whichever columns are wanted.
func TestStreamAgain(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		a := anyMerged(t, rapid.IntRange(1, 40).Draw(t, "rows"))
		raw := writeStreamOf(t, a, anyMerged(t, 3))
		file, err := os.CreateTemp(dir, "")
		if err != nil {
			t.Fatal(err)
		}
		defer func() { _ = file.Close() }()
		want, err := OpenStream("x", bytes.NewReader(raw))
		if err != nil {
			t.Fatal(err)
		}
		got, err := OpenStreamAgain("x", bytes.NewReader(raw), file)
		if err != nil {
			t.Fatal(err)
		}
		if rapid.Bool().Draw(t, "select") {
			wanted := []string{"seq", "sent", "outcome", "primary"}
			if rapid.Bool().Draw(t, "with base") {
				wanted = append(wanted, "intended")
			}
			if err := errors.Join(want.Select(wanted...), got.Select(wanted...)); err != nil {
				t.Fatal(err)
			}
		}
		most := rapid.IntRange(1, 50).Draw(t, "most")
		rows := func(l *Log, limit int) (all []string) {
			b := &Merged{}
			for len(all) < limit {
				err := l.ReadRows(b, most)
				if errors.Is(err, io.EOF) {
					break
				}
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, texts(b)...)
			}
			return all
		}
		wanted := rows(want, math.MaxInt)
		rows(got, rapid.SampledFrom([]int{0, 5, math.MaxInt}).Draw(t, "before going back"))
		for range 2 {
			if err := got.Rewind(); err != nil {
				t.Fatal(err)
			}
			if d := cmp.Diff(wanted, rows(got, math.MaxInt)); d != "" {
				t.Fatal(d)
			}
			if !got.Complete() || got.Meta()[KeyStop] != "count" || got.RowsRead() != int64(len(wanted)) {
				t.Fatalf("complete %v, meta %v, %d rows", got.Complete(), got.Meta(), got.RowsRead())
			}
		}
	})
}

func writeStreamOf(t *rapid.T, batches ...Batch) []byte {
	var buf bytes.Buffer
	w := NewStreamWriter(&buf, batches[0].Schema(), Meta{KeyRun: "run-1"})
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	w.SetMeta(Meta{KeyTool: "test", KeyComplete: "true", KeyStop: "count"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

// A disk that is full, or a file that shrinks, is an error and not fewer rows.
func TestStreamAgainWithoutRoom(t *testing.T) {
	t.Parallel()
	raw := writeStream(t, Meta{KeyRun: "run-1"}, sendRows(0, 0, 100))
	path := filepath.Join(t.TempDir(), "rows")
	file, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = file.Close() }()
	l, err := OpenStreamAgain("x", bytes.NewReader(raw), file)
	if err != nil {
		t.Fatal(err)
	}
	if got := readAll(t, l); len(got) != 100 {
		t.Fatalf("%d rows", len(got))
	}
	if err := errors.Join(l.Rewind(), os.Truncate(path, 10)); err != nil {
		t.Fatal(err)
	}
	if err := l.Read(&Send{}); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a file that shrank: %v", err)
	}
	readOnly, err := os.Open(path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = readOnly.Close() }()
	if l, err = OpenStreamAgain("x", bytes.NewReader(raw), readOnly); err != nil {
		t.Fatal(err)
	}
	if err := l.Read(&Send{}); err == nil || errors.Is(err, io.EOF) {
		t.Errorf("a file that cannot be written: %v", err)
	}
}
