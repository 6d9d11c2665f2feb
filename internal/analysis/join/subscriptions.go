package join

import (
	"cmp"
	"slices"

	"amqpperf/format"
)

// subscription is something that messages were expected from: a queue, or one
// subscription of a topic.
type subscription struct {
	source   string // address as typed on the receive side
	name     string // "" on a queue
	queue    bool
	attached int64 // on the reference clock; 0 = from the start
	detached int64 // 0 = until the end
}

// expects reports whether a message that was sent at this instant should have
// arrived. A queue keeps what was sent before a receiver came; a topic does not.
func (s *subscription) expects(sent int64) bool {
	if sent == format.Null {
		return false
	}
	return s.queue || (sent >= s.attached && (s.detached == 0 || sent < s.detached))
}

type subKey struct {
	source, name string
	queue        bool
}

// subscriptions are all that the receive logs list or have rows of.
type subscriptions struct {
	list  []subscription
	index map[subKey]int32
	// expected lists, by destination of the send side, the subscriptions that a
	// message to it should reach.
	expected map[string][]int32
}

func newSubscriptions() *subscriptions {
	return &subscriptions{index: map[subKey]int32{}}
}

// addListed adds what the metadata of a receive log lists.
func (s *subscriptions) addListed(in *input, shift func(int64) int64) error {
	listed, ok, err := in.log.Meta().Subscriptions()
	if err != nil || !ok {
		return err
	}
	for _, l := range listed {
		k := subKey{source: l.Destination, queue: l.Name == nil}
		if l.Name != nil {
			k.name = *l.Name
		}
		at, known := s.index[k]
		if !known {
			at = s.add(k)
			s.list[at].attached = shifted(l.Attached, shift)
			s.list[at].detached = shifted(l.Detached, shift)
			continue
		}
		// Several consumers share it: it stands from the first to the last of them.
		sub := &s.list[at]
		sub.attached = min(sub.attached, shifted(l.Attached, shift))
		if l.Detached == 0 || sub.detached == 0 {
			sub.detached = 0
		} else {
			sub.detached = max(sub.detached, shifted(l.Detached, shift))
		}
	}
	return nil
}

func shifted(instant int64, by func(int64) int64) int64 {
	if instant == 0 {
		return 0
	}
	return instant + by(instant)
}

func (s *subscriptions) add(k subKey) int32 {
	at := int32(len(s.list))
	s.index[k] = at
	s.list = append(s.list, subscription{source: k.source, name: k.name, queue: k.queue})
	return at
}

// of returns the subscription of a receive row. One that no log lists counts
// as attached from the start.
func (s *subscriptions) of(b *format.Recv, i int) int32 {
	var k subKey
	k.source, _ = b.Destination.At(i)
	name, named := b.Subscription.At(i)
	k.name, k.queue = name, !named
	if at, ok := s.index[k]; ok {
		return at
	}
	return s.add(k)
}

// sort brings the subscriptions into an order that does not depend on that of
// the files, and returns the new index of every old one.
func (s *subscriptions) sort() (rank []int32) {
	order := make([]int32, len(s.list))
	for i := range order {
		order[i] = int32(i)
	}
	slices.SortFunc(order, func(x, y int32) int {
		return cmp.Or(cmp.Compare(s.list[x].source, s.list[y].source), cmp.Compare(s.list[x].name, s.list[y].name))
	})
	rank = make([]int32, len(order))
	sorted := make([]subscription, len(order))
	for to, from := range order {
		rank[from] = int32(to)
		sorted[to] = s.list[from]
	}
	s.list = sorted
	for k, at := range s.index {
		s.index[k] = rank[at]
	}
	return rank
}

// route finds which subscriptions a message to each destination should reach.
//
// Addresses are compared as they were typed. Where nobody received from an
// address spelled like that (an exchange that feeds a queue, a second broker),
// the arrivals decide: a subscription belongs to a destination if a message of
// one of its producers arrived there; if none arrived anywhere and there is
// only one address that no sender uses, that one.
func (s *subscriptions) route(sends *producers) {
	s.expected = map[string][]int32{}
	var unclaimed []int32 // of addresses that no sender uses
	for at := range s.list {
		source := s.list[at].source
		if sends.destinations[source] {
			s.expected[source] = append(s.expected[source], int32(at))
		} else {
			unclaimed = append(unclaimed, int32(at))
		}
	}
	evidence := s.evidence(sends)
	for destination := range sends.destinations {
		if len(s.expected[destination]) > 0 {
			continue
		}
		if seen := evidence[destination]; len(seen) > 0 {
			s.expected[destination] = seen
		} else if s.oneSource(unclaimed) {
			s.expected[destination] = unclaimed
		}
	}
}

// evidence lists, by destination, the subscriptions that messages of its
// producers arrived in.
func (s *subscriptions) evidence(sends *producers) map[string][]int32 {
	seen := map[string][]int32{}
	for _, l := range sends.lanes.list {
		for destination := range sends.to[l.key] {
			for i := range l.tracks {
				if sub := l.tracks[i].sub; !slices.Contains(seen[destination], sub) {
					seen[destination] = append(seen[destination], sub)
				}
			}
		}
	}
	for _, subs := range seen {
		slices.Sort(subs)
	}
	return seen
}

func (s *subscriptions) oneSource(subs []int32) bool {
	for _, at := range subs {
		if s.list[at].source != s.list[subs[0]].source {
			return false
		}
	}
	return len(subs) > 0
}
