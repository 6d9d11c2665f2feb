package broker

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
)

// span is a freeze in absolute time: from is in it, to is not.
type span struct{ from, to int64 }

// spansFrom places stalls relative to an instant, sorted and with overlapping or
// touching ones joined.
func spansFrom(origin int64, stalls []Stall) []span {
	out := make([]span, 0, len(stalls))
	for _, s := range stalls {
		from := origin + int64(s.At)
		out = append(out, span{from, from + int64(s.For)})
	}
	slices.SortFunc(out, func(a, b span) int { return int(min(max(a.from-b.from, -1), 1)) })
	joined := out[:0]
	for _, s := range out {
		if n := len(joined); n > 0 && s.from <= joined[n-1].to {
			joined[n-1].to = max(joined[n-1].to, s.to)
			continue
		}
		joined = append(joined, s)
	}
	return joined
}

// thawed is t, or the end of the freeze that t lies in.
func thawed(spans []span, t int64) int64 {
	for _, s := range spans {
		if t >= s.from && t < s.to {
			return s.to
		}
	}
	return t
}

// worked is the instant at which work begun at start (not in a freeze) has been
// done for that many ns, freezes left out.
func worked(spans []span, start, work int64) int64 {
	end := start + work
	for _, s := range spans {
		if s.from >= start && s.from < end {
			end += s.to - s.from
		}
	}
	return end
}

// server is the arithmetic of one FIFO server (D/G/1 with freezes): computed from
// arrivals alone, so that late timers leave no trace in later departures.
type server struct {
	service Service
	rng     *rand.Rand // exponential only
	free    int64      // when the last message so far has left
}

func newServer(s Service, name string) server {
	v := server{service: s}
	if s.Exponential {
		h := fnv.New64a()
		_, _ = h.Write([]byte(name)) // never fails
		v.rng = rand.New(rand.NewPCG(s.Seed, h.Sum64()))
	}
	return v
}

// serve schedules the next message in order of arrival.
func (v *server) serve(spans []span, arrival int64) (start, due int64) {
	work := int64(v.service.Mean)
	if v.rng != nil {
		work = int64(v.rng.ExpFloat64() * float64(work))
	}
	start = thawed(spans, max(arrival, v.free))
	v.free = worked(spans, start, work)
	return start, v.free
}
