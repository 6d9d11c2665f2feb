package interop

import (
	"errors"
	"path/filepath"
	"slices"
	"testing"

	"amqpperf/format"
	"amqpperf/timestamp"
)

// Of the logs that synthesize makes: a run of 25 s to a topic with two subscriptions.
const (
	synthMessages = 20_000
	synthGap      = 1_250_000                 // ns between two messages
	synthStart    = 1_790_000_000_000_000_000 // ns since the Unix epoch
	synthTopic    = "topic://t"
)

// fates of a message, out of a thousand.
type fate struct {
	outcome  string
	arrives  [2]int // how often, in each subscription
	late     bool   // in the first, behind others
	again    bool   // a second attempt is made, and accepted
	returned bool   // the broker had delivered it before
}

func fateOf(i int) fate {
	accepted := fate{outcome: format.Accepted, arrives: [2]int{1, 1}}
	switch h := uint32(i) * 2654435761 >> 8 % 1000; {
	case h < 4:
		accepted.arrives = [2]int{0, 1}
	case h < 6:
		accepted.arrives = [2]int{0, 0}
	case h < 10:
		return fate{outcome: format.Failed, again: true}
	case h < 14:
		return fate{outcome: format.Failed, arrives: [2]int{1, 1}, again: true}
	case h < 17:
		return fate{outcome: format.Rejected}
	case h < 19:
		return fate{outcome: format.Released, again: true}
	case h < 20:
		return fate{outcome: format.Unsettled}
	case h < 21:
		return fate{outcome: format.Unsettled, arrives: [2]int{1, 1}}
	case h < 22:
		return fate{outcome: format.Unsent}
	case h < 35:
		accepted.arrives = [2]int{2, 1}
	case h < 40:
		accepted.arrives, accepted.returned = [2]int{1, 3}, true
	case h < 60:
		accepted.late = true
	}
	return accepted
}

// delivery is a row of the receive log.
type delivery struct {
	producer, attempt, consumer, count int32
	seq, intended, sent, received      int64
}

// synthesize writes a send log and a receive log of a run in which everything happens; scale makes its latencies longer.
func synthesize(t *testing.T, folder, run string, scale int64) {
	t.Helper()
	send := &format.Send{}
	send.Run.Values, send.Destination.Values = []string{run}, []string{synthTopic}
	send.Outcome.Values = []string{format.Accepted, format.Failed, format.Rejected, format.Released, format.Unsettled, format.Unsent}
	send.Wait.Values = []string{format.WaitNone}
	var deliveries []delivery
	for i := range int64(synthMessages) {
		f := fateOf(int(i))
		intended := synthStart + i*synthGap
		service := scale * (200_000 + i*i*7919%3_000_000)
		addSend(send, int32(i%2), i/2, 0, intended, service, f.outcome)
		d := delivery{producer: int32(i % 2), seq: i / 2, intended: intended, sent: intended + 30_000}
		deliveries = append(deliveries, f.deliver(d, service)...)
		if f.again {
			addSend(send, int32(i%2), i/2, 1, intended, service+300_000_000, format.Accepted)
			d.attempt, d.sent = 1, d.sent+300_000_000
			deliveries = append(deliveries, fate{arrives: [2]int{1, 1}}.deliver(d, service)...)
		}
	}
	slices.SortStableFunc(deliveries, func(a, b delivery) int { return int(a.received - b.received) })
	writeLog(t, filepath.Join(folder, run+"-send.parquet"), send, format.Meta{format.KeyRun: run, format.KeyOrder: format.OrderSeq}, 1)

	meta := format.Meta{format.KeyRun: run, format.KeyOrder: format.OrderReceived}
	var subs []format.Subscription
	for _, name := range []string{"s0", "s1"} {
		subs = append(subs, format.Subscription{Destination: synthTopic, Name: &name, Attached: synthStart - 1})
	}
	if err := meta.SetJSON(format.KeySubscriptions, subs); err != nil {
		t.Fatal(err)
	}
	writeLog(t, filepath.Join(folder, run+"-recv.parquet"), recvRows(run, deliveries), meta, 2)
}

// deliver returns the arrivals of a message that fares so.
func (f fate) deliver(d delivery, service int64) (list []delivery) {
	for consumer, times := range f.arrives {
		for n := range int64(times) {
			d.consumer = int32(consumer)
			d.received = d.sent + service/2 + int64(consumer)*40_000 + n*70_000_000
			d.count = 0
			if f.returned && n > 0 {
				d.count = int32(n)
			}
			if f.late && consumer == 0 {
				d.received += 20_000_000
			}
			list = append(list, d)
		}
	}
	return list
}

func addSend(b *format.Send, producer int32, seq int64, attempt int32, intended, service int64, outcome string) {
	sent := intended + 30_000 + int64(attempt)*300_000_000
	ready, acked := intended+10_000, intended+30_000+service
	switch outcome {
	case format.Unsent:
		sent, acked = format.Null, format.Null
	case format.Unsettled, format.Failed:
		acked = format.Null
	}
	b.Run.Codes = append(b.Run.Codes, 0)
	b.Sender, b.Producer = append(b.Sender, 7), append(b.Producer, producer)
	b.Seq, b.Attempt = append(b.Seq, seq), append(b.Attempt, attempt)
	b.Destination.Codes, b.Size = append(b.Destination.Codes, 0), append(b.Size, 100)
	b.Intended, b.Ready, b.Sent, b.Acked = append(b.Intended, intended), append(b.Ready, ready), append(b.Sent, sent), append(b.Acked, acked)
	b.Outcome.Codes = append(b.Outcome.Codes, int32(slices.Index(b.Outcome.Values, outcome)))
	b.Wait.Codes, b.Error.Codes, b.Connection = append(b.Wait.Codes, 0), append(b.Error.Codes, -1), append(b.Connection, 0)
}

func recvRows(run string, deliveries []delivery) *format.Recv {
	b := &format.Recv{}
	b.Run.Values, b.Destination.Values, b.Outcome.Values = []string{run}, []string{synthTopic}, []string{format.Accepted}
	b.Subscription.Values = []string{"s0", "s1"}
	for _, d := range deliveries {
		b.Run.Codes = append(b.Run.Codes, 0)
		b.Sender, b.Producer = append(b.Sender, 7), append(b.Producer, d.producer)
		b.Seq, b.Attempt = append(b.Seq, d.seq), append(b.Attempt, d.attempt)
		b.Receiver, b.Consumer = append(b.Receiver, 9), append(b.Consumer, d.consumer)
		b.Destination.Codes, b.Subscription.Codes = append(b.Destination.Codes, 0), append(b.Subscription.Codes, d.consumer)
		b.Size = append(b.Size, 100)
		b.Intended, b.Sent, b.BrokerIn = append(b.Intended, d.intended), append(b.Sent, d.sent), append(b.BrokerIn, format.Null)
		b.Received, b.Started, b.Settled = append(b.Received, d.received), append(b.Started, d.received+5_000), append(b.Settled, d.received+9_000)
		b.Outcome.Codes = append(b.Outcome.Codes, 0)
		b.DeliveryCount, b.Connection = append(b.DeliveryCount, d.count), append(b.Connection, 0)
	}
	return b
}

// writeLog writes a finished log of a process whose clock is that of the other.
func writeLog(t *testing.T, path string, b format.Batch, meta format.Meta, process int64) {
	t.Helper()
	w, err := format.CreateParquet(path, b.Schema(), format.ParquetOptions{CreatedBy: "interop"})
	if err != nil {
		t.Fatal(err)
	}
	anchor := timestamp.Anchor{Wall: synthStart + process, Monotonic: process, Gap: 30, ClockID: 7}
	if err := errors.Join(meta.SetJSON(format.KeyClock, anchor), w.Write(b)); err != nil {
		t.Fatal(err)
	}
	meta[format.KeyComplete] = "true"
	w.SetMeta(meta)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}
