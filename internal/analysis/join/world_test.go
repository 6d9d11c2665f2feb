package join_test

import (
	"cmp"
	"math/rand/v2"
	"slices"

	"pgregory.net/rapid"

	"amqpperf/format"
)

// choices is where a world gets its numbers from.
type choices interface {
	upTo(n int, what string) int // 0…n−1
}

type rapidChoices struct{ rt *rapid.T }

func (c rapidChoices) upTo(n int, what string) int { return rapid.IntRange(0, n-1).Draw(c.rt, what) }

type randomChoices struct{ r *rand.Rand }

func (c randomChoices) upTo(n int, _ string) int { return c.r.IntN(n) }

func drawWorld(rt *rapid.T, size int) *world { return makeWorld(rapidChoices{rt}, size) }

// randomWorld is a large one, of a random generator: rapid's own choices are too
// many to keep.
func randomWorld(size int) *world {
	return makeWorld(randomChoices{rand.New(rand.NewPCG(uint64(size), 1))}, size)
}

func makeWorld(c choices, size int) *world {
	w := &world{topic: c.upTo(2, "topic") == 1}
	names := []string{""}
	if w.topic {
		names = nil
		for _, name := range []string{"a", "b", "c"}[:1+c.upTo(3, "subs")] {
			names = append(names, name)
			sub := format.Subscription{Destination: "topic://t", Name: &name, Attached: 1}
			switch c.upTo(4, "attached") {
			case 0:
				sub.Attached = int64(1 + c.upTo(size*1000, "from"))
			case 1:
				sub.Detached = int64(1 + c.upTo(size*1000, "until"))
			}
			w.subs = append(w.subs, sub)
		}
	}
	destination := "queue://q"
	if w.topic {
		destination = "topic://t"
	}
	w.makeSends(c, size, destination)
	at := int64(10)
	for _, s := range w.sends {
		if s.sent != null {
			for _, name := range names {
				w.deliver(c, s, name, destination, &at)
			}
		}
	}
	// Logs of receivers are in the order of receipt, mostly.
	if c.upTo(4, "by time") > 0 {
		slices.SortStableFunc(w.recvs, func(x, y recvRow) int { return cmp.Compare(x.received, y.received) })
	}
	return w
}

func (w *world) makeSends(c choices, size int, destination string) {
	outcomes := []string{format.Accepted, format.Accepted, format.Accepted, format.Presettled, format.Rejected, format.Unsettled, format.Failed, format.Unsent}
	next := map[lane]int64{}
	for range size {
		s := sendRow{sender: int32(1 + c.upTo(2, "sender")), producer: int32(c.upTo(3, "producer")), destination: destination, acked: null}
		at := lane{s.sender, s.producer, ""}
		s.seq = next[at]
		next[at] += int64(1 + c.upTo(2, "gap"))
		for {
			s.outcome, s.sent = outcomes[c.upTo(len(outcomes), "outcome")], 1000*s.seq+1
			if s.outcome == format.Unsent {
				s.sent = null
			}
			w.sends = append(w.sends, s)
			s.attempt += int32(c.upTo(2, "attempts"))
			if c.upTo(8, "again") > 0 {
				break
			}
			s.attempt++
		}
	}
}

// deliver lets a message arrive: mostly once, perhaps not, twice, out of order,
// as one that nobody logged, for another run, or given back.
func (w *world) deliver(c choices, s sendRow, name, destination string, at *int64) {
	r := recvRow{sender: s.sender, producer: s.producer, seq: s.seq, attempt: s.attempt, destination: destination, subscription: name}
	copies := 1
	switch c.upTo(12, "fate") {
	case 0, 1:
		return // lost
	case 2:
		copies = 2 + c.upTo(2, "copies")
	case 3:
		r.seq += int64(1 + c.upTo(3, "ahead")) // perhaps one that no send log has
	case 4:
		r.run = "yesterday"
	case 5:
		r.outcome = format.Released
	case 6:
		r.producer = 7 // no send log has it
	case 7:
		r.seq += 1 << 40
	case 8:
		r.attempt += int32(c.upTo(3, "attempt")) - 1 // perhaps one that no send log has
	}
	for n := range copies {
		r.receiver, r.consumer = int32(8+c.upTo(2, "receiver")), int32(c.upTo(2, "consumer"))
		*at += int64(c.upTo(3, "step")) // instants are shared at times
		r.received = max(*at-int64(c.upTo(4, "back"))*3, 1)
		r.deliveryCount = int32(n)
		w.recvs = append(w.recvs, r)
	}
}
