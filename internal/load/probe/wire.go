package probe

import (
	"crypto/rand"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
)

const (
	// Size is the size in bytes of a question and of an answer.
	Size = 72

	magic        = "\x89pck"
	version      = 1
	kindQuestion = 1
	kindAnswer   = 2

	nonceAt = 8
	tokenAt = 24
	t2At    = 24
	t3At    = 32
	clockAt = 40
)

// errMalformed says that a packet is none of ours.
var errMalformed = errors.New("malformed clock probe")

// Token is the secret that a question must carry.
type Token [16]byte

// NewToken returns a random token.
func NewToken() Token {
	var t Token
	_, _ = rand.Read(t[:]) // never fails
	return t
}

// String returns the token as 32 hexadecimal digits.
func (t Token) String() string { return hex.EncodeToString(t[:]) }

// ParseToken reads what String returns. Its error does not repeat the text.
func ParseToken(text string) (Token, error) {
	b, err := hex.DecodeString(text)
	if err != nil || len(b) != len(Token{}) {
		return Token{}, errors.New("a clock token has 32 hexadecimal digits")
	}
	return Token(b), nil
}

// nonce ties an answer to its question.
type nonce [16]byte

func newNonce() nonce {
	var n nonce
	_, _ = rand.Read(n[:]) // never fails
	return n
}

// question is what a prober sends.
type question struct {
	nonce nonce
	token Token
}

func (q question) put(b *[Size]byte) {
	*b = [Size]byte{}
	header(b, kindQuestion)
	copy(b[nonceAt:], q.nonce[:])
	copy(b[tokenAt:], q.token[:])
}

func header(b *[Size]byte, kind byte) {
	copy(b[:], magic)
	b[4], b[5] = version, kind
}

// parseQuestion reads a question; every byte must be as the package says.
func parseQuestion(b []byte) (question, error) {
	if err := checkHeader(b, kindQuestion); err != nil {
		return question{}, err
	}
	for _, x := range b[clockAt:] {
		if x != 0 {
			return question{}, fmt.Errorf("%w: bytes that must be 0", errMalformed)
		}
	}
	return question{nonce: nonce(b[nonceAt:]), token: Token(b[tokenAt:])}, nil
}

func checkHeader(b []byte, kind byte) error {
	switch {
	case len(b) != Size:
		return fmt.Errorf("%w: %d bytes", errMalformed, len(b))
	case string(b[:len(magic)]) != magic:
		return fmt.Errorf("%w: other magic", errMalformed)
	case b[4] != version:
		return fmt.Errorf("%w: version %d, this program speaks version %d", errMalformed, b[4], version)
	case b[5] != kind || b[6] != 0 || b[7] != 0:
		return fmt.Errorf("%w: kind", errMalformed)
	}
	return nil
}

// answer is what a server sends back.
type answer struct {
	nonce       nonce
	t2, t3      int64 // ns since the Unix epoch, on the server's clock
	clockID     uint64
	offset, gap int64
	receiver    int32
}

func (a answer) put(b *[Size]byte) {
	*b = [Size]byte{}
	header(b, kindAnswer)
	copy(b[nonceAt:], a.nonce[:])
	binary.BigEndian.PutUint64(b[t2At:], uint64(a.t2))
	putT3(b, a.t3)
	binary.BigEndian.PutUint64(b[clockAt:], a.clockID)
	binary.BigEndian.PutUint64(b[48:], uint64(a.offset))
	binary.BigEndian.PutUint64(b[56:], uint64(a.gap))
	binary.BigEndian.PutUint32(b[64:], uint32(a.receiver))
}

// putT3 is apart because T3 is read last, when all else is in place.
func putT3(b *[Size]byte, t3 int64) { binary.BigEndian.PutUint64(b[t3At:], uint64(t3)) }

// parseAnswer reads an answer; every byte must be as the package says.
func parseAnswer(b []byte) (answer, error) {
	if err := checkHeader(b, kindAnswer); err != nil {
		return answer{}, err
	}
	a := answer{
		nonce:   nonce(b[nonceAt:]),
		t2:      int64(binary.BigEndian.Uint64(b[t2At:])),
		t3:      int64(binary.BigEndian.Uint64(b[t3At:])),
		clockID: binary.BigEndian.Uint64(b[clockAt:]),
		offset:  int64(binary.BigEndian.Uint64(b[48:])),
		gap:     int64(binary.BigEndian.Uint64(b[56:])),
	}
	receiver := binary.BigEndian.Uint32(b[64:])
	if receiver > 1<<31-1 || binary.BigEndian.Uint32(b[68:]) != 0 {
		return answer{}, fmt.Errorf("%w: receiver or bytes that must be 0", errMalformed)
	}
	a.receiver = int32(receiver)
	if a.gap < 0 || a.t2 < 0 || a.t3 < a.t2 {
		return answer{}, fmt.Errorf("%w: instants", errMalformed)
	}
	return a, nil
}

// peer returns the text of the column peer in clock/1.
func (a answer) peer() string {
	return fmt.Sprintf("%016x/%d/%d/%d", a.clockID, a.receiver, a.offset, a.gap)
}
