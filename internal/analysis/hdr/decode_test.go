package hdr

import (
	"bytes"
	"compress/zlib"
	"encoding/base64"
	"encoding/binary"
	"math"
	"runtime"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// encoded packs a histogram of any encoding, right or wrong.
func encoded(t testing.TB, cookie, compressed uint32, digits int32, lowest, highest int64, payload []byte) []byte {
	t.Helper()
	head := binary.BigEndian.AppendUint32(nil, cookie)
	if cookie&^cookieMask != cookieV0 {
		head = binary.BigEndian.AppendUint32(head, uint32(len(payload)))
		head = binary.BigEndian.AppendUint32(head, 1) // normalizing index offset: no meaning for readers
	}
	head = binary.BigEndian.AppendUint32(head, uint32(digits))
	head = binary.BigEndian.AppendUint64(head, uint64(lowest))
	head = binary.BigEndian.AppendUint64(head, uint64(highest))
	head = binary.BigEndian.AppendUint64(head, 0) // ratio, or total count in V0
	var z bytes.Buffer
	w := zlib.NewWriter(&z)
	if _, err := w.Write(append(head, payload...)); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	out := binary.BigEndian.AppendUint32(nil, compressed)
	out = binary.BigEndian.AppendUint32(out, uint32(z.Len()))
	return append(out, z.Bytes()...)
}

// The older encodings, and an offset that means nothing, give the same counts.
func TestOldEncodings(t *testing.T) {
	t.Parallel()
	counts := make([]byte, 2*2050)
	counts[2*7+1], counts[2*2049+1], counts[2*2049] = 3, 5, 1 // 3 of value 7, 261 of bucket 2049
	wide := make([]byte, 8*8)
	wide[8*7+7] = 3
	v2 := appendZigZag(appendZigZag(nil, -7), 3)
	for name, raw := range map[string][]byte{
		"V0, 2 bytes": encoded(t, cookieV0|0x20, cookieV0Compressed, 3, 1, 1_000_000, counts),
		"V1, 2 bytes": encoded(t, cookieV1|0x20, cookieV1Compressed, 3, 1, 1_000_000, counts),
		"V1, 8 bytes": encoded(t, cookieV1|0x80, cookieV1Compressed, 3, 1, 1_000_000, wide),
		"V2, offset":  encoded(t, cookieV2, cookieV2Compressed, 3, 1, 1_000_000, v2),
	} {
		h, err := decode([]byte(base64.StdEncoding.EncodeToString(raw)))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		want := []bucket{{7, 3}}
		if strings.Contains(name, "2 bytes") {
			want = append(want, bucket{2050, 261}) // 2048 and up stand in twos
		}
		if d := cmp.Diff(want, h.buckets, cmp.AllowUnexported(bucket{})); d != "" {
			t.Errorf("%s: %s", name, d)
		}
	}
}

// A few bytes that expand to many megabytes are refused before they do. Not
// parallel: it counts what is allocated.
func TestBombs(t *testing.T) {
	ones := bytes.Repeat([]byte{2}, 3<<20)
	for name, raw := range map[string][]byte{
		"V2": encoded(t, cookieV2, cookieV2Compressed, 5, 1, math.MaxInt64, ones),
		"V1": encoded(t, cookieV1|0x20, cookieV1Compressed, 5, 1, math.MaxInt64, ones),
		"V0": encoded(t, cookieV0|0x20, cookieV0Compressed, 5, 1, math.MaxInt64, ones),
	} {
		text := []byte(base64.StdEncoding.EncodeToString(raw))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		if _, err := decode(text); err == nil {
			t.Error(name, "is accepted")
		}
		runtime.ReadMemStats(&after)
		if n := after.TotalAlloc - before.TotalAlloc; n > 16<<20 {
			t.Errorf("%s: %d bytes allocated for %d", name, n, len(raw))
		}
	}
	full := encoded(t, cookieV2, cookieV2Compressed, 5, 1, math.MaxInt64, bytes.Repeat([]byte{2}, maxPayload))
	line := "0.1,1.0,2.0," + base64.StdEncoding.EncodeToString(full) + "\n"
	if log, err := ReadLog(strings.NewReader(strings.Repeat(line, 3)), "bomb"); err == nil {
		t.Errorf("a log of %d intervals with 2 Mi buckets each is kept", len(log.Intervals))
	}
}
