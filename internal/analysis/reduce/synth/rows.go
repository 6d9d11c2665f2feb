package synth

import (
	"io"
	"math/rand/v2"

	"amqpperf/format"
)

// Null is a NULL instant.
const Null = format.Null

// Start is the instant that all generated runs begin at, ns since the Unix epoch.
const Start int64 = 1_790_000_000_000_000_000

// Millisecond and the others are spans in ns.
const (
	Microsecond int64 = 1_000
	Millisecond int64 = 1_000_000
	Second      int64 = 1_000_000_000
)

// Row is one merged row. Strings that are "" are NULL where a column can be.
type Row struct {
	Run                          string
	Sender, Producer             int32
	Seq                          int64
	Attempt                      int32
	Destination                  string
	Size                         int32
	Intended, Ready, Sent, Acked int64
	Outcome, Wait, Error         string
	Receiver, Consumer           int32
	Subscription                 string
	Received, Started, Settled   int64
	RecvOutcome                  string
	DeliveryCount                int32
	Copy                         int32
	Secondary, Reordered         bool
	Bound                        int64
}

// Message returns a row of an accepted message, ready and sent when intended
// and acked after a service time, that was not received.
func Message(seq, intended, service int64) Row {
	return Row{
		Run: "run", Sender: 1, Seq: seq, Destination: "queue://q", Size: 1024,
		Intended: intended, Ready: intended, Sent: intended, Acked: intended + service,
		Outcome: format.Accepted, Wait: format.WaitNone,
		Receiver: 2, Received: Null, Started: Null, Settled: Null, Bound: Null,
	}
}

// Arrive lets a message arrive.
func (r Row) Arrive(received int64) Row {
	r.Received, r.Started, r.Settled = received, received, received
	r.RecvOutcome, r.Bound = format.Accepted, 0
	return r
}

// Lose makes an accepted message one that should have arrived and did not.
func (r Row) Lose() Row {
	r.Received, r.Started, r.Settled, r.RecvOutcome = Null, Null, Null, format.Lost
	return r
}

// Unanswered makes a message one that got no answer.
func (r Row) Unanswered(outcome string) Row {
	r.Acked, r.Outcome = Null, outcome
	if outcome == format.Unsent {
		r.Sent = Null
	}
	return r
}

// Log is a merged log in memory.
type Log struct {
	Rows []Row
	Meta format.Meta
}

// Config returns metadata as perf-merge writes it for one send and one receive log.
func Config(config, labels map[string]any, name string) format.Meta {
	send := format.Meta{format.KeySchema: "send/1", format.KeyTool: "perf-send", format.KeyComplete: "true"}
	recv := format.Meta{format.KeySchema: "recv/1", format.KeyTool: "perf-recv", format.KeyComplete: "true"}
	m := format.Meta{format.KeySchema: "merged/1", format.KeyRun: "run"}
	if name != "" {
		send[format.KeyName] = name
	}
	// Maps of strings and numbers can be written as JSON.
	if config != nil {
		_ = send.SetJSON(format.KeyConfig, config)
	}
	if labels != nil {
		_ = send.SetJSON(format.KeyLabels, labels)
	}
	_ = m.SetJSON(format.KeySource, []format.Meta{send, recv})
	return m
}

// Shuffle brings the rows into another order.
func (l *Log) Shuffle(seed uint64) *Log {
	rows := append([]Row(nil), l.Rows...)
	rng := rand.New(rand.NewPCG(seed, seed))
	rng.Shuffle(len(rows), func(i, j int) { rows[i], rows[j] = rows[j], rows[i] })
	return &Log{Rows: rows, Meta: l.Meta}
}

// Reader yields the rows in batches; it implements reduce.Rows.
type Reader struct {
	log  *Log
	size int
	at   int
}

// Reader returns a reader with batches of size rows.
func (l *Log) Reader(size int) *Reader { return &Reader{log: l, size: size} }

// Meta returns the metadata.
func (r *Reader) Meta() format.Meta {
	if r.log.Meta == nil {
		return format.Meta{}
	}
	return r.log.Meta
}

// Rewind starts over.
func (r *Reader) Rewind() error {
	r.at = 0
	return nil
}

// Next fills b, which is emptied first.
func (r *Reader) Next(b *format.Merged) error {
	if r.at >= len(r.log.Rows) {
		return io.EOF
	}
	end := min(r.at+r.size, len(r.log.Rows))
	*b = format.Merged{} // dictionaries anew for every batch: codes must not be relied on
	for _, row := range r.log.Rows[r.at:end] {
		row.append(b)
	}
	r.at = end
	return nil
}

func (r *Row) append(b *format.Merged) {
	text := func(s *format.Strings, v string) {
		for c, known := range s.Values {
			if known == v && v != "" {
				s.Codes = append(s.Codes, int32(c))
				return
			}
		}
		if v == "" {
			s.Codes = append(s.Codes, -1)
			return
		}
		s.Codes = append(s.Codes, int32(len(s.Values)))
		s.Values = append(s.Values, v)
	}
	text(&b.Run, r.Run)
	text(&b.Destination, r.Destination)
	text(&b.Outcome, r.Outcome)
	text(&b.Wait, r.Wait)
	text(&b.Error, r.Error)
	text(&b.Subscription, r.Subscription)
	text(&b.RecvOutcome, r.RecvOutcome)
	arrived := r.Received != Null
	source, receiver, consumer, count := "", format.Null32, format.Null32, format.Null32
	if arrived {
		source, receiver, consumer, count = r.Destination, r.Receiver, r.Consumer, r.DeliveryCount
	}
	text(&b.Source, source)
	b.Sender = append(b.Sender, r.Sender)
	b.Producer = append(b.Producer, r.Producer)
	b.Seq = append(b.Seq, r.Seq)
	b.Attempt = append(b.Attempt, r.Attempt)
	b.Size = append(b.Size, r.Size)
	b.Intended = append(b.Intended, r.Intended)
	b.Ready = append(b.Ready, r.Ready)
	b.Sent = append(b.Sent, r.Sent)
	b.Acked = append(b.Acked, r.Acked)
	b.Connection = append(b.Connection, 0)
	b.Receiver = append(b.Receiver, receiver)
	b.Consumer = append(b.Consumer, consumer)
	b.BrokerIn = append(b.BrokerIn, Null)
	b.Received = append(b.Received, r.Received)
	b.Started = append(b.Started, r.Started)
	b.Settled = append(b.Settled, r.Settled)
	b.DeliveryCount = append(b.DeliveryCount, count)
	b.RecvConnection = append(b.RecvConnection, 0)
	b.Copy = append(b.Copy, r.Copy)
	b.Primary = append(b.Primary, !r.Secondary)
	b.Reordered = append(b.Reordered, r.Reordered)
	b.Bound = append(b.Bound, r.Bound)
}
