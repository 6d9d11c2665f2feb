package format

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
)

// sniff looks what a name stands for and returns the container and its path.
func sniff(name string) (Kind, string, error) {
	st, err := os.Stat(name)
	if errors.Is(err, fs.ErrNotExist) {
		if sp, serr := os.Stat(name + SpoolSuffix); serr == nil && sp.IsDir() {
			return Spool, name + SpoolSuffix, nil
		}
	}
	if err != nil {
		return "", "", err
	}
	if st.IsDir() {
		return Spool, name, nil
	}
	if !st.Mode().IsRegular() {
		return Stream, name, nil // a FIFO or device can only be read from front to back
	}
	f, err := os.Open(name)
	if err != nil {
		return "", "", err
	}
	var head [4]byte
	n, err := io.ReadFull(f, head[:])
	if err = errors.Join(ignoreEOF(err), f.Close()); err != nil {
		return "", "", err
	}
	switch {
	case n == 0 || string(head[:n]) == parquetMagic[:n]:
		return Parquet, name, nil // perhaps a cut one, which is for the reader to say
	case string(head[:]) == "\xff\xff\xff\xff":
		return Stream, name, nil
	case string(head[:]) == "PARE":
		return "", "", fmt.Errorf("%s: the file is encrypted", name)
	}
	return "", "", fmt.Errorf("%s: %w: neither Parquet nor an Arrow stream", name, ErrNotLog)
}

// spoolOfPartial returns the spool that a NAME.partial was being made from, ""
// if it is no partial file or nothing of its spool is left.
func spoolOfPartial(path string) string {
	name, ok := strings.CutSuffix(path, PartialSuffix)
	if !ok {
		return ""
	}
	if st, err := os.Stat(SpoolName(name)); err != nil || !st.IsDir() {
		return ""
	}
	return SpoolName(name)
}

func ignoreEOF(err error) error {
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return nil
	}
	return err
}
