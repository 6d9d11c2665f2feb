package reduce

import "amqpperf/internal/analysis/stats"

// tailPass takes apart the messages above the 99th percentile of the response.
type tailPass struct {
	above    int64
	known    bool
	infinite int64
	lag      stats.Moments
	service  stats.Moments
	response stats.Moments
	blocked  [numWaits]stats.Moments
}

func newTailPass(response *stats.Distribution) tailPass {
	p99 := stats.MustPercentiles("99")[0]
	b, ok := response.Histogram().AtRank(p99.Rank(response.N()))
	return tailPass{above: b.High, known: ok}
}

func (p *tailPass) add(s *values, w Wait) {
	const all = 1<<Lag | 1<<Blocked | 1<<Service | 1<<Response
	switch {
	case s.infinite&(1<<Response) != 0:
		p.infinite++
	case p.known && s.finite&all == all && s.v[Response] > p.above:
		p.lag.Add(s.v[Lag])
		p.blocked[w].Add(s.v[Blocked])
		p.service.Add(s.v[Service])
		p.response.Add(s.v[Response])
	}
}

func (p *tailPass) finish() Tail {
	t := Tail{Above: p.above, N: p.response.N(), Infinite: p.infinite}
	if t.N == 0 {
		return t
	}
	t.Lag, t.Service, t.Response = p.lag.Mean(), p.service.Mean(), p.response.Mean()
	for w := range p.blocked {
		if n := p.blocked[w].N(); n > 0 {
			t.Blocked[w] = p.blocked[w].Mean() * float64(n) / float64(t.N)
		}
	}
	return t
}
