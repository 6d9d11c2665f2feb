package format

import (
	"bytes"
	"encoding/base64"
	"errors"
)

// tableBuffer is a side table on its way into a footer: a Parquet file of its
// own, in memory, written in base64 because footer values are text.
//
// Note: an Arrow stream would do as well; Parquet is chosen because the same
// guarded reader reads it back, it is smaller, and pyarrow and DuckDB read it
// after base64 decoding.
type tableBuffer struct {
	buf bytes.Buffer
	w   *ParquetWriter
}

func newTableBuffer(s *Schema, createdBy string) (*tableBuffer, error) {
	t := &tableBuffer{}
	w, err := NewParquetWriter(&t.buf, s, ParquetOptions{CreatedBy: createdBy})
	if err != nil {
		return nil, err
	}
	t.w = w
	return t, nil
}

func (t *tableBuffer) encode() (string, error) {
	if err := t.w.Close(); err != nil {
		return "", err
	}
	return base64.StdEncoding.EncodeToString(t.buf.Bytes()), nil
}

// leave closes the file without giving it its name: NAME.partial stays.
func (f *File) leave() error {
	if f.done {
		return nil
	}
	f.done = true
	err := f.f.Close()
	if f.partial != "" {
		err = errors.Join(err, errors.New("what was written is in "+f.partial))
	}
	return err
}
