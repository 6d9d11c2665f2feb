package format

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"

	"github.com/klauspost/compress/snappy"
	"github.com/klauspost/compress/zstd"
	"github.com/pierrec/lz4/v4"
)

const (
	codecNone   = 0
	codecSnappy = 1
	codecGzip   = 2
	codecZstd   = 6
	codecLZ4Raw = 7
)

func codecName(codec int32) string {
	names := []string{"UNCOMPRESSED", "SNAPPY", "GZIP", "LZO", "BROTLI", "LZ4", "ZSTD", "LZ4_RAW"}
	if codec < 0 || int(codec) >= len(names) {
		return fmt.Sprintf("codec %d", codec)
	}
	return names[codec]
}

// newZstd makes a decoder that never writes beyond the buffer it is given,
// whatever the frame says.
func newZstd() (*zstd.Decoder, error) {
	return zstd.NewReader(nil, zstd.WithDecoderConcurrency(1), zstd.WithDecoderLowmem(true),
		zstd.WithDecodeAllCapLimit(true))
}

// decompress fills dst, all of it, from src.
func decompress(z *zstd.Decoder, codec int32, dst, src []byte) error {
	n := -1
	var err error
	switch codec {
	case codecNone:
		if len(src) == len(dst) {
			n = copy(dst, src)
		}
	case codecSnappy:
		if n, err = snappy.DecodedLen(src); err == nil && n == len(dst) {
			_, err = snappy.Decode(dst, src)
		}
	case codecGzip:
		n, err = gunzip(dst, src)
	case codecZstd:
		var out []byte
		out, err = z.DecodeAll(src, dst[:0:len(dst)])
		n = len(out)
	case codecLZ4Raw:
		n, err = lz4.UncompressBlock(src, dst)
	default:
		return fmt.Errorf("compression %s is not supported", codecName(codec))
	}
	switch {
	case err != nil:
		return fmt.Errorf("%s: %w", codecName(codec), err)
	case n != len(dst):
		return fmt.Errorf("%s: the page header says %d bytes, it has another size", codecName(codec), len(dst))
	}
	return nil
}

func gunzip(dst, src []byte) (int, error) {
	r, err := gzip.NewReader(bytes.NewReader(src))
	if err != nil {
		return 0, err
	}
	n, err := io.ReadFull(r, dst)
	if err != nil {
		return n, err
	}
	var more [1]byte
	if k, err := r.Read(more[:]); k > 0 || !errors.Is(err, io.EOF) {
		return n + 1, nil
	}
	return n, nil
}
