package schedule

import "sort"

// Pick is the messages of a replay, or of a stripe of one, that go to one
// destination: a schedule of their own, and the mapping to the whole. It is
// immutable and safe for concurrent use.
type Pick struct {
	Of     Schedule // a *Replay, or a Stripe of one
	code   int32
	rows   []int64 // indices into Of, within the first period
	period int64   // messages of Of after which the destinations repeat
}

// Destination returns the number of the destination, −1 for none.
func (p *Pick) Destination() int32 { return p.code }

// At implements Schedule.
func (p *Pick) At(j int64) int64 { return p.Of.At(p.Index(j)) }

// Index returns the index in Of of message j.
func (p *Pick) Index(j int64) int64 {
	n := int64(len(p.rows))
	return j/n*p.period + p.rows[j%n]
}

// Upto returns how many of the first n messages of Of are in p.
func (p *Pick) Upto(n int64) int64 {
	if len(p.rows) == 0 {
		return 0
	}
	cycle, row := n/p.period, n%p.period
	return cycle*int64(len(p.rows)) + int64(sort.Search(len(p.rows), func(k int) bool { return p.rows[k] >= row }))
}

// N implements Schedule.
func (p *Pick) N() int64 {
	if n := p.Of.N(); n != Unbounded || len(p.rows) == 0 {
		return p.Upto(n)
	}
	return Unbounded
}

// Pick returns the messages to destination number code (−1: those without).
func (r *Replay) Pick(code int32) *Pick {
	for _, p := range PicksOf(r).list {
		if p.code == code {
			return p
		}
	}
	return &Pick{Of: r, code: code, period: 1}
}

// Picks are the messages of a replay, or of a stripe of one, by destination.
type Picks struct {
	of     Schedule
	list   []*Pick // those that have messages, by code
	byCode []*Pick // by code + 1
}

// PicksOf sorts the messages of s, which must be a *Replay or a Stripe of one,
// by destination; 8 bytes a message of the recording.
func PicksOf(s Schedule) *Picks {
	replay, _ := Origin(s, 0)
	all := &Picks{of: s, byCode: make([]*Pick, len(replay.Names())+1)}
	period := min(repetition(s, int64(len(replay.rows.Offsets))), s.N())
	for j := range period {
		_, i := Origin(s, j)
		code := replay.Destination(i)
		p := all.byCode[code+1]
		if p == nil {
			p = &Pick{Of: s, code: code, period: period}
			all.byCode[code+1] = p
		}
		p.rows = append(p.rows, j)
	}
	for _, p := range all.byCode {
		if p != nil {
			all.list = append(all.list, p)
		}
	}
	return all
}

// repetition returns after how many messages of s the rows begin again.
func repetition(s Schedule, rows int64) int64 {
	stripe, ok := s.(Stripe)
	if !ok {
		return rows
	}
	a, b := repetition(stripe.Of, rows), stripe.By
	for x, y := a, b; ; x, y = y, x%y {
		if y == 0 {
			return a / x
		}
	}
}

// List returns the destinations that have messages, by number.
func (p *Picks) List() []*Pick { return p.list }

// Split says which messages of each pick the count messages of the whole from
// first are: pick k of List has the ones from its own first on. The pacer calls
// it at every wake, with few messages and perhaps many destinations.
func (p *Picks) Split(first, count int64, offer func(k int, first, count int64)) {
	if count > int64(len(p.list)) {
		for k, pick := range p.list {
			from := pick.Upto(first)
			if n := pick.Upto(first+count) - from; n > 0 {
				offer(k, from, n)
			}
		}
		return
	}
	for j := first; j < first+count; j++ {
		replay, i := Origin(p.of, j)
		code := replay.Destination(i)
		k := sort.Search(len(p.list), func(k int) bool { return p.list[k].code >= code })
		offer(k, p.list[k].Upto(j), 1)
	}
}

// Origin returns the replay that s is a part of, and the index there of message
// j of s: of a replay, of stripes and of picks. Nil if there is none.
func Origin(s Schedule, j int64) (*Replay, int64) {
	for {
		switch v := s.(type) {
		case *Replay:
			return v, j
		case Stripe:
			s, j = v.Of, v.Index(j)
		case *Pick:
			s, j = v.Of, v.Index(j)
		default:
			return nil, j
		}
	}
}
