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
	// Intended counts messages, however often they were sent again.
	Intended int64 `json:"intended"`
	// Attempts counts transmissions; it is the sum of the outcomes that follow.
	Attempts   int64 `json:"attempts"`
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
	// Merge is check C22: whether the logs are of one experiment.
	Merge Check `json:"merge"`
	// Notes say in words what a reader must know: why messages count as lost,
	// which logs are incomplete or missing.
	Notes []string `json:"notes,omitempty"`

	orphanSenders map[int32]int64
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
	// Reordered counts first arrivals that came after one of the same producer
	// that was intended later; Distance is by how many messages at most the first
	// of those was later, LateNS by how long at most it was there before.
	Reordered int64 `json:"reordered"`
	Distance  int64 `json:"reorder_distance"`
	LateNS    int64 `json:"reorder_late_ns"`
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
	// Causality is what the messages say of the clocks (check C17).
	Causality clock.Causality `json:"causality"`
	// MedianTransitNS is the median of received − sent to within a sixteenth.
	MedianTransitNS int64 `json:"median_transit_ns"`
	// Evidence is what the alignment rests on.
	Evidence *clock.Evidence `json:"evidence,omitempty"`
	// Checks are C14 to C17.
	Checks []Check `json:"checks,omitempty"`
}

// Accounting returns the accounting; it is whole once Next has returned io.EOF.
func (j *Joiner) Accounting() Accounting { return j.acc }

// account writes the tally out.
func (j *Joiner) account() {
	t := &j.tally
	acc := &j.acc
	*acc = j.base
	acc.Run = j.run
	acc.Intended, acc.Attempts, acc.Sent, acc.Acked, acc.Resent, acc.Unlogged = t.attempts-t.resent, t.attempts, t.written, t.acked, t.resent, t.unlogged
	for code, n := range t.outcomes {
		if to := acc.outcome(j.out.outcome.Values[code]); to != nil {
			*to += n
		}
	}
	acc.Lost, acc.Unknown, acc.Duplicate, acc.Redelivered = t.lost, t.unknown, t.duplicate, t.redelivered
	acc.OtherRuns.Sent = t.otherRuns
	acc.orphanSenders = t.orphanSenders
	for at, s := range j.subs.list {
		n := &t.subs[at]
		acc.Received += n.received
		acc.Reordered += n.reordered
		count := SubscriptionCount{Source: s.source, Received: n.received, Lost: n.lost,
			Reordered: n.reordered, Distance: n.distance, LateNS: n.late}
		if !s.queue {
			count.Subscription = &s.name
		}
		acc.Subscriptions = append(acc.Subscriptions, count)
	}
	for _, l := range j.recvs {
		acc.Foreign += counter(l.in, "foreign")
	}
	acc.Clock, acc.Merge = j.clockAccount(), j.merge
	acc.Notes = j.notes()
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

func counter(in *input, name string) int64 {
	var counters map[string]int64
	if _, err := in.log.Meta().JSON(format.KeyCounters, &counters); err != nil {
		return 0
	}
	return counters[name]
}

func (j *Joiner) clockAccount() ClockAccount {
	t := &j.tally
	c := ClockAccount{Source: clock.Unknown, Negative: t.causality.Negative, Causality: t.causality}
	if t.causality.Rows > 0 {
		c.MinTransitNS = &t.causality.MinNS
	}
	source, seen := clock.SameProcess, false
	for _, p := range j.clocks.pairs {
		if p.rows > 0 {
			source, seen = clock.Worse(source, p.source), true
		}
	}
	if seen && !t.unbounded {
		worst := t.worst
		c.Source, c.BoundNS = source, &worst
	}
	if j.clocks.solution != nil {
		e := j.clocks.solution.Evidence()
		c.Evidence = &e
	}
	c.MedianTransitNS = t.transit.median()
	c.check()
	return c
}

// Check returns an error if the counts do not add up, which would be a fault
// of the join and must never be published.
func (acc *Accounting) Check() error {
	sum := acc.Accepted + acc.Rejected + acc.Released + acc.Modified + acc.Presettled + acc.Unsettled + acc.Failed + acc.Unsent
	if sum != acc.Attempts {
		return fmt.Errorf("accounting: %d transmissions, but the outcomes add up to %d", acc.Attempts, sum)
	}
	return nil
}

// orphans returns the senders without a send log, sorted.
func (acc *Accounting) orphans() []int32 {
	return slices.Sorted(maps.Keys(acc.orphanSenders))
}
