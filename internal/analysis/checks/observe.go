package checks

import (
	"math"
	"slices"
	"time"

	"amqpperf/internal/analysis/reduce"
)

// Observe takes from the numbers of a run what Judge needs, for each side that
// there is a log of. overloaded is the report's verdict on the sending side.
func Observe(d *reduce.Data, overloaded bool) []Observed {
	var out []Observed
	if d == nil || d.Empty() {
		return nil
	}
	if d.Rates.Producers > 0 && d.Rates.Acked > 0 {
		out = append(out, observeSender(d, overloaded))
	}
	if d.Rates.Consumers > 0 && d.Rates.Received > 0 {
		out = append(out, observeReceiver(d))
	}
	return out
}

// endings returns how many transactions the receiving side ended, and how long it
// waited for the answers in all, ns.
func endings(d *reduce.Data) (n, sum float64) {
	for _, what := range []string{"tx.commit_ns", "tx.rollback_ns"} {
		for _, s := range ofSide(d, d.Side.Samples[what], false) {
			n, sum = n+1, sum+float64(s.Value)
		}
	}
	return n, sum
}

// leastWaiting is the share of messages that must have waited for window, credit,
// session, socket or connection for it to have held a run that kept up.
const leastWaiting = 0.05

func observeSender(d *reduce.Data, overloaded bool) Observed {
	n := float64(d.Rates.Producers)
	o := Observed{
		Side: Sending, Clients: d.Rates.Producers, Rate: d.Rates.Acked / n, Window: d.MaxPending,
		Demand: d.ClosedLoop || overloaded,
	}
	if d.Size.N() > 0 {
		o.Size = d.Size.Mean()
	}
	if m := d.Metrics[reduce.Service]; m.Finite() > 0 {
		o.Pending = o.Rate * m.Mean() / 1e9
	}
	o.RTT, o.RTTFrom = roundTrip(d, true)
	o.CreditShare, o.SocketShare = math.NaN(), math.NaN()
	var all float64
	for w, v := range d.Waits {
		// A lost connection is an outage, and no limit of the rate.
		if reduce.Wait(w) != reduce.WaitNone && reduce.Wait(w) != reduce.WaitConnection {
			all += float64(v)
		}
	}
	if b := d.Metrics[reduce.Blocked]; b.Distribution != nil && all > leastWaiting*float64(b.N()) {
		o.Demand = true // messages waited for something that has a name
	}
	if all > 0 {
		o.CreditShare = float64(d.Waits[reduce.WaitCredit]+d.Waits[reduce.WaitSession]) / all
		o.SocketShare = float64(d.Waits[reduce.WaitSocket]) / all
	}
	o.UnsentShare, o.CwndShare = tcp(d, true)
	o.WorkShare = math.NaN()
	return o
}

// mostBusy is the share of the time in work above which the spans of work must have overlapped.
const mostBusy = 1.05

func observeReceiver(d *reduce.Data) Observed {
	n := float64(d.Rates.Consumers)
	o := Observed{Side: Receiving, Clients: d.Rates.Consumers, Rate: d.Rates.Received / n, Window: d.Credit, CreditShare: math.NaN(), SocketShare: math.NaN()}
	if d.Size.N() > 0 {
		o.Size = d.Size.Mean()
	}
	o.RTT, o.RTTFrom = roundTrip(d, false)
	commits, inCommits := endings(d)
	o.CommitShare = math.NaN()
	if commits > 0 && d.Path.WorkSpan > 0 {
		o.CommitShare = inCommits / float64(d.Path.WorkSpan) / n
	}
	if o.RTT > 0 {
		held := d.Path.Held
		if math.IsNaN(held) {
			held = 0
		}
		if commits > 0 { // settled is when the answer to the commit came, a round trip after the broker knew
			held = max(0, held-inCommits/commits)
		}
		o.Pending = o.Rate * (float64(o.RTT) + held) / 1e9
	}
	o.WorkShare = math.NaN()
	if m := d.Metrics[reduce.Work]; m.Distribution != nil && m.Finite() > 0 && d.Path.WorkSpan > 0 {
		// With acknowledgements in batches a message is settled long after it was done with: the
		// spans overlap, and their sum says nothing of how busy a consumer was.
		if share := m.Mean() * float64(m.Finite()) / float64(d.Path.WorkSpan) / n; share <= mostBusy {
			o.WorkShare = share
		}
	}
	// Messages that wait in the broker after it took them are demand: their
	// median way is longer than that to the acknowledgement and a round trip.
	if transit, infinite, ok := d.Metrics[reduce.Transit].Approx(median()); ok {
		service := int64(0)
		if d.Metrics[reduce.Service].Finite() > 0 {
			service, _, _ = d.Metrics[reduce.Service].Approx(median())
		}
		o.Demand = infinite || transit > service+o.RTT+int64(time.Millisecond)
	}
	// So are those that wait in the consumer.
	if queued, _, ok := d.Metrics[reduce.Queued].Approx(median()); ok && queued > o.RTT+int64(time.Millisecond) {
		o.Demand = true
	}
	// The smallest service must be a round trip and little else.
	if o.Demand && o.RTT > 0 && o.RTT >= d.Path.MinService/3*2 {
		o.Peak = float64(d.Path.MostUnsettled) / n
	}
	o.UnsentShare, o.CwndShare = tcp(d, false)
	return o
}

// ofSide keeps the samples of sending or receiving processes: the logs' tables
// follow one another, send logs first.
func ofSide(d *reduce.Data, samples []reduce.Sample, sending bool) []reduce.Sample {
	senders := d.Sends
	if senders == 0 && d.Receives == 0 {
		senders = 1 // the log does not say
	}
	var out []reduce.Sample
	for _, s := range samples {
		if (s.Process < senders) == sending {
			out = append(out, s)
		}
	}
	return out
}

// roundTrip is the median of what TCP says of this side's connections, and the least of a
// receiver's: it sends little, and what it sends is acknowledged late. Where
// that is next to nothing and no answer ever came near it, there is a delay
// above TCP (a proxy, a broker that waits): the service, which is one round trip
// and little else as long as its median is near the smallest.
func roundTrip(d *reduce.Data, sending bool) (ns int64, from string) {
	var values []int64
	for _, s := range ofSide(d, d.Side.Matching("conn.", ".rtt_ns"), sending) {
		values = append(values, s.Value)
	}
	if len(values) > 0 {
		slices.Sort(values)
		ns, from = values[len(values)/2], "TCP's round trip"
		if !sending {
			ns = values[0]
		}
	}
	if ns < int64(time.Millisecond) && d.Path.MinService > 5*ns {
		if p50, infinite, ok := d.Metrics[reduce.Service].Approx(median()); ok && !infinite && p50 < d.Path.MinService/2*3 {
			return p50, "the median service"
		}
		return d.Path.MinService, "the smallest service"
	}
	return ns, from
}

// tcp returns the shares of samples with bytes that had not left, and with a
// congestion window that was full.
func tcp(d *reduce.Data, sending bool) (unsent, cwnd float64) {
	share := func(samples []reduce.Sample, yes func(reduce.Sample) bool) float64 {
		if len(samples) == 0 {
			return math.NaN()
		}
		n := 0
		for _, s := range samples {
			if yes(s) {
				n++
			}
		}
		return float64(n) / float64(len(samples))
	}
	unsent = share(ofSide(d, d.Side.Matching("conn.", ".unsent_bytes"), sending), func(s reduce.Sample) bool { return s.Value > 0 })
	type key struct {
		at      int64
		process int
	}
	windows := map[key]int64{}
	for _, s := range ofSide(d, d.Side.Matching("conn.", ".cwnd_segments"), sending) {
		k := key{s.At, s.Process}
		windows[k] += s.Value
	}
	unacked := map[key]int64{}
	for _, s := range ofSide(d, d.Side.Matching("conn.", ".unacked_segments"), sending) {
		unacked[key{s.At, s.Process}] += s.Value
	}
	full := 0
	for k, w := range windows {
		if n, ok := unacked[k]; ok && n >= w && w > 0 {
			full++
		}
	}
	if len(windows) == 0 {
		return unsent, math.NaN()
	}
	return unsent, float64(full) / float64(len(windows))
}
