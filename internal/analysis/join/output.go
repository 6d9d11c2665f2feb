package join

import (
	"slices"

	"amqpperf/format"
)

// output makes merged rows. Its dictionaries live as long as the join, so that
// codes keep their meaning from batch to batch.
type output struct {
	run, destination, outcome, wait, err, source, subscription, result format.Strings // only their values

	none     int32      // code of wait none
	unlogged int32      // of the outcome
	lost     int32      // of results
	unknown  int32      // of results
	here     int32      // of the run that is joined
	subs     []subCodes // by subscription

	shift []int64 // of the send side, by row of a batch
	moved []int64 // of the receive side
	pick  picker
}

// subCodes are the codes of a subscription's strings.
type subCodes struct{ source, subscription, destination int32 }

func newOutput(run string, subs []subscription, results []string) *output {
	o := &output{}
	o.here = intern(&o.run, run)
	o.none, o.unlogged = intern(&o.wait, format.WaitNone), intern(&o.outcome, format.Unlogged)
	o.result.Values = slices.Clone(results) // so that outcomes of deliveries are codes of it
	o.lost, o.unknown = intern(&o.result, format.Lost), intern(&o.result, format.Unknown)
	for i := range subs {
		s := &subs[i]
		c := subCodes{source: intern(&o.source, s.source), subscription: -1, destination: intern(&o.destination, s.source)}
		if !s.queue {
			c.subscription = intern(&o.subscription, s.name)
		}
		o.subs = append(o.subs, c)
	}
	return o
}

// logCodes translates the codes of a send log into those of the output.
type logCodes struct{ run, destination, outcome, wait, err []int32 }

func (c *logCodes) learn(o *output, b *format.Send) {
	c.run = learn(c.run, &o.run, b.Run.Values)
	c.destination = learn(c.destination, &o.destination, b.Destination.Values)
	c.outcome = learn(c.outcome, &o.outcome, b.Outcome.Values)
	c.wait = learn(c.wait, &o.wait, b.Wait.Values)
	c.err = learn(c.err, &o.err, b.Error.Values)
}

func learn(known []int32, to *format.Strings, values []string) []int32 {
	for _, v := range values[len(known):] {
		known = append(known, intern(to, v))
	}
	return known
}

// fill makes rows lo…hi of the chunk at work.
func (o *output) fill(j *Joiner, b *format.Merged, lo, hi int) {
	n := hi - lo
	resize(b, n)
	b.Run.Values, b.Destination.Values, b.Outcome.Values, b.Wait.Values = o.run.Values, o.destination.Values, o.outcome.Values, o.wait.Values
	b.Error.Values, b.Source.Values, b.Subscription.Values, b.RecvOutcome.Values = o.err.Values, o.source.Values, o.subscription.Values, o.result.Values
	w := &j.work
	o.shift = slices.Grow(o.shift[:0], n)[:n]
	if w.b != nil {
		o.sendSide(w, b, w.out.send[lo:hi])
	}
	if w.out.orphans > 0 {
		o.stampSide(j, b, lo, hi)
	}
	o.recvSide(j, b, lo, hi)
	for k, f := range w.out.flags[lo:hi] {
		b.Primary[k] = f&primary != 0
	}
	copy(b.Copy, w.out.copy[lo:hi])
	j.bounds(b, lo, hi, o.shift)
}

// sendSide fills what send rows say; that of rows without one is any.
func (o *output) sendSide(w *work, b *format.Merged, rows []int32) {
	s, c, p := w.b, &w.log.codes, &o.pick
	p.use(rows)
	get(p, b.Sender, s.Sender)
	get(p, b.Producer, s.Producer)
	get(p, b.Seq, s.Seq)
	get(p, b.Attempt, s.Attempt)
	get(p, b.Size, s.Size)
	get(p, b.Connection, s.Connection)
	get(p, b.Intended, s.Intended)
	get(p, b.Ready, s.Ready)
	get(p, b.Sent, s.Sent)
	get(p, b.Acked, s.Acked)
	getCodes(p, b.Run.Codes, s.Run.Codes, c.run)
	getCodes(p, b.Destination.Codes, s.Destination.Codes, c.destination)
	getCodes(p, b.Outcome.Codes, s.Outcome.Codes, c.outcome)
	getCodes(p, b.Wait.Codes, s.Wait.Codes, c.wait)
	getCodes(p, b.Error.Codes, s.Error.Codes, c.err)
	instants := [4][]int64{b.Intended, b.Ready, b.Sent, b.Acked}
	if clock := w.log.clock; clock.constant {
		fillWith(o.shift, clock.offset)
		for _, column := range instants {
			shiftAll(column, clock.offset)
		}
		return
	}
	for k := range o.shift {
		o.shift[k] = w.log.clock.shift(timeOf(b, k))
	}
	for _, column := range instants {
		shiftEach(column, o.shift)
	}
}

// stampSide fills the send side of arrivals without send row, as far as the
// stamp tells it.
func (o *output) stampSide(j *Joiner, b *format.Merged, lo, hi int) {
	w := &j.work
	d := w.d
	for k, i := range w.out.send[lo:hi] {
		if i >= 0 {
			continue
		}
		r := w.out.recv[lo+k]
		key := j.found.lanes.list[d.lane[r]].key
		shift := j.clocks.stamp(key.sender).shift(d.sent[r])
		o.shift[k] = shift
		b.Sender[k], b.Producer[k], b.Seq[k], b.Attempt[k] = key.sender, key.producer, d.seq[r], d.attempt[r]
		b.Size[k], b.Connection[k] = d.size[r], 0
		b.Intended[k], b.Sent[k] = moved(d.intended[r], shift), moved(d.sent[r], shift)
		b.Ready[k], b.Acked[k] = format.Null, format.Null
		b.Run.Codes[k], b.Destination.Codes[k] = o.here, o.subs[d.sub[r]].destination
		b.Outcome.Codes[k], b.Wait.Codes[k], b.Error.Codes[k] = o.unlogged, o.none, -1
	}
}

// recvSide fills what deliveries say, or that there is none.
func (o *output) recvSide(j *Joiner, b *format.Merged, lo, hi int) {
	w, d, m := &j.work, j.work.d, &j.matcher
	rows := w.out.recv[lo:hi]
	if d.len() > 0 {
		p := &o.pick
		p.use(rows)
		get(p, b.Receiver, d.receiver)
		get(p, b.Consumer, d.consumer)
		get(p, b.DeliveryCount, d.deliveryCount)
		get(p, b.RecvConnection, d.connection)
		get(p, b.RecvOutcome.Codes, d.outcome)
		get(p, b.Received, m.at)
		get(p, b.BrokerIn, d.brokerIn)
		get(p, b.Started, d.started)
		get(p, b.Settled, d.settled)
		o.shiftRecv(j, b)
		if m.anyLate {
			get(p, b.Reordered, m.late)
		} else {
			clear(b.Reordered)
		}
		o.subscriptions(b, m, d, rows)
	}
	if w.out.missing == 0 {
		return
	}
	for k, r := range rows {
		if r < 0 {
			o.noArrival(w, b, lo+k, k)
		}
	}
}

// shiftRecv moves the instants of arrivals that are not moved yet by as much
// as received was.
func (o *output) shiftRecv(j *Joiner, b *format.Merged) {
	columns := [3][]int64{b.BrokerIn, b.Started, b.Settled}
	if j.clocks.sameShift {
		for _, column := range columns {
			shiftAll(column, j.clocks.recvs[0].offset)
		}
		return
	}
	o.moved = slices.Grow(o.moved[:0], len(b.Received))[:len(b.Received)]
	get(&o.pick, o.moved, j.work.d.received)
	for k, at := range b.Received {
		o.moved[k] = at - o.moved[k]
	}
	for _, column := range columns {
		shiftEach(column, o.moved)
	}
}

// subscriptions fills what is known by the subscription of a delivery.
func (o *output) subscriptions(b *format.Merged, m *matcher, d *deliveries, rows []int32) {
	if m.oneSub {
		c := &o.subs[d.sub[0]]
		fillWith(b.Source.Codes, c.source)
		fillWith(b.Subscription.Codes, c.subscription)
		return
	}
	for k, r := range rows {
		if r >= 0 {
			c := &o.subs[d.sub[r]]
			b.Source.Codes[k], b.Subscription.Codes[k] = c.source, c.subscription
		}
	}
}

// noArrival fills the receive side of row at of the chunk, k of the batch.
func (o *output) noArrival(w *work, b *format.Merged, at, k int) {
	b.Source.Codes[k], b.Subscription.Codes[k], b.RecvOutcome.Codes[k] = -1, -1, -1
	if sub := w.out.sub[at]; sub >= 0 {
		b.Subscription.Codes[k] = o.subs[sub].subscription
	}
	switch w.out.flags[at] & (fateLost | fateUnknown) {
	case fateLost:
		b.RecvOutcome.Codes[k] = o.lost
	case fateUnknown:
		b.RecvOutcome.Codes[k] = o.unknown
	}
	b.Receiver[k], b.Consumer[k], b.DeliveryCount[k], b.RecvConnection[k] = format.Null32, format.Null32, format.Null32, format.Null32
	b.BrokerIn[k], b.Received[k], b.Started[k], b.Settled[k] = format.Null, format.Null, format.Null, format.Null
	b.Reordered[k] = false
}

func moved(instant, by int64) int64 {
	if instant == format.Null {
		return instant
	}
	return instant + by
}

// resize gives all columns n rows of any content.
func resize(b format.Batch, n int) {
	for _, column := range b.Columns() {
		switch c := column.(type) {
		case *[]int32:
			*c = room(*c, n)
		case *[]int64:
			*c = slices.Grow((*c)[:0], n)[:n]
		case *[]bool:
			*c = slices.Grow((*c)[:0], n)[:n]
		case *format.Strings:
			c.Codes = room(c.Codes, n)
		}
	}
}
