package format

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// countRows walks any Arrow stream, a log or not, and returns batches and rows.
func countRows(r io.Reader) (batches int, rows int64, err error) {
	in := newPipeInput(r)
	s, err := openIPC(in)
	if err != nil {
		return 0, 0, err
	}
	for {
		if err := s.advance(); err != nil {
			if errors.Is(err, io.EOF) && s.ended {
				err = nil
			}
			return batches, rows, err
		}
		batches++
		rows += s.batch.rows
		s.next = s.batch.rows
	}
}

// TestWalkForeign reads the public test files, if they are given: the right
// numbers for sound ones, an error for the others.
func TestWalkForeign(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("PERF_TEST_CASES")
	if dir == "" {
		t.Skip("PERF_TEST_CASES is not set")
	}
	raw, err := os.ReadFile(filepath.Join(dir, "arrow", "generated_primitive.stream"))
	must(t, err)
	cuts := map[int]int64{0: 37, 4: 37, 8: 17, 100: 17, 6000: 17}
	for cut, want := range cuts {
		_, rows, err := countRows(bytes.NewReader(raw[:len(raw)-cut]))
		if rows != want || (cut >= 8) != (err != nil) && cut != 4 {
			t.Errorf("cut by %d: %d rows, %v; want %d", cut, rows, err, want)
		}
	}
	bad, err := filepath.Glob(filepath.Join(dir, "arrow_bad", "*"))
	must(t, err)
	if len(bad) == 0 {
		t.Error("no bad files found")
	}
	for _, name := range append(bad, filepath.Join(dir, "arrow", "generated_datetime.arrow_file")) {
		raw, err := os.ReadFile(name)
		must(t, err)
		batches, rows, err := countRows(bytes.NewReader(raw))
		if err == nil {
			t.Errorf("%s: %d batches, %d rows and no error", name, batches, rows)
		}
		if l, err := Open(name); err == nil {
			t.Errorf("%s: opened as a log", name)
			must(t, l.Close())
		}
	}
}

// readSome opens raw as a stream and as a file and returns what can be read;
// it must neither panic nor allocate what is not there.
func readSome(t testing.TB, raw []byte) (rows []string, complete bool, err error) {
	t.Helper()
	l, err := OpenStream("x", bytes.NewReader(raw))
	if err != nil {
		return nil, false, err
	}
	b := newBatch(l.Schema())
	for {
		if err = l.Read(b); err != nil {
			break
		}
		rows = append(rows, texts(b)...)
	}
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return rows, l.Complete(), err
}

func TestStreamCutAnywhere(t *testing.T) {
	t.Parallel()
	first, second := sendRows(0, 0, 5), sendRows(0, 5, 6)
	raw := writeStream(t, nil, first, second)
	want := append(texts(first), texts(second)...)
	path := filepath.Join(t.TempDir(), "cut.arrows")
	must(t, os.WriteFile(path, raw, 0o600))
	for n := len(raw) - 1; n >= 0; n -= stride(11) {
		rows, complete, err := readSome(t, raw[:n])
		if err != nil && len(rows) > 0 {
			t.Fatalf("cut to %d bytes: %v", n, err)
		}
		if len(rows) != 0 && len(rows) != 5 && len(rows) != 11 || !slices.Equal(want[:len(rows)], rows) {
			t.Fatalf("cut to %d bytes: %d rows", n, len(rows))
		}
		if complete && n < len(raw)-8 {
			t.Fatalf("cut to %d of %d bytes and complete", n, len(raw))
		}
		if n%7 == 0 && err == nil { // the file behaves as the pipe does
			must(t, os.Truncate(path, int64(n)))
			l, err := Open(path)
			must(t, err)
			if diff := cmp.Diff(rows, readAll(t, l)); diff != "" {
				t.Fatalf("cut to %d bytes: file differs from pipe:\n%s", n, diff)
			}
			must(t, l.Close())
		}
	}
	if rows, complete, err := readSome(t, raw); len(rows) != 11 || !complete || err != nil {
		t.Errorf("uncut: %d rows, complete %v, %v", len(rows), complete, err)
	}
}

// TestSpoolCutAnywhere cuts every file of a spool at every length: what stands
// before the cut is read.
func TestSpoolCutAnywhere(t *testing.T) {
	t.Parallel()
	target, s := newSpool(t)
	must(t, s.Write(sendRows(0, 0, 3)))
	must(t, s.Provisional(sendRows(0, 3, 2)))
	must(t, s.Write(sendRows(0, 3, 1)))
	must(t, s.Provisional(sendRows(0, 4, 2)))
	must(t, s.Table(&Sample{Instant: []int64{1}, What: Strings{Values: []string{"x"}, Codes: []int32{0}}, Value: []int64{9}}))
	must(t, s.Close())
	all := texts(sendRows(0, 0, 6))
	names, err := os.ReadDir(s.Dir())
	must(t, err)
	for _, e := range names {
		path := filepath.Join(s.Dir(), e.Name())
		raw, err := os.ReadFile(path)
		must(t, err)
		for n := len(raw) - 1; n >= 0; n -= stride(41) {
			must(t, os.Truncate(path, int64(n)))
			l, err := Open(target)
			if err != nil {
				t.Fatalf("%s cut to %d bytes: %v", e.Name(), n, err)
			}
			got := readAll(t, l)
			switch e.Name() {
			case spoolRows: // whatever is cut off comes back from the provisional rows
				if len(got) < 3 || !slices.Equal(all[3:], got[len(got)-3:]) {
					t.Fatalf("%s cut to %d bytes: %q", e.Name(), n, got)
				}
			case spoolProvisional:
				if len(got) < 4 || !slices.Equal(all[:len(got)], got) {
					t.Fatalf("%s cut to %d bytes: %q", e.Name(), n, got)
				}
			default:
				if diff := cmp.Diff(all, got); diff != "" {
					t.Fatalf("%s cut to %d bytes:\n%s", e.Name(), n, diff)
				}
			}
			must(t, l.Table(&Sample{}))
			must(t, l.Close())
		}
		must(t, os.WriteFile(path, raw, 0o600))
	}
}

// TestStreamBitFlips: a damaged stream gives an error or some rows, no panic.
func TestStreamBitFlips(t *testing.T) {
	t.Parallel()
	raw := writeStream(t, nil, sendRows(0, 0, 5), sendRows(0, 5, 6))
	damaged := bytes.Clone(raw)
	flips := 0
	for i := 0; i < len(raw); i += stride(41) {
		for _, mask := range []byte{1 << (i % 8), 0x80, 0xff} {
			damaged[i] = raw[i] ^ mask
			_, _, _ = readSome(t, damaged)
			flips++
		}
		damaged[i] = raw[i]
	}
	t.Logf("%d bit flips in a stream", flips)
}

// TestHostileLengths: what a few bytes announce is not allocated. It is not
// parallel because it looks at what the process has allocated.
func TestHostileLengths(t *testing.T) {
	raw := writeStream(t, nil, sendRows(0, 0, 5))
	const limit = 64 << 20
	var before, after runtime.MemStats
	for _, huge := range []uint64{1 << 29, 1 << 31, 1<<40 + 1<<30} {
		for i := 0; i+8 <= len(raw); i += 4 * stride(5) {
			damaged := bytes.Clone(raw)
			binary.LittleEndian.PutUint64(damaged[i:], huge)
			runtime.ReadMemStats(&before)
			_, _, _ = readSome(t, damaged)
			runtime.ReadMemStats(&after)
			if n := after.TotalAlloc - before.TotalAlloc; n > limit {
				t.Errorf("%d at offset %d: %d bytes allocated", huge, i, n)
			}
		}
	}
}

func FuzzStream(f *testing.F) {
	f.Add(writeStream(f, Meta{KeyRun: "r"}, sendRows(0, 0, 5)))
	f.Add(writeStream(f, nil, recvRows([]int64{1, 2}, []int64{0, 1})))
	f.Add([]byte("\xff\xff\xff\xff\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, raw []byte) {
		rows, complete, err := readSome(t, raw)
		if complete && err != nil {
			t.Errorf("complete with %d rows, but %v", len(rows), err)
		}
	})
}
