package join

import (
	"amqpperf/format"
)

// bounds fills the column bound of rows lo…hi of the chunk at work and counts
// what became of them.
func (j *Joiner) bounds(b *format.Merged, lo, hi int, shift []int64) {
	w, d := &j.work, j.work.d
	out := &w.out
	t := &j.tally
	if p := j.usualBound(); p != nil {
		j.boundAll(b, p, lo, hi)
		return
	}
	var last *pairBound
	var lastFrom *processClock
	lastInput := int32(-1)
	for k := range b.Bound {
		i, r := out.send[lo+k], out.recv[lo+k]
		first := out.flags[lo+k]&primary != 0
		if i < 0 {
			if first {
				t.unlogged++
			}
		} else if first {
			t.sent(b, k)
		}
		if r < 0 {
			b.Bound[k] = w.log.clock.boundAt(timeOf(b, k) - shift[k])
			t.fate(out.flags[lo+k])
			continue
		}
		var from *processClock
		if i >= 0 {
			from = w.log.clock
		} else {
			from = j.clocks.stamp(b.Sender[k])
		}
		input := d.input[r]
		if last == nil || from != lastFrom || input != lastInput {
			last, lastFrom, lastInput = j.clocks.pair(from, j.clocks.recvs[input]), from, input
		}
		sent := timeOf(b, k)
		if last.constant {
			b.Bound[k] = last.bound
		} else {
			b.Bound[k] = last.at(&j.clocks, from, sent-shift[k], j.clocks.recvs[input], d.received[r])
		}
		if b.DeliveryCount[k] > 0 {
			t.redelivered++
		}
		if out.copy[lo+k] > 0 {
			t.duplicate++
			continue
		}
		last.rows++
		t.arrive(d.sub[r], b.Sent[k], b.Received[k], b.Bound[k])
	}
}

// usualBound returns the bound of all deliveries of the chunk at work where
// they share a constant one, nil where they do not.
func (j *Joiner) usualBound() *pairBound {
	w := &j.work
	if w.b == nil || w.out.orphans > 0 || !w.log.clock.constant || !j.clocks.sameShift || !j.matcher.oneSub {
		return nil
	}
	if p := j.clocks.pair(w.log.clock, j.clocks.recvs[0]); p.constant {
		return p
	}
	return nil
}

// boundAll is bounds with one bound for all deliveries.
func (j *Joiner) boundAll(b *format.Merged, p *pairBound, lo, hi int) {
	w := &j.work
	t, flags, recv, number := &j.tally, w.out.flags[lo:hi], w.out.recv[lo:hi], w.out.copy[lo:hi]
	fillWith(b.Bound, p.bound)
	sub := int32(-1)
	if w.d.len() > 0 {
		sub = w.d.sub[0]
	}
	for k, r := range recv {
		if flags[k]&primary != 0 {
			t.sent(b, k)
		}
		switch {
		case r < 0:
			b.Bound[k] = w.log.clock.bound
			t.fate(flags[k])
			continue
		case b.DeliveryCount[k] > 0:
			t.redelivered++
		}
		if number[k] > 0 {
			t.duplicate++
			continue
		}
		p.rows++
		t.arrive(sub, b.Sent[k], b.Received[k], p.bound)
	}
}

// timeOf returns the instant on the send side that a row is aligned at.
func timeOf(b *format.Merged, k int) int64 {
	if b.Sent[k] != format.Null {
		return b.Sent[k]
	}
	return b.Intended[k]
}
