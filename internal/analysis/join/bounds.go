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

// timeOf returns the instant on the send side that a row is aligned at.
func timeOf(b *format.Merged, k int) int64 {
	if b.Sent[k] != format.Null {
		return b.Sent[k]
	}
	return b.Intended[k]
}
