package hdr

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"math"
	"strings"
	"testing"
)

func FuzzReadLog(f *testing.F) {
	a := histText(f, 1, 1000, 1_000_000)
	for _, s := range []string{
		"#[StartTime: 1441812279.474 (seconds since epoch)]\n0.127,1.007,2.769," + a + "\n",
		"Tag=a b,0.1,1,1," + a + "\nTag=A\n\n#[Basetime: 5]\n",
		"0.1,1.0,2.0," + base64.StdEncoding.EncodeToString(encoded(f, cookieV1|0x20, cookieV1Compressed, 3, 1, 1000, []byte{0, 1})),
		"0.1,1.0,2.0," + base64.StdEncoding.EncodeToString(encoded(f, cookieV0|0x40, cookieV0Compressed, 2, 20000, 1<<40, []byte{0, 0, 0, 1})),
	} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		log, err := ReadLog(strings.NewReader(s), "fuzz")
		if err != nil && !strings.HasPrefix(err.Error(), "fuzz: line ") {
			t.Errorf("the error does not name the line: %v", err)
		}
		for _, iv := range log.Intervals {
			checkSound(t, iv.Histogram)
		}
	})
}

// FuzzDecode fuzzes what is inside the compression, which a fuzzer cannot reach
// through it.
func FuzzDecode(f *testing.F) {
	f.Add(uint32(cookieV2), uint32(cookieV2Compressed), int32(3), int64(1), int64(1000), []byte{2, 1, 4})
	f.Add(uint32(cookieV1|0x20), uint32(cookieV1Compressed), int32(0), int64(1), int64(1000), []byte{0, 1})
	f.Add(uint32(cookieV0|0x80), uint32(cookieV0Compressed), int32(5), int64(1<<40), int64(math.MaxInt64), bytes.Repeat([]byte{0, 0, 0, 0, 0, 0, 0, 1}, 3))
	f.Fuzz(func(t *testing.T, cookie, compressed uint32, digits int32, lowest, highest int64, payload []byte) {
		h, err := decode([]byte(base64.StdEncoding.EncodeToString(encoded(t, cookie, compressed, digits, lowest, highest, payload))))
		if err == nil {
			checkSound(t, h)
		}
	})
}

// checkSound checks what every histogram that was read must be.
func checkSound(t *testing.T, h *Histogram) {
	t.Helper()
	var n int64
	last := int64(-1)
	for b := range h.Buckets {
		if b.Low <= last || b.High < b.Low || b.Count < 0 || b.Below != n {
			t.Fatalf("%+v after %d", b, last)
		}
		last = b.High
		n += b.Count
	}
	if n != h.N() {
		t.Fatalf("%d values in buckets, %d in all", n, h.N())
	}
	sum, _, err := Sum([]Interval{{Histogram: h}})
	if err != nil || sum.N() != n {
		t.Fatalf("sum of %d values: %v", n, err)
	}
}

func FuzzReadHgrm(f *testing.F) {
	f.Add("Value Percentile TotalCount 1/(1-Percentile)\n1 0.5 5 2\n2 1 10\n#[Mean = 1, StdDeviation = 2]\n")
	f.Add(fmt.Sprintf("Value Percentile TotalCount\n%g 1 1 inf", math.MaxFloat64))
	f.Fuzz(func(t *testing.T, s string) {
		p, err := ReadHgrm(strings.NewReader(s), "fuzz")
		if err != nil && !strings.HasPrefix(err.Error(), "fuzz: line ") {
			t.Errorf("the error does not name the line: %v", err)
		}
		for i, r := range p.Rows {
			if !(r.Fraction >= 0 && r.Fraction <= 1) || (i > 0 && r.Count < p.Rows[i-1].Count) {
				t.Fatalf("row %d: %+v", i, r)
			}
		}
	})
}
