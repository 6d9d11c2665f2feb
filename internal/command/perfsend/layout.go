package perfsend

import (
	"fmt"

	"amqpperf/internal/amqp/link"
	"amqpperf/internal/cli"
	"amqpperf/internal/load/pace"
	"amqpperf/internal/load/produce"
	"amqpperf/internal/load/schedule"
)

// layout is which producer sends what where. Producer k sends to address k modulo
// their number, so neighbours in the schedule go to different addresses.
type layout struct {
	addresses []string
	producers int
	// schedules of the producers; nil in a closed loop.
	schedules []schedule.Schedule
	picks     *schedule.Picks // a replay to the destinations that were recorded
	each      int64           // producers of an address
}

// newLayout spreads a plan, nil in a closed loop, over producers; each is how many
// an address has. Without addresses those of the recording are taken.
func newLayout(p *planned, addresses []string, each int) (*layout, error) {
	l := &layout{addresses: addresses, each: int64(each)}
	if len(addresses) == 0 {
		if err := l.recorded(p); err != nil {
			return nil, err
		}
	}
	for _, a := range l.addresses {
		if err := link.CheckAddress(a); err != nil {
			return nil, cli.Usagef("%w", err)
		}
	}
	l.producers = each * len(l.addresses)
	if p == nil {
		return l, nil
	}
	for k := range l.producers {
		s := schedule.Stripe{Of: p.whole, K: int64(k), By: int64(l.producers)}
		if l.picks != nil {
			s = schedule.Stripe{Of: l.picks.List()[k%len(l.addresses)], K: int64(k / len(l.addresses)), By: l.each}
		}
		l.schedules = append(l.schedules, s)
	}
	return l, nil
}

// recorded takes the destinations of the recording.
func (l *layout) recorded(p *planned) error {
	l.picks = schedule.PicksOf(p.whole)
	for _, pick := range l.picks.List() {
		if pick.Destination() < 0 {
			return cli.Usagef("--replay %s: %s of its messages have no destination: give an ADDRESS for all", p.trace.Name, count(pick.N()))
		}
		l.addresses = append(l.addresses, p.trace.Rows.Names[pick.Destination()])
	}
	if len(l.addresses) == 0 {
		return cli.Usagef("--replay %s: nothing of it falls into this part: give an ADDRESS", p.trace.Name)
	}
	return nil
}

func count(n int64) string {
	if n == schedule.Unbounded {
		return "some"
	}
	return fmt.Sprint(n)
}

// address returns the address of a producer.
func (l *layout) address(k int) string { return l.addresses[k%len(l.addresses)] }

// split hands a run of the pacer to the producers it belongs to.
func (l *layout) split(run pace.Run, offer func(k int, run pace.Run)) {
	if l.picks == nil {
		produce.Split(run, int64(l.producers), func(k int64, run pace.Run) { offer(int(k), run) })
		return
	}
	l.picks.Split(run.First, run.Count, func(pick int, first, n int64) {
		part := pace.Run{First: first, Count: n, Ready: run.Ready}
		produce.Split(part, l.each, func(k int64, run pace.Run) { offer(int(k)*len(l.addresses)+pick, run) })
	})
}
