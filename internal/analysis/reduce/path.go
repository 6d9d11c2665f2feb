package reduce

import "amqpperf/internal/analysis/stats"

// Path is where deliveries spend their time, and what the receivers do: means
// over the selected arrivals that have the instants, ns; NaN without any.
type Path struct {
	// BrokerIn arrivals carry the broker's own time of arrival, which is in
	// whole milliseconds and on the broker's clock.
	BrokerIn   int64
	ToBroker   float64 // broker_in − sent
	FromBroker float64 // received − broker_in
	AfterAck   float64 // received − acked: after the broker had taken the message, of AckedAndReceived
	Held       float64 // settled − received: how long a delivery is unsettled at the consumer
	MinService int64   // smallest service: a round trip and nothing else; 0 if unknown
	Settled    int64   // arrivals with settled
	// MostUnsettled is the largest number of deliveries that the broker had to hold for
	// unsettled at a time, over all consumers: received, and settled less than a round
	// trip (the smallest service) before. 0 if unknown, or the round trip is short.
	MostUnsettled int64

	AckedAndReceived int64
	// WorkSpan is the time from the first started to the last settled.
	WorkSpan int64
}

type pathPass struct {
	to, from, held, after stats.Moments
	started               span
	settled               span
}

func (p *pathPass) add(v *view, i int) {
	if !has(v.Received[i]) {
		return
	}
	if len(v.BrokerIn) == v.Len() && has(v.BrokerIn[i]) {
		if has(v.Sent[i]) {
			p.to.Add(v.BrokerIn[i] - v.Sent[i])
		}
		p.from.Add(v.Received[i] - v.BrokerIn[i])
	}
	if has(v.Acked[i]) {
		p.after.Add(v.Received[i] - v.Acked[i])
	}
	if has(v.Settled[i]) {
		p.held.Add(v.Settled[i] - v.Received[i])
		p.settled.add(v.Settled[i])
	}
	if has(v.Started[i]) {
		p.started.add(v.Started[i])
	}
}

// whole takes in a plain chunk.
func (p *pathPass) whole(v *view, c chunk) {
	if len(v.BrokerIn) == v.Len() {
		for i := c.from; i < c.to; i++ {
			if has(v.BrokerIn[i]) {
				p.to.Add(v.BrokerIn[i] - v.Sent[i])
				p.from.Add(v.Received[i] - v.BrokerIn[i])
			}
		}
	}
	received, settled, started := v.Received[c.from:c.to], v.Settled[c.from:c.to], v.Started[c.from:c.to]
	p.after.AddDifferences(received, v.Acked[c.from:c.to])
	p.held.AddDifferences(settled, received)
	n := int64(c.to - c.from)
	first, last := extremes(settled)
	p.settled.join(span{n, first, last})
	first, last = extremes(started)
	p.started.join(span{n, first, last})
}

func (p *pathPass) finish(d *Data) {
	d.Path.BrokerIn, d.Path.Settled = p.from.N(), p.held.N()
	d.Path.ToBroker, d.Path.FromBroker, d.Path.Held = p.to.Mean(), p.from.Mean(), p.held.Mean()
	d.Path.AckedAndReceived, d.Path.AfterAck = p.after.N(), p.after.Mean()
	if p.started.n > 0 && p.settled.n > 0 {
		d.Path.WorkSpan = p.settled.last - p.started.first
	}
	if m := d.Metrics[Service]; m.Distribution != nil && m.Finite() > 0 && m.Min() > 0 {
		d.Path.MinService = m.Min()
	}
}
