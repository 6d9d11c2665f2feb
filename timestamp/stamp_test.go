package timestamp

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"math"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

const testRun = "8c7d2a4e-51f0-4e6b-9d3c-0a1b2c3d4e5f"

func testStamp() Stamp {
	return Stamp{
		Run: testRun, Sender: 0x12345678, Producer: 3, Attempt: 1, Seq: 42,
		Intended: 1796000000000000000, Sent: 1796000000000001234, ClockID: 0xfedcba9876543210, Offset: 1795999999000000000, Gap: 64,
	}
}

// TestLayout pins version 1 byte by byte: stamps travel between versions of
// the tools, so this must never need a change. The checksum was computed with
// another program.
func TestLayout(t *testing.T) {
	t.Parallel()
	got := testStamp().Append([]byte("x"))
	want := "78" + "89706673" + "01" + "00" + "10" + "06" + "b79eb73d" +
		"12345678" + "00000003" + "00000001" + "000000000000002a" +
		"18ecac7c009a0000" + "18ecac7c009a04d2" + "fedcba9876543210" + "18ecac7bc4ff3600" +
		"8c7d2a4e51f04e6b9d3c0a1b2c3d4e5f"
	if hex.EncodeToString(got) != want {
		t.Errorf("stamp\n got %x\nwant %s", got, want)
	}
}

func drawStamp(t *rapid.T) Stamp {
	id := rapid.OneOf(rapid.SampledFrom([]int32{0, 1, math.MaxInt32}), rapid.Int32Min(0))
	at := rapid.OneOf(rapid.SampledFrom([]int64{0, -1, math.MaxInt64, math.MinInt64 + 1}), rapid.Int64Min(math.MinInt64+1))
	run := rapid.OneOf(
		rapid.Just(testRun),
		rapid.SampledFrom([]string{"r", "nightly 7", "läuft", strings.ToUpper(testRun), strings.Repeat("x", MaxRun)}),
		rapid.StringN(1, 16, MaxRun).Filter(func(s string) bool { return ValidRun(s) == nil }))
	s := Stamp{
		Run: run.Draw(t, "run"), Sender: id.Draw(t, "sender"), Producer: id.Draw(t, "producer"), Attempt: id.Draw(t, "attempt"),
		Seq: rapid.Int64Min(0).Draw(t, "seq"), Intended: at.Draw(t, "intended"), Sent: at.Draw(t, "sent"),
		ClockID: rapid.Uint64().Draw(t, "clock"), Offset: rapid.Int64().Draw(t, "offset"),
	}
	if rapid.Bool().Draw(t, "gap known") {
		s.Gap = 1 << rapid.IntRange(1, maxGapExponent).Draw(t, "gap")
	}
	return s
}

func TestRoundTrip(t *testing.T) {
	t.Parallel()
	var p Parser
	rapid.Check(t, func(t *rapid.T) {
		s := drawStamp(t)
		b := s.Append(nil)
		if len(b) != Size(s.Run) || len(b) > MaxSize {
			t.Fatalf("%d bytes, Size says %d", len(b), Size(s.Run))
		}
		body := append(bytes.Clone(b), rapid.SliceOf(rapid.Byte()).Draw(t, "rest")...)
		got, err := Parse(body)
		if err != nil || got != s {
			t.Fatalf("got %+v, %v, want %+v", got, err, s)
		}
		if got, err = p.Parse(body); err != nil || got != s {
			t.Fatalf("Parser: got %+v, %v, want %+v", got, err, s)
		}
	})
}

// TestGapIsRoundedUp: a bound may grow on its way, never shrink.
func TestGapIsRoundedUp(t *testing.T) {
	t.Parallel()
	for gap, want := range map[int64]int64{0: 0, -5: 0, 1: 2, 2: 2, 3: 4, 100: 128, 1 << 40: 1 << 40, math.MaxInt64: 1 << 62} {
		s := testStamp()
		s.Gap = gap
		got, err := Parse(s.Append(nil))
		if err != nil || got.Gap != want {
			t.Errorf("gap %d: got %d, %v, want %d", gap, got.Gap, err, want)
		}
	}
}

// TestEveryDamageIsSeen flips every bit, and cuts at every length.
func TestEveryDamageIsSeen(t *testing.T) {
	t.Parallel()
	for _, run := range []string{testRun, "some run"} {
		s := testStamp()
		s.Run = run
		b := s.Append(nil)
		for bit := range 8 * len(b) {
			d := bytes.Clone(b)
			d[bit/8] ^= 1 << (bit % 8)
			if got, err := Parse(d); !errors.Is(err, ErrNoStamp) {
				t.Errorf("bit %d flipped: got %+v, %v", bit, got, err)
			}
		}
		for n := range b {
			if _, err := Parse(b[:n]); !errors.Is(err, ErrNoStamp) {
				t.Errorf("cut to %d bytes: %v", n, err)
			}
		}
	}
}

// TestStrict has stamps whose checksum is right and whose content is not.
func TestStrict(t *testing.T) {
	t.Parallel()
	stamp := testStamp()
	stamp.Run = "abcdefghijklmnopqrstuvwxyz0123456789" // as long as a UUID's text
	text, uuid := stamp.Append(nil), testStamp().Append(nil)
	put := func(at int, v ...byte) func([]byte) { return func(b []byte) { copy(b[at:], v) } }
	put64 := func(at int, v uint64) func([]byte) { return func(b []byte) { binary.BigEndian.PutUint64(b[at:], v) } }
	for name, tt := range map[string]struct {
		from  []byte
		spoil func([]byte)
	}{
		"version 2":            {uuid, put(4, 2)},
		"version 0":            {uuid, put(4, 0)},
		"kind of run":          {uuid, put(5, 2)},
		"gap":                  {uuid, put(7, 63)},
		"negative sender":      {uuid, put(12, 0x80)},
		"negative producer":    {uuid, put(16, 0x80)},
		"negative attempt":     {uuid, put(20, 0x80)},
		"negative seq":         {uuid, put(24, 0x80)},
		"intended is NULL":     {uuid, put64(32, 1<<63)},
		"sent is NULL":         {uuid, put64(40, 1<<63)},
		"control character":    {text, put(fixedSize, '\n')},
		"invalid UTF-8":        {text, put(fixedSize, 0xff)},
		"UUID as text":         {text, put(fixedSize, []byte(testRun)...)},
		"text of 36 as a UUID": {text, put(5, runUUID)},
	} {
		b := bytes.Clone(tt.from)
		tt.spoil(b)
		seal(b)
		if got, err := Parse(b); !errors.Is(err, ErrNoStamp) {
			t.Errorf("%s: got %+v, %v", name, got, err)
		}
		if got, err := new(Parser).Parse(b); !errors.Is(err, ErrNoStamp) {
			t.Errorf("%s: Parser: got %+v, %v", name, got, err)
		}
	}
}

func TestValidRun(t *testing.T) {
	t.Parallel()
	for run, ok := range map[string]bool{
		testRun: true, "r": true, "Lauf 7 – abends": true, strings.Repeat("x", MaxRun): true,
		"": false, strings.Repeat("x", MaxRun+1): false, "a\x00b": false, "a\nb": false, "\xff": false, "\u0085": false,
	} {
		if err := ValidRun(run); (err == nil) != ok {
			t.Errorf("%q: %v", run, err)
		}
	}
}

// Not parallel: it counts allocations of the process
func TestParserDoesNotAllocate(t *testing.T) {
	var p Parser
	other := testStamp()
	other.Run = "another run"
	a, b := testStamp().Append(nil), other.Append(nil)
	n := testing.AllocsPerRun(1000, func() {
		for _, body := range [][]byte{a, a, b} {
			if _, err := p.Parse(body); err != nil {
				t.Fatal(err)
			}
		}
	})
	if n != 0 {
		t.Errorf("%v allocations for three stamps", n)
	}
	buf := make([]byte, 0, MaxSize)
	if n := testing.AllocsPerRun(1000, func() { buf = other.Append(buf[:0]) }); n != 0 {
		t.Errorf("%v allocations to make a stamp", n)
	}
}

// TestParserIsBounded: bodies of strangers cannot fill the memory.
func TestParserIsBounded(t *testing.T) {
	t.Parallel()
	var p Parser
	s := testStamp()
	for i := range 10 * parserRuns {
		s.Run = "run " + hex.EncodeToString([]byte{byte(i >> 8), byte(i)})
		if got, err := p.Parse(s.Append(nil)); err != nil || got != s {
			t.Fatalf("%+v, %v", got, err)
		}
	}
	if len(p.names) > parserRuns {
		t.Errorf("%d runs are remembered", len(p.names))
	}
}

func FuzzParseStamp(f *testing.F) {
	s := testStamp()
	f.Add(s.Append(nil))
	s.Run = "text"
	f.Add(append(s.Append(nil), "rest of a body"...))
	f.Fuzz(func(t *testing.T, body []byte) {
		// A mutated stamp would always fail at its checksum.
		if len(body) >= fixedSize && fixedSize+int(body[6]) <= len(body) {
			seal(body[:fixedSize+int(body[6])])
		}
		s, err := Parse(body)
		if err != nil {
			if !errors.Is(err, ErrNoStamp) || s != (Stamp{}) {
				t.Fatalf("%+v, %v", s, err)
			}
			return
		}
		if ValidRun(s.Run) != nil || !utf8.ValidString(s.Run) {
			t.Fatalf("run %q", s.Run)
		}
		if b := s.Append(nil); !bytes.HasPrefix(body, b) {
			t.Fatalf("%x parses to %+v, which is %x", body, s, b)
		}
	})
}

func BenchmarkParser(b *testing.B) {
	body := testStamp().Append(nil)
	var p Parser
	for b.Loop() {
		if _, err := p.Parse(body); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkAppend(b *testing.B) {
	s, buf := testStamp(), make([]byte, 0, MaxSize)
	for b.Loop() {
		buf = s.Append(buf[:0])
	}
}
