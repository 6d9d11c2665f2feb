package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/stats"
	"amqpperf/internal/units"
)

// findings says in plain sentences what the numbers mean. The first one is the
// most important and stands in titles.
func (b *builder) findings() {
	if b.d.Empty() {
		b.say("the log holds no rows")
		return
	}
	if b.d.Window.N == 0 {
		b.say("no message was intended in the selected time")
		return
	}
	if n := b.d.Integrity.AckedEarly; n > 0 {
		b.say("%s acked before sent: the log cannot be right, and no latency is", messages(n))
	}
	b.findOverload()
	b.findUnanswered()
	b.findMissing()
	stalls, heavy := b.fewStalls()
	if heavy {
		b.say("%s", stalls)
	}
	if b.r.Loop == Closed {
		b.findClosed()
	} else {
		b.findWaiting()
	}
	if stalls != "" && !heavy {
		b.say("%s", stalls)
	}
	b.findClock()
	b.findQueue()
	b.findResolution()
}

func (b *builder) say(format string, args ...any) {
	b.r.Findings = append(b.r.Findings, fmt.Sprintf(format, args...))
}

func (b *builder) findOverload() {
	o := b.r.Overload
	if o == nil {
		return
	}
	metric, done, whole := "response", "acked", b.r.Rates.Acked
	if o.Side == "receive" {
		metric, done, whole = "e2e", "received", b.r.Rates.Received
	}
	// The capacity is that of the last half; the slope of the backlog is of the whole.
	if whole != nil && o.Capacity > 0 && math.Abs(*whole/o.Capacity-1) > 0.05 {
		done = fmt.Sprintf("%s in the last half (%s in all)", done, perSecond(*whole))
	}
	b.say("overload: offered %s, achieved %s %s; the backlog grows by %s messages a second and the %s by %s per second; percentiles are of this run's length, not stationary",
		perSecond(o.Offered), perSecond(o.Capacity), done, count(int64(o.Backlog+0.5)), metric, latency(o.Growth*1e9))
}

func (b *builder) findUnanswered() {
	n := b.r.Counts
	m := b.r.Metrics.Get("response")
	if m.Infinite == 0 {
		return
	}
	attempts := ""
	if n.Attempts != n.Intended {
		attempts = " attempts"
	}
	var parts []string
	for _, p := range []struct {
		n    int64
		what string
	}{{n.Unsettled, "unsettled"}, {n.Failed, "failed"}, {n.Unsent, "unsent"}} {
		if p.n > 0 {
			parts = append(parts, count(p.n)+" "+p.what+attempts)
		}
	}
	if m.Infinite == m.N {
		b.say("no message got an answer (%s): there is no response time", strings.Join(parts, ", "))
		return
	}
	oldest := ""
	if b.d.Integrity.Oldest > 0 {
		oldest = fmt.Sprintf(", the oldest has waited for %s", units.Latency(b.d.Integrity.Oldest))
	}
	b.say("%s of %s got no answer (%s)%s: response quantiles above p%s are infinite",
		count(m.Infinite), messages(m.N), strings.Join(parts, ", "), oldest, lastFinite(m))
}

// lastFinite is the percentile up to which a metric is finite, rounded down.
func lastFinite(m Metric) string {
	parts := (m.N - m.Infinite) / m.N * 1_000_000
	if m.N < 1<<43 {
		parts = (m.N - m.Infinite) * 1_000_000 / m.N
	}
	s := fmt.Sprintf("%d.%04d", parts/10_000, parts%10_000)
	return strings.TrimRight(strings.TrimRight(s, "0"), ".")
}

func (b *builder) findMissing() {
	n := b.r.Counts
	m := b.r.Metrics.Get("e2e")
	if n.Lost > 0 {
		text := fmt.Sprintf("%s that the broker took never arrived (%s of those it should have delivered)", messages(n.Lost), percent(float64(n.Lost)/float64(n.Lost+n.Received)))
		if m.N > m.Infinite && m.Infinite > 0 {
			text += fmt.Sprintf(": e2e quantiles above p%s are infinite", lastFinite(m))
		}
		b.say("%s", text)
	}
	if !b.d.Integrity.ReceiveLog {
		return
	}
	if n.Received == 0 && n.Intended > 0 {
		b.say("no message of this run arrived at a receiver")
	}
}

func (b *builder) findClosed() {
	text := "closed loop: the rate is what the window and the round trip allow, so response and e2e say nothing beyond service and transit and are not shown"
	if a := b.r.Rates.Acked; a != nil {
		if q, ok := b.r.Metrics.Get("service").Quantile("99"); ok && q.Value != nil {
			text = fmt.Sprintf("%s at service p99 %s; ", perSecond(*a), units.Latency(*q.Value)) + text
		}
	}
	b.say("%s", text)
}

// at returns the exact quantile of a metric where it is finite.
func (b *builder) at(m reduce.Metric, p string) (int64, bool) {
	want := stats.MustPercentiles(p)[0]
	in := b.d.Metrics[m]
	for _, q := range in.Quantiles {
		if q.Percentile.Compare(want) == 0 {
			return q.Observed, q.Status != stats.Infinite && q.N > 0
		}
	}
	if in.Distribution == nil {
		return 0, false
	}
	v, infinite, ok := in.Approx(want)
	return v, ok && !infinite
}

// findWaiting tells what the difference between service and response comes from.
func (b *builder) findWaiting() {
	p := "99.9"
	response, ok := b.at(reduce.Response, p)
	if !ok || b.d.Metrics[reduce.Response].N() < 1000 {
		p = "99"
		response, ok = b.at(reduce.Response, p)
	}
	service, ok2 := b.at(reduce.Service, p)
	if !ok || !ok2 || b.r.Metrics.Get("service").N == 0 || b.d.Integrity.AckedEarly > 0 {
		return
	}
	few := b.few(reduce.Response, p)
	if float64(response) < 1.05*float64(service) || response-service < int64(20*time.Microsecond) {
		b.say("response p%s %s and service p%s %s agree%s: no back-pressure, open and closed views agree", p, units.Latency(response), p, units.Latency(service), few)
		b.findTail()
		return
	}
	b.say("response p%s %s against service p%s %s%s: %s", p, units.Latency(response), p, units.Latency(service), few, b.cause())
	b.findTail()
}

// few is a caveat for sentences about a quantile that is not to be relied on.
func (b *builder) few(m reduce.Metric, p string) string {
	if q, ok := b.r.Metrics.Get(m.String()).Quantile(p); ok && (q.Status == Uncertain || q.Status == Low) {
		return " (as observed, from few events)"
	}
	return ""
}

// cause names the largest part of the tail that is not service.
func (b *builder) cause() string {
	const again = "messages were sent again, and wait from their intended instant to the answer of a later attempt"
	t := b.r.Tail
	if t == nil || t.N == 0 {
		if b.r.Counts.Resent > 0 {
			return again
		}
		return "messages waited before they were sent"
	}
	worst, most := reduce.WaitNone, 0.0
	for _, w := range reduce.Waits() {
		if v := t.Blocked[w.String()]; v > most {
			worst, most = w, v
		}
	}
	if before := t.Response - t.Service; b.r.Counts.Resent > 0 && max(t.Lag, most) < before/2 {
		return again
	}
	if t.Lag >= most {
		return "the generator handed messages over late (lag), so the difference is the tool's, not the broker's"
	}
	switch worst {
	case reduce.WaitWindow:
		window := ""
		if v := b.config("max-pending"); v != "" {
			window = " (--max-pending " + v + ")"
		}
		return "messages waited for the window" + window + " before they were sent; service alone hides that"
	case reduce.WaitCredit:
		return "messages waited for the broker's credit before they were sent; service alone hides that"
	case reduce.WaitSession:
		return "messages waited for the broker's session window before they were sent"
	case reduce.WaitSocket:
		return "messages waited for the socket: the network or the broker did not take bytes"
	case reduce.WaitConnection:
		return "messages waited for a lost connection"
	}
	return "messages waited in the sender between ready and sent"
}

// findTail says what the tail is made of, if one part rules it.
func (b *builder) findTail() {
	t := b.r.Tail
	if t == nil || t.N == 0 || t.Response <= 0 {
		return
	}
	type part struct {
		what  string
		share float64
	}
	parts := []part{{"lag of the generator", t.Lag / t.Response}, {"service", t.Service / t.Response}}
	for _, w := range reduce.Waits() {
		what := "blocked by " + w.String()
		if w == reduce.WaitNone {
			what = "blocked in the sender"
		}
		parts = append(parts, part{what, t.Blocked[w.String()] / t.Response})
	}
	slices.SortStableFunc(parts, func(x, y part) int {
		switch {
		case x.share > y.share:
			return -1
		case x.share < y.share:
			return 1
		}
		return 0
	})
	b.say("%s of the time of the %s above p99 of response (%s) is %s", percent(parts[0].share), messages(t.N), units.Latency(t.Above), parts[0].what)
}

// heavyShare is the share of the messages from which on the few episodes of the far
// tail are what is to be said of a run before all else: p99 is theirs too.
const heavyShare = 0.01

// fewStalls names the few episodes that the far tail comes from, "" if there are
// none or they are many, and reports whether they hit so many messages that this
// goes first. What waited before it was sent is better told by its cause.
func (b *builder) fewStalls() (text string, heavy bool) {
	stalls := b.r.RealStalls()
	if len(stalls) == 0 || b.r.Overload != nil {
		return "", false
	}
	slices.SortStableFunc(stalls, func(x, y Stall) int {
		switch {
		case x.ShareOfTop > y.ShareOfTop:
			return -1
		case x.ShareOfTop < y.ShareOfTop:
			return 1
		}
		return 0
	})
	share, hit := 0.0, int64(0)
	for i, s := range stalls {
		if i == 3 {
			break
		}
		share += s.ShareOfTop
		hit += s.Messages
		if share < 0.8 {
			continue
		}
		events := "one event"
		if i > 0 {
			events = fmt.Sprintf("%d events", i+1)
		}
		first := stalls[0]
		largest := fmt.Sprintf("%s at %.3f s, %s", units.Latency(first.Length), float64(first.Start)/1e9, messages(first.Messages))
		if first.Length == 0 { // of one instant
			largest = fmt.Sprintf("%s at %.3f s", messages(first.Messages), float64(first.Start)/1e9)
		}
		heavy = float64(hit) >= heavyShare*float64(b.d.Window.N) && !b.waited()
		return fmt.Sprintf("p99.9 is determined by %s: the largest is %s, carried by the %s", events, largest, first.CarriedBy), heavy
	}
	return "", false
}

// waited reports whether most of the time of the tail passed before messages were sent.
func (b *builder) waited() bool {
	t := b.r.Tail
	return t != nil && t.N > 0 && t.Service < t.Response/2
}

func (b *builder) findClock() {
	c := b.d.Clock
	if c.Arrivals == 0 {
		return
	}
	if c.Unknown > 0 {
		causality := fmt.Sprintf("by causality the receiver's clock is ahead of the sender's by at most %s", units.Latency(c.MinTransit))
		if c.MinTransit < 0 {
			causality = fmt.Sprintf("by causality the receiver's clock is behind the sender's by at least %s", units.Latency(-c.MinTransit))
		}
		b.say("clock offset unknown: transit, e2e and handled are withheld; %s", causality)
		return
	}
	var names []string
	for _, m := range reduce.Metrics() {
		if m.OneWay() && b.d.Metrics[m].N() > 0 && b.withheld(m) {
			names = append(names, m.String())
		}
	}
	if len(names) > 0 {
		b.say("the clocks can be off by %s, more than a quarter of the median: %s withheld", units.Latency(c.Bound), strings.Join(names, ", "))
	}
}

// findQueue tells where messages spend their time after the broker took them.
func (b *builder) findQueue() {
	transit, ok := b.at(reduce.Transit, "50")
	service, ok2 := b.at(reduce.Service, "50")
	if ok && ok2 && !b.withheld(reduce.Transit) && b.d.Metrics[reduce.Service].Finite() > 0 && transit > 3*service && transit-service > int64(time.Millisecond) {
		b.say("transit p50 %s is far above service p50 %s: messages queue in the broker or on the way to the receiver", units.Latency(transit), units.Latency(service))
	}
	if queued, ok := b.at(reduce.Queued, "50"); ok && queued > int64(time.Millisecond) && queued > transit {
		b.say("messages wait for the consumer: queued p50 %s", units.Latency(queued))
	}
}

// findResolution names the quantiles that the run is too short for.
func (b *builder) findResolution() {
	head := "response"
	if b.r.Loop == Closed {
		head = "service"
	}
	m := b.r.Metrics.Get(head)
	if m.N == 0 {
		head = "e2e"
		m = b.r.Metrics.Get(head)
	}
	for _, q := range m.Quantiles {
		if q.Status != Uncertain || q.Needed == nil {
			continue
		}
		span := time.Duration(float64(b.d.Window.Last-b.d.Window.First) * *q.Needed)
		length := ""
		if span > 0 && *q.Needed < 1e6 {
			length = fmt.Sprintf("; it needs a run of %s", runLength(span))
		}
		b.say("%s p%s rests on %s: it is in parentheses%s", head, q.P, eventsOf(q.Events), length)
		return
	}
}

func eventsOf(n int64) string {
	switch n {
	case 0:
		return "less than one independent event"
	case 1:
		return "1 independent event"
	}
	return count(n) + " independent events"
}

// runLength rounds a span up to what one would ask for.
func runLength(d time.Duration) string {
	switch {
	case d < 2*time.Minute:
		return fmt.Sprintf("%d s", int64((d+time.Second-1)/time.Second))
	case d < 2*time.Hour:
		return fmt.Sprintf("%d min", int64((d+time.Minute-1)/time.Minute))
	}
	return fmt.Sprintf("%.0f h", (d + time.Hour/2).Hours())
}

// Finding is the one line for a title.
func (r *Report) Finding() string {
	if len(r.Findings) == 0 {
		return ""
	}
	return r.Findings[0]
}
