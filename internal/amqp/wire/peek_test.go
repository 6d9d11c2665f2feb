package wire

import "testing"

func TestMapInt(t *testing.T) {
	m := AppendValue(nil, Map{
		{Key: "text", Value: Map{{Key: Symbol("x"), Value: int64(1)}}}, {Key: uint64(5), Value: int64(9)}, {Key: Symbol("long"), Value: int64(-3_000_000_000)},
		{Key: Symbol("time"), Value: Timestamp(1_700_000_000_123)}, {Key: "ulong", Value: uint64(7)}, {Key: Symbol("zero"), Value: uint64(0)}, {Key: Symbol("small"), Value: int64(-2)},
	})
	for key, want := range map[string]int64{"long": -3_000_000_000, "time": 1_700_000_000_123, "ulong": 7, "zero": 0, "small": -2} {
		if v, ok := MapInt(m, key); !ok || v != want {
			t.Errorf("%s: %d, %v, want %d", key, v, ok, want)
		}
	}
	for _, key := range []string{"text", "x", "none", ""} {
		if v, ok := MapInt(m, key); ok {
			t.Errorf("%s: %d", key, v)
		}
	}
	for cut := range m { // no cut of it panics, or finds what is beyond
		if v, ok := MapInt(m[:cut], "small"); ok {
			t.Errorf("cut at %d: %d", cut, v)
		}
	}
	if n := testing.AllocsPerRun(100, func() { MapInt(m, "small") }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestContentType(t *testing.T) {
	full := (&Properties{MessageID: "id", UserID: []byte("u"), To: Some("to"), ContentType: "text/plain", GroupID: Some("g")}).Append(nil)
	if got := ContentType(full); string(got) != "text/plain" {
		t.Errorf("%q", got)
	}
	if got := ContentType((&Properties{ContentType: "a/b"}).Append(nil)); string(got) != "a/b" {
		t.Errorf("%q", got)
	}
	for _, p := range []Properties{{}, {To: Some("x")}, {GroupID: Some("g")}} {
		if got := ContentType(p.Append(nil)); got != nil {
			t.Errorf("%+v: %q", p, got)
		}
	}
	for cut := range full {
		ContentType(full[:cut])
	}
	if n := testing.AllocsPerRun(100, func() { ContentType(full) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestMapBinary(t *testing.T) {
	t.Parallel()
	long := make([]byte, 300)
	m := AppendValue(nil, Map{{uint8(1), "x"}, {"text", "x"}, {Symbol("a"), []byte{1}}, {"b", long}, {"none", []byte{}}})
	for key, want := range map[string]int{"a": 1, "b": 300, "none": 0, "text": -1, "missing": -1} {
		got := MapBinary(m, key)
		if (got == nil) != (want < 0) || want >= 0 && len(got) != want {
			t.Errorf("%s: %d bytes, nil %v", key, len(got), got == nil)
		}
	}
	for i := range m { // cut short: no panic, and nothing made up
		if got := MapBinary(m[:i], "a"); len(got) > 1 {
			t.Errorf("cut at %d: %x", i, got)
		}
	}
	if MapBinary(AppendValue(nil, "no map"), "a") != nil {
		t.Error("a binary in a text")
	}
}
