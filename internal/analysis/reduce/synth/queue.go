package synth

import "amqpperf/format"

// Queue is a sender, a broker with one FIFO server, and a receiver that gets
// every message Transit after the broker has served it.
type Queue struct {
	N        int
	Interval float64 // ns between intended instants; may be a fraction
	Service  int64   // of the server, per message
	Network  int64   // each way
	StallAt  int64   // the server stops at this time since the start …
	StallFor int64   // … for this long
	DieAt    int64   // the server stops for ever; 0: never
	Window   int     // messages of the sender in flight; 0: no limit
	Transit  int64   // from the end of service to the receiver; below 0: no receiver
	Serial   bool    // false: every message is served on its own, Service after it came
}

// Run returns the rows of the queue in virtual time.
func (q Queue) Run() *Log {
	l := &Log{}
	free := Start // when the server has served all before
	acks := make([]int64, 0, q.N)
	for i := range q.N {
		intended := Start + int64(float64(i)*q.Interval)
		sent := intended
		wait := format.WaitNone
		if q.Window > 0 && i >= q.Window {
			if slot := acks[i-q.Window]; slot == Null {
				l.Rows = append(l.Rows, q.stuck(i, intended))
				acks = append(acks, Null)
				continue
			} else if slot > sent {
				sent, wait = slot, format.WaitWindow
			}
		}
		done := q.serve(sent+q.Network, &free)
		r := Message(int64(i), intended, 0)
		r.Ready, r.Sent, r.Wait = intended, sent, wait
		if q.DieAt > 0 && done > Start+q.DieAt {
			r = r.Unanswered(format.Unsettled)
			if q.Transit >= 0 {
				r.RecvOutcome = format.Unknown
			}
			acks = append(acks, Null)
			l.Rows = append(l.Rows, r)
			continue
		}
		r.Acked = done + q.Network
		if q.Transit >= 0 {
			r = r.Arrive(done + q.Transit)
		}
		acks = append(acks, r.Acked)
		l.Rows = append(l.Rows, r)
	}
	return l
}

func (q Queue) stuck(i int, intended int64) Row {
	r := Message(int64(i), intended, 0).Unanswered(format.Unsent)
	r.Wait = format.WaitWindow
	return r
}

// serve returns when a message that comes at an instant is done.
func (q Queue) serve(at int64, free *int64) int64 {
	if !q.Serial {
		return at + q.Service
	}
	begin := max(at, *free)
	from, until := Start+q.StallAt, Start+q.StallAt+q.StallFor
	switch {
	case q.StallFor == 0:
	case begin >= from && begin < until:
		begin = until
	case begin < from && begin+q.Service > from:
		*free = begin + q.Service + q.StallFor
		return *free
	}
	*free = begin + q.Service
	return *free
}
