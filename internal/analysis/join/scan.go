package join

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"amqpperf/format"
)

// position is where a producer stands in its log.
type position struct {
	seq     int64
	attempt int32
	known   bool
}

// errDisorder says that the rows of a producer do not stand by (seq, attempt).
var errDisorder = errors.New("rows are not in order")

// scan looks at the identities in one send log: runs, producers, destinations,
// and which chunk holds what.
type scan struct {
	log    *sendLog
	found  *producers
	owner  *owners[int32]
	rows   int64
	runs   []string // of this log
	routed map[route]bool
}

// route is a producer and the code of a destination in the log being scanned.
type route struct{ lane, destination int32 }

// identities reads only what the scan needs.
func identities(log *format.Log, intended bool) error {
	columns := []string{"run", "sender", "producer", "seq", "attempt", "destination"}
	if intended {
		columns = append(columns, "intended")
	}
	return log.Select(columns...)
}

// all looks through the log. errDisorder if the rows have to be put in order first.
func (s *scan) all(rows *format.Log) error {
	s.rows, s.runs, s.routed = 0, nil, map[route]bool{}
	for _, l := range s.log.lanes {
		l.spans, l.last, l.met = nil, position{}, nil
	}
	s.log.lanes = nil
	a := readAhead(rows, format.BatchRows, &format.Send{}, &format.Send{})
	defer a.close()
	for {
		b, err := a.next()
		if errors.Is(err, io.EOF) {
			s.log.rows = s.rows
			return nil
		}
		if err != nil {
			return err
		}
		if err := s.look(b); err != nil {
			return err
		}
	}
}

// meetRuns notes the runs of a batch and returns the code of the one that is joined.
func (s *scan) meetRuns(b *format.Send) int32 {
	for _, run := range b.Run.Values[len(s.runs):] {
		s.runs = append(s.runs, run)
		if !slices.Contains(s.found.runs, run) {
			s.found.runs = append(s.found.runs, run)
		}
		if s.found.run == nil {
			s.found.run = &run
		}
	}
	if s.found.run == nil {
		return -1
	}
	return int32(slices.Index(b.Run.Values, *s.found.run)) //nolint:gosec // a dictionary is small
}

func (s *scan) look(b *format.Send) error {
	run := s.meetRuns(b)
	chunk, left := int32(0), int64(0) // of the row, and rows of it from there on
	for i, seq := range b.Seq {
		if left == 0 {
			row, size := s.rows+int64(i), int64(s.found.chunkRows)
			chunk, left = s.log.first+int32(row/size), size-row%size //nolint:gosec // rows fit
		}
		left--
		if b.Run.Codes[i] != run {
			continue
		}
		n := s.found.lanes.of(b.Sender[i], b.Producer[i])
		l := s.found.lanes.list[n]
		if l.met != s.log || b.Destination.Codes[i] != l.destination {
			if err := s.meet(n, l, b, i); err != nil {
				return err
			}
		}
		at := position{seq, b.Attempt[i], true}
		if l.last.known && seq <= l.last.seq {
			switch order := cmp.Or(cmp.Compare(seq, l.last.seq), cmp.Compare(at.attempt, l.last.attempt)); {
			case order == 0:
				return twin(s.log.in, b, i, s.rows+int64(i))
			case order < 0:
				return errDisorder
			}
		}
		s.found.first = min(s.found.first, b.Intended[i])
		if k := len(l.spans); k == 0 || l.spans[k-1].chunk != chunk {
			next := span{seq, math.MinInt32, chunk, chunk} // all attempts of seq belong here
			if l.last.known && l.last.seq == seq && k > 0 {
				next.attempt, next.home, l.splits = at.attempt, l.spans[k-1].homeOf(seq), true
			}
			l.spans = append(l.spans, next)
		}
		l.last = at
	}
	s.rows += int64(len(b.Seq))
	s.found.progress(int64(len(b.Seq)))
	return nil
}

// meet notes a producer and where it sends to.
func (s *scan) meet(n int32, l *lane, b *format.Send, i int) error {
	code := b.Destination.Codes[i]
	l.destination = code
	if s.routed[route{n, code}] {
		return nil
	}
	s.routed[route{n, code}] = true
	if err := s.owner.claim(l.key.sender, s.log.in); err != nil {
		return err
	}
	if len(s.log.lanes) == 0 || l.key.sender < s.log.lowest {
		s.log.lowest = l.key.sender
	}
	if l.met != s.log {
		l.met, l.last = s.log, position{}
		s.log.lanes = append(s.log.lanes, l)
	}
	destination := b.Destination.Values[code]
	if s.found.to[l.key] == nil {
		s.found.to[l.key] = map[string]bool{}
	}
	s.found.to[l.key][destination] = true
	s.found.destinations[destination] = true
	return nil
}

func twin(in *input, b *format.Send, i int, row int64) error {
	return &format.RowError{File: in.log.Name(), Row: row, Column: "seq", Msg: fmt.Sprintf(
		"sender %d producer %d seq %d attempt %d is there twice", b.Sender[i], b.Producer[i], b.Seq[i], b.Attempt[i])}
}
