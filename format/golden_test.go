package format

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/dev/golden"
)

// goldenLog is a log of the corpus: what is in the file, and what every version
// of this package must read from it.
type goldenLog struct {
	batch  Batch
	meta   Meta
	tables []Batch
}

const goldenT = int64(1796000000123456789)

// text makes a string column of values, "NULL" for NULL.
func text(values ...string) (s Strings) {
	index := map[string]int32{}
	for _, v := range values {
		c, ok := index[v]
		if v == "NULL" {
			c, ok = -1, true
		}
		if !ok {
			c = int32(len(s.Values))
			index[v] = c
			s.Values = append(s.Values, v)
		}
		s.Codes = append(s.Codes, c)
	}
	return s
}

func same[T any](n int, v T) []T {
	s := make([]T, n)
	for i := range s {
		s[i] = v
	}
	return s
}

func goldenIdentity() Identity {
	const n = 8
	run := make([]string, n)
	for i := range run {
		run[i] = "8c7d2a4e-51f0-4e6b-9d3c-0a1b2c3d4e5f"
	}
	run[7] = "nightly 7 – läuft"
	return Identity{
		Run: text(run...), Sender: same(n, int32(1234567)), Producer: []int32{0, 1, 0, 1, 0, 1, 0, 0},
		Seq: []int64{0, 0, 1, 1, 2, 2, 3, 3}, Attempt: []int32{0, 0, 0, 0, 0, 0, 0, 1},
	}
}

func goldenSend() *Send {
	const t = goldenT
	return &Send{
		Identity:    goldenIdentity(),
		Destination: text("queue://a", "queue://a", "topic://b", "queue://a", "queue://a", "queue://a", "queue://a", "queue://a"),
		Size:        []int32{1024, 80, 0, 1 << 30, 1024, 1024, 1024, 1024},
		Intended:    []int64{t, t + 1, t + 2, t + 3, t + 4, t + 5, t + 6, t + 6},
		Ready:       []int64{t + 10, t + 11, t + 12, t + 13, t + 14, t + 15, t + 16, Null},
		Sent:        []int64{t + 20, t + 21, t + 22, t + 23, t + 24, t + 25, t + 26, Null},
		Acked:       []int64{t + 2_000_000_000, t + 31, t + 32, t + 33, Null, Null, Null, Null},
		Outcome:     text(Accepted, Rejected, Released, Modified, Presettled, Unsettled, Failed, Unsent),
		Wait:        text(WaitNone, WaitWindow, WaitCredit, WaitSession, WaitSocket, WaitConnection, WaitNone, WaitConnection),
		Error:       text("NULL", "amqp:not-allowed", "NULL", "NULL", "NULL", "NULL", "connection reset", "NULL"),
		Connection:  []int32{0, 0, 0, 0, 0, 0, 0, 1},
	}
}

func goldenRecv() *Recv {
	const n, t = 8, goldenT
	return &Recv{
		Identity: goldenIdentity(), Receiver: same(n, int32(7654321)), Consumer: []int32{0, 1, 0, 1, 0, 1, 0, 1},
		Destination:  text("queue://a", "queue://a", "topic://b", "queue://a", "queue://a", "queue://a", "queue://a", "queue://a"),
		Subscription: text("NULL", "NULL", "perf/sub", "NULL", "NULL", "NULL", "NULL", "NULL"),
		Size:         same(n, int32(1024)), Intended: same(n, t), Sent: same(n, t+20),
		BrokerIn:      []int64{t / 1e6 * 1e6, Null, Null, Null, Null, Null, Null, Null},
		Received:      []int64{t + 40, t + 41, t + 42, t + 43, t + 44, t + 45, t + 46, t - 47},
		Started:       []int64{t + 50, t + 51, t + 52, t + 53, t + 54, Null, Null, Null},
		Settled:       []int64{t + 60, t + 61, t + 62, t + 63, Null, Null, Null, Null},
		Outcome:       text(Accepted, Rejected, Released, Modified, Presettled, Unsettled, Unsettled, Unsettled),
		DeliveryCount: []int32{0, 0, 0, 1, 0, 0, 0, 2}, Connection: same(n, int32(0)),
	}
}

func goldenMerged() *Merged {
	const n, t = 8, goldenT
	there := func(v, null int64) []int64 { return []int64{v, v + 1, v + 2, v + 3, null, null, null, null} }
	there32 := func(v int32) []int32 { return []int32{v, v, v, v, Null32, Null32, Null32, Null32} }
	return &Merged{
		Send:     *goldenSend(),
		Source:   text("queue://a", "queue://a", "topic://b", "queue://a", "NULL", "NULL", "NULL", "NULL"),
		Receiver: there32(7654321), Consumer: there32(1),
		Subscription: text("NULL", "NULL", "perf/sub", "NULL", "NULL", "NULL", "NULL", "NULL"),
		BrokerIn:     same(n, Null), Received: there(t+40, Null), Started: there(t+50, Null), Settled: there(t+60, Null),
		RecvOutcome:   text(Accepted, Rejected, Released, Modified, Lost, Unknown, Unknown, "NULL"),
		DeliveryCount: there32(0), RecvConnection: there32(0),
		Copy: []int32{0, 0, 0, 1, 0, 0, 0, 0}, Primary: []bool{true, true, true, false, true, true, true, true},
		Reordered: []bool{false, false, true, false, false, false, false, false},
		Bound:     []int64{0, 1_000, Null, Null, Null, Null, Null, Null},
	}
}

func goldenTables() []Batch {
	const t = goldenT
	return []Batch{
		&Event{
			Instant: []int64{t, t + 1}, Kind: text("connect", "detach"), Connection: []int32{0, Null32},
			Link: text("NULL", "l"), Condition: text("NULL", "amqp:link:stolen"), Text: text("NULL", "läuft"),
		},
		&Sample{Instant: []int64{t, t}, What: text("tool.cpu_ns", "tool.rss_bytes"), Value: []int64{0, -1}},
		&ClockRow{
			Instant: []int64{t, t + 1}, Peer: text("NULL", "fedc"), T1: []int64{Null, t}, T2: []int64{Null, t + 1},
			T3: []int64{Null, t + 2}, T4: []int64{Null, t + 3}, WallOffset: []int64{t, Null}, Gap: []int64{40, Null},
			Status: []int64{0x2001, Null}, MaxError: []int64{500, Null}, EstError: []int64{0, Null}, Freq: []int64{-65536, Null},
			Tick: []int64{10000, Null}, Source: text("tsc", "NULL"),
		},
	}
}

func goldenLogs() map[string]goldenLog {
	run := "8c7d2a4e-51f0-4e6b-9d3c-0a1b2c3d4e5f"
	meta := Meta{KeyRun: run, KeyTool: "perf-test", KeyHost: "höst", KeyComplete: "true", KeyLabels: `{"a":"b"}`}
	return map[string]goldenLog{
		"send":       {goldenSend(), meta, goldenTables()},
		"recv":       {goldenRecv(), meta, goldenTables()},
		"merged":     {goldenMerged(), meta, nil},
		"recv-empty": {&Recv{}, Meta{KeyRun: run}, nil},
	}
}

func writeGolden(path string, g goldenLog) error {
	w, err := CreateParquet(path, g.batch.Schema(), ParquetOptions{CreatedBy: "perf-test version 1"})
	if err != nil {
		return err
	}
	w.SetMeta(g.meta)
	err = w.Write(g.batch)
	for _, t := range g.tables {
		err = errors.Join(err, w.Table(t))
	}
	return errors.Join(err, w.Close())
}

// TestCorpusOfVersion1 reads the logs that version 1 wrote. They are kept for
// ever: -update adds what is missing and never rewrites a file.
func TestCorpusOfVersion1(t *testing.T) {
	t.Parallel()
	for name, g := range goldenLogs() {
		path := filepath.Join("testdata", "v1", name+".parquet")
		if _, err := os.Stat(path); golden.Update() && errors.Is(err, fs.ErrNotExist) {
			if err := writeGolden(path, g); err != nil {
				t.Fatal(err)
			}
		}
		checkGolden(t, path, g)
	}
}

func checkGolden(t *testing.T, path string, g goldenLog) {
	t.Helper()
	l, err := Open(path)
	if err != nil {
		t.Error(err)
		return
	}
	defer func() {
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}()
	rows, err := readRows(l)
	if err != nil {
		t.Error(err)
	}
	if d := cmp.Diff(rowsOf(g.batch), append([][]any{}, rows...)); d != "" {
		t.Errorf("%s (-wanted +read):\n%s", path, d)
	}
	for k, v := range g.meta {
		if l.Meta()[k] != v {
			t.Errorf("%s: metadata %s is %q, want %q", path, k, l.Meta()[k], v)
		}
	}
	for _, want := range g.tables {
		got := emptyBatch(want.Schema().Name)
		if err := l.Table(got); err != nil {
			t.Error(err)
		}
		if d := cmp.Diff(rowsOf(want), rowsOf(got)); d != "" {
			t.Errorf("%s: %s (-wanted +read):\n%s", path, want.Schema().Name, d)
		}
	}
	if len(l.Warnings()) > 0 {
		t.Errorf("%s: warnings %q", path, l.Warnings())
	}
}

// TestLogsOfOthers reads logs that testdata/v1/others.py made: plain columns of
// pyarrow and DuckDB, with perf.schema and perf.run and nothing else of ours.
func TestLogsOfOthers(t *testing.T) {
	t.Parallel()
	want := goldenSend()
	for _, name := range []string{"pyarrow-send", "pyarrow-v2-send", "duckdb-send"} {
		l, err := Open(filepath.Join("testdata", "v1", name+".parquet"))
		if err != nil {
			t.Error(err)
			continue
		}
		rows, err := readRows(l)
		if err != nil {
			t.Error(err)
		}
		if d := cmp.Diff(rowsOf(want), rows); d != "" {
			t.Errorf("%s (-wanted +read):\n%s", name, d)
		}
		if !l.Complete() || l.Meta()[KeyRun] != "r" {
			t.Errorf("%s: complete %v, metadata %v", name, l.Complete(), l.Meta())
		}
		if w := l.Warnings(); len(w) != 1 || w[0] != `unknown columns ignored: "note"` {
			t.Errorf("%s: warnings %q", name, w)
		}
		if err := l.Close(); err != nil {
			t.Error(err)
		}
	}
}
