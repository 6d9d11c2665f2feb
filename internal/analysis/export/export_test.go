package export_test

import (
	"bytes"
	"encoding/csv"
	"encoding/json"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/export"
)

// row appends one row; received, bound and recvOutcome may be NULL.
func row(b *format.Merged, destination string, received, bound int64, recvOutcome string) {
	text := func(s *format.Strings, v string) {
		if v == "" {
			s.Codes = append(s.Codes, -1)
			return
		}
		s.Values = append(s.Values, v)
		s.Codes = append(s.Codes, int32(len(s.Values)-1))
	}
	text(&b.Run, "r")
	text(&b.Destination, destination)
	text(&b.Outcome, format.Accepted)
	text(&b.Wait, format.WaitNone)
	text(&b.Error, "")
	text(&b.Source, "")
	text(&b.Subscription, "")
	text(&b.RecvOutcome, recvOutcome)
	for _, c := range []*[]int32{&b.Sender, &b.Producer, &b.Attempt, &b.Size, &b.Connection, &b.Copy} {
		*c = append(*c, 1)
	}
	for _, c := range []*[]int32{&b.Receiver, &b.Consumer, &b.DeliveryCount, &b.RecvConnection} {
		if received == format.Null {
			*c = append(*c, format.Null32)
		} else {
			*c = append(*c, 2)
		}
	}
	b.Seq = append(b.Seq, 7)
	b.Intended = append(b.Intended, 1_000_000)
	b.Ready = append(b.Ready, 1_000_001)
	b.Sent = append(b.Sent, 1_000_400)
	b.Acked = append(b.Acked, 2_000_000)
	b.BrokerIn = append(b.BrokerIn, format.Null)
	b.Received = append(b.Received, received)
	b.Started = append(b.Started, format.Null)
	b.Settled = append(b.Settled, format.Null)
	b.Primary = append(b.Primary, true)
	b.Reordered = append(b.Reordered, false)
	b.Bound = append(b.Bound, bound)
}

func TestLines(t *testing.T) {
	t.Parallel()
	var b format.Merged
	row(&b, "queue://a", 3_000_000, 100, format.Accepted)
	row(&b, "queue://a", 999_999, 100, format.Accepted) // before it was sent
	row(&b, "a b\n%\x1b[2J", 3_000_000, format.Null, format.Accepted)
	row(&b, "queue://a", format.Null, 0, format.Lost)
	row(&b, "queue://a", format.Null, 0, "") // nothing was expected
	var out bytes.Buffer
	w := export.NewLines(&out)
	events := format.Event{Instant: []int64{5}, Kind: format.Strings{Values: []string{"detach"}, Codes: []int32{0}}, Link: format.Strings{Codes: []int32{-1}}}
	if err := w.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := w.WriteEvents(&events); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	want := `D 3000000 2000.000 1999.600 1 1 7 2 queue://a accepted
D 999999 -0.001 -0.401 1 1 7 2 queue://a accepted
D 3000000 - - 1 1 7 2 a%20b%0A%25%1B[2J accepted
L - - - 1 1 7 - queue://a accepted
E 5 - - - - - - - detach
`
	if out.String() != want {
		t.Errorf("got\n%s\nwant\n%s", out.String(), want)
	}
	for _, line := range strings.Split(strings.TrimSpace(out.String()), "\n") {
		if n := len(strings.Split(line, " ")); n != 10 {
			t.Errorf("%d fields in %q, want 10", n, line)
		}
	}
}

func TestCSV(t *testing.T) {
	t.Parallel()
	var b format.Merged
	row(&b, "a,\"b\"\n=1", 3_000_000, 100, format.Accepted)
	row(&b, "=cmd", format.Null, format.Null, "")
	var out bytes.Buffer
	w := export.NewCSV(&out)
	if err := w.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	records, err := csv.NewReader(&out).ReadAll()
	if err != nil {
		t.Fatal(err)
	}
	if len(records) != 3 || len(records[0]) != len(format.MergedSchema().Columns) {
		t.Fatalf("%d records of %d fields", len(records), len(records[0]))
	}
	column := map[string]int{}
	for i, name := range records[0] {
		column[name] = i
	}
	for _, c := range []struct {
		row        int
		name, want string
	}{
		{1, "destination", "a,\"b\"\n=1"}, {1, "received", "3000000"}, {1, "primary", "true"}, {1, "broker_in", ""},
		{2, "destination", "'=cmd"}, {2, "received", ""}, {2, "receiver", ""}, {2, "recv_outcome", ""},
	} {
		if got := records[c.row][column[c.name]]; got != c.want {
			t.Errorf("row %d %s = %q, want %q", c.row, c.name, got, c.want)
		}
	}
}

func TestJSONLines(t *testing.T) {
	t.Parallel()
	var b format.Merged
	row(&b, "a\"\n\u2028", 3_000_000, format.Null, format.Accepted)
	var out bytes.Buffer
	w := export.NewJSONLines(&out)
	if err := w.Write(&b); err != nil {
		t.Fatal(err)
	}
	if err := w.Flush(); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 1 {
		t.Errorf("%d lines, want 1", n)
	}
	var got map[string]any
	if err := json.Unmarshal(out.Bytes(), &got); err != nil {
		t.Fatal(err)
	}
	if got["destination"] != "a\"\n\u2028" || got["received"] != 3e6 || got["bound"] != nil || got["primary"] != true {
		t.Errorf("got %v", got)
	}
}
