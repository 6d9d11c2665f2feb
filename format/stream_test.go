package format

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// sendRows makes n rows of a send log from seq on, with NULLs and strings.
func sendRows(producer int32, seq int64, n int) *Send {
	b := &Send{}
	d := newCodebook(false)
	add := func(s *Strings, v string) {
		s.Codes = append(s.Codes, d.code(v))
	}
	for i := range n {
		q := seq + int64(i)
		add(&b.Run, "run-1")
		b.Sender = append(b.Sender, 7)
		b.Producer = append(b.Producer, producer)
		b.Seq = append(b.Seq, q)
		b.Attempt = append(b.Attempt, 0)
		add(&b.Destination, fmt.Sprintf("queue://q%d", producer))
		b.Size = append(b.Size, 1024)
		b.Intended = append(b.Intended, 1e18+q*1000)
		b.Ready = append(b.Ready, 1e18+q*1000+5)
		b.Sent = append(b.Sent, 1e18+q*1000+9)
		acked, outcome := 1e18+q*1000+200, Accepted
		if q%7 == 3 {
			acked, outcome = Null, Unsettled
		}
		b.Acked = append(b.Acked, acked)
		add(&b.Outcome, outcome)
		add(&b.Wait, WaitNone)
		if q%5 == 4 {
			add(&b.Error, fmt.Sprintf("amqp:error-%d", q%3))
		} else {
			b.Error.Codes = append(b.Error.Codes, -1)
		}
		b.Connection = append(b.Connection, 0)
	}
	for _, s := range []*Strings{&b.Run, &b.Destination, &b.Outcome, &b.Wait, &b.Error} {
		s.Values = d.values
	}
	return b
}

// texts renders rows with their strings, so that dictionaries do not matter.
func texts(b Batch) []string {
	out := make([]string, b.Len())
	for _, c := range b.Columns() {
		for i := range out {
			switch s := c.(type) {
			case *[]int32:
				out[i] += fmt.Sprint((*s)[i], " ")
			case *[]int64:
				out[i] += fmt.Sprint((*s)[i], " ")
			case *[]bool:
				out[i] += fmt.Sprint((*s)[i], " ")
			case *Strings:
				if v, ok := s.At(i); ok {
					out[i] += fmt.Sprintf("%q ", v)
				} else {
					out[i] += "NULL "
				}
			}
		}
	}
	return out
}

// readAll reads the rows that are left in a log.
func readAll(t testing.TB, l *Log) []string {
	t.Helper()
	b := newBatch(l.Schema())
	var out []string
	for {
		err := l.Read(b)
		if errors.Is(err, io.EOF) {
			return out
		}
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, texts(b)...)
	}
}

// writeStream returns a whole stream of the batches.
func writeStream(t testing.TB, meta Meta, batches ...Batch) []byte {
	t.Helper()
	var buf bytes.Buffer
	w := NewStreamWriter(&buf, batches[0].Schema(), meta)
	w.SetMeta(Meta{KeyTool: "test"})
	for _, b := range batches {
		if err := w.Write(b); err != nil {
			t.Fatal(err)
		}
	}
	event := &Event{
		Instant: []int64{5}, Kind: Strings{Values: []string{"connect"}, Codes: []int32{0}},
		Connection: []int32{Null32}, Link: Strings{Codes: []int32{-1}},
		Condition: Strings{Codes: []int32{-1}}, Text: Strings{Values: []string{"hello"}, Codes: []int32{0}},
	}
	if err := w.Table(event); err != nil {
		t.Fatal(err)
	}
	w.SetMeta(Meta{KeyComplete: "true", KeyStop: "count"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return buf.Bytes()
}

func TestStreamRoundTrip(t *testing.T) {
	t.Parallel()
	a, b := sendRows(0, 0, 100), sendRows(1, 50, 30)
	raw := writeStream(t, Meta{KeyRun: "run-1"}, a, b)
	l, err := OpenStream("x", bytes.NewReader(raw))
	if err != nil {
		t.Fatal(err)
	}
	if l.Schema() != "send/1" || l.Meta()[KeyRun] != "run-1" || l.Complete() {
		t.Errorf("at the start: schema %s, meta %v, complete %v", l.Schema(), l.Meta(), l.Complete())
	}
	got := readAll(t, l)
	if diff := cmp.Diff(append(texts(a), texts(b)...), got); diff != "" {
		t.Errorf("rows (-want +got):\n%s", diff)
	}
	if !l.Complete() || len(l.Warnings()) != 0 || l.Meta()[KeyStop] != "count" {
		t.Errorf("at the end: complete %v, warnings %q, meta %v", l.Complete(), l.Warnings(), l.Meta())
	}
	var ev Event
	if err := l.Table(&ev); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]string{fmt.Sprintf("5 %q %d NULL NULL %q ", "connect", Null32, "hello")}, texts(&ev)); diff != "" {
		t.Errorf("events (-want +got):\n%s", diff)
	}
}
