package reduce

import (
	"amqpperf/format"
	"amqpperf/internal/analysis/stats"
)

// view is a batch with its strings translated to what reduce works on. Codes of
// a batch mean something within their log only, so they are translated anew
// for every batch: that costs one look-up per distinct value.
type view struct {
	*format.Merged
	outcomes []Outcome
	waits    []Wait
	fates    []fate
	runs     []bool  // of the run that is reduced
	subs     []int32 // code to names.subscriptions
	chunks   []chunk

	// In the second pass, the bins of the rows' intended instants: those of the
	// whole axis, and those of selectors.
	bins, halves []uint32
}

// place finds the bins of all rows. Neighbours are often in one bin.
func (v *view) place(axis stats.Axis, halved uint) {
	v.bins, v.halves = v.bins[:0], v.halves[:0]
	bin, lo, hi := uint32(0), int64(0), int64(-1)
	for _, at := range v.Intended {
		if at < lo || at > hi {
			k := axis.Bin(at)
			bin = uint32(k) // at most maxBins
			lo, hi = axis.Edges(k)
		}
		v.bins, v.halves = append(v.bins, bin), append(v.halves, bin>>halved)
	}
}

// names numbers the strings of all batches.
type names struct {
	subscriptions map[string]int32
	outcomes      map[string]Outcome
	waits         map[string]Wait
}

func newNames() *names {
	n := &names{
		subscriptions: map[string]int32{},
		outcomes:      map[string]Outcome{}, waits: map[string]Wait{},
	}
	for i, s := range outcomeNames() {
		n.outcomes[s] = Outcome(i)
	}
	for i, s := range waitNames() {
		n.waits[s] = Wait(i)
	}
	return n
}

func number(m map[string]int32, s string) int32 {
	if n, ok := m[s]; ok {
		return n
	}
	n := int32(len(m))
	m[s] = n
	return n
}

// look prepares a batch.
func (v *view) look(b *format.Merged, n *names, run string) {
	v.Merged = b
	v.outcomes, v.waits, v.runs = v.outcomes[:0], v.waits[:0], v.runs[:0]
	v.subs, v.fates = v.subs[:0], v.fates[:0]
	for _, s := range b.Outcome.Values {
		o, known := n.outcomes[s]
		if !known {
			o = Strange
		}
		v.outcomes = append(v.outcomes, o)
	}
	for _, s := range b.Wait.Values {
		v.waits = append(v.waits, n.waits[s]) // an unknown one is none
	}
	for _, s := range b.Run.Values {
		v.runs = append(v.runs, s == run)
	}
	for _, s := range b.RecvOutcome.Values {
		v.fates = append(v.fates, fateOf(s))
	}
	for _, s := range b.Subscription.Values {
		v.subs = append(v.subs, number(n.subscriptions, s))
	}
}

func (v *view) ours(i int) bool { return v.Run.Codes[i] >= 0 && v.runs[v.Run.Codes[i]] }

func (v *view) outcome(i int) Outcome {
	if c := v.Outcome.Codes[i]; c >= 0 {
		return v.outcomes[c]
	}
	return Strange
}

func (v *view) wait(i int) Wait {
	if c := v.Wait.Codes[i]; c >= 0 {
		return v.waits[c]
	}
	return WaitNone
}

// fate is what a row without arrival means.
type fate uint8

const (
	fateNone    fate = iota // no arrival was to be expected, or there is one
	fateLost                // the broker took it
	fateUnknown             // no answer: it may never have reached the broker
)

func fateOf(recvOutcome string) fate {
	switch recvOutcome {
	case format.Lost:
		return fateLost
	case format.Unknown:
		return fateUnknown
	}
	return fateNone
}

// missing returns the fate of a row.
func (v *view) missing(i int) fate {
	if c := v.RecvOutcome.Codes[i]; c >= 0 && !has(v.Received[i]) {
		return v.fates[c]
	}
	return fateNone
}

// subscription is −1 on a queue.
func (v *view) subscription(i int) int32 {
	if c := v.Subscription.Codes[i]; c >= 0 {
		return v.subs[c]
	}
	return -1
}

func (v *view) message(i int) message {
	return message{producer{v.Sender[i], v.Producer[i]}, v.Seq[i]}
}

func has(instant int64) bool { return instant != format.Null }
