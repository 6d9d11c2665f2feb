//go:build !race

package crash

import (
	"encoding/csv"
	"errors"
	"io"
	"os"
	"strconv"
	"strings"
	"testing"

	"amqpperf/format"
)

// message is the identity of a message of the one sender of a bench.
type message struct {
	producer int32
	seq      int64
}

// seen is what a log holds.
type seen struct {
	messages map[message]bool
	rows     int
	kind     format.Kind
	complete bool
	warnings string
	last     int64 // latest instant in a row, in ns since the Unix epoch
}

// read reads a log of any container to its end. A row that is there twice is an error unless it is a redelivery.
func (b *bench) read(path string) (s seen, err error) {
	b.Helper()
	l, err := format.Open(path)
	if err != nil {
		return s, err
	}
	defer func() { err = errors.Join(err, l.Close()) }()
	s = seen{messages: map[message]bool{}, kind: l.Kind()}
	var batch format.Batch = &format.Recv{}
	if l.Schema() == "send/1" {
		batch = &format.Send{}
	}
	for {
		if err := l.Read(batch); errors.Is(err, io.EOF) {
			break
		} else if err != nil {
			return s, err
		}
		s.add(b, batch)
	}
	s.complete, s.warnings = l.Complete(), strings.Join(l.Warnings(), "\n")
	for _, table := range []format.Batch{&format.Event{}, &format.Sample{}, &format.ClockRow{}} {
		err = errors.Join(err, l.Table(table))
	}
	return s, err
}

func (s *seen) add(tb testing.TB, batch format.Batch) {
	tb.Helper()
	var id *format.Identity
	var instants [][]int64
	switch batch := batch.(type) {
	case *format.Send:
		id, instants = &batch.Identity, [][]int64{batch.Sent, batch.Acked}
	case *format.Recv:
		id, instants = &batch.Identity, [][]int64{batch.Received, batch.Settled}
	}
	s.rows += id.Len()
	for i := range id.Len() {
		m := message{id.Producer[i], id.Seq[i]}
		if s.messages[m] {
			tb.Errorf("message %+v has two rows", m)
		}
		s.messages[m] = true
		for _, column := range instants {
			s.last = max(s.last, column[i])
		}
	}
}

// record is what perf-broker knows of a message; instants in ns since the Unix epoch, 0 if they never happened. All
// clocks are of one host.
type record struct {
	message
	sent      int64 // by the sender, from the stamp
	delivered int64
	settled   int64
}

// records reads what perf-broker logged with --log.
func (b *bench) records(name string) (list []record) {
	b.Helper()
	f, err := os.Open(b.path(name))
	b.must(err)
	defer func() { b.must(f.Close()) }()
	lines, err := csv.NewReader(f).ReadAll()
	b.must(err)
	if len(lines) == 0 {
		b.Fatalf("%s is empty", name)
	}
	column := map[string]int{}
	for i, title := range lines[0] {
		column[title] = i
	}
	for _, line := range lines[1:] {
		cell := func(title string) int64 {
			i, ok := column[title]
			if !ok {
				b.Fatalf("%s has no column %s", name, title)
			}
			if line[i] == "" {
				return 0
			}
			v, err := strconv.ParseInt(line[i], 10, 64)
			b.must(err)
			return v
		}
		list = append(list, record{
			message: message{int32(cell("producer")), cell("stamp_seq")},
			sent:    cell("sent"), delivered: cell("delivered"), settled: cell("settled"),
		})
	}
	return list
}
