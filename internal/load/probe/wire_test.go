package probe

import (
	"bytes"
	"testing"
)

func FuzzParse(f *testing.F) {
	var b [Size]byte
	question{nonce: newNonce(), token: NewToken()}.put(&b)
	f.Add(bytes.Clone(b[:]))
	answer{nonce: newNonce(), t2: 5, t3: 6, clockID: 1 << 63, offset: -7, gap: 8, receiver: 9}.put(&b)
	f.Add(bytes.Clone(b[:]))
	f.Add([]byte(magic))
	f.Fuzz(func(t *testing.T, packet []byte) {
		// What is accepted is exactly one form: it comes back byte for byte.
		if q, err := parseQuestion(packet); err == nil {
			if q.put(&b); !bytes.Equal(b[:], packet) {
				t.Errorf("question %x was read as %x", packet, b)
			}
		}
		if a, err := parseAnswer(packet); err == nil {
			if a.put(&b); !bytes.Equal(b[:], packet) {
				t.Errorf("answer %x was read as %x", packet, b)
			}
		}
	})
}

// Every damaged byte of the fixed parts, and every other length, is refused.
func TestParseIsStrict(t *testing.T) {
	t.Parallel()
	var q, a [Size]byte
	question{nonce: newNonce(), token: NewToken()}.put(&q)
	answer{t2: 5, t3: 6}.put(&a)
	if _, err := parseAnswer(q[:]); err == nil {
		t.Error("a question is an answer")
	}
	if _, err := parseQuestion(a[:]); err == nil {
		t.Error("an answer is a question: servers could be made to talk to each other")
	}
	for i := range Size {
		if _, err := parseQuestion(q[:i]); err == nil {
			t.Errorf("%d bytes are a question", i)
		}
		damaged := q
		damaged[i] ^= 0x80
		if _, err := parseQuestion(damaged[:]); (err == nil) != (i >= nonceAt && i < clockAt) {
			t.Errorf("byte %d damaged: %v", i, err)
		}
	}
	if _, err := parseQuestion(append(q[:], 0)); err == nil {
		t.Error("a question may be longer")
	}
	for name, bad := range map[string]answer{"answer before its question": {t2: 5, t3: 4}, "negative gap": {gap: -1}, "negative instant": {t2: -1}, "negative receiver": {receiver: -1}} {
		bad.put(&a)
		if _, err := parseAnswer(a[:]); err == nil {
			t.Errorf("%s is accepted", name)
		}
	}
}

func TestToken(t *testing.T) {
	t.Parallel()
	token := NewToken()
	if token == NewToken() || token == (Token{}) {
		t.Error("tokens are not random")
	}
	if got, err := ParseToken(token.String()); err != nil || got != token {
		t.Errorf("%s: %v", got, err)
	}
	for _, bad := range []string{"", "00", token.String() + "00", "g" + token.String()[1:]} {
		if _, err := ParseToken(bad); err == nil {
			t.Errorf("%q is a token", bad)
		}
	}
}

// What the analysis reads in the column peer; both packages must agree.
func TestPeerText(t *testing.T) {
	t.Parallel()
	if got := (answer{clockID: 255, receiver: 7, offset: -12, gap: 80}).peer(); got != "00000000000000ff/7/-12/80" {
		t.Error(got)
	}
}
