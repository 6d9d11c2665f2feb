package timestamp

import (
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"unicode"
	"unicode/utf8"
)

// The binary form of a stamp, version 1, big endian:
//
//	offset size
//	     0    4  magic 0x89 'p' 'f' 's'
//	     4    1  version, 1
//	     5    1  kind of run: 0 = 16 bytes of a UUID, 1 = UTF-8 text
//	     6    1  length of run in bytes (16, or 1…64)
//	     7    1  gap of the sender's anchor, as e: at most 2^e ns; 0 = unknown
//	     8    4  CRC-32C of the stamp with these 4 bytes as 0
//	    12    4  sender, 0…2³¹−1
//	    16    4  producer, 0…2³¹−1
//	    20    4  attempt, 0…2³¹−1
//	    24    8  seq, 0…2⁶³−1
//	    32    8  intended, ns since the Unix epoch
//	    40    8  sent, ns since the Unix epoch
//	    48    8  clock id of the sender, 0 = unknown
//	    56    8  wall − monotonic of the sender's anchor, ns
//	    64    n  run
//
// The CRC is there because bodies of other programs are read too: a stamp is
// believed only when every byte of it is right.
const (
	stampVersion = 1
	fixedSize    = 64
	crcOffset    = 8
	sentOffset   = 40
	runUUID      = 0
	runText      = 1

	maxGapExponent = 62

	// MaxRun is the longest run in bytes.
	MaxRun = 64
	// MaxSize is the size of the longest stamp in bytes.
	MaxSize = fixedSize + MaxRun
)

const magic = "\x89pfs"

// ErrNoStamp says that a body does not begin with a stamp of ours.
var ErrNoStamp = errors.New("no stamp")

// Stamp is what travels in a message: its identity and the sender's instants.
type Stamp struct {
	Run      string // a UUID's text, or any valid UTF-8 of 1…MaxRun bytes without control characters
	Sender   int32
	Producer int32
	Attempt  int32
	Seq      int64
	Intended int64 // ns since the Unix epoch, on the sender's clock
	Sent     int64 // ns since the Unix epoch, on the sender's clock
	ClockID  uint64
	Offset   int64 // wall − monotonic of the sender's anchor, ns
	// Gap is that of the sender's anchor, ns; 0 = unknown. It travels rounded up
	// to the next power of two.
	Gap int64
}

// Anchor returns what the stamp says of the sender's anchor: its offset, gap
// and clock id, with Monotonic 0.
func (s Stamp) Anchor() Anchor {
	return Anchor{Wall: s.Offset, Gap: s.Gap, ClockID: s.ClockID}
}

// ValidRun reports why run cannot be the name of a run, nil if it can.
func ValidRun(run string) error {
	switch {
	case run == "":
		return errors.New("run is empty")
	case len(run) > MaxRun:
		return fmt.Errorf("run has %d bytes, at most %d are possible", len(run), MaxRun)
	case !utf8.ValidString(run):
		return errors.New("run is not valid UTF-8")
	}
	for _, r := range run {
		if unicode.IsControl(r) {
			return fmt.Errorf("run contains the control character %U", r)
		}
	}
	return nil
}

// Size returns the number of bytes that a stamp of this run takes, which is
// also the smallest possible body size.
func Size(run string) int {
	if _, ok := parseUUID(run); ok {
		return fixedSize + 16
	}
	return fixedSize + len(run)
}

// Append appends the binary form of s to dst. The run must be valid.
func (s Stamp) Append(dst []byte) []byte {
	start := len(dst)
	dst = append(dst, magic...)
	if uuid, ok := parseUUID(s.Run); ok {
		dst = s.appendFixed(dst, runUUID, len(uuid))
		dst = append(dst, uuid[:]...)
	} else {
		dst = s.appendFixed(dst, runText, len(s.Run))
		dst = append(dst, s.Run...)
	}
	seal(dst[start:])
	return dst
}

func (s Stamp) appendFixed(dst []byte, kind byte, runLen int) []byte {
	dst = append(dst, stampVersion, kind, byte(runLen), gapExponent(s.Gap), 0, 0, 0, 0)
	dst = binary.BigEndian.AppendUint32(dst, uint32(s.Sender))
	dst = binary.BigEndian.AppendUint32(dst, uint32(s.Producer))
	dst = binary.BigEndian.AppendUint32(dst, uint32(s.Attempt))
	dst = binary.BigEndian.AppendUint64(dst, uint64(s.Seq))
	dst = binary.BigEndian.AppendUint64(dst, uint64(s.Intended))
	dst = binary.BigEndian.AppendUint64(dst, uint64(s.Sent))
	dst = binary.BigEndian.AppendUint64(dst, s.ClockID)
	return binary.BigEndian.AppendUint64(dst, uint64(s.Offset))
}

func seal(stamp []byte) {
	clear(stamp[crcOffset : crcOffset+4])
	binary.BigEndian.PutUint32(stamp[crcOffset:], crc32.Checksum(stamp, castagnoli()))
}

// castagnoli is built once by the runtime and then found again, so this call
// costs no more than a comparison; it avoids a package variable.
func castagnoli() *crc32.Table { return crc32.MakeTable(crc32.Castagnoli) }

// Parse reads the stamp at the start of a body. What follows the stamp is not
// looked at. A body without a stamp of ours, of another version or damaged in
// any byte gives an error that wraps ErrNoStamp. To parse many, see [Parser].
func Parse(body []byte) (Stamp, error) {
	run, err := check(body)
	if err != nil {
		return Stamp{}, err
	}
	name, err := runName(body[5], run)
	if err != nil {
		return Stamp{}, err
	}
	return read(body, name)
}

// check verifies that a body begins with a stamp and returns its run, still in
// its binary form.
func check(body []byte) (run []byte, err error) {
	if len(body) < fixedSize || string(body[:len(magic)]) != magic {
		return nil, ErrNoStamp
	}
	if body[4] != stampVersion {
		return nil, fmt.Errorf("%w: version %d, this program reads version %d", ErrNoStamp, body[4], stampVersion)
	}
	size := fixedSize + int(body[6])
	if body[7] > maxGapExponent || len(body) < size || body[6] == 0 || body[6] > MaxRun {
		return nil, fmt.Errorf("%w: malformed", ErrNoStamp)
	}
	return body[fixedSize:size], checkCRC(body[:size])
}

// runName returns the text of a run. There is one binary form of each, so a
// UUID written as text is not ours.
func runName(kind byte, run []byte) (string, error) {
	switch {
	case kind == runUUID && len(run) == 16:
		return formatUUID(run), nil
	case kind == runText:
		name := string(run)
		if err := ValidRun(name); err != nil {
			return "", fmt.Errorf("%w: %w", ErrNoStamp, err)
		}
		if _, ok := parseUUID(name); !ok {
			return name, nil
		}
	}
	return "", fmt.Errorf("%w: malformed run", ErrNoStamp)
}

// read takes the numbers out of a stamp that check found sound.
func read(body []byte, run string) (Stamp, error) {
	s := Stamp{Run: run}
	s.fill(body)
	if s.Sender < 0 || s.Producer < 0 || s.Attempt < 0 || s.Seq < 0 {
		return Stamp{}, fmt.Errorf("%w: negative identity", ErrNoStamp)
	}
	// The smallest number stands for NULL in logs.
	if s.Intended == math.MinInt64 || s.Sent == math.MinInt64 {
		return Stamp{}, fmt.Errorf("%w: no instant", ErrNoStamp)
	}
	return s, nil
}

func (s *Stamp) fill(body []byte) {
	s.Sender = int32(binary.BigEndian.Uint32(body[12:]))
	s.Producer = int32(binary.BigEndian.Uint32(body[16:]))
	s.Attempt = int32(binary.BigEndian.Uint32(body[20:]))
	s.Seq = int64(binary.BigEndian.Uint64(body[24:]))
	s.Intended = int64(binary.BigEndian.Uint64(body[32:]))
	s.Sent = int64(binary.BigEndian.Uint64(body[sentOffset:]))
	s.ClockID = binary.BigEndian.Uint64(body[48:])
	s.Offset = int64(binary.BigEndian.Uint64(body[56:]))
	if e := body[7]; e > 0 {
		s.Gap = 1 << e
	}
}

// gapExponent returns the smallest e above 0 with gap ≤ 2^e, 0 for an unknown gap.
func gapExponent(gap int64) byte {
	if gap <= 0 {
		return 0
	}
	return byte(min(max(bits.Len64(uint64(gap-1)), 1), maxGapExponent))
}

func checkCRC(stamp []byte) error {
	table := castagnoli()
	sum := crc32.Update(0, table, stamp[:crcOffset])
	for range 4 { // zeroes; an array of them would be allocated for each call
		sum = ^(table[byte(^sum)] ^ ^sum>>8)
	}
	sum = crc32.Update(sum, table, stamp[crcOffset+4:])
	if sum != binary.BigEndian.Uint32(stamp[crcOffset:]) {
		return fmt.Errorf("%w: checksum does not match", ErrNoStamp)
	}
	return nil
}

// parseUUID accepts only the canonical lower-case form, so that text → bytes →
// text gives the same text.
func parseUUID(s string) (u [16]byte, ok bool) {
	if len(s) != 36 || s[8] != '-' || s[13] != '-' || s[18] != '-' || s[23] != '-' {
		return u, false
	}
	var digits [32]byte
	n := 0
	for i := range len(s) {
		c := s[i]
		if i == 8 || i == 13 || i == 18 || i == 23 {
			continue
		}
		if (c < '0' || c > '9') && (c < 'a' || c > 'f') {
			return u, false
		}
		digits[n] = c
		n++
	}
	_, err := hex.Decode(u[:], digits[:])
	return u, err == nil
}

func formatUUID(b []byte) string {
	h := hex.EncodeToString(b)
	return h[:8] + "-" + h[8:12] + "-" + h[12:16] + "-" + h[16:20] + "-" + h[20:]
}
