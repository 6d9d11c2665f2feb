package format

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// FuzzSpool reads a folder whose files may hold anything: an error, or rows that can be read again.
func FuzzSpool(f *testing.F) {
	rows, other := writeStream(f, Meta{KeyRun: "r"}, sendRows(0, 0, 5)), writeStream(f, nil, recvRows([]int64{1, 2}, []int64{0, 1}))
	f.Add(rows, rows, []byte{})
	f.Add(rows[:len(rows)/2], rows, rows)
	f.Add([]byte{}, rows, []byte{})
	f.Add(rows, other, []byte("\xff\xff\xff\xff\x00\x00\x00\x00"))
	f.Fuzz(func(t *testing.T, rows, provisional, meta []byte) {
		dir := filepath.Join(t.TempDir(), "send.parquet"+SpoolSuffix)
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		for name, content := range map[string][]byte{spoolRows: rows, spoolProvisional: provisional, spoolMeta: meta, spoolSamples: meta} {
			if err := os.WriteFile(filepath.Join(dir, name), content, 0o600); err != nil {
				t.Fatal(err)
			}
		}
		l, err := Open(dir)
		if err == nil {
			err = readTwice(l)
		}
		if err != nil && strings.Contains(err.Error(), "not foreseen") {
			t.Fatal(err)
		}
	})
}

// readTwice reads a log, and once more what is there then.
func readTwice(l *Log) (err error) {
	defer func() { err = errors.Join(err, l.Close()) }()
	b := newBatch(l.Schema())
	for range 2 {
		for l.RowsRead() < 1<<20 {
			if err := l.Read(b); errors.Is(err, io.EOF) {
				break
			} else if err != nil {
				return err
			}
		}
		if err := errors.Join(l.Table(&Sample{}), l.Rewind()); err != nil {
			return err
		}
	}
	return nil
}
