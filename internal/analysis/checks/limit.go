package checks

import (
	"fmt"
	"math"

	"amqpperf/internal/analysis/report/words"
	"amqpperf/internal/units"
)

// Observed is what one side of a run shows of its limit. Numbers that are not
// known are 0, shares NaN.
type Observed struct {
	Side string // Sending or Receiving
	// Demand says that there was more to do than was done: without it nothing held.
	Demand bool
	// Rate is in messages per second of one client, Size the mean body in bytes.
	Rate    float64
	Size    float64
	Clients int
	// RTT is the round trip to the broker in ns, and RTTFrom where it is from.
	RTT     int64
	RTTFrom string
	// Window is --max-pending or the consumer's credit; Pending how many messages
	// of a client were unsettled, by Little's law.
	Window  int64
	Pending float64
	// Peak is the largest number of a consumer's deliveries that were unsettled at a time
	// as the broker knew it, from the rows: a machine that is late at times lowers the
	// rate, and a mean over it, and leaves this.
	Peak float64
	// WorkShare is the share of the time in which a consumer was working.
	WorkShare float64
	// CommitShare is the share of the time in which a consumer waited for the ends of
	// its transactions.
	CommitShare float64
	// CreditShare is the share of the sender's waiting that was for the broker's credit or session.
	CreditShare float64
	// SocketShare is the share of the sender's waiting that was for the socket.
	SocketShare float64
	// UnsentShare and CwndShare are the shares of the samples of TCP in which
	// written bytes had not left, or the congestion window was full.
	UnsentShare, CwndShare float64
}

// The sides.
const (
	Sending   = "send"
	Receiving = "receive"
)

// Holds says what limited a side.
type Holds string

// The limits.
const (
	ByNothing     Holds = "none" // all that was offered was done
	ByCredit      Holds = "credit"
	ByWork        Holds = "consumer"
	ByNetwork     Holds = "network"
	ByWindow      Holds = "window"
	ByBrokerCap   Holds = "broker-cap"
	NotDetermined Holds = "not determined"
)

// Limit is the verdict on one side with its evidence.
type Limit struct {
	Side     string `json:"side"`
	Held     Holds  `json:"held"`
	Evidence string `json:"evidence"`
	// Messages and Bytes are rate × round trip, or the most of a consumer that was
	// unsettled: what is on the way of one client at a time, null if no round trip is known. Bytes are of bodies.
	Messages *float64 `json:"messages"`
	Bytes    *float64 `json:"bytes"`
	RTT      *int64   `json:"rtt_ns"`
}

// most is the share of a limit from which on it holds.
const most = 0.9

// Judge tells what held one side of one or more runs of the same system, by
// the rules of the method in this order: unsettled ≥ 90 % of the credit;
// consumer working, or waiting for its commits, ≥ 90 % of the time; bytes that did not leave the socket;
// in flight = window; and, when none of these holds in any run, rate × round
// trip within a fifth over at least two round trips that differ twofold: a cap
// in the broker. The first of the runs is the one that the numbers are of.
func Judge(runs []Observed) Limit {
	o := runs[0]
	l := Limit{Side: o.Side}
	if o.RTT > 0 && o.Rate > 0 {
		m := o.onTheWay()
		l.Messages, l.RTT = &m, &o.RTT
		if o.Size > 0 {
			bytes := m * o.Size
			l.Bytes = &bytes
		}
	}
	if !o.Demand {
		l.Held, l.Evidence = ByNothing, "the system kept up with what was offered"
		return l
	}
	if held, why := o.direct(); held != NotDetermined {
		l.Held, l.Evidence = held, why
		return l
	}
	l.Held, l.Evidence = NotDetermined, "neither credit, consumer, network nor window is used up"
	if l.Messages == nil {
		l.Evidence += ", and no round trip is known"
		return l
	}
	format := "rate × round trip is %s (%s of bodies) at %s (%s)"
	if o.byRows() {
		format = "up to %s (%s of bodies) of a consumer were unsettled, at a round trip of %s (%s)"
	}
	product := fmt.Sprintf(format, words.Messages(int64(*l.Messages+0.5)), bytesOf(l.Bytes), units.Latency(o.RTT), o.RTTFrom)
	if trips := constant(runs); trips >= 2 {
		l.Held, l.Evidence = ByBrokerCap, fmt.Sprintf("%s and the same at %d round trips: a cap in the broker", product, trips)
		return l
	}
	l.Evidence += "; " + product + ": if it is the same at another round trip, the broker has a cap"
	return l
}

// onTheWay is rate × round trip: messages of one client that are under way at a
// time. A receiver's round trip is longer by what it holds a message before it settles.
func (o Observed) onTheWay() float64 {
	if o.byRows() {
		return o.Peak
	}
	if o.Side == Receiving && o.Pending > 0 {
		return o.Pending
	}
	return o.Rate * float64(o.RTT) / 1e9
}

// byRows reports whether what was under way is known from the rows.
func (o Observed) byRows() bool { return o.Side == Receiving && o.Peak > 0 }

// direct applies the rules that need one run only.
func (o Observed) direct() (Holds, string) {
	if o.Side == Receiving {
		switch {
		case o.Window > 0 && o.Pending >= most*float64(o.Window):
			return ByCredit, o.used("of credit were unsettled")
		case o.CommitShare >= most:
			return ByWork, fmt.Sprintf("the consumer was waiting for the ends of its transactions %s of the time", words.Percent(min(o.CommitShare, 1)))
		case o.WorkShare >= most:
			return ByWork, fmt.Sprintf("the consumer was working %s of the time", words.Percent(o.WorkShare))
		}
	} else {
		switch {
		case o.CreditShare >= most:
			return ByCredit, fmt.Sprintf("%s of the waiting was for the broker's credit", words.Percent(o.CreditShare))
		case o.SocketShare >= most:
			return ByNetwork, fmt.Sprintf("%s of the sender's waiting was for its socket", words.Percent(o.SocketShare))
		}
	}
	switch {
	case o.UnsentShare >= 0.5:
		return ByNetwork, fmt.Sprintf("in %s of the samples bytes had not left the %sing side's socket", words.Percent(o.UnsentShare), o.stem())
	case o.CwndShare >= 0.5:
		return ByNetwork, fmt.Sprintf("in %s of the samples the congestion window of the %sing side was full", words.Percent(o.CwndShare), o.stem())
	case o.Side == Sending && o.Window > 0 && o.Pending >= most*float64(o.Window):
		return ByWindow, o.used("of --max-pending were in flight")
	}
	return NotDetermined, ""
}

// used says how much of a window was used. Rate × time is a mean over the whole run: it
// can be more than the window where messages go in lots, and the window never is.
func (o Observed) used(of string) string {
	if o.Pending >= float64(o.Window) {
		return fmt.Sprintf("all %s %s", words.Messages(o.Window), of)
	}
	return fmt.Sprintf("%.0f of %d messages %s", o.Pending, o.Window, of)
}

func (o Observed) stem() string {
	if o.Side == Sending {
		return "send"
	}
	return "receiv"
}

// constant returns over how many round trips, each at least twice another,
// rate × round trip is that of the first run within a fifth; 0 when a run
// contradicts, or was held by something else.
func constant(runs []Observed) int {
	first := runs[0]
	trips := []int64{first.RTT}
	for _, o := range runs[1:] {
		if o.Side != first.Side || o.RTT <= 0 || o.Rate <= 0 || !o.Demand {
			continue
		}
		if held, _ := o.direct(); held != NotDetermined {
			return 0
		}
		if r := o.onTheWay() / first.onTheWay(); r < 0.8 || r > 1.25 {
			return 0
		}
		fresh := true
		for _, t := range trips {
			if far := float64(o.RTT) / float64(t); far > 0.5 && far < 2 {
				fresh = false
			}
		}
		if fresh {
			trips = append(trips, o.RTT)
		}
	}
	return len(trips)
}

func bytesOf(b *float64) string {
	if b == nil || math.IsNaN(*b) {
		return "unknown bytes"
	}
	if *b < 1024 {
		return fmt.Sprintf("%.0f B", *b)
	}
	if *b < 1<<20 {
		return fmt.Sprintf("%.1f KiB", *b/1024)
	}
	return fmt.Sprintf("%.1f MiB", *b/(1<<20))
}
