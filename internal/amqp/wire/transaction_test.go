package wire

import (
	"bytes"
	"testing"
)

// The bytes of part 4's examples, as brokers take them.
func TestTxRequestBytes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		q    TxRequest
		want string
	}{
		{TxRequest{}, "00 53 77 00 53 31 45"},
		{TxRequest{Discharge: true, TxnID: []byte{1, 2}}, "00 53 77 00 53 32 c0 06 02 a0 02 01 02 42"},
		{TxRequest{Discharge: true, TxnID: []byte{}, Fail: true}, "00 53 77 00 53 32 c0 04 02 a0 00 41"},
	} {
		if got := c.q.AppendMessage(nil); !bytes.Equal(got, unhex(t, c.want)) {
			t.Errorf("%+v: % x", c.q, got)
		}
	}
	for name, in := range map[string]string{
		"nothing":             "",
		"no body":             "00 53 70 45",
		"another value":       "00 53 77 a1 01 61",
		"discharge without":   "00 53 77 00 53 32 45",
		"discharge of a text": "00 53 77 00 53 32 c0 04 01 a1 01 61",
		"cut":                 "00 53 77 00 53 32 c0 06 02 a0 02 01",
	} {
		var q TxRequest
		if err := q.DecodeMessage(unhex(t, in)); err == nil {
			t.Errorf("%s: %+v", name, q)
		}
	}
}

// States that may share a disposition are those that are equal.
func TestSame(t *testing.T) {
	t.Parallel()
	accepted, released := StateOf(CodeAccepted), StateOf(CodeReleased)
	in := func(id byte, o *State) State { return State{Kind: CodeTransactional, TxnID: []byte{id}, Outcome: o} }
	all := []State{
		{}, accepted, released, StateOf(CodeRejected), {Kind: CodeRejected, Error: &Error{Condition: "a"}},
		StateOf(CodeModified), {Kind: CodeModified, DeliveryFailed: true}, {Kind: CodeModified, UndeliverableHere: true},
		{Kind: CodeModified, Annotations: Map{}}, in(1, nil), in(2, nil), in(1, &accepted), in(1, &released), {Kind: CodeReceived}, {Kind: CodeDeclared},
	}
	never := map[int]bool{0: true, 4: true, 8: true, 13: true, 14: true} // they have fields of their own
	for i := range all {
		for j := range all {
			a, b := all[i], all[j]
			a.Own()
			if got, want := a.Same(&b), i == j && !never[i]; got != want {
				t.Errorf("%+v and %+v: %v", a, b, got)
			}
		}
	}
}
