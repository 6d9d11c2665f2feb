package join

import (
	"errors"
	"fmt"
	"io"

	"amqpperf/format"
	"amqpperf/internal/analysis/clock"
	"amqpperf/timestamp"
)

// Options says what to join.
type Options struct {
	// Run selects one run; "" takes the only one in the send logs.
	Run string
}

// Joiner yields the merged rows of a set of logs. It is not safe for
// concurrent use.
type Joiner struct {
	run      string
	sends    []*sendLog
	recvs    []*input
	found    *producers
	arrivals *arrivals
	subs     *subscriptions
	clocks   clocks
	out      output
	acc      Accounting

	at   int // index into sends
	done bool
}

// clocks aligns every log with the reference clock and with every other.
type clocks struct {
	ref   timestamp.Anchor
	sends map[*input]clock.Alignment
	recvs []clock.Alignment
	pairs map[*input][]clock.Alignment // send log → receive log
	// stamps holds, per receive log, the senders' clocks as its stamps tell them:
	// all that is known of senders without a send log.
	stamps []map[int32]timestamp.Anchor
}

// Open opens send and receive logs, in any container and order, and reads the
// receive logs. Names are as for format.Open.
func Open(names []string, opt Options) (*Joiner, error) {
	sends, recvs, err := openInputs(names)
	if err != nil {
		return nil, err
	}
	j, err := newJoiner(sends, recvs, opt)
	if err != nil {
		return nil, errors.Join(err, closeInputs(sends), closeInputs(recvs))
	}
	return j, nil
}

func newJoiner(sends, recvs []*input, opt Options) (*Joiner, error) {
	logs, found, err := scanSends(sends)
	if err != nil {
		return nil, err
	}
	run, err := chooseRun(opt.Run, found.runs, recvs)
	if err != nil {
		return nil, err
	}
	j := &Joiner{run: run, sends: logs, recvs: recvs, found: found, subs: newSubscriptions()}
	if err := j.load(); err != nil {
		return nil, err
	}
	j.acc = j.newAccounting()
	return j, nil
}

// load reads the receive side and prepares the join.
func (j *Joiner) load() error {
	if err := j.align(); err != nil {
		return err
	}
	for i, in := range j.recvs {
		if err := j.subs.addListed(in, j.clocks.recvs[i].Shift); err != nil {
			return fmt.Errorf("%s: %w", in.log.Name(), err)
		}
	}
	a, err := loadArrivals(j.recvs, j.run, j.subs)
	if err != nil {
		return err
	}
	a.shift(func(input int32) int64 { return j.clocks.recvs[input].Shift })
	rank := j.subs.sort()
	for i, s := range a.sub {
		a.sub[i] = rank[s]
	}
	a.sort()
	j.arrivals = a
	j.subs.route(j.found, a)
	return nil
}

// align takes the sender with the lowest id as the reference, so that the
// order of the files does not matter; without send logs the first receiver.
func (j *Joiner) align() error {
	c := &j.clocks
	switch {
	case len(j.sends) > 0:
		c.ref = j.sends[0].in.anchor
	case len(j.recvs) > 0:
		c.ref = j.recvs[0].anchor
	}
	c.sends = map[*input]clock.Alignment{}
	c.pairs = map[*input][]clock.Alignment{}
	for _, in := range j.recvs {
		c.recvs = append(c.recvs, clock.Align(c.ref, in.anchor))
		senders, err := in.log.Meta().Senders()
		if err != nil {
			return fmt.Errorf("%s: %w", in.log.Name(), err)
		}
		stamps := map[int32]timestamp.Anchor{}
		for _, s := range senders {
			stamps[s.Sender] = s.Clock
		}
		c.stamps = append(c.stamps, stamps)
	}
	for _, l := range j.sends {
		c.sends[l.in] = clock.Align(c.ref, l.in.anchor)
		for _, in := range j.recvs {
			c.pairs[l.in] = append(c.pairs[l.in], clock.Align(l.in.anchor, in.anchor))
		}
	}
	return nil
}

// stamped returns how the stamp of an arrival stands to the reference clock
// and to the clock of its receiver.
func (c *clocks) stamped(input, sender int32, receiver timestamp.Anchor) (shift int64, pair clock.Alignment) {
	anchor := c.stamps[input][sender]
	if anchor.Gap <= 0 {
		return 0, clock.Alignment{Source: clock.Unknown}
	}
	return clock.Align(c.ref, anchor).Shift, clock.Align(anchor, receiver)
}

// Run returns the run that is joined, "" if the logs hold no rows.
func (j *Joiner) Run() string { return j.run }

// Next fills b with the next rows, io.EOF after the last.
func (j *Joiner) Next(b *format.Merged) error {
	j.out.reset(b)
	for b.Len() == 0 {
		switch err := j.fill(); {
		case errors.Is(err, io.EOF):
			j.acc.finish(j)
			return io.EOF
		case err != nil:
			return err
		}
	}
	j.out.finish(b)
	j.acc.count(b)
	return nil
}

// fill adds the rows of one batch of send rows, or of the orphans.
func (j *Joiner) fill() error {
	if j.done {
		return io.EOF
	}
	if j.at >= len(j.sends) {
		j.done = true
		for _, key := range j.arrivals.keys() {
			j.emitOrphans(j.arrivals.rest(key))
		}
		return nil
	}
	l := j.sends[j.at]
	batch, rows, err := l.next()
	if errors.Is(err, io.EOF) {
		j.at++
		return nil
	}
	if err != nil {
		return err
	}
	j.out.from(l)
	if rows == nil {
		for i := range batch.Seq {
			j.emit(l, batch, i)
		}
		return nil
	}
	for _, i := range rows {
		j.emit(l, batch, int(i))
	}
	return nil
}

// emit adds the rows of one transmission: one per subscription that should
// have had it or did, and one per extra copy.
func (j *Joiner) emit(l *sendLog, b *format.Send, i int) {
	if run, _ := b.Run.At(i); run != j.run {
		j.acc.OtherRuns.Sent++
		return
	}
	found, skipped := j.arrivals.take(producerKey{b.Sender[i], b.Producer[i]}, b.Seq[i], b.Attempt[i])
	j.emitOrphans(skipped)
	t := transmission{joiner: j, log: l, batch: b, row: i, shift: j.clocks.sends[l.in]}
	t.emit(found)
}

func (j *Joiner) emitOrphans(rows []int32) {
	for n := 0; n < len(rows); {
		m := n + 1
		for m < len(rows) && j.arrivals.key(rows[m]) == j.arrivals.key(rows[n]) && j.arrivals.sameMessage(rows[n], rows[m]) {
			m++
		}
		j.emitOrphan(rows[n:m])
		n = m
	}
}

// Rewind starts over at the first row.
func (j *Joiner) Rewind() error {
	for _, l := range j.sends {
		if err := l.rewind(); err != nil {
			return err
		}
	}
	j.arrivals.rewind()
	j.at, j.done = 0, false
	j.acc = j.newAccounting()
	return nil
}

// Close closes the logs.
func (j *Joiner) Close() error {
	var errs []error
	for _, l := range j.sends {
		errs = append(errs, l.in.log.Close())
	}
	return errors.Join(append(errs, closeInputs(j.recvs))...)
}

// inputs returns all logs, send logs first.
func (j *Joiner) inputs() []*input {
	all := make([]*input, 0, len(j.sends)+len(j.recvs))
	for _, l := range j.sends {
		all = append(all, l.in)
	}
	return append(all, j.recvs...)
}
