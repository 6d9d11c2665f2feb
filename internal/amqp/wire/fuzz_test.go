package wire

import (
	"bytes"
	"errors"
	"testing"
)

// FuzzFrames cuts and parses a stream of frames. What is accepted must survive
// encoding and parsing again, byte for byte from then on.
func FuzzFrames(f *testing.F) {
	var stream []byte
	for _, p := range performatives() {
		typ := FrameAMQP
		if _, err := Parse(Frame{Type: FrameSASL, Body: p.Append(nil)}); err == nil {
			typ = FrameSASL
		}
		b := AppendFrame(nil, typ, 1, p)
		f.Add(b)
		stream = append(stream, b...)
	}
	f.Add(AppendHeartbeat(stream))
	f.Fuzz(func(t *testing.T, b []byte) {
		for {
			fr, n, err := Cut(b, 1<<16)
			if err != nil && !errors.Is(err, ErrMalformed) {
				t.Fatalf("error of another kind: %v", err)
			}
			if n == 0 {
				return
			}
			b = b[n:]
			p, err := Parse(fr)
			if err != nil {
				continue
			}
			once := p.Append(nil)
			q, err := Parse(Frame{Type: fr.Type, Body: once})
			if err != nil {
				t.Fatalf("%T: own encoding refused: %v\n% x", p, err, once)
			}
			if twice := q.Append(nil); !bytes.Equal(once, twice) {
				t.Fatalf("%T: % x became % x", p, once, twice)
			}
		}
	})
}

// FuzzValue decodes any value; Skip must accept what Value accepts and stop at
// the same place.
func FuzzValue(f *testing.F) {
	f.Add([]byte{codeList8, 4, 2, codeTrue, codeUbyte, 1})
	f.Add([]byte{codeArray32, 0, 0, 0, 5, 255, 255, 255, 255, codeTrue})
	f.Add(bytes.Repeat([]byte{codeDescribed}, 50))
	f.Fuzz(func(t *testing.T, b []byte) {
		r := NewReader(b)
		v := r.Value()
		if r.Err() != nil {
			return
		}
		s := NewReader(b)
		if s.Skip(); s.Err() == nil && len(s.Rest()) != len(r.Rest()) {
			t.Fatalf("value leaves %d bytes, skip %d", len(r.Rest()), len(s.Rest()))
		}
		once := AppendValue(nil, v)
		q := NewReader(once)
		if twice := AppendValue(nil, q.Value()); q.Err() != nil || !bytes.Equal(once, twice) {
			t.Fatalf("% x became % x (%v)", once, twice, q.Err())
		}
		if a, ok := v.(Array); ok {
			_, _ = a.Values() // must not panic
		}
	})
}

// FuzzMessage takes messages apart in both ways.
func FuzzMessage(f *testing.F) {
	f.Add(AppendData((&Header{Durable: true}).Append(nil), []byte("body")))
	f.Fuzz(func(t *testing.T, b []byte) {
		var m Message
		err := m.Decode(b)
		d, ok := FirstData(b)
		if err == nil && len(m.Data) > 0 && (!ok || !bytes.Equal(d, m.Data[0])) {
			t.Fatalf("first data %q, %v; decoded %q", d, ok, m.Data[0])
		}
		if err != nil {
			return
		}
		var again Message
		once := m.Append(nil)
		if err := again.Decode(once); err != nil || !bytes.Equal(once, again.Append(nil)) {
			t.Fatalf("own encoding: %v", err)
		}
	})
}

// FuzzTxRequest decodes messages to a coordinator. What is accepted must survive
// encoding and decoding again.
func FuzzTxRequest(f *testing.F) {
	declare, discharge := TxRequest{GlobalID: []byte("global")}, TxRequest{Discharge: true, TxnID: bytes.Repeat([]byte{1}, 300), Fail: true}
	f.Add((&TxRequest{}).AppendMessage(nil))
	f.Add(declare.AppendMessage(nil))
	f.Add(discharge.AppendMessage((&Header{Durable: true}).Append(nil)))
	f.Add([]byte{codeDescribed, codeSmallUlong, byte(CodeValue), codeDescribed, codeSmallUlong, byte(CodeDeclare), codeList8, 2, 1, codeNull})
	f.Fuzz(func(t *testing.T, b []byte) {
		var q, again TxRequest
		if err := q.DecodeMessage(b); err != nil {
			if !errors.Is(err, ErrMalformed) {
				t.Fatalf("error of another kind: %v", err)
			}
			return
		}
		once := q.AppendMessage(nil)
		if err := again.DecodeMessage(once); err != nil || again.Discharge != q.Discharge || again.Fail != q.Fail || !bytes.Equal(again.TxnID, q.TxnID) {
			t.Fatalf("%+v became %+v: %v", q, again, err)
		}
		if twice := again.AppendMessage(nil); !bytes.Equal(once, twice) {
			t.Fatalf("% x became % x", once, twice)
		}
	})
}
