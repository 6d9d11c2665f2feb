package join

import (
	"cmp"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"amqpperf/format"
)

// producerKey identifies a producer within a run.
type producerKey struct{ sender, producer int32 }

// arrivals holds the deliveries of the run in memory, sorted by message.
type arrivals struct {
	rows   format.Recv
	input  []int32 // index into the receive logs, per row
	sub    []int32 // index into subs, per row
	late   []bool  // reordered, per row
	order  []int32 // rows by sender, producer, seq, attempt, sub, received
	groups map[producerKey]*group

	foreignRuns int64 // deliveries of other runs
	returned    int64 // deliveries that the receiver gave back without beginning with them
}

// group is the slice of arrivals.order that belongs to one producer, with the
// position that the join has reached.
type group struct {
	lo, hi int
	next   int
}

// loadArrivals reads the receive logs into memory, in the order of the logs.
func loadArrivals(recvs []*input, run string, subs *subscriptions) (*arrivals, error) {
	a := &arrivals{groups: map[producerKey]*group{}}
	receivers := newOwners[int32]("receiver")
	for index, in := range recvs {
		if err := a.load(int32(index), in, run, subs, receivers); err != nil {
			return nil, err
		}
	}
	return a, nil
}

func (a *arrivals) load(index int32, in *input, run string, subs *subscriptions, receivers *owners[int32]) error {
	var b format.Recv
	var codes recvCodes
	last, seen := int32(0), false
	for {
		err := in.log.Read(&b)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		for i := range b.Seq {
			if !seen || b.Receiver[i] != last {
				if err := receivers.claim(b.Receiver[i], in); err != nil {
					return err
				}
				last, seen = b.Receiver[i], true
			}
			if got, _ := b.Run.At(i); got != run {
				a.foreignRuns++
				continue
			}
			if returned(&b, i) {
				a.returned++
				continue
			}
			if len(a.input) == math.MaxInt32 {
				return fmt.Errorf("%s: more than %d deliveries", in.log.Name(), math.MaxInt32)
			}
			a.append(&b, i, &codes)
			a.input = append(a.input, index)
			a.sub = append(a.sub, subs.of(&b, i))
		}
	}
}

// returned reports whether a receiver that stopped gave the delivery back
// untouched: it was in its prefetch, no consumer had it. It is neither an
// arrival nor, when it comes again, the first of two copies.
func returned(b *format.Recv, i int) bool {
	if b.Started[i] != format.Null {
		return false
	}
	outcome, _ := b.Outcome.At(i)
	return outcome == format.Released
}

// recvCodes translates the dictionary codes of one log into those of arrivals.
type recvCodes struct {
	destination, subscription, outcome remap
}

func (a *arrivals) append(b *format.Recv, i int, codes *recvCodes) {
	r := &a.rows
	r.Sender = append(r.Sender, b.Sender[i])
	r.Producer = append(r.Producer, b.Producer[i])
	r.Seq = append(r.Seq, b.Seq[i])
	r.Attempt = append(r.Attempt, b.Attempt[i])
	r.Receiver = append(r.Receiver, b.Receiver[i])
	r.Consumer = append(r.Consumer, b.Consumer[i])
	codes.destination.append(&r.Destination, &b.Destination, i)
	codes.subscription.append(&r.Subscription, &b.Subscription, i)
	codes.outcome.append(&r.Outcome, &b.Outcome, i)
	r.Size = append(r.Size, b.Size[i])
	r.Intended = append(r.Intended, b.Intended[i])
	r.Sent = append(r.Sent, b.Sent[i])
	r.BrokerIn = append(r.BrokerIn, b.BrokerIn[i])
	r.Received = append(r.Received, b.Received[i])
	r.Started = append(r.Started, b.Started[i])
	r.Settled = append(r.Settled, b.Settled[i])
	r.DeliveryCount = append(r.DeliveryCount, b.DeliveryCount[i])
	r.Connection = append(r.Connection, b.Connection[i])
}

// shift moves the instants of the receive side of every row onto the
// reference clock. The stamp's intended and sent are the sender's.
func (a *arrivals) shift(by func(input int32) int64) {
	r := &a.rows
	for i := range a.input {
		d := by(a.input[i])
		r.Received[i] += d
		for _, column := range []*[]int64{&r.BrokerIn, &r.Started, &r.Settled} {
			if (*column)[i] != format.Null {
				(*column)[i] += d
			}
		}
	}
}

// sort puts the arrivals in the order of the join and marks the reordered
// ones. The instants must be on one clock by then.
func (a *arrivals) sort() {
	r := &a.rows
	a.order = make([]int32, len(a.input))
	for i := range a.order {
		a.order[i] = int32(i)
	}
	slices.SortFunc(a.order, func(x, y int32) int {
		return cmp.Or(
			cmp.Compare(r.Sender[x], r.Sender[y]),
			cmp.Compare(r.Producer[x], r.Producer[y]),
			cmp.Compare(r.Seq[x], r.Seq[y]),
			cmp.Compare(r.Attempt[x], r.Attempt[y]),
			cmp.Compare(a.sub[x], a.sub[y]),
			cmp.Compare(r.Received[x], r.Received[y]),
			cmp.Compare(r.Receiver[x], r.Receiver[y]),
			cmp.Compare(r.Consumer[x], r.Consumer[y]),
			cmp.Compare(x, y), // rows of one consumer stand in order of receipt
		)
	})
	for i := 0; i < len(a.order); {
		key := a.key(a.order[i])
		lo := i
		for i < len(a.order) && a.key(a.order[i]) == key {
			i++
		}
		a.groups[key] = &group{lo: lo, hi: i, next: lo}
	}
	a.markReordered()
}

func (a *arrivals) key(row int32) producerKey {
	return producerKey{a.rows.Sender[row], a.rows.Producer[row]}
}

// take returns the arrivals of one transmission and moves the group past them.
// skipped are arrivals of earlier messages that no send row asked for.
func (a *arrivals) take(key producerKey, seq int64, attempt int32) (found, skipped []int32) {
	g := a.groups[key]
	if g == nil {
		return nil, nil
	}
	start := g.next
	for g.next < g.hi && a.compare(a.order[g.next], seq, attempt) < 0 {
		g.next++
	}
	skipped = a.order[start:g.next]
	start = g.next
	for g.next < g.hi && a.compare(a.order[g.next], seq, attempt) == 0 {
		g.next++
	}
	return a.order[start:g.next], skipped
}

func (a *arrivals) compare(row int32, seq int64, attempt int32) int {
	return cmp.Or(cmp.Compare(a.rows.Seq[row], seq), cmp.Compare(a.rows.Attempt[row], attempt))
}

// rest returns what no send row has asked for.
func (a *arrivals) rest(key producerKey) []int32 {
	g := a.groups[key]
	if g == nil {
		return nil
	}
	left := a.order[g.next:g.hi]
	g.next = g.hi
	return left
}

// rewind makes all arrivals available again.
func (a *arrivals) rewind() {
	for _, g := range a.groups {
		g.next = g.lo
	}
}

// keys returns the producers that messages arrived from, sorted.
func (a *arrivals) keys() []producerKey {
	keys := make([]producerKey, 0, len(a.groups))
	for k := range a.groups {
		keys = append(keys, k)
	}
	slices.SortFunc(keys, compareKeys)
	return keys
}

func compareKeys(x, y producerKey) int {
	return cmp.Or(cmp.Compare(x.sender, y.sender), cmp.Compare(x.producer, y.producer))
}
