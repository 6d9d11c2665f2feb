package where

import (
	"slices"
	"strings"

	"amqpperf/format"
)

// kind is what a value can be compared with.
type kind int

const (
	kindInteger kind = iota
	kindSize         // an integer of bytes
	kindInstant
	kindSpan
	kindBool
	kindString
)

func (k kind) String() string {
	return [...]string{"a number", "a number of bytes", "an instant", "a span", "true or false", "a string"}[k]
}

// column is a column of merged/1, or a span of two of them.
type column struct {
	name    string
	kind    kind
	reads   []string // columns of the log
	int32s  func(*format.Merged) []int32
	int64s  func(*format.Merged) []int64
	minus   func(*format.Merged) []int64 // of a span: int64s − minus
	bools   func(*format.Merged) []bool
	strings func(*format.Merged) *format.Strings
}

func instants() []column {
	return []column{
		{name: "intended", int64s: func(b *format.Merged) []int64 { return b.Intended }},
		{name: "ready", int64s: func(b *format.Merged) []int64 { return b.Ready }},
		{name: "sent", int64s: func(b *format.Merged) []int64 { return b.Sent }},
		{name: "acked", int64s: func(b *format.Merged) []int64 { return b.Acked }},
		{name: "broker_in", int64s: func(b *format.Merged) []int64 { return b.BrokerIn }},
		{name: "received", int64s: func(b *format.Merged) []int64 { return b.Received }},
		{name: "started", int64s: func(b *format.Merged) []int64 { return b.Started }},
		{name: "settled", int64s: func(b *format.Merged) []int64 { return b.Settled }},
	}
}

func integers() []column {
	return []column{
		{name: "sender", int32s: func(b *format.Merged) []int32 { return b.Sender }},
		{name: "producer", int32s: func(b *format.Merged) []int32 { return b.Producer }},
		{name: "attempt", int32s: func(b *format.Merged) []int32 { return b.Attempt }},
		{name: "connection", int32s: func(b *format.Merged) []int32 { return b.Connection }},
		{name: "receiver", int32s: func(b *format.Merged) []int32 { return b.Receiver }},
		{name: "consumer", int32s: func(b *format.Merged) []int32 { return b.Consumer }},
		{name: "delivery_count", int32s: func(b *format.Merged) []int32 { return b.DeliveryCount }},
		{name: "recv_connection", int32s: func(b *format.Merged) []int32 { return b.RecvConnection }},
		{name: "copy", int32s: func(b *format.Merged) []int32 { return b.Copy }},
		{name: "seq", int64s: func(b *format.Merged) []int64 { return b.Seq }},
	}
}

func texts() []column {
	return []column{
		{name: "run", strings: func(b *format.Merged) *format.Strings { return &b.Run }},
		{name: "destination", strings: func(b *format.Merged) *format.Strings { return &b.Destination }},
		{name: "outcome", strings: func(b *format.Merged) *format.Strings { return &b.Outcome }},
		{name: "wait", strings: func(b *format.Merged) *format.Strings { return &b.Wait }},
		{name: "error", strings: func(b *format.Merged) *format.Strings { return &b.Error }},
		{name: "source", strings: func(b *format.Merged) *format.Strings { return &b.Source }},
		{name: "subscription", strings: func(b *format.Merged) *format.Strings { return &b.Subscription }},
		{name: "recv_outcome", strings: func(b *format.Merged) *format.Strings { return &b.RecvOutcome }},
	}
}

// spans are the metrics of a report, as differences of instants.
func spans() [][3]string {
	return [][3]string{
		{"lag", "ready", "intended"}, {"blocked", "sent", "ready"}, {"service", "acked", "sent"},
		{"response", "acked", "intended"}, {"transit", "received", "sent"}, {"e2e", "received", "intended"},
		{"queued", "started", "received"}, {"work", "settled", "started"}, {"handled", "started", "intended"},
	}
}

// columns returns all names of the language.
func columns() []column {
	var all []column
	add := func(k kind, cs ...column) {
		for _, c := range cs {
			c.kind, c.reads = k, []string{c.name}
			all = append(all, c)
		}
	}
	add(kindInstant, instants()...)
	for _, s := range spans() {
		from, to := find(all, s[2]), find(all, s[1])
		all = append(all, column{name: s[0], kind: kindSpan, reads: s[1:], int64s: to.int64s, minus: from.int64s})
	}
	add(kindInteger, integers()...)
	add(kindSize, column{name: "size", int32s: func(b *format.Merged) []int32 { return b.Size }})
	add(kindSpan, column{name: "bound", int64s: func(b *format.Merged) []int64 { return b.Bound }})
	add(kindBool, column{name: "primary", bools: func(b *format.Merged) []bool { return b.Primary }},
		column{name: "reordered", bools: func(b *format.Merged) []bool { return b.Reordered }})
	add(kindString, texts()...)
	return all
}

func find(all []column, name string) *column {
	i := slices.IndexFunc(all, func(c column) bool { return c.name == name })
	if i < 0 {
		return nil
	}
	c := all[i]
	return &c
}

// Names returns the names that an expression can use, sorted.
func Names() []string {
	var out []string
	for _, c := range columns() {
		out = append(out, c.name)
	}
	slices.Sort(out)
	return out
}

// nearest suggests a name for one that is not there.
func nearest(name string) string {
	lower := strings.ToLower(name)
	best, distance := "", 3
	for _, n := range Names() {
		if d := edits(lower, n); d < distance {
			best, distance = n, d
		}
	}
	return best
}

// edits is the Levenshtein distance.
func edits(a, b string) int {
	if len(a) > 40 {
		return len(a)
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		last := row[0]
		row[0] = i + 1
		for j := range len(b) {
			d := last
			if a[i] != b[j] {
				d++
			}
			last, row[j+1] = row[j+1], min(d, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// load writes the values of a number's column into out, format.Null for NULL.
func (c *column) load(b *format.Merged, out []int64) {
	switch {
	case c.int32s != nil:
		for i, v := range c.int32s(b)[:len(out)] {
			out[i] = int64(v)
			if v == format.Null32 {
				out[i] = format.Null
			}
		}
	case c.minus != nil:
		from := c.minus(b)[:len(out)]
		for i, v := range c.int64s(b)[:len(out)] {
			if v == format.Null || from[i] == format.Null {
				out[i] = format.Null
			} else {
				out[i] = v - from[i]
			}
		}
	default:
		copy(out, c.int64s(b))
	}
}
