package join

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"slices"

	"amqpperf/format"
)

// producers is what a first look at the send logs finds.
type producers struct {
	runs         []string // in order of appearance
	destinations map[string]bool
	to           map[producerKey]map[string]bool // destinations by producer
}

// sendLog reads one send log by producer in order of (seq, attempt): streamed
// where the rows stand like that, else from memory, sorted.
type sendLog struct {
	in     *input
	lowest int32 // lowest sender id: the logs are taken in this order
	memory *format.Send
	order  []int32 // of memory
	pos    int
	batch  format.Send
}

// scanSends looks through all send logs once: runs, producers, destinations,
// whether the rows stand in order, and that no message is in them twice.
func scanSends(sends []*input) ([]*sendLog, *producers, error) {
	found := &producers{destinations: map[string]bool{}, to: map[producerKey]map[string]bool{}}
	owner := newOwners[int32]("sender")
	logs := make([]*sendLog, 0, len(sends))
	for _, in := range sends {
		l := &sendLog{in: in}
		if err := l.prepare(found, owner); err != nil {
			return nil, nil, err
		}
		logs = append(logs, l)
	}
	slices.SortFunc(logs, func(x, y *sendLog) int { return cmp.Compare(x.lowest, y.lowest) })
	return logs, found, nil
}

func (l *sendLog) prepare(found *producers, owner *owners[int32]) error {
	s := &scan{log: l, found: found, owner: owner, last: map[producerKey]position{}}
	if l.in.log.Kind() == format.Parquet {
		ordered, err := s.parquet()
		if err != nil || ordered {
			return err
		}
	}
	return l.load(s)
}

// load reads the whole log into memory and sorts it: a pipe cannot be read
// twice, and a spool holds the rows in order of completion.
func (l *sendLog) load(s *scan) error {
	l.memory = &format.Send{}
	var maps sendCodes
	var b format.Send
	for {
		err := l.in.log.Read(&b)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return err
		}
		if err := s.look(&b); err != nil {
			return err
		}
		for i := range b.Seq {
			maps.append(l.memory, &b, i)
		}
	}
	l.sort()
	return l.refuseTwins()
}

func (l *sendLog) sort() {
	m := l.memory
	l.order = make([]int32, len(m.Seq))
	for i := range l.order {
		l.order[i] = int32(i)
	}
	slices.SortFunc(l.order, func(x, y int32) int {
		return cmp.Or(cmp.Compare(m.Sender[x], m.Sender[y]), cmp.Compare(m.Producer[x], m.Producer[y]),
			cmp.Compare(m.Seq[x], m.Seq[y]), cmp.Compare(m.Attempt[x], m.Attempt[y]), cmp.Compare(x, y))
	})
}

func (l *sendLog) refuseTwins() error {
	m := l.memory
	for i := 1; i < len(l.order); i++ {
		x, y := l.order[i-1], l.order[i]
		if m.Seq[x] == m.Seq[y] && m.Attempt[x] == m.Attempt[y] && m.Producer[x] == m.Producer[y] && m.Sender[x] == m.Sender[y] &&
			m.Run.Values[m.Run.Codes[x]] == m.Run.Values[m.Run.Codes[y]] {
			return twin(l.in, m, int(y), int64(y))
		}
	}
	return nil
}

func twin(in *input, b *format.Send, i int, row int64) error {
	return &format.RowError{File: in.log.Name(), Row: row, Column: "seq", Msg: fmt.Sprintf(
		"sender %d producer %d seq %d attempt %d is there twice", b.Sender[i], b.Producer[i], b.Seq[i], b.Attempt[i])}
}

// next returns the next batch, io.EOF after the last. It is valid until the
// next call.
func (l *sendLog) next() (*format.Send, []int32, error) {
	if l.memory == nil {
		err := l.in.log.Read(&l.batch)
		return &l.batch, nil, err
	}
	if l.pos >= len(l.order) {
		return nil, nil, io.EOF
	}
	end := min(l.pos+format.BatchRows, len(l.order))
	rows := l.order[l.pos:end]
	l.pos = end
	return l.memory, rows, nil
}

func (l *sendLog) rewind() error {
	l.pos = 0
	if l.memory != nil {
		return nil
	}
	return l.in.log.Rewind()
}

// sendCodes translates the dictionary codes of a log as it is read into memory.
type sendCodes struct {
	run, destination, outcome, wait, err remap
}

func (c *sendCodes) append(m, b *format.Send, i int) {
	c.run.append(&m.Run, &b.Run, i)
	c.destination.append(&m.Destination, &b.Destination, i)
	c.outcome.append(&m.Outcome, &b.Outcome, i)
	c.wait.append(&m.Wait, &b.Wait, i)
	c.err.append(&m.Error, &b.Error, i)
	m.Sender = append(m.Sender, b.Sender[i])
	m.Producer = append(m.Producer, b.Producer[i])
	m.Seq = append(m.Seq, b.Seq[i])
	m.Attempt = append(m.Attempt, b.Attempt[i])
	m.Size = append(m.Size, b.Size[i])
	m.Intended = append(m.Intended, b.Intended[i])
	m.Ready = append(m.Ready, b.Ready[i])
	m.Sent = append(m.Sent, b.Sent[i])
	m.Acked = append(m.Acked, b.Acked[i])
	m.Connection = append(m.Connection, b.Connection[i])
}
