package wire

import (
	"bytes"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"
)

func performatives() []Performative {
	long := strings.Repeat("x", 300) // forces the long forms
	cond := &Error{Condition: CondNotFound, Description: long, Info: Map{{Symbol("k"), int32(5)}}}
	tx := State{Kind: CodeTransactional, TxnID: []byte{1, 2}, Outcome: &State{Kind: CodeRejected, Error: cond}}
	src := &Source{Address: Some("a"), Durable: DurableUnsettled, ExpiryPolicy: "never", Timeout: 9, Dynamic: true,
		DynamicProperties: Map{{Symbol("p"), "v"}}, DistributionMode: "copy",
		Filter:         Map{{Symbol("f"), Described{Symbol("apache.org:selector-filter:string"), "x=1"}}},
		DefaultOutcome: Described{uint64(CodeReleased), List{}}, Outcomes: []Symbol{"amqp:accepted:list"}, Capabilities: []Symbol{"queue", "b"}}
	return []Performative{
		&Open{ContainerID: "c", Hostname: "h", MaxFrameSize: Some(uint32(512)), ChannelMax: Some(uint16(1)), IdleTimeout: Some(uint32(0)),
			OutgoingLocales: []Symbol{"en-US"}, OfferedCapabilities: []Symbol{"a", "b"}, Properties: Map{{Symbol("product"), "x"}}},
		&Open{},
		&Begin{RemoteChannel: Some(uint16(0)), NextOutgoingID: 1<<32 - 1, IncomingWindow: 3, OutgoingWindow: 4, HandleMax: Some(uint32(7)), Properties: Map{}},
		&Attach{Name: long, Handle: 3, Role: RoleReceiver, SndSettleMode: Some(SenderMixed), RcvSettleMode: Some(ReceiverSecond), Source: src,
			Target: &Target{Address: Some(""), Capabilities: []Symbol{"topic"}}, Unsettled: Map{{[]byte{1}, nil}}, IncompleteUnsettled: true,
			InitialDeliveryCount: Some(uint32(0)), MaxMessageSize: 1 << 40, Properties: Map{{Symbol("x"), uint8(1)}}},
		&Attach{Name: "coordinator", Coordinator: &Coordinator{Capabilities: []Symbol{"amqp:local-transactions"}}, Source: &Source{}},
		&Flow{NextIncomingID: Some(uint32(0)), IncomingWindow: 1, NextOutgoingID: 2, OutgoingWindow: 3, Handle: Some(uint32(0)),
			DeliveryCount: Some(uint32(1<<32 - 1)), LinkCredit: Some(uint32(0)), Available: Some(uint32(300)), Drain: true, Echo: true},
		&Flow{},
		&Transfer{Handle: 300, DeliveryID: Some(uint32(0)), DeliveryTag: []byte{}, MessageFormat: Some(uint32(1)), Settled: Some(true), More: true,
			RcvSettleMode: Some(ReceiverFirst), State: tx, Resume: true, Aborted: true, Batchable: true, Payload: []byte("p")},
		&Transfer{State: State{Kind: CodeReceived, SectionNumber: 4, SectionOffset: 1 << 40}},
		&Disposition{First: 5, State: State{Kind: CodeModified, DeliveryFailed: true, UndeliverableHere: true, Annotations: Map{{Symbol("a"), nil}}}, Batchable: true},
		&Disposition{Role: RoleReceiver, First: 1, Last: Some(uint32(0)), State: State{Kind: CodeDeclared, TxnID: []byte(long)}},
		&Detach{Handle: 1, Closed: true, Error: cond}, &Detach{},
		&End{Error: cond}, &Close{Error: &Error{Condition: CondConnectionForced}}, &Close{},
		&SASLMechanisms{Mechanisms: []Symbol{MechAnonymous, MechPlain}}, &SASLInit{Mechanism: MechPlain, InitialResponse: []byte("\x00u\x00p"), Hostname: "h"},
		&SASLChallenge{Challenge: []byte{1}}, &SASLResponse{Response: []byte{}}, &SASLOutcome{Code: SASLSysTemp, AdditionalData: []byte{1}},
	}
}

func TestPerformativesRoundTrip(t *testing.T) {
	t.Parallel()
	for _, p := range performatives() {
		typ := FrameAMQP
		if strings.Contains(reflect.TypeOf(p).String(), "SASL") {
			typ = FrameSASL
		}
		b := AppendFrame([]byte("before"), typ, 9, p)
		f, n, err := Cut(b[6:], 1<<20)
		if err != nil || n != len(b)-6 || f.Channel != 9 {
			t.Fatalf("%T: cut %d of %d: %v", p, n, len(b)-6, err)
		}
		got, err := Parse(f)
		if err != nil {
			t.Errorf("%T: %v", p, err)
			continue
		}
		if tr, ok := got.(*Transfer); ok && len(tr.Payload) == 0 {
			tr.Payload = nil // an empty view is as good as none
		}
		if d := cmp.Diff(p, got); d != "" {
			t.Errorf("%T: %s", p, d)
		}
		f.Type = 1 - f.Type
		if _, err := Parse(f); err == nil {
			t.Errorf("%T is accepted in a frame of the wrong type", p)
		}
		for cut := range f.Body {
			if _, err := Parse(Frame{Type: typ, Body: f.Body[:cut]}); err == nil && typ == FrameSASL {
				t.Errorf("%T cut at %d of %d is accepted", p, cut, len(f.Body))
			}
		}
	}
}

func anyValue(depth int) *rapid.Generator[any] {
	gens := []*rapid.Generator[any]{
		rapid.Just[any](nil), rapid.Bool().AsAny(), rapid.Uint8().AsAny(), rapid.Uint16().AsAny(), rapid.Uint32().AsAny(), rapid.Uint64().AsAny(),
		rapid.Int8().AsAny(), rapid.Int16().AsAny(), rapid.Int32().AsAny(), rapid.Int64().AsAny(), rapid.Float32().AsAny(), rapid.Float64().AsAny(),
		rapid.String().AsAny(), rapid.SliceOfN(rapid.Byte(), 0, 300).AsAny(),
		rapid.Map(rapid.StringMatching(`[a-z:]{0,300}`), func(s string) any { return Symbol(s) }),
		rapid.Map(rapid.Int64(), func(v int64) any { return Timestamp(v) }),
		rapid.Map(rapid.Uint64(), func(v uint64) any { return UUID{byte(v), byte(v >> 8)} }),
		rapid.Map(rapid.Int32(), func(v int32) any { return Char(v) }),
	}
	if depth > 0 {
		e := anyValue(depth - 1)
		gens = append(gens,
			rapid.Map(rapid.SliceOfN(e, 0, 300), func(v []any) any { return List(v) }),
			rapid.Map(rapid.SliceOfN(e, 2, 2), func(v []any) any { return Described{v[0], v[1]} }),
			rapid.Map(rapid.SliceOfN(e, 0, 20), func(v []any) any {
				m := Map{}
				for i := 0; i+1 < len(v); i += 2 {
					m = append(m, Entry{v[i], v[i+1]})
				}
				return m
			}))
	}
	return rapid.OneOf(gens...)
}

func TestValuesRoundTrip(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		v := anyValue(2).Draw(t, "v")
		b := AppendValue(nil, v)
		r := NewReader(append(b, 0x41))
		got := r.Value()
		if r.Err() != nil || len(r.Rest()) != 1 {
			t.Fatalf("error %v, %d left", r.Err(), len(r.Rest()))
		}
		if again := AppendValue(nil, got); !bytes.Equal(b, again) { // also true of NaN
			t.Fatalf("% x became % x", b, again)
		}
		if s := NewReader(b); true {
			if s.Skip(); s.Err() != nil || len(s.Rest()) != 0 {
				t.Fatalf("skip: %v", s.Err())
			}
		}
	})
}

func TestMessageRoundTrip(t *testing.T) {
	t.Parallel()
	for name, m := range map[string]Message{
		"all": {
			Header:              &Header{Durable: true, Priority: Some(uint8(9)), TTL: Some(uint32(0)), FirstAcquirer: true, DeliveryCount: 3},
			DeliveryAnnotations: Map{{Symbol("d"), uint32(1)}}, MessageAnnotations: Map{{Symbol("m"), Timestamp(1)}},
			Properties: &Properties{MessageID: uint64(7), UserID: []byte("u"), To: Some("t"), Subject: Some(""), ReplyTo: Some("r"), CorrelationID: UUID{1},
				ContentType: "text/plain", ContentEncoding: "gzip", AbsoluteExpiryTime: Some(Timestamp(5)), CreationTime: Some(Timestamp(0)),
				GroupID: Some("g"), GroupSequence: Some(uint32(0)), ReplyToGroupID: Some("rg")},
			ApplicationProperties: Map{{"a", "b"}}, Data: [][]byte{[]byte("one"), bytes.Repeat([]byte{1}, 300)}, Footer: Map{{Symbol("crc"), uint32(1)}}},
		"value": {Value: Some[any](nil)}, "sequence": {Sequence: []List{{uint32(1)}, {}}}, "none": {},
	} {
		var got Message
		if err := got.Decode(m.Append(nil)); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if d := cmp.Diff(m, got); d != "" {
			t.Errorf("%s: %s", name, d)
		}
		data, ok := FirstData(m.Append(nil))
		if ok != (name == "all") || ok && string(data) != "one" {
			t.Errorf("%s: first data %q, %v", name, data, ok)
		}
	}
	h, d := (&Header{}).Append(nil), AppendData(nil, []byte("x"))
	v := AppendValue(appendDescriptor(nil, CodeValue), "x")
	for name, b := range map[string][]byte{"header twice": append(bytes.Clone(h), h...), "header last": append(bytes.Clone(d), h...),
		"two kinds of body": append(bytes.Clone(d), v...), "no section": {0x41}, "value twice": append(bytes.Clone(v), v...)} {
		if err := new(Message).Decode(b); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestHotPathDoesNotAllocate(t *testing.T) {
	tr := Transfer{Handle: 1, DeliveryID: Some(uint32(70000)), DeliveryTag: []byte{1, 2, 3, 4}, MessageFormat: Some(uint32(0)), Payload: make([]byte, 1024)}
	fl := Flow{IncomingWindow: 1 << 20, OutgoingWindow: 1 << 20, Handle: Some(uint32(1)), LinkCredit: Some(uint32(1000))}
	di := Disposition{Role: RoleReceiver, First: 1, Last: Some(uint32(99)), Settled: true, State: StateOf(CodeAccepted)}
	buf := make([]byte, 0, 8192)
	got := testing.AllocsPerRun(100, func() {
		b, at := BeginFrame(buf[:0], FrameAMQP, 1)
		b = EndFrame(tr.Append(b), at)
		f, _, err := Cut(b, 1<<20)
		if err == nil {
			err = tr.Decode(f.Body)
		}
		b = fl.Append(b)
		b2 := len(b)
		b = di.Append(b)
		if err != nil || di.Decode(b[b2:]) != nil {
			t.Fatal("decode failed")
		}
	})
	if got != 0 {
		t.Errorf("%v allocations", got)
	}
}

// TestSkipNestedDescriptors: a descriptor may be described; what is nested too deep is refused, in either place.
func TestSkipNestedDescriptors(t *testing.T) {
	t.Parallel()
	r := NewReader(AppendValue(nil, Described{Described{false, uint8(7)}, Described{Symbol("x"), "y"}}))
	if r.Skip(); r.Err() != nil || len(r.Rest()) != 0 {
		t.Errorf("%v, %d bytes left", r.Err(), len(r.Rest()))
	}
	for name, deep := range map[string][]byte{
		"descriptors": bytes.Repeat([]byte{0x00}, 1_000_000),
		"values":      bytes.Repeat([]byte{0x00, 0x40}, 1_000_000),
	} {
		r := NewReader(deep)
		if r.Skip(); r.Err() == nil {
			t.Errorf("%s: accepted", name)
		}
	}
}
