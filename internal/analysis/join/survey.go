package join

import (
	"cmp"
	"slices"

	"amqpperf/format"
)

// survey looks through the receive logs once: how many deliveries every chunk
// gets, who the receivers and subscriptions are, what was overtaken.
func (j *Joiner) survey() error {
	j.store = store{opt: j.opt}
	for n := range j.found.chunks {
		j.store.addChunk(int64(n))
	}
	for _, l := range j.sends {
		for n := l.first; n < l.limit; n++ {
			j.store.chunks[n].next = &l.next
		}
	}
	j.orphans = orphans{blocks: map[orphanBlock]int32{}}
	owner := newOwners[int32]("receiver")
	for _, l := range j.recvs {
		if err := j.surveyLog(l, owner); err != nil {
			return err
		}
	}
	rank := j.subs.sort()
	for _, l := range j.found.lanes.list {
		for i := range l.tracks {
			t := &l.tracks[i]
			t.sub = rank[t.sub]
			t.suffixes()
		}
		slices.SortFunc(l.tracks, func(x, y track) int { return int(x.sub) - int(y.sub) })
	}
	j.store.of = make([]int32, len(j.store.chunks))
	j.readers(len(j.store.chunks))
	return nil
}

func (j *Joiner) surveyLog(l *recvLog, owner *owners[int32]) error {
	columns := []string{"run", "sender", "producer", "seq", "attempt", "receiver", "consumer", "destination", "subscription",
		"received", "started", "outcome"}
	first := j.opt.windowed() && len(j.sends) == 0
	if first {
		columns = append(columns, "intended")
	}
	if err := l.begin(format.BatchRows, columns...); err != nil {
		return err
	}
	last, seen := int32(0), false
	var err error
	for ; !l.done; err = l.next() {
		if err != nil {
			return err
		}
		in, b := &l.at, l.at.b
		if !seen || b.Receiver[0] != last || !uniform(b.Receiver) {
			for _, receiver := range b.Receiver {
				if seen && receiver == last {
					continue
				}
				if err := owner.claim(receiver, l.in); err != nil {
					return err
				}
				last, seen = receiver, true
			}
		}
		other, returned := l.classify(j)
		j.progress(int64(b.Len()))
		j.base.OtherRuns.Received += other
		j.base.Returned += returned
		if first {
			j.firstIntended(in)
		}
		for from := 0; from < len(in.chunk); {
			n, to := in.chunk[from], from+1
			for to < len(in.chunk) && in.chunk[to] == n {
				to++
			}
			if n >= 0 {
				j.surveyRows(l, &j.store.chunks[n], from, to)
			}
			from = to
		}
	}
	return err
}

// firstIntended looks for the instant at which the first message was intended,
// where there is no send log to tell it.
func (j *Joiner) firstIntended(in *incoming) {
	for i, n := range in.chunk {
		if n >= 0 {
			j.found.first = min(j.found.first, in.b.Intended[i])
		}
	}
}

// surveyRows looks at deliveries from…to−1 of a batch, which are of one chunk.
func (j *Joiner) surveyRows(l *recvLog, c *chunk, from, to int) {
	in, b := &l.at, l.at.b
	c.expect += int64(to - from)
	clock, judged := j.clocks.recvs[l.index], c.order != noOrder
	for i := from; i < to; i++ {
		at := b.Received[i]
		if clock.constant {
			at += clock.offset
		} else {
			at += clock.shift(at)
		}
		l.first = min(l.first, at)
		if !judged {
			continue
		}
		p := j.found.lanes.list[in.lane[i]]
		order := c.order
		if p.splits {
			p.chunk(b.Seq[i], b.Attempt[i])
			order = p.place(b.Seq[i])
		}
		if t := p.track(in.sub[i]); !t.later(order, at) {
			t.add(order, at, b.Seq[i], place{b.Receiver[i], b.Consumer[i], in.first + int64(i)})
		}
	}
}

// readers divides the memory: what is being read, the index, and the rest for
// deliveries that wait.
func (j *Joiner) readers(chunks int) {
	const (
		rowBytes = 100
		batches  = 2
		pages    = 3 << 20 // buffers of an open log
		output   = 40 << 20
	)
	j.queue = slices.Clone(j.recvs)
	slices.SortStableFunc(j.queue, func(x, y *recvLog) int { return cmp.Compare(x.first, y.first) })
	quarter := j.opt.Memory / 4
	j.recvRows = format.BatchRows
	for j.recvRows > 4096 && int64(len(j.recvs))*(batches*rowBytes*int64(j.recvRows)+pages) > quarter {
		j.recvRows /= 2
	}
	one := batches*rowBytes*int64(j.recvRows) + pages
	j.mostOpen = max(int(quarter/one), 2)
	reading := int64(min(len(j.recvs), j.mostOpen))*one + int64(len(j.sends))*(batches*rowBytes*int64(j.found.chunkRows)+pages)
	// A fifth is left to what the garbage collector has not collected yet.
	j.store.budget = max(j.opt.Memory/5*4-output-reading-j.found.lanes.bytes()-int64(chunks)*64, j.opt.Memory/8)
}
