package join

import "slices"

// survey looks through the receive logs once: how many deliveries every chunk
// gets, who the receivers and subscriptions are, what was overtaken.
func (j *Joiner) survey() error {
	j.store = store{opt: j.opt, sooner: j.sooner}
	for n := range j.found.chunks {
		j.store.addChunk(int64(n))
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
	const fixed = 64 << 20 // batches being read, joined and written
	j.store.budget = max(j.opt.Memory-fixed-j.found.lanes.bytes()-int64(len(j.store.chunks))*64, 8<<20)
	return nil
}

func (j *Joiner) surveyLog(l *recvLog, owner *owners[int32]) error {
	if err := l.begin(); err != nil {
		return err
	}
	clocks := j.clocks.recvs[l.index]
	last, seen := int32(0), false
	for {
		if err := l.next(); err != nil {
			return err
		}
		if l.done {
			return nil
		}
		in, b := &l.at, l.at.b
		for _, receiver := range b.Receiver {
			if seen && receiver == last {
				continue
			}
			if err := owner.claim(receiver, l.in); err != nil {
				return err
			}
			last, seen = receiver, true
		}
		other, returned := l.classify(j)
		j.base.OtherRuns.Received += other
		j.base.Returned += returned
		for i, n := range in.chunk {
			if n < 0 {
				continue
			}
			c := &j.store.chunks[n]
			c.expect++
			if c.order == noOrder {
				continue
			}
			at := b.Received[i] + clocks.shift(b.Received[i])
			p := place{b.Receiver[i], b.Consumer[i], in.first + int64(i)}
			j.found.lanes.list[in.lane[i]].track(in.sub[i]).add(c.order, at, b.Seq[i], p)
		}
	}
}

// sooner reports whether a chunk is the next of its send log.
func (j *Joiner) sooner(n int32) bool {
	for _, l := range j.sends {
		if n >= l.first && n < l.end {
			return n == l.next
		}
	}
	return false
}
