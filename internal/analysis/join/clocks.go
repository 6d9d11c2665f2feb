package join

import (
	"fmt"

	"amqpperf/format"
	"amqpperf/internal/analysis/clock"
	"amqpperf/timestamp"
)

// A row is moved onto the reference clock by one amount for each side, taken at
// sent and at received (intended where a message was never sent): intervals
// within a process stay what its own clock measured. The bound of a row is that
// of received − sent.

// clocks aligns every process with the reference clock, and every sender with
// every receiver.
type clocks struct {
	ref      timestamp.Anchor
	solution *clock.Solution
	recvs    []*processClock
	senders  map[int32]*processClock // by sender id, as its log tells them, else the stamps
	pairs    map[[2]int]*pairBound
	// sameShift tells that there is one receive log, moved by a constant.
	sameShift bool
	last      int32
	lastClock *processClock
}

// processClock turns the instants of a process into those of the reference.
type processClock struct {
	node     int // in the solution, −1: nothing is known
	constant bool
	offset   int64
	bound    int64 // of a constant one, against the reference
	cursor   *clock.Cursor
}

func (p *processClock) shift(t int64) int64 {
	if p.constant {
		return p.offset
	}
	offset, _, _ := p.cursor.At(t)
	return offset
}

// boundAt is by how much an instant can be off against the reference.
func (p *processClock) boundAt(t int64) int64 {
	if p.constant {
		return p.bound
	}
	_, bound, _ := p.cursor.At(t)
	return bound
}

// pairBound bounds received − sent between two processes.
type pairBound struct {
	constant bool
	sum      bool // the bound is the sum of both against the reference
	bound    int64
	source   clock.Source
	rows     int64 // first arrivals
}

// align takes the sender with the lowest id as the reference, so that the
// order of the files does not matter; without send logs the first receiver.
func (j *Joiner) align() error {
	c := &j.clocks
	c.senders, c.pairs, c.lastClock = map[int32]*processClock{}, map[[2]int]*pairBound{}, nil
	var processes []clock.Process
	add := func(in *input) error {
		p := clock.Process{Host: in.log.Meta()[format.KeyHost], Anchor: in.anchor}
		var rows format.ClockRow
		if err := in.log.Table(&rows); err != nil {
			return err
		}
		p.Add(&rows)
		processes = append(processes, p)
		return nil
	}
	for _, l := range j.sends {
		if err := add(l.in); err != nil {
			return err
		}
	}
	for _, l := range j.recvs {
		if err := add(l.in); err != nil {
			return err
		}
	}
	stamped, err := j.stampedSenders()
	if err != nil {
		return err
	}
	for _, s := range stamped {
		processes = append(processes, clock.Process{Anchor: s.Clock})
	}
	if len(processes) == 0 {
		return nil
	}
	c.ref = processes[0].Anchor
	c.solution = clock.Solve(processes, 0, j.opt.Clock)
	j.assign(stamped)
	return nil
}

// assign gives every log and sender its clock.
func (j *Joiner) assign(stamped []format.Sender) {
	c := &j.clocks
	c.recvs = nil
	for i, l := range j.sends {
		l.clock = c.process(i)
		for _, p := range l.lanes {
			c.senders[p.key.sender] = l.clock
		}
	}
	for i := range j.recvs {
		c.recvs = append(c.recvs, c.process(len(j.sends)+i))
	}
	for i, s := range stamped {
		if c.senders[s.Sender] == nil {
			c.senders[s.Sender] = c.process(len(j.sends) + len(j.recvs) + i)
		}
	}
	c.sameShift = len(c.recvs) == 1 && c.recvs[0].constant
}

// stampedSenders lists the senders whose clocks are known from stamps alone.
func (j *Joiner) stampedSenders() (out []format.Sender, err error) {
	known := map[int32]bool{}
	for _, l := range j.recvs {
		senders, err := l.in.log.Meta().Senders()
		if err != nil {
			return nil, fmt.Errorf("%s: %w", l.in.log.Name(), err)
		}
		for _, s := range senders {
			if !known[s.Sender] && s.Clock.Gap > 0 {
				known[s.Sender] = true
				out = append(out, s)
			}
		}
	}
	return out, nil
}

func (c *clocks) process(node int) *processClock {
	m := c.solution.Model(node)
	p := &processClock{node: node, cursor: m.Cursor()}
	p.offset, p.bound, p.constant = m.Constant()
	return p
}

// stamp returns the clock of a sender; without an anchor its instants are left
// as they are.
func (c *clocks) stamp(sender int32) *processClock {
	if c.lastClock != nil && c.last == sender {
		return c.lastClock
	}
	p := c.senders[sender]
	if p == nil {
		p = &processClock{node: -1, constant: true, bound: format.Null}
		c.senders[sender] = p
	}
	c.last, c.lastClock = sender, p
	return p
}

func (c *clocks) pair(from, to *processClock) *pairBound {
	key := [2]int{from.node, to.node}
	p := c.pairs[key]
	if p != nil {
		return p
	}
	p = &pairBound{constant: true, bound: format.Null, source: clock.Unknown}
	c.pairs[key] = p
	if from.node < 0 || to.node < 0 {
		return p
	}
	p.bound, p.source = c.solution.Between(from.node, 0, to.node, 0)
	switch {
	case from.constant && to.constant:
	case c.solution.Apart(from.node, to.node):
		p.constant, p.sum = false, true
		p.source = clock.Worse(c.solution.Model(from.node).Source(), c.solution.Model(to.node).Source())
	default:
		p.constant = false
	}
	return p
}

// at returns the bound of a row, sent and received as logged.
func (p *pairBound) at(c *clocks, from *processClock, sent int64, to *processClock, received int64) int64 {
	switch {
	case p.constant:
		return p.bound
	case p.sum:
		a, b := from.boundAt(sent), to.boundAt(received)
		if a == format.Null || b == format.Null {
			return format.Null
		}
		return a + b
	}
	bound, source := c.solution.Between(from.node, sent, to.node, received)
	if p.source == clock.Unknown && source != clock.Unknown {
		p.source = source
	}
	return bound
}
