package join

import (
	"cmp"
	"errors"
	"io"
	"slices"

	"amqpperf/format"
)

// position is where a producer stands in its log.
type position struct {
	seq     int64
	attempt int32
	run     int32
}

// scan looks at the identities in one send log.
type scan struct {
	log     *sendLog
	found   *producers
	owner   *owners[int32]
	last    map[producerKey]position
	rows    int64
	ordered bool
	runs    remap
	names   format.Strings // runs of this log
}

// parquet reads only the identity columns of a file and reports whether the
// rows of every producer stand by (seq, attempt).
func (s *scan) parquet() (ordered bool, err error) {
	log, err := format.Open(s.log.in.log.Name())
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, log.Close()) }()
	if err := log.Select("run", "sender", "producer", "seq", "attempt", "destination"); err != nil {
		return false, err
	}
	s.ordered = true
	var b format.Send
	for {
		err := log.Read(&b)
		if errors.Is(err, io.EOF) {
			return s.ordered, nil
		}
		if err != nil {
			return false, err
		}
		if err := s.look(&b); err != nil {
			return false, err
		}
		if !s.ordered {
			// The rest is looked at when it is loaded.
			s.last = map[producerKey]position{}
			return false, nil
		}
	}
}

// look notes runs, senders and destinations of a batch and whether it is in order.
func (s *scan) look(b *format.Send) error {
	for i := range b.Seq {
		key := producerKey{b.Sender[i], b.Producer[i]}
		run := s.runs.code(&s.names, &b.Run, i)
		at := position{b.Seq[i], b.Attempt[i], run}
		before, known := s.last[key]
		if !known {
			if err := s.meet(key); err != nil {
				return err
			}
		}
		if known {
			switch order := cmp.Or(cmp.Compare(at.seq, before.seq), cmp.Compare(at.attempt, before.attempt)); {
			case before.run == run && order == 0 && s.ordered:
				return twin(s.log.in, b, i, s.rows+int64(i))
			case before.run != run || order < 0:
				s.ordered = false
			}
		}
		s.last[key] = at
		s.meetDestination(key, b, i)
	}
	s.rows += int64(len(b.Seq))
	for _, run := range s.names.Values {
		if !slices.Contains(s.found.runs, run) {
			s.found.runs = append(s.found.runs, run)
		}
	}
	return nil
}

func (s *scan) meet(key producerKey) error {
	if err := s.owner.claim(key.sender, s.log.in); err != nil {
		return err
	}
	if len(s.last) == 0 || key.sender < s.log.lowest {
		s.log.lowest = key.sender
	}
	return nil
}

func (s *scan) meetDestination(key producerKey, b *format.Send, i int) {
	destination := b.Destination.Values[b.Destination.Codes[i]]
	if to := s.found.to[key]; to[destination] {
		return
	} else if to == nil {
		s.found.to[key] = map[string]bool{}
	}
	s.found.to[key][destination] = true
	s.found.destinations[destination] = true
}
