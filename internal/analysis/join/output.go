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
	o.stampSide(j, b, lo, hi)
	o.recvSide(j, b, lo, hi)
	for k, f := range w.out.flags[lo:hi] {
		b.Primary[k] = f&primary != 0
	}
	copy(b.Copy, w.out.copy[lo:hi])
	j.bounds(b, lo, hi, o.shift)
}

// sendSide fills what send rows say.
func (o *output) sendSide(w *work, b *format.Merged, rows []int32) {
	s, c := w.b, &w.log.codes
	shift := w.log.clock.offset
	if !w.log.clock.constant {
		for k, i := range rows {
			o.shift[k] = w.log.clock.shift(s.Sent[max(i, 0)])
			if i >= 0 && s.Sent[i] == format.Null {
				o.shift[k] = w.log.clock.shift(s.Intended[i])
			}
		}
	} else {
		fillWith(o.shift, shift)
	}
	from := straight(rows)
	if from >= 0 {
		o.copySide(w, b, int(from), shift)
		return
	}
	gather(b.Sender, s.Sender, rows)
	gather(b.Producer, s.Producer, rows)
	gather(b.Seq, s.Seq, rows)
	gather(b.Attempt, s.Attempt, rows)
	gather(b.Size, s.Size, rows)
	gather(b.Connection, s.Connection, rows)
	gatherMoved(b.Intended, s.Intended, rows, o.shift)
	gatherMoved(b.Ready, s.Ready, rows, o.shift)
	gatherMoved(b.Sent, s.Sent, rows, o.shift)
	gatherMoved(b.Acked, s.Acked, rows, o.shift)
	gatherCodes(b.Run.Codes, s.Run.Codes, rows, c.run)
	gatherCodes(b.Destination.Codes, s.Destination.Codes, rows, c.destination)
	gatherCodes(b.Outcome.Codes, s.Outcome.Codes, rows, c.outcome)
	gatherCodes(b.Wait.Codes, s.Wait.Codes, rows, c.wait)
	gatherCodes(b.Error.Codes, s.Error.Codes, rows, c.err)
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
	w, d := &j.work, j.work.d
	for k, r := range w.out.recv[lo:hi] {
		if r < 0 {
			o.noArrival(w, b, lo+k, k)
			continue
		}
		c := &o.subs[d.sub[r]]
		b.Source.Codes[k], b.Subscription.Codes[k], b.RecvOutcome.Codes[k] = c.source, c.subscription, d.outcome[r]
		b.Receiver[k], b.Consumer[k] = d.receiver[r], d.consumer[r]
		b.DeliveryCount[k], b.RecvConnection[k] = d.deliveryCount[r], d.connection[r]
		at := j.matcher.at[r]
		shift := at - d.received[r]
		b.Received[k] = at
		b.BrokerIn[k], b.Started[k], b.Settled[k] = moved(d.brokerIn[r], shift), moved(d.started[r], shift), moved(d.settled[r], shift)
		b.Reordered[k] = j.matcher.late[r]
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

// copySide is sendSide for rows that follow one another.
func (o *output) copySide(w *work, b *format.Merged, from int, shift int64) {
	s, c := w.b, &w.log.codes
	copy(b.Sender, s.Sender[from:])
	copy(b.Producer, s.Producer[from:])
	copy(b.Seq, s.Seq[from:])
	copy(b.Attempt, s.Attempt[from:])
	copy(b.Size, s.Size[from:])
	copy(b.Connection, s.Connection[from:])
	for _, column := range [4]struct{ dst, src []int64 }{{b.Intended, s.Intended}, {b.Ready, s.Ready}, {b.Sent, s.Sent}, {b.Acked, s.Acked}} {
		copy(column.dst, column.src[from:])
		if w.log.clock.constant && shift == 0 {
			continue
		}
		for k, v := range column.dst {
			if v != format.Null {
				column.dst[k] = v + o.shift[k]
			}
		}
	}
	copyCodes(b.Run.Codes, s.Run.Codes[from:], c.run)
	copyCodes(b.Destination.Codes, s.Destination.Codes[from:], c.destination)
	copyCodes(b.Outcome.Codes, s.Outcome.Codes[from:], c.outcome)
	copyCodes(b.Wait.Codes, s.Wait.Codes[from:], c.wait)
	copyCodes(b.Error.Codes, s.Error.Codes[from:], c.err)
}

func copyCodes(dst, src, codes []int32) {
	for k := range dst {
		c := src[k]
		if c >= 0 {
			c = codes[c]
		}
		dst[k] = c
	}
}

// gather copies values of the rows; those of a row below 0 are any.
func gather[T int32 | int64](dst, src []T, rows []int32) {
	for k, i := range rows {
		dst[k] = src[max(i, 0)]
	}
}

// straight returns the first of rows that follow one another, −1 for others.
func straight(rows []int32) int32 {
	n := len(rows)
	if n == 0 || rows[0] < 0 || int(rows[n-1]-rows[0]) != n-1 {
		return -1
	}
	for k, i := range rows {
		if i != rows[0]+int32(k) {
			return -1
		}
	}
	return rows[0]
}

func gatherMoved(dst, src []int64, rows []int32, shift []int64) {
	for k, i := range rows {
		v := src[max(i, 0)]
		if v != format.Null {
			v += shift[k]
		}
		dst[k] = v
	}
}

func gatherCodes(dst, src, rows, codes []int32) {
	for k, i := range rows {
		c := src[max(i, 0)]
		if c >= 0 {
			c = codes[c]
		}
		dst[k] = c
	}
}

func moved(instant, by int64) int64 {
	if instant == format.Null {
		return instant
	}
	return instant + by
}

func fillWith(s []int64, v int64) {
	for i := range s {
		s[i] = v
	}
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
