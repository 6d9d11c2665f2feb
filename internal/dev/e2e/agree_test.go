package e2e

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"os"
	"strconv"
	"time"

	"github.com/rogpeppe/go-internal/testscript"

	"amqpperf/format"
)

// clockReads is by how much instants of two processes on one host may disagree: each places the one monotonic clock of the
// host in wall time by the tightest of many readings.
const clockReads = int64(100 * time.Microsecond)

// identity is who a message is, and what of it travels.
type identity struct {
	run                                            string
	sender, producer, seq, attempt, intended, sent int64
}

// told is what the broker's log says of a message; 0: nothing.
type told struct {
	identity
	arrival, departure, acked, delivered, settled, size int64
}

// ours is what our logs say of it.
type ours struct {
	identity
	size                     int64
	acked, received, started int64
}

// checkAgreement is the script command agrees N BROKER.csv SEND RECV: the log of perf-broker, of one queue with one producer and
// one consumer, and ours have the same N messages in the same order, and their instants fit between each other.
func checkAgreement(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 4 {
		ts.Fatalf("usage: agrees N BROKER.csv SEND RECV")
	}
	n, err := strconv.Atoi(args[0])
	ts.Check(err)
	broker, err := brokerLog(ts.MkAbs(args[1]))
	ts.Check(err)
	sent, err := ourLog(ts.MkAbs(args[2]))
	ts.Check(err)
	received, err := ourLog(ts.MkAbs(args[3]))
	ts.Check(err)
	if len(broker) != n || len(sent) != n || len(received) != n {
		ts.Fatalf("%d rows of the broker, %d sent, %d received; want %d of each", len(broker), len(sent), len(received), n)
	}
	for i := range broker {
		ts.Check(broker[i].agrees(int64(i), &sent[i], &received[i]))
	}
}

// agrees compares what the three logs say of message i.
func (m *told) agrees(i int64, sent, received *ours) error {
	if m.identity != sent.identity || m.identity != received.identity || m.seq != i {
		return fmt.Errorf("message %d: the broker has %+v, the send log %+v, the receive log %+v", i, m.identity, sent.identity, received.identity)
	}
	if m.size < sent.size || sent.size != received.size { // the broker's is that of the whole message
		return fmt.Errorf("message %d: %d bytes at the broker, %d sent, %d received", i, m.size, sent.size, received.size)
	}
	for _, pair := range []struct {
		what         string
		first, later int64
	}{
		{"sent and the broker's arrival", m.sent, m.arrival},
		{"the broker's arrival and departure", m.arrival, m.departure},
		{"the broker's answer and acked", m.acked, sent.acked},
		{"the broker's departure and delivery", m.departure, m.delivered},
		{"the broker's delivery and received", m.delivered, received.received},
		{"started and the broker's settlement", received.started, m.settled},
	} {
		if pair.first == 0 || pair.later == 0 || pair.first > pair.later+clockReads {
			return fmt.Errorf("message %d: %s: %d and %d, %d ns too early", i, pair.what, pair.first, pair.later, pair.first-pair.later)
		}
	}
	return nil
}

// brokerLog reads a log of perf-broker.
func brokerLog(path string) (all []told, err error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close() //nolint:errcheck // it was read only
	r := csv.NewReader(f)
	r.ReuseRecord = true
	head, err := r.Read()
	if err != nil {
		return nil, err
	}
	at := map[string]int{}
	for i, name := range head {
		at[name] = i
	}
	for {
		row, err := r.Read()
		if errors.Is(err, io.EOF) {
			return all, nil
		}
		if err != nil {
			return nil, err
		}
		m := told{identity: identity{run: row[at["run"]]}}
		for name, to := range map[string]*int64{
			"sender": &m.sender, "producer": &m.producer, "stamp_seq": &m.seq, "attempt": &m.attempt, "intended": &m.intended, "sent": &m.sent,
			"arrival": &m.arrival, "departure": &m.departure, "acked": &m.acked, "delivered": &m.delivered, "settled": &m.settled, "size": &m.size,
		} {
			if cell := row[at[name]]; cell != "" {
				if *to, err = strconv.ParseInt(cell, 10, 64); err != nil {
					return nil, fmt.Errorf("%s: %s: %w", path, name, err)
				}
			}
		}
		all = append(all, m)
	}
}

// ourLog reads a log of perf-send or perf-recv.
func ourLog(path string) (all []ours, err error) {
	l, err := format.Open(path)
	if err != nil {
		return nil, err
	}
	defer l.Close() //nolint:errcheck // it was read only
	b, err := newBatch(l.Schema())
	if err != nil {
		return nil, err
	}
	for {
		if err := l.Read(b); errors.Is(err, io.EOF) {
			return all, nil
		} else if err != nil {
			return nil, err
		}
		switch b := b.(type) {
		case *format.Send:
			for i := range b.Len() {
				all = append(all, ours{identity: identityOf(&b.Identity, i, b.Intended, b.Sent), size: int64(b.Size[i]), acked: b.Acked[i]})
			}
		case *format.Recv:
			for i := range b.Len() {
				all = append(all, ours{identity: identityOf(&b.Identity, i, b.Intended, b.Sent), size: int64(b.Size[i]), received: b.Received[i], started: b.Started[i]})
			}
		}
	}
}

func identityOf(b *format.Identity, i int, intended, sent []int64) identity {
	run, _ := b.Run.At(i)
	return identity{run, int64(b.Sender[i]), int64(b.Producer[i]), b.Seq[i], int64(b.Attempt[i]), intended[i], sent[i]}
}
