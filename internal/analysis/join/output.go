package join

import (
	"amqpperf/format"
	"amqpperf/internal/analysis/clock"
)

// output appends merged rows to a batch. Its dictionaries live as long as the
// join, so that codes keep their meaning from batch to batch.
type output struct {
	b     *format.Merged
	dicts dictionaries
	log   *sendLog // whose codes the maps below translate
	codes sendCodes
	recv  struct{ destination, subscription, outcome remap }
}

type dictionaries struct {
	run, destination, outcome, wait, err, source, subscription, recvOutcome []string
}

// reset empties the batch and gives it the dictionaries.
func (o *output) reset(b *format.Merged) {
	o.b = b
	for _, column := range b.Columns() {
		switch c := column.(type) {
		case *[]int32:
			*c = (*c)[:0]
		case *[]int64:
			*c = (*c)[:0]
		case *[]bool:
			*c = (*c)[:0]
		case *format.Strings:
			c.Codes = c.Codes[:0]
		}
	}
	d := &o.dicts
	b.Run.Values, b.Destination.Values, b.Outcome.Values, b.Wait.Values = d.run, d.destination, d.outcome, d.wait
	b.Error.Values, b.Source.Values, b.Subscription.Values, b.RecvOutcome.Values = d.err, d.source, d.subscription, d.recvOutcome
}

// finish keeps the dictionaries as the batch has grown them.
func (o *output) finish(b *format.Merged) {
	d := &o.dicts
	d.run, d.destination, d.outcome, d.wait = b.Run.Values, b.Destination.Values, b.Outcome.Values, b.Wait.Values
	d.err, d.source, d.subscription, d.recvOutcome = b.Error.Values, b.Source.Values, b.Subscription.Values, b.RecvOutcome.Values
}

// from says whose rows come next: every log has dictionaries of its own.
func (o *output) from(l *sendLog) {
	if o.log != l {
		o.log, o.codes = l, sendCodes{}
	}
}

// send appends the send side of a row.
func (o *output) send(s *format.Send, i int, shift int64, bound clock.Alignment, primary bool) {
	b, c := o.b, &o.codes
	c.run.append(&b.Run, &s.Run, i)
	c.destination.append(&b.Destination, &s.Destination, i)
	c.outcome.append(&b.Outcome, &s.Outcome, i)
	c.wait.append(&b.Wait, &s.Wait, i)
	c.err.append(&b.Error, &s.Error, i)
	b.Sender = append(b.Sender, s.Sender[i])
	b.Producer = append(b.Producer, s.Producer[i])
	b.Seq = append(b.Seq, s.Seq[i])
	b.Attempt = append(b.Attempt, s.Attempt[i])
	b.Size = append(b.Size, s.Size[i])
	b.Intended = append(b.Intended, moved(s.Intended[i], shift))
	b.Ready = append(b.Ready, moved(s.Ready[i], shift))
	b.Sent = append(b.Sent, moved(s.Sent[i], shift))
	b.Acked = append(b.Acked, moved(s.Acked[i], shift))
	b.Connection = append(b.Connection, s.Connection[i])
	o.primary(primary, bound)
}

// unlogged appends the send side of an arrival without send row, as far as
// the stamp tells it.
func (o *output) unlogged(run string, a *arrivals, row int32, shift int64, bound clock.Alignment, primary bool) {
	b, r := o.b, &a.rows
	b.Run.Codes = append(b.Run.Codes, intern(&b.Run, run))
	b.Destination.Codes = append(b.Destination.Codes, intern(&b.Destination, r.Destination.Values[r.Destination.Codes[row]]))
	b.Outcome.Codes = append(b.Outcome.Codes, intern(&b.Outcome, format.Unlogged))
	b.Wait.Codes = append(b.Wait.Codes, intern(&b.Wait, format.WaitNone))
	b.Error.Codes = append(b.Error.Codes, -1)
	b.Sender = append(b.Sender, r.Sender[row])
	b.Producer = append(b.Producer, r.Producer[row])
	b.Seq = append(b.Seq, r.Seq[row])
	b.Attempt = append(b.Attempt, r.Attempt[row])
	b.Size = append(b.Size, r.Size[row])
	b.Intended = append(b.Intended, moved(r.Intended[row], shift))
	b.Ready = append(b.Ready, format.Null)
	b.Sent = append(b.Sent, moved(r.Sent[row], shift))
	b.Acked = append(b.Acked, format.Null)
	b.Connection = append(b.Connection, 0)
	o.primary(primary, bound)
}

func (o *output) primary(primary bool, bound clock.Alignment) {
	o.b.Primary = append(o.b.Primary, primary)
	if bound.Known() {
		o.b.Bound = append(o.b.Bound, bound.Bound)
	} else {
		o.b.Bound = append(o.b.Bound, format.Null)
	}
}

// arrival appends the receive side of a row.
func (o *output) arrival(a *arrivals, row, copyNumber int32) {
	b, r, i := o.b, &a.rows, int(row)
	o.recv.destination.append(&b.Source, &r.Destination, i)
	o.recv.subscription.append(&b.Subscription, &r.Subscription, i)
	o.recv.outcome.append(&b.RecvOutcome, &r.Outcome, i)
	b.Receiver = append(b.Receiver, r.Receiver[i])
	b.Consumer = append(b.Consumer, r.Consumer[i])
	b.BrokerIn = append(b.BrokerIn, r.BrokerIn[i])
	b.Received = append(b.Received, r.Received[i])
	b.Started = append(b.Started, r.Started[i])
	b.Settled = append(b.Settled, r.Settled[i])
	b.DeliveryCount = append(b.DeliveryCount, r.DeliveryCount[i])
	b.RecvConnection = append(b.RecvConnection, r.Connection[i])
	b.Copy = append(b.Copy, copyNumber)
	b.Reordered = append(b.Reordered, a.late[i])
}

// noArrival appends the receive side of a row without arrival. fate is lost,
// unknown or "".
func (o *output) noArrival(subscription string, named bool, fate string) {
	b := o.b
	code := int32(-1)
	if named {
		code = intern(&b.Subscription, subscription)
	}
	b.Subscription.Codes = append(b.Subscription.Codes, code)
	b.Source.Codes = append(b.Source.Codes, -1)
	outcome := int32(-1)
	if fate != "" {
		outcome = intern(&b.RecvOutcome, fate)
	}
	b.RecvOutcome.Codes = append(b.RecvOutcome.Codes, outcome)
	for _, column := range []*[]int32{&b.Receiver, &b.Consumer, &b.DeliveryCount, &b.RecvConnection} {
		*column = append(*column, format.Null32)
	}
	for _, column := range []*[]int64{&b.BrokerIn, &b.Received, &b.Started, &b.Settled} {
		*column = append(*column, format.Null)
	}
	b.Copy = append(b.Copy, 0)
	b.Reordered = append(b.Reordered, false)
}

func moved(instant, by int64) int64 {
	if instant == format.Null {
		return instant
	}
	return instant + by
}
