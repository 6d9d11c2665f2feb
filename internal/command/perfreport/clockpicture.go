package perfreport

import (
	"math"
	"slices"
	"strconv"

	"amqpperf/format"
	"amqpperf/internal/analysis/chart"
	"amqpperf/internal/analysis/clock"
	"amqpperf/internal/analysis/reduce"
)

// clocks are the exchanges with other processes and the bound that came of them.
func clocks(m *made) chart.Clocks {
	d := m.data
	c := chart.Clocks{Caption: caption(m, "C14", "C15", "C16", "C17")}
	c.Finding = m.report.ClockFinding()
	type pair struct {
		process int
		peer    string
	}
	all := map[pair][]chart.OffsetLimit{}
	var order []pair
	first := map[pair]float64{}
	for _, p := range d.Side.Probes {
		x, ok := sampleSeconds(d, p.At)
		if !ok {
			continue
		}
		who := pair{p.Process, p.Peer}
		if all[who] == nil {
			order = append(order, who)
			first[who] = (float64(p.Low) + float64(p.High)) / 2
		}
		all[who] = append(all[who], chart.OffsetLimit{Seconds: x, Low: float64(p.Low) - first[who], High: float64(p.High) - first[who]})
	}
	for i, who := range order {
		limits := all[who]
		slices.SortStableFunc(limits, func(a, b chart.OffsetLimit) int { return int(math.Copysign(1, a.Seconds-b.Seconds)) })
		c.Pairs = append(c.Pairs, chart.ClockPair{Name: pairName(d, who.process, who.peer, i, len(order)), Limits: limits})
	}
	if len(order) > 0 {
		c.Notes = append(c.Notes, "band: between what an exchange leaves possible by causality; the line is its middle; each since the pair's first exchange")
	}
	for i, b := range d.Series.Bound {
		v := float64(b)
		if b < 0 {
			v = math.NaN()
		}
		c.Bound = append(c.Bound, chart.Point{Seconds: middle(&d.Series, i), Value: v})
	}
	return c
}

// pairName names both ends of exchanges by their hosts, as far as the logs tell them.
func pairName(d *reduce.Data, process int, peer string, n, of int) string {
	from, to := probingHost(d, process), peerHost(d, peer)
	if from == "" {
		from = "process " + strconv.Itoa(process+1)
	}
	if to == "" {
		to = "peer " + strconv.Itoa(n+1)
	} else if of > 1 {
		to += " (" + strconv.Itoa(n+1) + ")" // there may be several receivers on a host
	}
	return from + " to " + to
}

// sameClock is by how much wall − monotonic of a host may differ between a process's
// anchor and what it logged later: clocks are slewed, and of two hosts it differs by
// the time between their boots.
const sameClock = 1e9

// probingHost is the host whose wall − monotonic the process logged beside its
// exchanges; "" if no log tells, or those of several hosts do.
func probingHost(d *reduce.Data, process int) string {
	found := ""
	for _, state := range d.Side.Clocks {
		if state.Process != process || state.WallOffset == format.Null {
			continue
		}
		for _, l := range d.Logs {
			if l.Anchor.ClockID == 0 || math.Abs(float64(state.WallOffset-l.Anchor.Offset())) > sameClock {
				continue
			}
			if found != "" && found != l.Host {
				return ""
			}
			found = l.Host
		}
		return found
	}
	return found
}

// peerHost is the host whose clock has the id that a peer named itself by.
func peerHost(d *reduce.Data, peer string) string {
	p, err := clock.ParsePeer(peer)
	if err != nil || p.ClockID == 0 {
		return ""
	}
	for _, l := range d.Logs {
		if l.Anchor.ClockID == p.ClockID {
			return l.Host
		}
	}
	return ""
}
