package format

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	godiff "github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

// newSpool starts a spool of a send log in a new folder.
func newSpool(t *testing.T) (target string, s *SpoolWriter) {
	t.Helper()
	target = filepath.Join(t.TempDir(), "send.parquet")
	s, err := CreateSpool(target, SendSchema(), Meta{KeyRun: "run-1"}, false)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return target, s
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// shuffled returns the rows of b in the order of index.
func shuffled(b *Send, index []int32) *Send {
	g := newGatherer(&Send{})
	g.pick(b, index)
	return g.dst.(*Send)
}

func TestSpoolFinish(t *testing.T) {
	t.Parallel()
	target, s := newSpool(t)
	a, b := sendRows(0, 0, 50), sendRows(1, 0, 50)
	reverse := make([]int32, 50)
	for i := range reverse {
		reverse[i] = int32(49 - i)
	}
	must(t, s.Write(shuffled(a, reverse)))
	must(t, s.Provisional(sendRows(0, 3, 4)))
	must(t, s.Write(b))
	must(t, s.Table(&Sample{Instant: []int64{1}, What: Strings{Values: []string{"x"}, Codes: []int32{0}}, Value: []int64{9}}))
	must(t, s.Finish(Meta{KeyComplete: "true", KeyStop: "count"}, FinishOptions{CreatedBy: "test"}))
	if _, err := os.Stat(target + SpoolSuffix); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("the spool is still there: %v", err)
	}
	l, err := Open(target)
	must(t, err)
	defer func() { must(t, l.Close()) }()
	if diff := godiff.Diff(append(texts(a), texts(b)...), readAll(t, l)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	m := l.Meta()
	if l.Kind() != Parquet || !l.Complete() || m[KeyOrder] != OrderSeq || m[KeyRun] != "run-1" || m[KeyStop] != "count" {
		t.Errorf("kind %s, complete %v, meta %v", l.Kind(), l.Complete(), m)
	}
	var smp Sample
	must(t, l.Table(&smp))
	if smp.Len() != 1 || smp.Value[0] != 9 {
		t.Errorf("samples: %v", texts(&smp))
	}
}

func TestSpoolRefusesWhatIsThere(t *testing.T) {
	t.Parallel()
	target, s := newSpool(t)
	for _, force := range []bool{false, true} {
		if _, err := CreateSpool(target, SendSchema(), nil, force); !errors.Is(err, ErrExists) {
			t.Errorf("second recorder, force %v: %v", force, err)
		}
	}
	must(t, s.Close())
	if _, err := CreateSpool(target, SendSchema(), nil, false); !errors.Is(err, ErrExists) {
		t.Errorf("over a left-over spool: %v", err)
	}
	again, err := CreateSpool(target, SendSchema(), nil, true)
	must(t, err)
	must(t, os.WriteFile(target, []byte("appeared meanwhile"), 0o600))
	again.force = false
	if err := again.Finish(nil, FinishOptions{}); !errors.Is(err, ErrExists) {
		t.Errorf("a file that appeared: %v", err)
	}
	if got, _ := os.ReadFile(target); string(got) != "appeared meanwhile" {
		t.Error("the file was overwritten")
	}
	if _, err := os.Stat(target + SpoolSuffix); err != nil {
		t.Error("the spool is gone:", err)
	}
}

func TestSpoolIsReadLikeALog(t *testing.T) {
	t.Parallel()
	target, s := newSpool(t)
	must(t, s.Write(sendRows(0, 0, 10)))
	early := sendRows(0, 8, 4) // 8 and 9 are finished, 10 and 11 are not
	for i := range early.Acked {
		early.Acked[i] = Null
	}
	must(t, s.Provisional(early))
	later := sendRows(0, 11, 1)
	must(t, s.Provisional(later)) // the last row of a key holds
	s.SetMeta(Meta{KeyStop: "count", KeyComplete: "true"})
	s.SetMeta(Meta{KeyStop: "signal"})
	must(t, s.Flush())
	want := texts(sendRows(0, 0, 10))
	want = append(want, texts(shuffled(early, []int32{2}))...)
	want = append(want, texts(later)...)
	for _, name := range []string{target, target + SpoolSuffix, target + SpoolSuffix + "/"} {
		l, err := Open(name)
		must(t, err)
		for range 2 {
			if diff := godiff.Diff(want, readAll(t, l)); diff != "" {
				t.Errorf("%s: rows (-want +got):\n%s", name, diff)
			}
			w := strings.Join(l.Warnings(), "\n")
			if l.Kind() != Spool || l.Complete() || !strings.Contains(w, "12 rows recovered, 2 of them provisional") || !strings.Contains(w, "still being recorded") {
				t.Errorf("%s: kind %s, complete %v, warnings %q", name, l.Kind(), l.Complete(), w)
			}
			if m := l.Meta(); m[KeyStop] != "signal" || m[KeyComplete] != "" || m[KeyRun] != "run-1" {
				t.Errorf("meta: %v", m)
			}
			must(t, l.Rewind())
		}
		must(t, l.Close())
	}
}

// TestPartialIsReadFromItsSpool: a recorder that was killed in its final pass leaves both.
func TestPartialIsReadFromItsSpool(t *testing.T) {
	t.Parallel()
	target, s := newSpool(t)
	must(t, s.Write(sendRows(0, 0, 10)))
	must(t, s.Close())
	partial := target + PartialSuffix
	must(t, os.WriteFile(partial, []byte(parquetMagic+"half of a log"), 0o600))
	l, err := Open(partial)
	must(t, err)
	if diff := godiff.Diff(texts(sendRows(0, 0, 10)), readAll(t, l)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if w := strings.Join(l.Warnings(), "\n"); !strings.Contains(w, "10 rows recovered") || l.Complete() {
		t.Errorf("complete %v, warnings %q", l.Complete(), w)
	}
	must(t, l.Close())
	must(t, os.RemoveAll(s.Dir())) // then there is nothing to read: a merged log has no spool
	if _, err := Open(partial); !errors.Is(err, errNotClosed) {
		t.Errorf("without a spool: %v", err)
	}
}

// TestSpoolFinishKeepsUnfinished: a producer that forgets a row at the end
// does not lose the message.
func TestSpoolFinishKeepsUnfinished(t *testing.T) {
	t.Parallel()
	target, s := newSpool(t)
	must(t, s.Write(sendRows(0, 5, 5)))
	must(t, s.Provisional(sendRows(0, 0, 8)))
	must(t, s.Finish(nil, FinishOptions{}))
	l, err := Open(target)
	must(t, err)
	defer func() { must(t, l.Close()) }()
	if diff := godiff.Diff(texts(sendRows(0, 0, 10)), readAll(t, l)); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
}

// collect is a Writer that keeps what it gets.
type collect struct{ rows *gatherer }

func (c *collect) SetMeta(Meta)        {}
func (c *collect) Write(b Batch) error { c.rows.add(b, 0, b.Len()); return nil }
func (c *collect) Table(Batch) error   { return nil }
func (c *collect) Close() error        { return nil }

// TestOrderIsRestored: whatever the order in which rows were finished, those
// of a producer come out by (seq, attempt), and no row is lost or doubled.
func TestOrderIsRestored(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	count := 0
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(1, 400).Draw(r, "rows")
		lanes := rapid.IntRange(1, 4).Draw(r, "lanes")
		far := rapid.IntRange(0, 500).Draw(r, "disorder")
		batch := rapid.IntRange(1, 20).Draw(r, "batch")
		chunk := batch + rapid.IntRange(0, 40).Draw(r, "chunk")
		limit := rapid.IntRange(1, 50).Draw(r, "limit")
		rnd := rand.New(rand.NewPCG(rapid.Uint64().Draw(r, "seed"), 1))
		all := newGatherer(&Send{})
		for i := range n {
			all.add(sendRows(int32(i%lanes), int64(i/lanes), 1), 0, 1)
		}
		b := all.dst.(*Send)
		index := make([]int32, n)
		place := make([]int, n)
		for i := range index {
			index[i], place[i] = int32(i), i
			if rnd.IntN(3) == 0 {
				place[i] += rnd.IntN(far + 1)
			}
		}
		slices.SortStableFunc(index, func(x, y int32) int { return cmp.Compare(place[x], place[y]) })

		count++
		s, err := CreateSpool(filepath.Join(root, fmt.Sprint(count)), SendSchema(), nil, false)
		must(t, err)
		for part := range slices.Chunk(index, batch) {
			must(t, s.Write(shuffled(b, part)))
		}
		must(t, s.Close())
		rows, err := openSpoolFile(s.Dir(), spoolRows, SendSchema())
		must(t, err)
		out := &collect{newGatherer(&Send{})}
		must(t, restore(s.Dir(), rows, out, chunk, limit))
		must(t, rows.close())

		got := out.rows.dst.(*Send)
		perLane := make(map[int32][]string)
		for i, text := range texts(got) {
			perLane[got.Producer[i]] = append(perLane[got.Producer[i]], text)
		}
		for lane := range lanes {
			want := texts(sendRows(int32(lane), 0, (n-lane+lanes-1)/lanes))
			if diff := godiff.Diff(want, perLane[int32(lane)]); diff != "" && len(want)+len(perLane[int32(lane)]) > 0 {
				r.Fatalf("lane %d (-want +got):\n%s", lane, diff)
			}
		}
		left, err := os.ReadDir(s.Dir())
		must(t, err)
		for _, e := range left {
			if strings.HasPrefix(e.Name(), "late") {
				r.Fatalf("%s is left", e.Name())
			}
		}
	})
}

func TestRecvOrder(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "recv.parquet")
	s, err := CreateSpool(target, RecvSchema(), nil, false)
	must(t, err)
	// received 30, 10, 20, 20 (the two in order of receipt)
	must(t, s.Write(recvRows([]int64{30, 10, 20, 20}, []int64{0, 1, 2, 3})))
	must(t, s.Finish(nil, FinishOptions{}))
	l, err := Open(target)
	must(t, err)
	defer func() { must(t, l.Close()) }()
	b := &Recv{}
	must(t, l.Read(b))
	if diff := godiff.Diff([]int64{1, 2, 3, 0}, b.Seq); diff != "" || l.Meta()[KeyOrder] != OrderReceived {
		t.Errorf("seq (-want +got), order %q:\n%s", l.Meta()[KeyOrder], diff)
	}
}

func recvRows(received, seq []int64) *Recv {
	b := &Recv{}
	for i := range received {
		for _, c := range b.Columns() {
			switch s := c.(type) {
			case *[]int32:
				*s = append(*s, 0)
			case *[]int64:
				*s = append(*s, 0)
			case *Strings:
				s.Values = []string{"x"}
				s.Codes = append(s.Codes, 0)
			}
		}
		b.Seq[i], b.Received[i] = seq[i], received[i]
	}
	return b
}

// TestSpoolRedelivery: the second delivery of a message is outstanding when
// the first was finished; it must not be taken for the first.
func TestSpoolRedelivery(t *testing.T) {
	t.Parallel()
	target := filepath.Join(t.TempDir(), "recv.parquet")
	s, err := CreateSpool(target, RecvSchema(), nil, false)
	must(t, err)
	must(t, s.Write(recvRows([]int64{10}, []int64{5})))
	must(t, s.Provisional(recvRows([]int64{10, 20}, []int64{5, 5})))
	must(t, s.Close())
	l, err := Open(target)
	must(t, err)
	defer func() { must(t, l.Close()) }()
	if got := readAll(t, l); len(got) != 2 {
		t.Errorf("%d rows, want 2: %q", len(got), got)
	}
}
