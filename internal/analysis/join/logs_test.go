package join_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/join"
	"amqpperf/timestamp"
)

const testRun = "0190c5f0-0000-7000-8000-000000000001"

// sendRow is a row of a send log with the usual values left out.
type sendRow struct {
	run         string // "" = testRun
	sender      int32
	producer    int32
	seq         int64
	attempt     int32
	destination string // "" = queue://q
	sent        int64  // format.Null = never
	acked       int64
	outcome     string // "" = accepted
}

type recvRow struct {
	run           string
	sender        int32
	producer      int32
	seq           int64
	attempt       int32
	receiver      int32
	consumer      int32
	destination   string
	subscription  string // "" = a queue
	received      int64
	outcome       string
	deliveryCount int32
}

func str(s *format.Strings, value string) {
	for i, v := range s.Values {
		if v == value {
			s.Codes = append(s.Codes, int32(i))
			return
		}
	}
	s.Values = append(s.Values, value)
	s.Codes = append(s.Codes, int32(len(s.Values)-1))
}

func or(s, fallback string) string {
	if s == "" {
		return fallback
	}
	return s
}

func sendBatch(rows []sendRow) *format.Send {
	b := &format.Send{}
	for _, r := range rows {
		str(&b.Run, or(r.run, testRun))
		b.Sender = append(b.Sender, r.sender)
		b.Producer = append(b.Producer, r.producer)
		b.Seq = append(b.Seq, r.seq)
		b.Attempt = append(b.Attempt, r.attempt)
		str(&b.Destination, or(r.destination, "queue://q"))
		b.Size = append(b.Size, 100)
		b.Intended = append(b.Intended, 1000*r.seq)
		b.Ready = append(b.Ready, 1000*r.seq)
		b.Sent = append(b.Sent, r.sent)
		b.Acked = append(b.Acked, r.acked)
		str(&b.Outcome, or(r.outcome, format.Accepted))
		str(&b.Wait, format.WaitNone)
		b.Error.Codes = append(b.Error.Codes, -1)
		b.Connection = append(b.Connection, 0)
	}
	return b
}

func recvBatch(rows []recvRow) *format.Recv {
	b := &format.Recv{}
	for _, r := range rows {
		str(&b.Run, or(r.run, testRun))
		b.Sender = append(b.Sender, r.sender)
		b.Producer = append(b.Producer, r.producer)
		b.Seq = append(b.Seq, r.seq)
		b.Attempt = append(b.Attempt, r.attempt)
		b.Receiver = append(b.Receiver, r.receiver)
		b.Consumer = append(b.Consumer, r.consumer)
		str(&b.Destination, or(r.destination, "queue://q"))
		if r.subscription == "" {
			b.Subscription.Codes = append(b.Subscription.Codes, -1)
		} else {
			str(&b.Subscription, r.subscription)
		}
		b.Size = append(b.Size, 100)
		b.Intended = append(b.Intended, 1000*r.seq)
		b.Sent = append(b.Sent, 1000*r.seq+1)
		b.BrokerIn = append(b.BrokerIn, format.Null)
		b.Received = append(b.Received, r.received)
		if r.outcome == format.Released {
			b.Started = append(b.Started, format.Null)
		} else {
			b.Started = append(b.Started, r.received+1)
		}
		b.Settled = append(b.Settled, format.Null)
		str(&b.Outcome, or(r.outcome, format.Accepted))
		b.DeliveryCount = append(b.DeliveryCount, r.deliveryCount)
		b.Connection = append(b.Connection, 0)
	}
	return b
}

// logs writes logs for one test.
type logs struct {
	t       *testing.T
	names   []string
	streams bool             // Arrow streams in place of Parquet
	clock   *format.ClockRow // of the next log
}

// anchor is that of every log unless a test says otherwise: one boot.
func anchor() timestamp.Anchor {
	return timestamp.Anchor{Wall: 5_000, Monotonic: 0, Gap: 30, ClockID: 7}
}

// later is the anchor of a second process of that boot, a moment later.
func later() timestamp.Anchor {
	a := anchor()
	a.Wall++
	a.Monotonic++
	return a
}

func (l *logs) write(name string, b format.Batch, a timestamp.Anchor, meta format.Meta) *logs {
	l.t.Helper()
	path := filepath.Join(l.t.TempDir(), name)
	w, err := l.create(path, b)
	if err != nil {
		l.t.Fatal(err)
	}
	m := format.Meta{format.KeyRun: testRun, format.KeyComplete: "true"}
	for k, v := range meta {
		m[k] = v
	}
	if err := m.SetJSON(format.KeyClock, a); err != nil {
		l.t.Fatal(err)
	}
	w.SetMeta(m)
	if l.clock != nil {
		if err := w.Table(l.clock); err != nil {
			l.t.Fatal(err)
		}
		l.clock = nil
	}
	if err := errors.Join(w.Write(b), w.Close()); err != nil {
		l.t.Fatal(err)
	}
	l.names = append(l.names, path)
	return l
}

func (l *logs) create(path string, b format.Batch) (format.Writer, error) {
	if !l.streams {
		return format.CreateParquet(path, b.Schema(), format.ParquetOptions{})
	}
	f, err := os.Create(path)
	if err != nil {
		return nil, err
	}
	return streamFile{format.NewStreamWriter(f, b.Schema(), nil), f}, nil
}

// streamFile closes the file with the stream.
type streamFile struct {
	format.Writer
	f *os.File
}

func (s streamFile) Close() error { return errors.Join(s.Writer.Close(), s.f.Close()) }

func (l *logs) send(rows ...sendRow) *logs {
	return l.write("send.parquet", sendBatch(rows), anchor(), nil)
}

func (l *logs) recv(rows ...recvRow) *logs {
	return l.write("recv.parquet", recvBatch(rows), later(), nil)
}

// merged is what a test looks at in a merged row.
type merged struct {
	Sender, Producer int32
	Seq              int64
	Attempt          int32
	Outcome          string
	Subscription     string
	Received         int64
	RecvOutcome      string
	Copy             int32
	Primary          bool
	Reordered        bool
	Bound            int64
}

// join runs the join and returns rows and accounting.
func (l *logs) join(opt join.Options) ([]merged, join.Accounting) {
	l.t.Helper()
	j, err := join.Open(l.names, opt)
	if err != nil {
		l.t.Fatal(err)
	}
	defer func() {
		if err := j.Close(); err != nil {
			l.t.Error(err)
		}
	}()
	rows := drain(l.t, j)
	acc := j.Accounting()
	if err := acc.Check(); err != nil {
		l.t.Error(err)
	}
	return rows, acc
}

func drain(t *testing.T, j *join.Joiner) []merged {
	t.Helper()
	var rows []merged
	var b format.Merged
	for {
		err := j.Next(&b)
		if errors.Is(err, io.EOF) {
			return rows
		}
		if err != nil {
			t.Fatal(err)
		}
		for i := range b.Seq {
			outcome, _ := b.Outcome.At(i)
			subscription, _ := b.Subscription.At(i)
			recvOutcome, _ := b.RecvOutcome.At(i)
			rows = append(rows, merged{b.Sender[i], b.Producer[i], b.Seq[i], b.Attempt[i], outcome, subscription,
				b.Received[i], recvOutcome, b.Copy[i], b.Primary[i], b.Reordered[i], b.Bound[i]})
		}
	}
}
