package recorder

import (
	"sync"

	"amqpperf/format"
)

// Event is one row of event/1. At is in ns since the Unix epoch; Connection is
// format.Null32 if it is about none; "" is NULL except in Kind.
type Event struct {
	At         int64
	Kind       string
	Connection int32
	Link       string
	Condition  string
	Text       string
}

// ClockRow is one row of clock/1. Of its numbers format.Null is NULL (0 is a
// value); "" is NULL. NewClockRow returns one with every number NULL.
type ClockRow struct {
	At                                     int64
	Peer                                   string
	T1, T2, T3, T4                         int64
	WallOffset, Gap                        int64
	Status, MaxError, EstError, Freq, Tick int64
	Source                                 string
}

// NewClockRow returns a row in which only At is set.
func NewClockRow(at int64) ClockRow {
	const n = format.Null
	return ClockRow{At: at, T1: n, T2: n, T3: n, T4: n, WallOffset: n, Gap: n, Status: n, MaxError: n, EstError: n, Freq: n, Tick: n}
}

// side gathers rows of side tables between two ticks.
type side struct {
	mu     sync.Mutex
	event  eventColumns
	sample sampleColumns
	clock  clockColumns
}

type eventColumns struct {
	b                           format.Event
	kind, link, condition, text column
}

type sampleColumns struct {
	b    format.Sample
	what column
}

type clockColumns struct {
	b            format.ClockRow
	peer, source column
}

// take returns what was gathered, batches without rows left out.
func (s *side) take() []format.Batch {
	s.mu.Lock()
	defer s.mu.Unlock()
	var out []format.Batch
	if s.event.b.Len() > 0 {
		b := s.event.b
		s.event = eventColumns{}
		out = append(out, &b)
	}
	if s.sample.b.Len() > 0 {
		b := s.sample.b
		s.sample = sampleColumns{}
		out = append(out, &b)
	}
	if s.clock.b.Len() > 0 {
		b := s.clock.b
		s.clock = clockColumns{}
		out = append(out, &b)
	}
	return out
}

func (s *side) addEvent(e Event) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.event
	c.b.Instant = append(c.b.Instant, e.At)
	c.kind.required(&c.b.Kind, e.Kind)
	c.b.Connection = append(c.b.Connection, e.Connection)
	c.link.add(&c.b.Link, e.Link)
	c.condition.add(&c.b.Condition, e.Condition)
	c.text.add(&c.b.Text, e.Text)
}

func (s *side) addSample(at int64, what string, value int64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.sample
	c.b.Instant = append(c.b.Instant, at)
	c.what.required(&c.b.What, what)
	c.b.Value = append(c.b.Value, value)
}

func (s *side) addClock(r ClockRow) {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &s.clock
	b := &c.b
	b.Instant = append(b.Instant, r.At)
	c.peer.add(&b.Peer, r.Peer)
	b.T1, b.T2 = append(b.T1, r.T1), append(b.T2, r.T2)
	b.T3, b.T4 = append(b.T3, r.T3), append(b.T4, r.T4)
	b.WallOffset, b.Gap = append(b.WallOffset, r.WallOffset), append(b.Gap, r.Gap)
	b.Status = append(b.Status, r.Status)
	b.MaxError, b.EstError = append(b.MaxError, r.MaxError), append(b.EstError, r.EstError)
	b.Freq, b.Tick = append(b.Freq, r.Freq), append(b.Tick, r.Tick)
	c.source.add(&b.Source, r.Source)
}
