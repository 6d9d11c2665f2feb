package report

import (
	"fmt"
	"strings"

	"amqpperf/internal/analysis/checks"
	"amqpperf/internal/analysis/reduce"
)

// path tells broker delay from consumer delay.
func (b *builder) path() {
	in := b.d.Path
	if b.d.Metrics[reduce.Queued].Distribution == nil || b.d.Clock.Arrivals == 0 {
		return
	}
	out := &Path{}
	if in.BrokerIn > 0 {
		out.ToBroker, out.FromBroker = number(in.ToBroker), number(in.FromBroker)
	}
	if in.AckedAndReceived > 0 && b.d.Clock.Unknown == 0 {
		out.AfterAck = number(in.AfterAck)
	}
	if m := b.d.Metrics[reduce.Queued]; m.Finite() > 0 {
		out.Queued = number(m.Mean())
	}
	if m := b.d.Metrics[reduce.Work]; m.Finite() > 0 {
		out.Work = number(m.Mean())
	}
	b.r.Path = out
}

// pathLine says where deliveries spend their time, when something held the
// receiving side; "" otherwise.
func (r *Report) pathLine() string {
	if r.Path == nil {
		return ""
	}
	held := false
	for _, l := range r.Limits {
		held = held || l.Side == checks.Receiving && l.Held != checks.ByNothing
	}
	if !held {
		return ""
	}
	var parts []string
	for _, p := range []struct {
		v    *float64
		what string
	}{
		{r.Path.ToBroker, "to the broker"}, {r.Path.FromBroker, "from its arrival there to the consumer"},
		{r.Path.AfterAck, "from the acknowledgement to the consumer"}, {r.Path.Queued, "waiting in the consumer"}, {r.Path.Work, "in its work"},
	} {
		if p.v != nil {
			parts = append(parts, fmt.Sprintf("%s %s", latency(*p.v), p.what))
		}
	}
	if len(parts) == 0 {
		return ""
	}
	return "a delivery's mean time: " + strings.Join(parts, ", ")
}
