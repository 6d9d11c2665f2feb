package produce

import (
	"math/rand/v2"

	"amqpperf/internal/amqp"
	"amqpperf/timestamp"
)

// stamper makes bodies: a stamp, and bytes that do not compress behind it.
type stamper struct {
	stamp  timestamp.Stamp
	writer timestamp.Writer
	filler []byte
}

// fillerSize bounds the memory of a producer; larger bodies repeat the filler.
const fillerSize = 1 << 16

func newStamper(cfg Config) stamper {
	anchor := cfg.Clock.Anchor()
	return stamper{
		stamp: timestamp.Stamp{
			Run: cfg.Run, Sender: cfg.Sender, Producer: cfg.Producer,
			ClockID: anchor.ClockID, Offset: anchor.Offset(), Gap: anchor.Gap,
		},
		filler: cfg.Filler,
	}
}

// Filler returns the bytes that follow the stamps of bodies of this size, the
// same in every run. All producers of a process share them.
func Filler(size int32) []byte {
	b := make([]byte, min(int(size), fillerSize))
	var seed [32]byte
	_, _ = rand.NewChaCha8(seed).Read(b) // never fails
	return b
}

// Append implements amqp.Body.
func (p *Producer) Append(dst []byte, m *amqp.Message) []byte {
	// The sent instant is kept here and not only when Submit returns, because
	// the answer may be earlier than that.
	p.window.find(int64(m.ID)).storeSent(m.Sent)
	end := len(dst) + int(m.Size)
	if !p.cfg.StampApart {
		dst = p.AppendStamp(dst, m)
	}
	filler := p.stamp.filler
	if p.cfg.Content != nil {
		filler = p.cfg.Content(m.Seq)
	}
	for len(dst) < end {
		n := min(end-len(dst), len(filler))
		dst = append(dst, filler[:n]...)
	}
	return dst
}

// AppendStamp appends the stamp of a message, for where it is not in the body.
// It is called under the conditions of Append.
func (p *Producer) AppendStamp(dst []byte, m *amqp.Message) []byte {
	s := &p.stamp.stamp
	s.Seq, s.Attempt, s.Intended, s.Sent = m.Seq, m.Attempt, m.Intended, m.Sent
	return p.stamp.writer.Append(dst, s)
}
