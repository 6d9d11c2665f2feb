package trace_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"amqpperf/format"
	"amqpperf/internal/load/schedule"
	"amqpperf/internal/load/schedule/trace"
)

const run = "0190c5a0-0000-7000-8000-000000000001"

// sendRows are two producers, not in order of time, and a message sent again.
func sendRows() *format.Send {
	b := &format.Send{}
	b.Run = format.Strings{Values: []string{run}, Codes: make([]int32, 5)}
	b.Sender = []int32{9, 9, 9, 9, 9}
	b.Producer = []int32{0, 0, 0, 1, 1}
	b.Seq = []int64{0, 1, 1, 0, 1}
	b.Attempt = []int32{0, 0, 1, 0, 0}
	b.Destination = format.Strings{Values: []string{"queue://a", "queue://b"}, Codes: []int32{0, 0, 0, 1, 1}}
	b.Size = []int32{100, 101, 101, 200, 201}
	const t0 = 1_700_000_000_000_000_000
	b.Intended = []int64{t0 + 5, t0 + 20, t0 + 20, t0 + 5, t0 + 7}
	null := func() []int64 { return slices.Repeat([]int64{format.Null}, 5) }
	b.Ready, b.Sent, b.Acked = null(), null(), null()
	b.Outcome = format.Strings{Values: []string{format.Unsent}, Codes: make([]int32, 5)}
	b.Wait = format.Strings{Values: []string{format.WaitNone}, Codes: make([]int32, 5)}
	b.Error = format.Strings{Codes: slices.Repeat([]int32{-1}, 5)}
	b.Connection = make([]int32, 5)
	return b
}

func wantRows() schedule.Rows {
	return schedule.Rows{
		Offsets: []int64{0, 0, 2, 15}, Sizes: []int32{100, 200, 201, 101},
		Destinations: []int32{0, 1, 1, 0}, Names: []string{"queue://a", "queue://b"},
	}
}

func write(t *testing.T, w format.Writer, b format.Batch) {
	t.Helper()
	w.SetMeta(format.Meta{format.KeyRun: run, format.KeyComplete: "true"})
	if err := w.Write(b); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func TestReadSendLog(t *testing.T) {
	t.Parallel()
	name := filepath.Join(t.TempDir(), "send.parquet")
	w, err := format.CreateParquet(name, format.SendSchema(), format.ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, w, sendRows())
	var pipe bytes.Buffer
	write(t, format.NewStreamWriter(&pipe, format.SendSchema(), format.Meta{}), sendRows())
	for _, from := range []string{name, "-"} {
		got, err := trace.Read(from, &pipe)
		if err != nil {
			t.Fatal(err)
		}
		if d := cmp.Diff(wantRows(), got.Rows); d != "" {
			t.Errorf("%s: %s", from, d)
		}
		if got.Origin != 1_700_000_000_000_000_005 || got.Skipped != 1 || got.Kind != "send/1" {
			t.Errorf("%s: %s from %d, skipped %d", from, got.Kind, got.Origin, got.Skipped)
		}
	}
}

func TestReadMergedLog(t *testing.T) {
	t.Parallel()
	b := &format.Merged{Send: *sendRows()}
	null32, null := slices.Repeat([]int32{format.Null32}, 5), slices.Repeat([]int64{format.Null}, 5)
	nulls := format.Strings{Codes: slices.Repeat([]int32{-1}, 5)}
	b.Source, b.Subscription, b.RecvOutcome = nulls, nulls, nulls
	b.Receiver, b.Consumer, b.DeliveryCount, b.RecvConnection = null32, null32, null32, null32
	b.BrokerIn, b.Received, b.Started, b.Settled, b.Bound = null, null, null, null, null
	b.Copy = []int32{0, 0, 0, 0, 1}
	b.Primary, b.Reordered = []bool{true, true, true, true, false}, make([]bool, 5)
	name := filepath.Join(t.TempDir(), "m.parquet")
	w, err := format.CreateParquet(name, format.MergedSchema(), format.ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	write(t, w, b)
	got, err := trace.Read(name, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d := cmp.Diff([]int64{0, 0, 15}, got.Rows.Offsets); d != "" || got.Skipped != 2 {
		t.Errorf("skipped %d: %s", got.Skipped, d)
	}
}

func TestReceiveLogRefused(t *testing.T) {
	t.Parallel()
	var pipe bytes.Buffer
	w := format.NewStreamWriter(&pipe, format.RecvSchema(), format.Meta{format.KeyRun: run})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := trace.Read("-", &pipe); err == nil || !strings.Contains(err.Error(), "send or merged") {
		t.Errorf("got %v", err)
	}
}

func TestReadText(t *testing.T) {
	t.Parallel()
	for name, tt := range map[string]struct {
		text string
		want schedule.Rows
	}{
		"bare":     {"10\n30\n20\n", schedule.Rows{Offsets: []int64{0, 10, 20}}},
		"duration": {"1.5ms\n2ms\r\n", schedule.Rows{Offsets: []int64{0, 500_000}}},
		"columns": {"5,100,queue://a\n5,200,queue://b\n20,,\n", schedule.Rows{
			Offsets: []int64{0, 0, 15}, Sizes: []int32{100, 200, -1}, Destinations: []int32{0, 1, -1}, Names: []string{"queue://a", "queue://b"},
		}},
		"header": {"\xef\xbb\xbfsize,what,offset_ns\n# a comment\n7,\"x,\ny\",100\n8,,101\n", schedule.Rows{Offsets: []int64{0, 1}, Sizes: []int32{7, 8}}},
		"as merged": {"run,intended,size,attempt,primary\nr,7,1,0,true\nr,7,1,0,false\nr,8,1,1,true\nr,9,2,0,true\n", schedule.Rows{
			Offsets: []int64{0, 2}, Sizes: []int32{1, 2},
		}},
		"json": {"\n" + `{"intended":1000,"size":3,"destination":"q","tags":[1]}` + "\n\n" + `{"intended":"2us","size":null}` + "\n", schedule.Rows{
			Offsets: []int64{0, 1000}, Sizes: []int32{3, -1}, Destinations: []int32{0, -1}, Names: []string{"q"},
		}},
	} {
		got, err := trace.Read("-", strings.NewReader(tt.text))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if d := cmp.Diff(tt.want, got.Rows); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		if _, err := schedule.NewReplay(got.Rows, schedule.Speed{Num: 1, Den: 1}, false); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestTextErrors(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                                   "in.txt: no rows",
		"offset\n":                           "in.txt: no rows",
		"1\n2.5\n":                           `in.txt:2:1: offset "2.5": not a whole number of ns`,
		"1\n1,2\n":                           "in.txt:2: 2 fields where the first line has 1",
		"offset,size\n1,2\n3,-4\n":           `in.txt:3:3: size "-4": not a whole number of bytes`,
		"offset,size\n1,99999999999\n":       "in.txt:2:3:",
		"size\n1,2\n":                        "in.txt:1: 0 columns of offset",
		"a,b\n":                              "in.txt:1: 0 columns of offset",
		"offset,intended\n1,1\n":             "in.txt:1: 2 columns of offset",
		"offset,size,size\n1,1,1\n":          "in.txt:1: two columns size",
		"1,2,3,4\n":                          "in.txt:1: 4 columns without a header",
		"offset\n\"1\n":                      "in.txt:",
		"offset,primary\n1,maybe\n":          "in.txt:2:3: primary",
		"offset,attempt\n1,-1\n":             "in.txt:2:3: attempt",
		"-9223372036854775808\n1\n":          "more than 292 years",
		`{"offset":1}` + "\n" + `{"size":1}`: "in.txt:2: 0 keys of offset",
		`{"offset":1.5}`:                     `in.txt:1: offset "1.5"`,
		`{"offset":1} 2`:                     "in.txt:1: column",
		`{"offset":1,}`:                      "in.txt:1: column",
		`{"offset":1,"intended":2}`:          "in.txt:1: 2 keys",
		"1," + strings.Repeat("9", 100):      "…",
		"offset,destination\n1," + strings.Repeat("q", 513): "more than 512 bytes",
	} {
		name := filepath.Join(t.TempDir(), "in.txt")
		if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, err := trace.Read(name, nil); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40q: got %v, want %s", text, err, want)
		}
	}
}

func TestOtherFiles(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for name, content := range map[string]string{"cut.parquet": "PAR1", "zip": "PK\x03\x04", "cut.arrow": "\xff\xff\xff\xff"} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if got, err := trace.Read(path, nil); err == nil || !strings.Contains(err.Error(), name) {
			t.Errorf("%s: %v, %v", name, got, err)
		}
	}
	if _, err := trace.Read(filepath.Join(dir, "none"), nil); !os.IsNotExist(err) {
		t.Errorf("a file that is not there: %v", err)
	}
}

// FuzzText: whatever the text, there is an error that names it, or a replay
// whose offsets, written as CSV, read back to the same.
func FuzzText(f *testing.F) {
	for _, s := range []string{"1\n2\n", "offset,size,destination\n1s,5,q\n", `{"offset":1,"size":2}`, "\xef\xbb\xbf1\n", "1,\"a\nb\"\n", "#\n1\n", "-1\n", "{", "\n\n{}\n"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		got, err := trace.Read("-", strings.NewReader(s))
		if err != nil {
			if !strings.Contains(err.Error(), "standard input") {
				t.Fatalf("an error without a name: %v", err)
			}
			return
		}
		if _, err := schedule.NewReplay(got.Rows, schedule.Speed{Num: 1, Den: 1}, false); err != nil {
			t.Fatal(err)
		}
		var b strings.Builder
		for _, at := range got.Rows.Offsets {
			fmt.Fprintln(&b, at)
		}
		again, err := trace.Read("-", strings.NewReader(b.String()))
		if err != nil || !slices.Equal(again.Rows.Offsets, got.Rows.Offsets) {
			t.Fatalf("read back: %v", err)
		}
	})
}
