package wire

import "bytes"

// SASL mechanism names used here.
const (
	MechAnonymous Symbol = "ANONYMOUS"
	MechPlain     Symbol = "PLAIN"
	MechExternal  Symbol = "EXTERNAL"
)

// Codes of a SASL outcome (part 5, section 5.3.3.6).
const (
	SASLOK      uint8 = 0
	SASLAuth    uint8 = 1 // refused
	SASLSys     uint8 = 2
	SASLSysPerm uint8 = 3
	SASLSysTemp uint8 = 4
)

// SASLMechanisms is the server's first SASL frame.
type SASLMechanisms struct{ Mechanisms []Symbol }

// Append implements Performative.
func (s *SASLMechanisms) Append(b []byte) []byte {
	w := beginComposite(b, CodeSASLMechanisms)
	w.field()
	w.b = appendArray(w.b, NewSymbols(s.Mechanisms))
	return w.end()
}

// Decode implements Performative.
func (s *SASLMechanisms) Decode(body []byte) error {
	*s = SASLMechanisms{}
	r := Reader{b: body}
	f := r.composite(CodeSASLMechanisms, "sasl-mechanisms")
	if f.need("sasl-server-mechanisms") {
		s.Mechanisms = f.r.Symbols()
	}
	return f.r.err
}

// SASLInit is the client's choice. InitialResponse may hold a password: it is a
// view of the frame, and nothing here prints it.
type SASLInit struct {
	Mechanism       Symbol
	InitialResponse []byte // nil: none
	Hostname        string
}

// Append implements Performative.
func (s *SASLInit) Append(b []byte) []byte {
	w := beginComposite(b, CodeSASLInit)
	w.field()
	w.b = appendSymbol(w.b, s.Mechanism)
	w.binary(s.InitialResponse)
	w.string(s.Hostname)
	return w.end()
}

// Decode implements Performative.
func (s *SASLInit) Decode(body []byte) error {
	*s = SASLInit{}
	r := Reader{b: body}
	f := r.composite(CodeSASLInit, "sasl-init")
	if f.need("mechanism") {
		s.Mechanism = f.r.Symbol()
	}
	s.InitialResponse = f.binary()
	s.Hostname = f.string()
	return f.r.err
}

// SplitPlain takes the response of PLAIN apart (RFC 4616): authzid NUL user NUL
// password. ok is false if it has another form.
func SplitPlain(response []byte) (user, password string, ok bool) {
	p := bytes.Split(response, []byte{0})
	if len(p) != 3 {
		return "", "", false
	}
	return string(p[1]), string(p[2]), true
}

// SASLChallenge is a server's question.
type SASLChallenge struct{ Challenge []byte }

// Append implements Performative.
func (s *SASLChallenge) Append(b []byte) []byte {
	return appendOneBinary(b, CodeSASLChallenge, s.Challenge)
}

// Decode implements Performative.
func (s *SASLChallenge) Decode(body []byte) (err error) {
	s.Challenge, err = decodeOneBinary(body, CodeSASLChallenge, "challenge")
	return err
}

// SASLResponse is a client's answer.
type SASLResponse struct{ Response []byte }

// Append implements Performative.
func (s *SASLResponse) Append(b []byte) []byte {
	return appendOneBinary(b, CodeSASLResponse, s.Response)
}

// Decode implements Performative.
func (s *SASLResponse) Decode(body []byte) (err error) {
	s.Response, err = decodeOneBinary(body, CodeSASLResponse, "response")
	return err
}

func appendOneBinary(b []byte, c Code, v []byte) []byte {
	w := beginComposite(b, c)
	w.field()
	w.b = appendBinary(w.b, v)
	return w.end()
}

func decodeOneBinary(body []byte, c Code, name string) (v []byte, err error) {
	r := Reader{b: body}
	f := r.composite(c, "sasl frame")
	if f.need(name) {
		v = f.r.Binary()
	}
	return v, f.r.err
}

// SASLOutcome ends the SASL layer.
type SASLOutcome struct {
	Code           uint8
	AdditionalData []byte
}

// Append implements Performative.
func (s *SASLOutcome) Append(b []byte) []byte {
	w := beginComposite(b, CodeSASLOutcome)
	w.optUint8(Some(s.Code))
	w.binary(s.AdditionalData)
	return w.end()
}

// Decode implements Performative.
func (s *SASLOutcome) Decode(body []byte) error {
	*s = SASLOutcome{}
	r := Reader{b: body}
	f := r.composite(CodeSASLOutcome, "sasl-outcome")
	if f.need("code") {
		s.Code = f.r.Uint8()
	}
	s.AdditionalData = f.binary()
	return f.r.err
}
