package format

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"
)

const (
	maxMetadata = 64 << 20 // of one message
	maxBody     = 1 << 30  // of one message on a pipe, and of one column's part of a batch
	pipeBuffer  = 64 << 10 // larger reads go past it
	growBody    = 1 << 20  // a body is allocated as it arrives, not as it is announced
)

// errCut says that a stream ends in the middle of something.
var errCut = errors.New("cut short")

// input is what Arrow streams are read from: a pipe, or a file, of which only
// the parts that are wanted are read.
type input struct {
	r     *bufio.Reader // a pipe
	file  io.ReaderAt   // a file, nil for a pipe
	size  int64         // of the file
	pos   int64         // in the file
	frame []byte        // metadata of the message at hand
	buf   []byte        // body of the message at hand (pipe), or a part of it (file)
	base  int64         // of the body in the file
	body  int64         // size of the body
}

func newPipeInput(r io.Reader) *input {
	return &input{r: bufio.NewReaderSize(r, pipeBuffer)}
}

func newFileInput(f *os.File) (*input, error) {
	st, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !st.Mode().IsRegular() {
		return newPipeInput(f), nil
	}
	return &input{file: f, size: st.Size()}, nil
}

// read fills p; io.EOF if nothing at all is left, errCut if too little is.
func (in *input) read(p []byte) error {
	if len(p) == 0 {
		return nil
	}
	var n int
	var err error
	if in.file != nil {
		n, err = in.file.ReadAt(p, in.pos)
		in.pos += int64(n)
	} else {
		n, err = io.ReadFull(in.r, p)
	}
	switch {
	case n == len(p):
		return nil
	case errors.Is(err, io.EOF) && n == 0:
		return io.EOF
	case errors.Is(err, io.EOF), errors.Is(err, io.ErrUnexpectedEOF):
		return errCut
	}
	return err
}

// message reads the frame of the next message: io.EOF at the end of the input,
// a nil message at the end of a stream.
func (in *input) message() (*ipcMessage, error) {
	var word [4]byte
	if err := in.read(word[:]); err != nil {
		return nil, err
	}
	n := binary.LittleEndian.Uint32(word[:])
	if n == 0xFFFFFFFF { // the continuation marker, which streams before 0.15 lack
		if err := in.read(word[:]); err != nil {
			return nil, cut(err)
		}
		n = binary.LittleEndian.Uint32(word[:])
	}
	if n == 0 {
		return nil, nil //nolint:nilnil // the end of a stream is neither a message nor an error
	}
	if string(word[:]) == "ARRO" {
		return nil, fmt.Errorf("an Arrow file, not an Arrow stream: %w", ErrNotLog)
	}
	if n > maxMetadata {
		return nil, fmt.Errorf("%w: %d bytes of it", errFlat, n)
	}
	if err := in.grow(&in.frame, int64(n)); err != nil {
		return nil, err
	}
	m, err := parseMessage(in.frame)
	if err != nil {
		return nil, err
	}
	return &m, in.load(m.body)
}

// load makes the body of a message accessible to part.
func (in *input) load(n int64) error {
	in.body = n
	if in.file == nil {
		if n > maxBody {
			return fmt.Errorf("a record batch of %d bytes is more than can be read from a pipe (%d)", n, maxBody)
		}
		return in.grow(&in.buf, n)
	}
	in.base = in.pos
	if n > in.size-in.pos {
		return errCut
	}
	in.pos += n
	return nil
}

// grow reads n bytes into *b. What is announced may be a lie, so memory grows
// only with what has arrived.
func (in *input) grow(b *[]byte, n int64) error {
	*b = (*b)[:0]
	for have := int64(0); have < n; {
		step := min(n-have, max(have, growBody))
		if in.file != nil && step > in.size-in.pos {
			return errCut
		}
		if int64(cap(*b)) < have+step {
			next := make([]byte, have, have+step)
			copy(next, *b)
			*b = next
		}
		*b = (*b)[:have+step]
		if err := in.read((*b)[have:]); err != nil {
			return cut(err)
		}
		have += step
	}
	return nil
}

// part returns size bytes at offset of the body of the message at hand, valid
// until the next call. The caller has checked that they lie within the body.
func (in *input) part(offset, size int64) ([]byte, error) {
	if offset < 0 || size < 0 || offset > in.body-size {
		return nil, errFlat
	}
	if size > maxBody {
		return nil, fmt.Errorf("%d bytes of one column at once are too many", size)
	}
	if in.file == nil {
		return in.buf[offset : offset+size], nil
	}
	if int64(cap(in.buf)) < size {
		in.buf = make([]byte, size+size/4)
	}
	b := in.buf[:size]
	n, err := in.file.ReadAt(b, in.base+offset)
	if n == len(b) {
		return b, nil
	}
	return nil, cut(err)
}

// cut turns the end of the input into errCut.
func cut(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return errCut
	}
	return err
}
