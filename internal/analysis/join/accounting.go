package join

import (
	"fmt"
	"maps"
	"slices"

	"amqpperf/format"
	"amqpperf/internal/analysis/clock"
)

// Accounting says what became of every message of the run.
type Accounting struct {
	Run string `json:"run"`
	// Intended counts transmissions; it is the sum of the outcomes that follow.
	Intended   int64 `json:"intended"`
	Sent       int64 `json:"sent"`  // written, whatever came of it
	Acked      int64 `json:"acked"` // a settled disposition arrived, whatever its state
	Accepted   int64 `json:"accepted"`
	Rejected   int64 `json:"rejected"`
	Released   int64 `json:"released"`
	Modified   int64 `json:"modified"`
	Presettled int64 `json:"presettled"`
	Unsettled  int64 `json:"unsettled"`
	Failed     int64 `json:"failed"`
	Unsent     int64 `json:"unsent"`
	// Received counts first arrivals per subscription, Duplicate the others.
	Received    int64 `json:"received"`
	Lost        int64 `json:"lost"`
	Unknown     int64 `json:"unknown"`
	Duplicate   int64 `json:"duplicate"`
	Reordered   int64 `json:"reordered"`
	Redelivered int64 `json:"redelivered"` // deliveries with a delivery-count above 0
	Foreign     int64 `json:"foreign"`     // deliveries without a stamp of ours, as the receivers counted them
	// Returned counts deliveries that a receiver gave back when it stopped,
	// without having begun with them; they are no arrivals.
	Returned int64 `json:"returned"`
	// Unlogged counts messages that arrived although no send log knows them.
	Unlogged int64 `json:"unlogged"`
	// Resent counts transmissions that repeat an earlier attempt.
	Resent    int64     `json:"resent"`
	OtherRuns OtherRuns `json:"other_runs"`

	Subscriptions []SubscriptionCount `json:"subscriptions"`
	Clock         ClockAccount        `json:"clock"`
	// Notes say in words what a reader must know: why messages count as lost,
	// which logs are incomplete or missing.
	Notes []string `json:"notes,omitempty"`

	lost          map[int32]int64 // by subscription, −1 = none known
	arrived       map[subKey]int64
	orphanSenders map[int32]int64
	gap           gap
	worst         worstClock
}

// worstClock is the worst alignment over the pairs of sender and receiver that
// a message went between.
type worstClock struct {
	seen, unknown bool
	bound         int64
}

func (w *worstClock) add(bound int64) {
	w.seen = true
	if bound == format.Null {
		w.unknown = true
		return
	}
	w.bound = max(w.bound, bound)
}

// OtherRuns counts what belongs to other runs and was left out.
type OtherRuns struct {
	Sent     int64 `json:"sent"`
	Received int64 `json:"received"` // leftovers of earlier runs in a queue, for one
}

// SubscriptionCount accounts for one subscription.
type SubscriptionCount struct {
	Source       string  `json:"source"`
	Subscription *string `json:"subscription"` // nil on a queue
	Received     int64   `json:"received"`
	Lost         int64   `json:"lost"`
}

// ClockAccount says how the instants of the logs relate.
type ClockAccount struct {
	Source clock.Source `json:"source"` // the worst of all pairs that messages went between
	// BoundNS is the largest bound over all pairs, nil if one is unknown.
	BoundNS *int64 `json:"bound_ns"`
	// MinTransitNS is the smallest received − sent, nil without arrivals. With an
	// unknown clock offset it is all that causality allows to say: the receiver's
	// clock is ahead of the sender's by at most this.
	MinTransitNS *int64 `json:"min_transit_ns"`
	Negative     int64  `json:"negative"` // rows with received before sent
}

// gap tracks received − sent.
type gap struct {
	min      int64
	seen     bool
	negative int64
}

func (j *Joiner) newAccounting() Accounting {
	acc := Accounting{Run: j.run, lost: map[int32]int64{}, arrived: map[subKey]int64{}, orphanSenders: map[int32]int64{}}
	acc.OtherRuns.Received = j.arrivals.foreignRuns
	acc.Returned = j.arrivals.returned
	return acc
}

// Accounting returns the accounting; it is whole once Next has returned io.EOF.
func (j *Joiner) Accounting() Accounting { return j.acc }

// lose notes in which subscription a message was lost.
func (acc *Accounting) lose(sub int32) { acc.lost[sub]++ }

// orphan notes arrivals of one message that no send row belongs to.
func (acc *Accounting) orphan(j *Joiner, rows []int32) {
	acc.orphanSenders[j.arrivals.rows.Sender[rows[0]]]++
}

// count adds a batch of merged rows.
func (acc *Accounting) count(b *format.Merged) {
	for i := range b.Seq {
		if b.Primary[i] {
			acc.countSend(b, i)
		}
		acc.countRecv(b, i)
	}
}

func (acc *Accounting) countSend(b *format.Merged, i int) {
	outcome, _ := b.Outcome.At(i)
	if outcome == format.Unlogged {
		acc.Unlogged++
		return
	}
	acc.Intended++
	if b.Attempt[i] > 0 {
		acc.Resent++
	}
	if b.Sent[i] != format.Null {
		acc.Sent++
	}
	if b.Acked[i] != format.Null {
		acc.Acked++
	}
	if n := acc.outcome(outcome); n != nil {
		*n++
	}
}

func (acc *Accounting) outcome(outcome string) *int64 {
	switch outcome {
	case format.Accepted:
		return &acc.Accepted
	case format.Rejected:
		return &acc.Rejected
	case format.Released:
		return &acc.Released
	case format.Modified:
		return &acc.Modified
	case format.Presettled:
		return &acc.Presettled
	case format.Unsettled:
		return &acc.Unsettled
	case format.Failed:
		return &acc.Failed
	case format.Unsent:
		return &acc.Unsent
	}
	return nil
}

func (acc *Accounting) countRecv(b *format.Merged, i int) {
	if b.Received[i] == format.Null {
		switch fate, _ := b.RecvOutcome.At(i); fate {
		case format.Lost:
			acc.Lost++
		case format.Unknown:
			acc.Unknown++
		}
		return
	}
	if b.DeliveryCount[i] > 0 {
		acc.Redelivered++
	}
	if b.Copy[i] > 0 {
		acc.Duplicate++
		return
	}
	acc.Received++
	if b.Reordered[i] {
		acc.Reordered++
	}
	acc.arrived[keyOf(b, i)]++
	acc.gap.add(b.Sent[i], b.Received[i])
	acc.worst.add(b.Bound[i])
}

func keyOf(b *format.Merged, i int) subKey {
	source, _ := b.Source.At(i)
	name, named := b.Subscription.At(i)
	return subKey{source: source, name: name, queue: !named}
}

func (g *gap) add(sent, received int64) {
	if sent == format.Null {
		return
	}
	d := received - sent
	if d < 0 {
		g.negative++
	}
	if !g.seen || d < g.min {
		g.min, g.seen = d, true
	}
}

// finish completes the accounting after the last row.
func (acc *Accounting) finish(j *Joiner) {
	acc.Subscriptions = nil
	for at, s := range j.subs.list {
		count := SubscriptionCount{Source: s.source, Received: acc.arrived[subKey{s.source, s.name, s.queue}], Lost: acc.lost[int32(at)]}
		if !s.queue {
			count.Subscription = &s.name
		}
		acc.Subscriptions = append(acc.Subscriptions, count)
	}
	acc.Foreign = 0
	for _, in := range j.recvs {
		acc.Foreign += counter(in, "foreign")
	}
	acc.Clock = j.clockAccount()
	acc.Notes = j.notes()
}

func counter(in *input, name string) int64 {
	var counters map[string]int64
	if _, err := in.log.Meta().JSON(format.KeyCounters, &counters); err != nil {
		return 0
	}
	return counters[name]
}

func (j *Joiner) clockAccount() ClockAccount {
	c := ClockAccount{Source: clock.Unknown, Negative: j.acc.gap.negative}
	if j.acc.gap.seen {
		c.MinTransitNS = &j.acc.gap.min
	}
	if w := j.acc.worst; w.seen && !w.unknown {
		c.Source, c.BoundNS = clock.SameBoot, &w.bound
	}
	return c
}

// Check returns an error if the counts do not add up, which would be a fault
// of the join and must never be published.
func (acc *Accounting) Check() error {
	sum := acc.Accepted + acc.Rejected + acc.Released + acc.Modified + acc.Presettled + acc.Unsettled + acc.Failed + acc.Unsent
	if sum != acc.Intended {
		return fmt.Errorf("accounting: %d intended, but the outcomes add up to %d", acc.Intended, sum)
	}
	return nil
}

// orphans returns the senders without a send log, sorted.
func (acc *Accounting) orphans() []int32 {
	return slices.Sorted(maps.Keys(acc.orphanSenders))
}
