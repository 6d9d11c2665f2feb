package link

import (
	"fmt"

	goamqp "github.com/Azure/go-amqp"

	"amqpperf/internal/amqp"
	"amqpperf/internal/amqp/wire"
)

// before appends what stands in front of the n bytes of a message's body.
func (s *ownSender) before(b []byte, m *amqp.Message, n int) []byte {
	if s.cfg.Sections == nil {
		b = append(b, s.head...)
	} else {
		b = s.cfg.Sections.AppendSections(b, m)
	}
	if s.cfg.BodySection == BodyValue {
		return wire.AppendValueHead(b, n)
	}
	return wire.AppendDataHead(b, n)
}

// compose makes the library's message of the sections and of s.body.
func (s *librarySender) compose(m *amqp.Message) error {
	if s.cfg.Sections != nil {
		s.sections = s.cfg.Sections.AppendSections(s.sections[:0], m)
		*s.message = goamqp.Message{}
		if err := s.message.UnmarshalBinary(s.sections); err != nil {
			return &Error{Op: "send", Address: printable(s.cfg.Address), Description: fmt.Sprintf("sections that are no AMQP: %v", err)}
		}
	}
	s.message.Data, s.message.Value = nil, nil
	if s.cfg.BodySection == BodyValue {
		s.message.Value = s.body
	} else {
		s.message.Data = append(s.data[:0], s.body)
	}
	return nil
}
