package watch

import (
	"bytes"
	"errors"
	"io"
	"os"
	"strconv"
)

// maxFile is how much of a file of the kernel is read. /proc/stat is the
// longest; what is wanted of it stands first.
const maxFile = 1 << 12

// file is a file of procfs or cgroupfs that is read again and again. It stays
// open, which spares the walk of its path; a read from offset 0 makes the
// kernel write it anew.
type file struct {
	path string
	f    *os.File
	buf  []byte
}

// read returns the content, valid until the next read, nil if there is none.
func (f *file) read() []byte {
	if f.path == "" {
		return nil
	}
	if f.f == nil {
		opened, err := os.Open(f.path)
		if err != nil {
			return nil
		}
		f.f = opened
		if f.buf == nil {
			f.buf = make([]byte, maxFile)
		}
	}
	n, err := f.f.ReadAt(f.buf, 0)
	if err != nil && !errors.Is(err, io.EOF) {
		f.close() // the process or cgroup is gone; another may come in its place
		return nil
	}
	return f.buf[:n]
}

func (f *file) close() {
	if f.f != nil {
		_ = f.f.Close() // only read
		f.f = nil
	}
}

// readOnce returns what a small file has, nil if it cannot be read.
func readOnce(path string) []byte {
	b, err := os.ReadFile(path)
	if err != nil {
		return nil
	}
	return b
}

// number parses a whole non-negative decimal number.
func number(b []byte) (int64, bool) {
	v, err := strconv.ParseInt(string(bytes.TrimSpace(b)), 10, 64)
	return v, err == nil && v >= 0
}

// keyed returns the number that follows key at the beginning of a line, as in
// cpu.stat and memory.stat.
func keyed(text []byte, key string) (int64, bool) {
	for line := range bytes.Lines(text) {
		if rest, ok := bytes.CutPrefix(line, []byte(key)); ok && len(rest) > 0 && rest[0] == ' ' {
			return number(rest)
		}
	}
	return 0, false
}

// decimal parses a number with a fraction into units of 1/scale (a power of
// ten); digits beyond are cut off.
func decimal(b []byte, scale int64) (int64, bool) {
	whole, fraction, _ := bytes.Cut(bytes.TrimSpace(b), []byte{'.'})
	v, ok := number(whole)
	if !ok || v > (1<<62)/scale {
		return 0, false
	}
	v *= scale
	for _, d := range fraction {
		if d < '0' || d > '9' {
			return 0, false
		}
		scale /= 10
		v += int64(d-'0') * scale
	}
	return v, true
}
