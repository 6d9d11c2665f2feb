package format

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/parquet-go/parquet-go"
)

// foreignFile writes rows as another program would.
func foreignFile[T any](t testing.TB, rows ...T) string {
	t.Helper()
	var b bytes.Buffer
	w := parquet.NewGenericWriter[T](&b)
	if _, err := w.Write(rows); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	name := filepath.Join(t.TempDir(), "foreign.parquet")
	if err := os.WriteFile(name, b.Bytes(), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestReadForeign(t *testing.T) {
	t.Parallel()
	const first = 1790000000_123456789
	half := 0.5
	type nanos struct {
		Time time.Time `parquet:"time,timestamp(nanosecond)"`
		CPU  *float64  `parquet:"cpu,optional"`
		RSS  int64     `parquet:"rss"`
	}
	type micros struct {
		Time time.Time `parquet:"time,timestamp(microsecond)"`
		RSS  int32     `parquet:"rss"`
	}
	type millis struct {
		Time time.Time `parquet:"time,timestamp(millisecond)"`
		CPU  float32   `parquet:"cpu"`
	}
	type plain struct {
		Time int64 `parquet:"time"`
		CPU  int64 `parquet:"cpu"`
	}
	type seconds struct {
		Time float64 `parquet:"time"`
		CPU  float64 `parquet:"cpu"`
	}
	at := time.Unix(0, first)
	for _, tt := range []struct {
		name     string
		file     string
		at       int64
		cpu, rss float64 // NaN: no column
	}{
		{"ns", foreignFile(t, nanos{at, &half, 7}), first, 0.5, 7},
		{"us", foreignFile(t, micros{at, 7}), first / 1000 * 1000, math.NaN(), 7},
		{"ms", foreignFile(t, millis{at, 0.25}), first / 1_000_000 * 1_000_000, 0.25, math.NaN()},
		{"plain ns", foreignFile(t, plain{first, 3}), first, 3, math.NaN()},
		{"plain s", foreignFile(t, plain{1790000000, 3}), 1790000000e9, 3, math.NaN()},
		{"seconds", foreignFile(t, seconds{1790000000.5, 3}), 1790000000_500000000, 3, math.NaN()},
	} {
		got, err := ReadForeign(tt.file, "time", []string{"cpu", "rss"}, 10)
		if err != nil {
			t.Errorf("%s: %v", tt.name, err)
			continue
		}
		if len(got.At) != 1 || got.At[0] != tt.at {
			t.Errorf("%s: at %d, want %d", tt.name, got.At, tt.at)
		}
		for i, want := range []float64{tt.cpu, tt.rss} {
			if v := got.Numbers[i]; math.IsNaN(want) != (v == nil) || v != nil && v[0] != want {
				t.Errorf("%s: column %d is %v, want %v", tt.name, i, v, want)
			}
		}
	}
	rows := make([]nanos, 5000) // more than a buffer, with NULLs
	for i := range rows {
		rows[i] = nanos{Time: at.Add(time.Duration(i)), RSS: int64(i)}
		if i%3 > 0 {
			rows[i].CPU = &half
		}
	}
	got, err := ReadForeign(foreignFile(t, rows...), "time", []string{"cpu", "rss"}, 5000)
	if err != nil {
		t.Fatal(err)
	}
	for i := range rows {
		if got.At[i] != first+int64(i) || math.IsNaN(got.Numbers[0][i]) != (i%3 == 0) || got.Numbers[1][i] != float64(i) {
			t.Fatalf("row %d: %d %v %v", i, got.At[i], got.Numbers[0][i], got.Numbers[1][i])
		}
	}
}

func TestReadForeignRefuses(t *testing.T) {
	t.Parallel()
	type text struct {
		Time string `parquet:"time"`
	}
	type list struct {
		Time int64   `parquet:"time"`
		CPU  []int64 `parquet:"cpu"`
	}
	type null struct {
		Time *int64 `parquet:"time,optional"`
	}
	type number struct {
		Time int64  `parquet:"time"`
		CPU  string `parquet:"cpu"`
	}
	type negative struct {
		Time int64 `parquet:"time"`
	}
	short := filepath.Join(t.TempDir(), "short")
	if err := os.WriteFile(short, []byte("PAR1PAR1"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, tt := range []struct{ file, text string }{
		{foreignFile(t, text{"2026"}), "column time: its type is BYTE_ARRAY STRING, wanted is a timestamp or a number"},
		{foreignFile(t, list{1790000000, []int64{1, 2}}), "column cpu: it is repeated"},
		{foreignFile(t, null{}), "column time, row 0: NULL"},
		{foreignFile(t, number{1790000000, "x"}), "column cpu: its type is BYTE_ARRAY STRING, wanted is a number"},
		{foreignFile(t, negative{-1}), "column time, row 0: -1 is not an instant"},
		{foreignFile(t, struct{ A int64 }{1}), "no column time"},
		{foreignFile(t, null{}, null{}, null{}), "more than 2 rows"},
		{short, "bytes"},
	} {
		if _, err := ReadForeign(tt.file, "time", []string{"cpu"}, 2); err == nil || !strings.Contains(err.Error(), tt.text) || !strings.HasPrefix(err.Error(), tt.file) {
			t.Errorf("%v, want %q", err, tt.text)
		}
	}
}

// FuzzReadForeign must not panic, hang or take memory without bound.
func FuzzReadForeign(f *testing.F) {
	type row struct {
		Time int64    `parquet:"time"`
		CPU  *float64 `parquet:"cpu,optional"`
	}
	half := 0.5
	good, err := os.ReadFile(foreignFile(f, row{1790000000, &half}, row{1790000001, nil}))
	if err != nil {
		f.Fatal(err)
	}
	f.Add(good)
	f.Fuzz(func(t *testing.T, b []byte) {
		got, err := readForeign(bytes.NewReader(b), int64(len(b)), "time", []string{"cpu"}, 1000)
		if err == nil && (len(got.Numbers) != 1 || got.Numbers[0] != nil && len(got.Numbers[0]) != len(got.At)) {
			t.Fatalf("%+v", got)
		}
	})
}
