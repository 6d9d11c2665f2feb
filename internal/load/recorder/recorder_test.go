package recorder

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"

	"amqpperf/format"
	"amqpperf/timestamp"
)

// bubbleClock follows the time of the test, also a virtual one.
type bubbleClock struct{}

func (bubbleClock) Now() int64                 { return time.Now().UnixNano() }
func (bubbleClock) WallOffset() (int64, int64) { return 12345, 67 }

func row(producer int32, seq int64) *SendRow {
	return &SendRow{
		Producer: producer, Seq: seq, Destination: "queue://q", Size: 100,
		Intended: 1e18 + seq, Ready: 1e18 + seq, Sent: 1e18 + seq, Acked: 1e18 + seq + 5,
		Outcome: format.Accepted, Wait: format.WaitNone,
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// readSend reads the rows that are left in a log.
func readSend(t testing.TB, l *format.Log) map[int32][]int64 {
	t.Helper()
	seqs := make(map[int32][]int64)
	b := &format.Send{}
	for {
		err := l.Read(b)
		if errors.Is(err, io.EOF) {
			return seqs
		}
		must(t, err)
		for i := range b.Len() {
			seqs[b.Producer[i]] = append(seqs[b.Producer[i]], b.Seq[i])
		}
	}
}

func count(n int) []int64 {
	s := make([]int64, n)
	for i := range s {
		s[i] = int64(i)
	}
	return s
}

func TestFile(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "send.parquet")
	clock := timestamp.NewClock()
	r, err := NewSend(Options{Target: target, Run: "run-1", Process: 7, Clock: clock, Meta: format.Meta{format.KeyRun: "run-1"}, CreatedBy: "test"})
	must(t, err)
	const lanes, rows = 3, 5000
	var wg sync.WaitGroup
	for p := range int32(lanes) {
		l := r.NewLane(nil)
		wg.Go(func() {
			for seq := range int64(rows) {
				l.Append(row(p, seq^1)) // neighbours swapped: Finish restores the order
			}
		})
	}
	wg.Wait()
	r.Event(Event{At: 5, Kind: "connect", Connection: 0, Text: "hello"})
	r.Sample(6, "tool.rss_bytes", 42)
	r.SetMeta(format.Meta{format.KeyName: "x"})
	must(t, r.Close("count", true, map[string]int64{"sent": lanes * rows}))
	must(t, r.Close("count", true, nil)) // the second does nothing

	l, err := format.Open(target)
	must(t, err)
	defer func() { must(t, l.Close()) }()
	want := map[int32][]int64{0: count(rows), 1: count(rows), 2: count(rows)}
	if diff := cmp.Diff(want, readSend(t, l)); diff != "" {
		t.Errorf("seq by producer (-want +got):\n%s", diff)
	}
	m := l.Meta()
	if !l.Complete() || m[format.KeyStop] != "count" || m[format.KeyName] != "x" || m[format.KeyOrder] != format.OrderSeq {
		t.Errorf("complete %v, meta %v", l.Complete(), m)
	}
	var counters map[string]int64
	if _, err := m.JSON(format.KeyCounters, &counters); err != nil || counters["sent"] != lanes*rows || counters["recorder_rows"] != lanes*rows || counters["recorder_lost"] != 0 {
		t.Errorf("counters %v, %v", counters, err)
	}
	var ev format.Event
	must(t, l.Table(&ev))
	if k, _ := ev.Kind.At(0); ev.Len() != 1 || k != "connect" {
		t.Errorf("%d events, the first %q", ev.Len(), k)
	}
	var ck format.ClockRow
	must(t, l.Table(&ck))
	if ck.Len() == 0 || ck.WallOffset[0] == format.Null {
		t.Errorf("clock rows: %+v", ck)
	}
}

func TestRecvFile(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "recv.parquet")
	r, err := NewRecv(Options{Target: target, Process: 9, Clock: bubbleClock{}, Meta: format.Meta{format.KeyTool: "test"}})
	must(t, err)
	l := r.NewLane(nil)
	l.Append(&RecvRow{Run: "a", Sender: 1, Seq: 4, Destination: "topic://t", Subscription: "s", Intended: 1, Sent: 2, Received: 30, Settled: 31, Outcome: format.Accepted})
	l.Append(&RecvRow{Run: "b", Sender: 2, Seq: 5, Destination: "queue://q", Intended: 1, Sent: 2, Received: 10, BrokerIn: format.Null, Outcome: format.Unsettled, DeliveryCount: 2})
	must(t, r.Close("idle", false, nil))
	log, err := format.Open(target)
	must(t, err)
	defer func() { must(t, log.Close()) }()
	b := &format.Recv{}
	must(t, log.Read(b))
	sub, _ := b.Subscription.At(1)
	_, has := b.Subscription.At(0)
	run, _ := b.Run.At(0)
	if diff := cmp.Diff([]int64{5, 4}, b.Seq); diff != "" || run != "b" || sub != "s" || has || b.Receiver[0] != 9 ||
		b.Settled[0] != format.Null || b.Settled[1] != 31 || b.BrokerIn[0] != format.Null || b.BrokerIn[1] != format.Null {
		t.Errorf("rows: %+v", b)
	}
	if log.Complete() {
		t.Error("complete, although the run was not")
	}
}

// TestFlushedInTime: one row, and nothing after it, reaches the reader with
// the next flush. Time is virtual.
func TestFlushedInTime(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &buffer{}
		r, err := NewSend(Options{Target: "-", Stdout: out, Run: "r", Clock: bubbleClock{}, FlushEvery: 200 * time.Millisecond})
		must(t, err)
		time.Sleep(10 * time.Millisecond) // virtual
		r.NewLane(nil).Append(row(0, 0))
		synctest.Wait()
		before := out.Len()
		time.Sleep(200 * time.Millisecond)
		synctest.Wait()
		if got := readSend(t, openBytes(t, out.Bytes())); out.Len() == before || len(got[0]) != 1 {
			t.Errorf("after 210 ms the reader has %v", got)
		}
		must(t, r.Close("count", true, nil))
		l := openBytes(t, out.Bytes())
		if got := readSend(t, l); len(got[0]) != 1 || !l.Complete() {
			t.Errorf("at the end: %v, complete %v", got, l.Complete())
		}
		var ck format.ClockRow
		must(t, l.Table(&ck))
		if ck.Len() != 1 || ck.WallOffset[0] != 12345 || ck.Gap[0] != 67 {
			t.Errorf("clock rows: %+v", ck)
		}
	})
}

func openBytes(t *testing.T, b []byte) *format.Log {
	t.Helper()
	l, err := format.OpenStream("x", bytes.NewReader(b))
	must(t, err)
	return l
}

// buffer is a bytes.Buffer for two goroutines.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) Len() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Len()
}

func (b *buffer) Bytes() []byte {
	b.mu.Lock()
	defer b.mu.Unlock()
	return bytes.Clone(b.b.Bytes())
}

// TestPipeIsReadLive: a reader gets the rows while the writer goes on.
func TestPipeIsReadLive(t *testing.T) {
	t.Parallel()
	pr, pw, err := os.Pipe()
	must(t, err)
	defer func() { must(t, pr.Close()) }()
	r, err := NewSend(Options{Target: "-", Stdout: pw, Run: "r", Clock: bubbleClock{}, FlushEvery: time.Millisecond, Meta: format.Meta{format.KeyRun: "r"}})
	must(t, err)
	lane := r.NewLane(nil)
	r.SetMeta(format.Meta{format.KeySubscriptions: "[]"}) // known only when links are attached
	l, err := format.OpenStream("pipe", pr)               // returns after a second without rows
	must(t, err)
	if m := l.Meta(); m[format.KeyRun] != "r" || m[format.KeySubscriptions] != "[]" {
		t.Errorf("meta at the start: %v", m)
	}
	b := &format.Send{}
	for seq := range int64(3) {
		lane.Append(row(0, seq))
		must(t, l.Read(b)) // returns only when the row was flushed
		if b.Len() != 1 || b.Seq[0] != seq {
			t.Fatalf("rows %v, want %d", b.Seq, seq)
		}
	}
	must(t, r.Close("signal", true, nil))
	if err := l.Read(b); !errors.Is(err, io.EOF) || !l.Complete() {
		t.Errorf("at the end: %v, complete %v, warnings %q", err, l.Complete(), l.Warnings())
	}
	must(t, pw.Close())
}

// TestKilled: what a reader finds while the recorder is at work is what a kill
// would leave: finished rows, and a provisional one for what is outstanding.
func TestKilled(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "send.parquet")
	r, err := NewSend(Options{Target: target, Run: "r", Clock: bubbleClock{}, FlushEvery: time.Millisecond})
	must(t, err)
	asked := make(chan int64, 1000)
	l := r.NewLane(func(olderThan int64, emit func(*SendRow)) {
		p := row(0, 7)
		p.Acked, p.Outcome = 0, format.Unsettled
		emit(p)
		select {
		case asked <- olderThan:
		default:
		}
	})
	l.Append(row(0, 0))
	want := map[int32][]int64{0: {0, 7}}
	var got map[int32][]int64
	for range 1000 { // the writer is not told when: it flushes soon after it was asked
		if olderThan := <-asked; olderThan > time.Now().Add(-400*time.Millisecond).UnixNano() {
			t.Errorf("asked for messages since %d", olderThan)
		}
		log, err := format.Open(target)
		must(t, err)
		got = readSend(t, log)
		must(t, log.Close())
		if cmp.Equal(want, got) {
			break
		}
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("while recording (-want +got):\n%s", diff)
	}
	l.Append(row(0, 7))
	must(t, r.Close("count", true, nil))
	log, err := format.Open(target)
	must(t, err)
	if diff := cmp.Diff(want, readSend(t, log)); diff != "" {
		t.Errorf("finished (-want +got):\n%s", diff)
	}
	must(t, log.Close())
}

// TestClosedPipe: the error is told once, nobody blocks, nothing is hidden.
func TestClosedPipe(t *testing.T) {
	t.Parallel()
	pr, pw, err := os.Pipe()
	must(t, err)
	var told atomic.Int32
	failed := make(chan error, 10)
	r, err := NewSend(Options{Target: "-", Stdout: pw, Run: "r", Clock: bubbleClock{}, FlushEvery: time.Millisecond, Queue: 1,
		OnError: func(err error) { told.Add(1); failed <- err }})
	must(t, err)
	lane := r.NewLane(nil)
	must(t, pr.Close())
	<-failed
	for seq := range int64(20 * blockRows) { // far more than the queue holds
		lane.Append(row(0, seq))
	}
	err = r.Close("error", true, nil)
	if err == nil || r.Err() == nil || told.Load() != 1 {
		t.Errorf("Close: %v, Err: %v, told %d times", err, r.Err(), told.Load())
	}
	if st := r.Stats(); st.Lost != 20*blockRows || st.Rows != 0 {
		t.Errorf("stats: %+v", st)
	}
	lane.Append(row(0, 0)) // after the end
	must(t, pw.Close())
}

// gate is a writer that waits to be opened.
type gate struct {
	open chan struct{}
	buffer
}

func (g *gate) Write(p []byte) (int, error) {
	<-g.open
	return g.buffer.Write(p)
}

// TestBackPressure: a lane that has to wait for the writer loses no row, and
// the waiting is in the log. Time is virtual.
func TestBackPressure(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		out := &gate{open: make(chan struct{})}
		r, err := NewSend(Options{Target: "-", Stdout: out, Run: "r", Clock: bubbleClock{}, Queue: 2 * blockRows})
		must(t, err)
		lane := r.NewLane(nil)
		const rows = 300 * blockRows
		done := make(chan struct{})
		go func() {
			defer close(done)
			for seq := range int64(rows) {
				lane.Append(row(0, seq))
			}
		}()
		synctest.Wait()
		select {
		case <-done:
			t.Error("nothing waited")
		default:
		}
		time.Sleep(3 * time.Second) // virtual
		close(out.open)
		<-done
		if st := r.Stats(); st.Waits == 0 || st.Blocked < 3*time.Second {
			t.Errorf("stats: %+v", st)
		}
		must(t, r.Close("count", true, nil))
		l := openBytes(t, out.Bytes())
		if got := readSend(t, l); len(got[0]) != rows {
			t.Errorf("%d rows, want %d", len(got[0]), rows)
		}
		var ev format.Event
		must(t, l.Table(&ev))
		var text string
		for i := range ev.Len() {
			if k, _ := ev.Kind.At(i); k == EventKind {
				text, _ = ev.Text.At(i)
			}
		}
		if !strings.Contains(text, "waited 3") {
			t.Errorf("%d events, the recorder's: %q", ev.Len(), text)
		}
		if c := l.Meta()[format.KeyCounters]; !strings.Contains(c, `"recorder_blocked_ns":3`) {
			t.Errorf("counters: %s", c)
		}
	})
}

func TestTargets(t *testing.T) {
	t.Parallel()
	for name, want := range map[string]bool{"/dev/null": true, "/dev/fd/1": true, "x.parquet": false, t.TempDir(): false} {
		if got := isStream(name); got != want {
			t.Errorf("isStream(%q) = %v", name, got)
		}
	}
	r, err := NewSend(Options{Target: "/dev/null", Run: "r", Clock: bubbleClock{}})
	must(t, err)
	r.NewLane(nil).Append(row(0, 0))
	must(t, r.Close("count", true, nil))
	dir := t.TempDir()
	must(t, os.WriteFile(filepath.Join(dir, "there"), nil, 0o600))
	for _, target := range []string{filepath.Join(dir, "there"), dir, filepath.Join(dir, "no", "folder")} {
		if _, err := NewSend(Options{Target: target, Clock: bubbleClock{}}); err == nil {
			t.Errorf("%s was accepted", target)
		}
	}
}

func TestManyStrings(t *testing.T) {
	t.Parallel()
	out := &buffer{}
	r, err := NewSend(Options{Target: "-", Stdout: out, Run: "r", Clock: bubbleClock{}})
	must(t, err)
	l := r.NewLane(nil)
	const n = format.MaxStrings + 100
	for i := range int64(n) {
		v := row(0, i)
		v.Error = fmt.Sprintf("error %d", i)
		l.Append(v)
	}
	must(t, r.Close("count", true, nil))
	log := openBytes(t, out.Bytes())
	b := &format.Send{}
	others := 0
	for log.Read(b) == nil {
		for i := range b.Len() {
			if v, _ := b.Error.At(i); v == format.OtherString {
				others++
			}
		}
	}
	if others != 100 {
		t.Errorf("%d rows with %s, want 100", others, format.OtherString)
	}
}

func BenchmarkAppend(b *testing.B) {
	r, err := NewSend(Options{Target: "/dev/null", Run: "r", Process: 1, Clock: timestamp.NewClock()})
	must(b, err)
	l := r.NewLane(nil)
	v := row(0, 0)
	b.ReportAllocs()
	for b.Loop() {
		v.Seq++
		l.Append(v)
	}
	b.StopTimer()
	must(b, r.Close("count", true, nil))
	if st := r.Stats(); st.Lost != 0 {
		b.Errorf("stats: %+v", st)
	}
	b.ReportMetric(float64(r.Stats().Blocked)/float64(b.N), "blocked-ns/op")
}
