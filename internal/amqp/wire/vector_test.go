package wire

import (
	"bytes"
	"encoding/hex"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

func unhex(t testing.TB, s string) []byte {
	t.Helper()
	b, err := hex.DecodeString(strings.Join(strings.Fields(s), ""))
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// The two worked examples of part 1, figures 1.2 and 1.4 (described URL, and the
// book as a described list with an array of authors).
func TestSpecificationExamples(t *testing.T) {
	t.Parallel()
	url := append(unhex(t, "00 a1 03 55524c a1 1e"), "http://example.org/hello-world"...)
	got := NewReader(url).Value()
	if d := cmp.Diff(Described{Descriptor: "URL", Value: "http://example.org/hello-world"}, got); d != "" {
		t.Error(d)
	}
	book := append(unhex(t, "00 a3 11"), "example:book:list"...)
	book = append(book, unhex(t, "c0 40 03 a1 15")...)
	book = append(book, "AMQP for & by Dummies"...)
	book = append(book, unhex(t, "e0 25 02 a1 0e")...)
	book = append(book, "Rob J. Godfrey"...)
	book = append(append(book, 0x13), "Rafael H. Schloming"...)
	book = append(book, 0x40)
	r := NewReader(book)
	d, ok := r.Value().(Described)
	if !ok || r.Err() != nil || len(r.Rest()) != 0 {
		t.Fatalf("book: %v, error %v, %d bytes left", d, r.Err(), len(r.Rest()))
	}
	l := d.Value.(List)
	authors, err := l[1].(Array).Values()
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(List{"Rob J. Godfrey", "Rafael H. Schloming"}, authors); diff != "" {
		t.Error(diff)
	}
	if l[0] != "AMQP for & by Dummies" || l[2] != nil || d.Descriptor != Symbol("example:book:list") {
		t.Errorf("book: %v", d)
	}
}

// Every encoding of part 1, section 1.6, with the value it must give.
func TestPrimitiveVectors(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		want any
	}{
		{"40", nil}, {"41", true}, {"42", false}, {"56 00", false}, {"56 01", true},
		{"50 ff", uint8(255)}, {"60 0102", uint16(258)}, {"70 00000100", uint32(256)}, {"52 ff", uint32(255)}, {"43", uint32(0)},
		{"80 0000000000000100", uint64(256)}, {"53 01", uint64(1)}, {"44", uint64(0)},
		{"51 ff", int8(-1)}, {"61 ff00", int16(-256)}, {"71 ffffff00", int32(-256)}, {"54 80", int32(-128)},
		{"81 ffffffffffffff00", int64(-256)}, {"55 ff", int64(-1)},
		{"72 3f800000", float32(1)}, {"82 3ff0000000000000", float64(1)},
		{"74 00000001", Decimal32(1)}, {"84 0000000000000002", Decimal64(2)},
		{"94 00000000000000000000000000000003", Decimal128{15: 3}},
		{"73 0001f600", Char(0x1f600)}, {"83 ffffffffffffffff", Timestamp(-1)},
		{"98 000102030405060708090a0b0c0d0e0f", UUID{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}},
		{"a0 02 0102", []byte{1, 2}}, {"b0 00000001 07", []byte{7}},
		{"a1 02 c3a9", "é"}, {"b1 00000001 61", "a"}, {"a3 01 61", Symbol("a")}, {"b3 00000001 61", Symbol("a")},
		{"45", List{}}, {"c0 03 02 41 43", List{true, uint32(0)}}, {"d0 00000005 00000001 40", List{nil}},
		{"c1 04 02 a30161", nil}, // cut: an error, see below
		{"c1 05 02 a30161 41", Map{{Symbol("a"), true}}}, {"d1 00000006 00000002 40 41", Map{{nil, true}}},
		{"e0 04 02 50 0102", Array{Code: 0x50, N: 2, Data: []byte{1, 2}}},
		{"f0 00000005 00000003 41", Array{Code: 0x41, N: 3, Data: []byte{}}},
		{"00 53 24 45", Described{uint64(0x24), List{}}},
	} {
		r := NewReader(unhex(t, c.in))
		got := r.Value()
		if c.in == "c1 04 02 a30161" {
			if r.Err() == nil {
				t.Errorf("%s: no error", c.in)
			}
			continue
		}
		if r.Err() != nil || len(r.Rest()) != 0 {
			t.Errorf("%s: error %v, %d bytes left", c.in, r.Err(), len(r.Rest()))
		}
		if d := cmp.Diff(c.want, got); d != "" {
			t.Errorf("%s: %s", c.in, d)
		}
		skip := NewReader(unhex(t, c.in))
		if skip.Skip(); skip.Err() != nil || len(skip.Rest()) != 0 {
			t.Errorf("%s: skip: error %v, %d bytes left", c.in, skip.Err(), len(skip.Rest()))
		}
	}
}

// Frames as other implementations send them: list32 where list8 would do, nulls
// spelled out, symbolic descriptors.
func TestForeignEncodings(t *testing.T) {
	t.Parallel()
	var begin Begin
	err := begin.Decode(unhex(t, "00 80 0000000000000011 d0 00000010 00000005 40 43 70 00000800 52 ff 70 0000000a"))
	if err == nil {
		t.Error("begin with a list one byte short of its size: no error")
	}
	err = begin.Decode(unhex(t, "00 80 0000000000000011 d0 00000012 00000005 40 43 70 00000800 52 ff 70 0000000a"))
	if d := cmp.Diff(Begin{IncomingWindow: 2048, OutgoingWindow: 255, HandleMax: Some(uint32(10))}, begin); d != "" || err != nil {
		t.Errorf("begin: %v %s", err, d)
	}
	var end End
	body := append(unhex(t, "00 a3 0d"), "amqp:end:list"...)
	if err := end.Decode(append(body, 0x45)); err != nil || end.Error != nil {
		t.Errorf("symbolic end: %v, %v", err, end.Error)
	}
	var d Disposition
	err = d.Decode(unhex(t, "00 53 15 c0 0c 05 41 43 52 09 41 00 53 24 c0 01 00")) // accepted as an empty list8
	want := Disposition{Role: RoleReceiver, Last: Some(uint32(9)), Settled: true, State: StateOf(CodeAccepted)}
	if diff := cmp.Diff(want, d); diff != "" || err != nil {
		t.Errorf("disposition: %v %s", err, diff)
	}
	var m SASLMechanisms
	if err := m.Decode(unhex(t, "00 53 40 c0 08 01 a3 05 504c41494e")); err != nil || len(m.Mechanisms) != 1 || m.Mechanisms[0] != MechPlain {
		t.Errorf("one mechanism without an array: %v, %v", m, err)
	}
}

func TestEncodedBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name string
		p    Performative
		want string
	}{
		{"transfer", &Transfer{Handle: 1, DeliveryID: Some(uint32(256)), DeliveryTag: []byte{7}, MessageFormat: Some(uint32(0)), Settled: Some(false), Payload: []byte{0xaa}},
			"00 53 14 c0 0d 05 52 01 70 00000100 a0 01 07 43 42 aa"},
		{"disposition", &Disposition{Role: RoleReceiver, First: 3, Last: Some(uint32(4)), Settled: true, State: StateOf(CodeAccepted)},
			"00 53 15 c0 0b 05 41 52 03 52 04 41 00 53 24 45"},
		{"flow", &Flow{IncomingWindow: 5, NextOutgoingID: 0, OutgoingWindow: 1, Handle: Some(uint32(0)), DeliveryCount: Some(uint32(0)), LinkCredit: Some(uint32(10))},
			"00 53 13 c0 0b 07 40 52 05 43 52 01 43 43 52 0a"},
		{"end", &End{}, "00 53 17 45"},
		{"outcome", &SASLOutcome{Code: SASLAuth}, "00 53 44 c0 03 01 50 01"},
	} {
		if got := c.p.Append(nil); !bytes.Equal(got, unhex(t, c.want)) {
			t.Errorf("%s: % x", c.name, got)
		}
	}
	f := AppendFrame(nil, FrameAMQP, 0x0102, &End{})
	if !bytes.Equal(f, unhex(t, "0000000c 02 00 0102 00531745")) {
		t.Errorf("frame: % x", f)
	}
}

func TestCutBounds(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		in   string
		n    int
		fail bool
	}{
		{"", 0, false}, {"00000008 02 00 00", 0, false}, {"00000008 02 00 0000", 8, false},
		{"00000007 02 00 0000", 0, true},            // smaller than its header
		{"00000201 02 00 0000", 0, true},            // larger than max, refused before it is there
		{"00000008 01 00 0000", 0, true},            // data offset inside the header
		{"00000008 03 00 0000", 0, true},            // data offset behind the end
		{"00000008 02 02 0000", 0, true},            // type
		{"0000000c 03 00 0000 00000000", 12, false}, // extended header
		{"0000000d 02 00 0000 40", 0, false},
	} {
		f, n, err := Cut(unhex(t, c.in), 512)
		if n != c.n || (err != nil) != c.fail || err != nil && !errors.Is(err, ErrMalformed) || len(f.Body) != 0 {
			t.Errorf("%q: n %d, error %v, body % x", c.in, n, err, f.Body)
		}
	}
}

func TestHostileSizes(t *testing.T) { // not parallel: it counts allocations
	for name, in := range map[string]string{
		"list of 2^32-1 elements":    "d0 00000005 ffffffff 40",
		"map of 2^32-2 elements":     "d1 00000005 fffffffe 40",
		"map of an odd number":       "c1 04 03 40 40 40",
		"array of 2^32-1 bytes":      "f0 00000006 ffffffff 50 00",
		"binary of 4 GiB":            "b0 ffffffff 00",
		"size behind the end":        "c0 ff 01 40",
		"array without constructor":  "e0 01 01",
		"array of arrays, cut":       "e0 04 01 e0 05 01",
		"left over in a list":        "c0 03 01 40 40",
		"string that is not UTF-8":   "a1 01 ff",
		"boolean 2":                  "56 02",
		"reserved constructor":       "5f 00",
		"described without a value":  "00 53 24",
		"deep nesting of descriptor": strings.Repeat("00", 40) + "40",
		"deep nesting of lists":      nested(40),
	} {
		r := NewReader(unhex(t, in))
		got := testing.AllocsPerRun(1, func() { *r = Reader{b: unhex(t, in)}; r.Value() })
		if !errors.Is(r.Err(), ErrMalformed) || got > 200 {
			t.Errorf("%s: error %v after %v allocations", name, r.Err(), got)
		}
	}
	free := Array{Code: codeTrue, N: 1 << 30}
	if _, err := free.Values(); err == nil {
		t.Error("array of 2^30 free elements was decoded")
	}
}

func nested(n int) string {
	b := []byte{codeNull}
	for range n {
		b = append([]byte{codeList8, byte(len(b) + 1), 1}, b...)
	}
	return hex.EncodeToString(b)
}
