package join

import (
	"errors"
	"fmt"
	"os"

	"amqpperf/format"
)

// tempFile returns a file that is gone when it is closed, or the process ends
// in any way.
func tempFile(dir string) (*os.File, error) {
	f, err := os.CreateTemp(dir, "perf-join-*")
	if err != nil {
		return nil, fmt.Errorf("temporary file (its folder is $TMPDIR): %w", err)
	}
	if err := os.Remove(f.Name()); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

// tempLog is a copy of the rows of a log, in a temporary file.
type tempLog struct {
	name string
	file *os.File
	w    *format.ParquetWriter
	size int64
	log  *format.Log // after finish
}

func newTempLog(name string, s *format.Schema, opt Options) (*tempLog, error) {
	f, err := tempFile(opt.TempDir)
	if err != nil {
		return nil, err
	}
	t := &tempLog{name: name, file: f}
	if t.w, err = format.NewParquetWriter(f, s, format.ParquetOptions{}); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return t, nil
}

func (t *tempLog) write(b format.Batch) error {
	if err := t.w.Write(b); err != nil {
		return fmt.Errorf("temporary copy of %s: %w", t.name, err)
	}
	return nil
}

// finish makes the copy readable.
func (t *tempLog) finish() error {
	t.w.SetMeta(format.Meta{format.KeyRun: "copy"})
	if err := t.w.Close(); err != nil {
		return fmt.Errorf("temporary copy of %s: %w", t.name, err)
	}
	st, err := t.file.Stat()
	if err != nil {
		return err
	}
	t.size = st.Size()
	t.log, err = t.open()
	return err
}

// open returns a further handle of the copy.
func (t *tempLog) open() (*format.Log, error) { return format.OpenParquet(t.name, t.file, t.size) }

func (t *tempLog) close() error {
	if t == nil {
		return nil
	}
	var err error
	if t.log != nil {
		err = t.log.Close()
	} else {
		err = t.w.Abort()
	}
	return errors.Join(err, t.file.Close())
}
