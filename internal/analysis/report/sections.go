package report

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	"amqpperf/internal/analysis/checks"
	"amqpperf/internal/units"
)

// What the text and the Markdown report say in common: lines and tables, not
// yet escaped for either.

// title is the name of the run, or its id.
func (r *Report) title() string {
	if r.Name != "" {
		return r.Name
	}
	if r.Run != "" {
		return "run " + r.Run
	}
	return "empty run"
}

// LabelList returns the labels as k=v, sorted by key.
func (r *Report) LabelList() []string {
	var out []string
	for _, k := range slices.Sorted(maps.Keys(r.Labels)) {
		out = append(out, k+"="+r.Labels[k])
	}
	return out
}

// facts are the lines below the title.
func (r *Report) facts() []string {
	var out []string
	var first []string
	if r.Name != "" && r.Run != "" {
		first = append(first, "run "+r.Run)
	}
	if first = append(first, r.LabelList()...); len(first) > 0 {
		out = append(out, strings.Join(first, "  "))
	}
	if r.Start != nil {
		out = append(out, fmt.Sprintf("%s, %s of intended time, %s loop",
			r.Start.Format(time.RFC3339), units.Seconds(time.Duration(r.Seconds*1e9)), r.Loop))
	}
	if s := r.selected(); s != "" {
		out = append(out, s)
	}
	return out
}

func (r *Report) selected() string {
	var parts []string
	if r.Warmup.N > 0 || (r.Warmup.Seconds > 0 && r.Selection.From < r.Warmup.Seconds) {
		how := ""
		if r.Warmup.Source == "auto" && r.Warmup.Cut != nil {
			how = fmt.Sprintf(", MSER-5 cut %s of the responses", percent(*r.Warmup.Cut))
		}
		parts = append(parts, fmt.Sprintf("warm-up of %s left out of rates and latencies (%s%s)",
			units.Seconds(time.Duration(r.Warmup.Seconds*1e9)), messages(r.Warmup.N), how))
	} else if r.Warmup.Source == "auto" {
		parts = append(parts, "no warm-up left out: MSER-5 found none")
	}
	if r.Selection.From > 0 || r.Selection.To != nil {
		to := "the end"
		if r.Selection.To != nil {
			to = fmt.Sprintf("%.3g s", *r.Selection.To)
		}
		parts = append(parts, fmt.Sprintf("only %.3g s to %s", r.Selection.From, to))
	}
	return strings.Join(parts, "; ")
}

// flow is the counts in words; zero outcomes are left out.
func (r *Report) flow() []string {
	c := r.Counts
	some := func(pairs ...any) string {
		var parts []string
		for i := 0; i < len(pairs); i += 2 {
			if n := pairs[i].(int64); n > 0 {
				parts = append(parts, count(n)+" "+pairs[i+1].(string))
			}
		}
		return strings.Join(parts, ", ")
	}
	intended := count(c.Intended)
	if c.Attempts != c.Intended {
		intended += fmt.Sprintf(" messages, in %s attempts", count(c.Attempts))
	}
	sent := fmt.Sprintf("intended %s, sent %s, acked %s", intended, count(c.Sent), count(c.Acked))
	if s := some(c.Accepted, "accepted", c.Rejected, "rejected", c.Released, "released", c.Modified, "modified",
		c.Presettled, "presettled", c.Unsettled, "unsettled", c.Failed, "failed", c.Unsent, "unsent", c.Resent, "re-sent"); s != "" {
		sent += ": " + s
	}
	unknown := count(c.Unknown)
	switch {
	case c.Resolved > 0 && c.Resolved == c.Unknown:
		unknown += " (their messages arrived by another attempt)"
	case c.Resolved > 0:
		unknown += fmt.Sprintf(" (the messages of %s arrived by another attempt)", count(c.Resolved))
	}
	received := fmt.Sprintf("received %s, lost %s, unknown %s, duplicate %s, reordered %s, redelivered %s",
		count(c.Received), count(c.Lost), unknown, count(c.Duplicate), count(c.Reordered), count(c.Redelivered))
	if s := some(c.Foreign, "foreign", c.Unlogged, "in no send log"); s != "" {
		received += ", " + s
	}
	return []string{sent, received}
}

// timed reports a run with rows: a log of another tool that is a baseline has no rates
// and knows no messages; false of none.
func (r *Report) timed() bool { return r != nil && r.Start != nil }

// rateLine is the overall rates.
func (r *Report) rateLine() string {
	var parts []string
	offered := "offered"
	if r.Loop == Closed {
		offered = "intended"
	}
	for _, p := range []struct {
		what string
		v    *float64
	}{{offered, r.Rates.Offered}, {"sent", r.Rates.Sent}, {"acked", r.Rates.Acked}, {"received", r.Rates.Received}} {
		if p.v != nil {
			parts = append(parts, p.what+" "+perSecond(*p.v))
		}
	}
	if len(parts) == 0 && r.Selection.N > 1 {
		return "no time passed between messages: there is no rate"
	}
	if len(parts) == 0 {
		return "too few messages for a rate"
	}
	if r.Rates.Acked != nil && r.Rates.MeanSize != nil {
		parts = append(parts, fmt.Sprintf("%.3g MB/s of bodies acked", *r.Rates.Acked**r.Rates.MeanSize/1e6))
	}
	return strings.Join(parts, ", ")
}

// manyClients is how many clients of a kind are listed one by one.
const manyClients = 8

// clientLine is the rate of every client, S1 :: S2 :: R1; many of a kind are summed up.
func (r *Report) clientLine() string {
	var parts []string
	for _, kind := range []string{"sender", "receiver"} {
		var rates []float64
		var each []string
		for _, c := range r.Rates.Clients {
			if c.Kind != kind {
				continue
			}
			if c.PerS == nil {
				each = append(each, c.Name+" -")
				continue
			}
			rates = append(rates, *c.PerS)
			each = append(each, c.Name+" "+perSecond(*c.PerS))
		}
		if len(each) <= manyClients {
			parts = append(parts, each...)
			continue
		}
		slices.Sort(rates)
		text := fmt.Sprintf("%d %ss", len(each), kind)
		if len(rates) > 0 {
			text += fmt.Sprintf(" %s / %s / %s (min / median / max)", perSecond(rates[0]), perSecond(rates[(len(rates)-1)/2]), perSecond(rates[len(rates)-1]))
		}
		parts = append(parts, text)
	}
	return strings.Join(parts, " :: ")
}

// tailLine takes the tail apart.
func (r *Report) tailLine() string {
	t := r.Tail
	if t == nil || t.N == 0 || r.Loop == Closed {
		return ""
	}
	share := func(v float64) string {
		if t.Response == 0 {
			return latency(v)
		}
		return fmt.Sprintf("%s (%s)", latency(v), percent(v/t.Response))
	}
	blocked := share(t.blocked())
	var waits []string
	for _, w := range slices.Sorted(maps.Keys(t.Blocked)) {
		if w != "none" && t.blocked() > 0 {
			waits = append(waits, fmt.Sprintf("%s %s", w, percent(t.Blocked[w]/t.blocked())))
		}
	}
	if len(waits) > 0 {
		blocked += " [" + strings.Join(waits, ", ") + "]"
	}
	line := fmt.Sprintf("mean response %s of the %s above %s = lag %s + blocked %s + service %s",
		latency(t.Response), messages(t.N), units.Latency(t.Above), share(t.Lag), blocked, share(t.Service))
	if t.Infinite > 0 {
		line += fmt.Sprintf("; %s more have no answer", count(t.Infinite))
	}
	return line
}

// manyStalls is how many episodes a text lists.
const manyStalls = 5

func (r *Report) stallTable() *table {
	stalls := r.RealStalls()
	if len(stalls) == 0 {
		return nil
	}
	t := &table{head: []string{"at", "length", "messages", "of the top 0.1 %", "carried by"}}
	for _, s := range r.heaviestStalls() {
		t.add(fmt.Sprintf("%.3fs", float64(s.Start)/1e9), units.Latency(s.Length), count(s.Messages), percent(s.ShareOfTop), s.CarriedBy)
	}
	return t
}

// heaviestStalls are those that a text lists.
func (r *Report) heaviestStalls() []Stall {
	heaviest := r.RealStalls()
	slices.SortStableFunc(heaviest, func(a, b Stall) int { return cmp.Compare(b.ShareOfTop, a.ShareOfTop) })
	return heaviest[:min(len(heaviest), manyStalls)]
}

// limitLines say what held each side that had more to do.
func (r *Report) limitLines() []string {
	var out []string
	for _, l := range r.Limits {
		if l.Held != checks.ByNothing {
			out = append(out, fmt.Sprintf("%sing side: %s (%s)", map[string]string{checks.Sending: "send", checks.Receiving: "receiv"}[l.Side], l.Held, l.Evidence))
		}
	}
	if p := r.pathLine(); p != "" {
		out = append(out, p)
	}
	return out
}

// stamp is what marks invalid numbers, "" for valid ones.
func (r *Report) stamp(what string) string {
	if ids := r.Invalid[what]; len(ids) > 0 {
		return "INVALID: " + strings.Join(ids, " ")
	}
	return ""
}

// dense is the share of slow messages from which on a stretch is a stall.
const dense = 0.1

// RealStalls leaves out stretches in which slow messages are scattered among
// many that are not: with slow messages everywhere, all of a run is one episode
// by the rule that joins those that are close.
func (r *Report) RealStalls() []Stall {
	var out []Stall
	for _, s := range r.Stalls {
		if float64(s.Messages) >= dense*float64(s.Of) {
			out = append(out, s)
		}
	}
	return out
}

// checkTable lists the checks that say something, the bad ones first, with the
// limits and the advice where there is room.
func (r *Report) checkTable(wide bool) *table {
	if len(r.Checks) == 0 {
		return nil
	}
	t := &table{head: []string{"check", "", "verdict", "finding"}, left: 6}
	if wide {
		t.head = append(t.head, "limits", "advice")
	}
	for _, status := range []CheckStatus{CheckFail, CheckWarn, CheckOK} {
		for _, c := range r.Checks {
			if c.Status == status {
				row := []string{c.ID, c.Name, strings.ToUpper(string(c.Status)), c.Text}
				if wide {
					row = append(row, c.Limit, c.Advice)
				}
				t.add(row...)
			}
		}
	}
	return t
}

// advice is what to do about the checks that did not pass.
func (r *Report) advice() []string {
	var out []string
	for _, status := range []CheckStatus{CheckFail, CheckWarn} {
		for _, c := range r.Checks {
			if c.Status == status && c.Advice != "" {
				out = append(out, c.ID+": "+c.Advice+" ("+c.Limit+")")
			}
		}
	}
	return out
}

func (r *Report) skipped() string {
	var ids []string
	for _, c := range r.Checks {
		if c.Status == CheckSkip {
			ids = append(ids, c.ID)
		}
	}
	if len(ids) == 0 {
		return ""
	}
	return "not checked: " + strings.Join(ids, " ")
}

// clockLine says what one-way numbers rest on.
func (r *Report) clockLine() string {
	c := r.Clock
	switch {
	case c.MinTransit == nil:
		return ""
	case c.Bound == nil:
		return "clock offset unknown, smallest transit as observed " + units.Latency(*c.MinTransit)
	}
	return fmt.Sprintf("clocks aligned by %s within %s, smallest transit %s", c.Source, units.Latency(*c.Bound), units.Latency(*c.MinTransit))
}
