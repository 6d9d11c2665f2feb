package message_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/message"
	"amqpperf/internal/amqp/wire"
)

func template(t testing.TB, s string) message.Template {
	t.Helper()
	out, err := message.ParseTemplate(s)
	if err != nil {
		t.Fatal(err)
	}
	return out
}

func pairs(t testing.TB, texts ...string) (out []message.Pair) {
	t.Helper()
	for _, s := range texts {
		p, err := message.ParsePair(s)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, p)
	}
	return out
}

// decode encodes the sections of a message and takes them apart again.
func decode(t testing.TB, s *message.Spec, producer int32, stamp message.Stamper, seq int64) wire.Message {
	t.Helper()
	e, err := s.New(producer, stamp)
	if err != nil {
		t.Fatal(err)
	}
	b := e.AppendSections([]byte("before"), &amqp.Message{Seq: seq})
	if string(b[:6]) != "before" {
		t.Fatal("what was there is gone")
	}
	var m wire.Message
	if err := m.Decode(wire.AppendData(b[6:], []byte("body"))); err != nil {
		t.Fatalf("%v: %x", err, b)
	}
	return m
}

// Every option shows in the bytes, decoded by the package that reads those of
// brokers, and nothing else does.
func TestEverything(t *testing.T) {
	t.Parallel()
	id, err := message.ParseMessageID("ulong:{seq}")
	if err != nil {
		t.Fatal(err)
	}
	s := message.Spec{
		Durable: true, Priority: 9, TTL: 1500 * time.Millisecond, MessageID: id, ContentType: "text/plain",
		Subject: template(t, "news of {producer}"), Group: template(t, "g{random:7|7}"),
		Annotations: pairs(t, "x-opt-key=k{seq}", "x-opt-n:int=-5"),
		Properties: pairs(t, "s=text", "empty=", "sy:symbol=sym{seq}", "bin:binary=\x01b", "t:boolean=true", "b:byte=-128", "sh:short=-32768",
			"i:int=-2147483648", "l:long={seq}", "ub:ubyte=255", "us:ushort=65535", "ui:uint={producer}", "ul:ulong=18446744073709551615",
			"f:float=1.5", "d:double=-0.25", "ts:timestamp=1700000000000", "braces={{}}", "a:b:string=c:d=e", "one:long={random:5|5}"),
	}
	got := decode(t, &s, 3, nil, 1<<40)
	want := wire.Message{
		Header:             &wire.Header{Durable: true, Priority: wire.Some(uint8(9)), TTL: wire.Some(uint32(1500))},
		MessageAnnotations: wire.Map{{Key: wire.Symbol("x-opt-key"), Value: "k1099511627776"}, {Key: wire.Symbol("x-opt-n"), Value: int32(-5)}},
		Properties: &wire.Properties{
			MessageID: uint64(1 << 40), Subject: wire.Some("news of 3"), ContentType: "text/plain", GroupID: wire.Some("g7"),
		},
		ApplicationProperties: wire.Map{
			{Key: "s", Value: "text"}, {Key: "empty", Value: ""}, {Key: "sy", Value: wire.Symbol("sym1099511627776")}, {Key: "bin", Value: []byte("\x01b")},
			{Key: "t", Value: true}, {Key: "b", Value: int8(-128)}, {Key: "sh", Value: int16(-32768)}, {Key: "i", Value: int32(math.MinInt32)},
			{Key: "l", Value: int64(1 << 40)}, {Key: "ub", Value: uint8(255)}, {Key: "us", Value: uint16(65535)}, {Key: "ui", Value: uint32(3)},
			{Key: "ul", Value: uint64(math.MaxUint64)}, {Key: "f", Value: float32(1.5)}, {Key: "d", Value: -0.25},
			{Key: "ts", Value: wire.Timestamp(1_700_000_000_000)}, {Key: "braces", Value: "{}"}, {Key: "a:b", Value: "c:d=e"}, {Key: "one", Value: int64(5)},
		},
		Data: [][]byte{[]byte("body")},
	}
	if d := cmp.Diff(want, got); d != "" {
		t.Error(d)
	}
}

// Without options there is a header and nothing else.
func TestPlain(t *testing.T) {
	t.Parallel()
	s := message.Spec{Priority: message.DefaultPriority}
	want := wire.Message{Header: &wire.Header{Priority: wire.Some(uint8(4))}, Data: [][]byte{[]byte("body")}}
	if d := cmp.Diff(want, decode(t, &s, 0, nil, 0)); d != "" || !s.Plain() {
		t.Errorf("%s, plain %t", d, s.Plain())
	}
	s.Group = template(t, "g")
	if s.Plain() {
		t.Error("a group is not plain")
	}
}

// Texts of every length go through the seam between short and long encodings.
func TestLengths(t *testing.T) {
	t.Parallel()
	for n := range 300 {
		text := strings.Repeat("x", n)
		for _, typ := range []string{"string", "symbol", "binary"} {
			s := message.Spec{Properties: pairs(t, "k:"+typ+"="+text+"{seq}")}
			got := decode(t, &s, 0, nil, 7).ApplicationProperties[0].Value
			var want any = text + "7"
			switch typ {
			case "symbol":
				want = wire.Symbol(text + "7")
			case "binary":
				want = []byte(text + "7")
			}
			if d := cmp.Diff(want, got); d != "" {
				t.Fatalf("%s of %d: %s", typ, n+1, d)
			}
		}
	}
}

type stamp string

func (s stamp) AppendStamp(dst []byte, m *amqp.Message) []byte {
	return append(append(dst, s...), byte('0'+m.Seq))
}

// A stamp stands in the application properties, whatever else does.
func TestStamp(t *testing.T) {
	t.Parallel()
	for _, length := range []int{10, 300} {
		text := strings.Repeat("s", length)
		for _, s := range []message.Spec{{}, {Properties: pairs(t, "a=b")}} {
			m := decode(t, &s, 0, stamp(text), 5)
			v, ok := m.ApplicationProperties.Get(amqp.StampKey)
			if b, is := v.([]byte); !ok || !is || string(b) != text+"5" || len(m.ApplicationProperties) != 1+len(s.Properties) {
				t.Errorf("%v", m.ApplicationProperties)
			}
		}
	}
}

// What is drawn depends on seed, producer, seq and place only, and is even.
func TestRandom(t *testing.T) {
	t.Parallel()
	draw := func(seed uint64, producer int32) (counts map[string]int, all string) {
		s := message.Spec{Seed: seed, Properties: pairs(t, "a={random:x|y|z}", "b=-{random:x|y|z}")}
		e, err := s.New(producer, nil)
		if err != nil {
			t.Fatal(err)
		}
		counts = map[string]int{}
		for seq := range int64(9000) {
			var m wire.Message
			if err := m.Decode(wire.AppendData(e.AppendSections(nil, &amqp.Message{Seq: seq, Attempt: int32(seq % 3)}), nil)); err != nil {
				t.Fatal(err)
			}
			a, b := m.ApplicationProperties[0].Value.(string), m.ApplicationProperties[1].Value.(string)
			counts[a+b]++
			all += a
		}
		return counts, all
	}
	counts, all := draw(1, 2)
	if len(counts) != 9 {
		t.Errorf("%v", counts)
	}
	for k, n := range counts {
		if n < 850 || n > 1150 { // 1000 expected, 5 standard deviations are 150
			t.Errorf("%s: %d of 9000", k, n)
		}
	}
	if _, again := draw(1, 2); again != all {
		t.Error("another draw is another one")
	}
	if _, other := draw(2, 2); other == all {
		t.Error("the seed changes nothing")
	}
	if _, other := draw(1, 3); other == all {
		t.Error("the producer changes nothing")
	}
}

func TestRefused(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"":                           "KEY=VALUE",
		"k":                          "KEY=VALUE",
		"=v":                         "KEY=VALUE",
		":int=1":                     "no key",
		"k:blob=1":                   `type "blob" is unknown`,
		"k:int=x":                    "no such number",
		"k:ubyte=256":                "no such number",
		"k:int={seq}":                "take long",
		"k:int=1{seq}":               "nothing around it",
		"k:boolean=yes":              "neither",
		"k:float=NaN":                "no such number",
		"k:double=Inf":               "no such number",
		"k:long={random:1|x}":        "no such number",
		"k:symbol=ä":                 "ASCII",
		"k:symbol={seq}{random:a|ä}": "ASCII",
		"k={seq":                     "single",
		"k=}":                        "single",
		"k={random:a}":               "at least two",
		"k={sequence}":               "there are {seq}",
		"k=\xff":                     "UTF-8",
		"\xff=v":                     "UTF-8",
	} {
		if _, err := message.ParsePair(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: got %v, want %s", text, err, want)
		}
	}
	for want, s := range map[string]message.Spec{
		"twice":      {Properties: pairs(t, "a=1", "a=2")},
		"own stamp":  {Properties: pairs(t, amqp.StampKey+"=1")},
		"symbol":     {Annotations: pairs(t, "ä=1")},
		"whole ms":   {TTL: time.Microsecond},
		"live of -1": {TTL: -time.Second},
		"1193h":      {TTL: 2000 * time.Hour},
		"message-id": {MessageID: message.Value{Type: "int", Template: template(t, "1")}},
		"content-ty": {ContentType: "ä"},
	} {
		if err := s.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if _, err := message.ParseMessageID("ulong:x"); err == nil {
		t.Error("x is no ulong")
	}
}

func TestMessageID(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]any{
		"{producer}-{seq}": "2-9", "ulong:{seq}": uint64(9), "binary:{seq}": []byte("9"), "string:ulong:1": "ulong:1", "urn:x": "urn:x",
	} {
		id, err := message.ParseMessageID(text)
		if err != nil {
			t.Fatal(err)
		}
		s := message.Spec{MessageID: id}
		if d := cmp.Diff(want, decode(t, &s, 2, nil, 9).Properties.MessageID); d != "" {
			t.Errorf("%s: %s", text, d)
		}
	}
}

func TestNoAllocation(t *testing.T) {
	s := message.Spec{
		Priority: 4, Subject: template(t, "s{seq}"), MessageID: message.Value{Template: template(t, "{producer}-{seq}")},
		Properties: pairs(t, "a:long={seq}", "b={random:x|y}", "c=d"), Annotations: pairs(t, "e=f"),
	}
	e, err := s.New(1, nil)
	if err != nil {
		t.Fatal(err)
	}
	m := amqp.Message{Seq: 1 << 33}
	b := make([]byte, 0, 1024)
	if n := testing.AllocsPerRun(100, func() { b = e.AppendSections(b[:0], &m) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// Whatever is accepted is encoded so that it decodes, and is printed so that it
// reads back to the same.
func FuzzParsePair(f *testing.F) {
	for _, s := range []string{"a=b", "k:long={seq}", "k:symbol=x{producer}", "k={random:a|b|}", "k={{}}", "a:b:binary=={seq}", "k:boolean={random:true|false}"} {
		f.Add(s, int64(5))
	}
	f.Fuzz(func(t *testing.T, text string, seq int64) {
		p, err := message.ParsePair(text)
		if err != nil {
			return
		}
		again, err := message.ParsePair(p.String())
		if err != nil || again.String() != p.String() {
			t.Fatalf("%q is printed as %q: %v", text, p, err)
		}
		s := message.Spec{Properties: []message.Pair{p}}
		e, err := s.New(1, nil)
		if err != nil {
			if p.Key == amqp.StampKey {
				return
			}
			t.Fatal(err)
		}
		var m wire.Message
		b := e.AppendSections(nil, &amqp.Message{Seq: seq})
		if err := m.Decode(wire.AppendData(b, nil)); err != nil || len(m.ApplicationProperties) != 1 || m.ApplicationProperties[0].Key != p.Key {
			t.Fatalf("%q: %v, %v from %x", text, err, m.ApplicationProperties, b)
		}
	})
}
