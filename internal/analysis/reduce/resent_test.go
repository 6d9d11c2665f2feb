package reduce_test

import (
	"testing"
	"time"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/reduce/synth"
)

// A message that was re-sent counts once, from its intended instant to its
// first positive acknowledgement, in whatever order the rows come.
func TestResent(t *testing.T) {
	t.Parallel()
	at := synth.Start
	first := synth.Message(0, at, ms).Unanswered(format.Failed)
	first.RecvOutcome = format.Unknown
	second := synth.Message(0, at, ms)
	second.Attempt, second.Sent, second.Acked = 1, at+10*ms, at+12*ms
	second = second.Arrive(at + 11*ms)
	third := synth.Message(0, at, ms)
	third.Attempt, third.Sent, third.Acked = 2, at+20*ms, at+25*ms
	third = third.Arrive(at + 24*ms)
	never := synth.Message(1, at+ms, ms).Unanswered(format.Failed)
	never.RecvOutcome = format.Unknown
	again := never
	again.Attempt, again.Sent = 1, at+30*ms
	refused := synth.Message(2, at+2*ms, ms)
	refused.Outcome = format.Released
	taken := synth.Message(2, at+2*ms, ms).Arrive(at + 45*ms)
	taken.Attempt, taken.Sent, taken.Acked = 1, at+40*ms, at+44*ms
	plain := synth.Message(3, at+3*ms, ms).Arrive(at + 5*ms)

	for _, rows := range [][]synth.Row{
		{first, second, third, never, again, refused, taken, plain},
		{third, again, taken, plain, second, refused, never, first},
	} {
		d := run(t, &synth.Log{Rows: rows}, reduce.Options{})
		r, s, e := d.Metrics[reduce.Response], d.Metrics[reduce.Service], d.Metrics[reduce.E2E]
		equal(t, "messages", r.N(), int64(4))
		equal(t, "infinite", r.Infinite(), int64(1))
		equal(t, "slowest response", r.Max(), 42*ms)
		near(t, "mean response", r.Mean(), float64(12+42+1)/3*1e6, 1e-12)
		near(t, "mean service", s.Mean(), float64(2+4+1)/3*1e6, 1e-12)
		// The released message had no arrival to expect at first: its later
		// attempt's arrival adds nothing to it.
		equal(t, "e2e", e.N(), int64(3))
		equal(t, "e2e infinite", e.Infinite(), int64(1))
		equal(t, "e2e of the first arrival", e.Max(), 11*ms)
		equal(t, "re-sent", d.Counts.Resent, int64(3))
		equal(t, "intended", d.Counts.Intended, int64(4))
		equal(t, "attempts", d.Counts.Attempts, int64(8))
		equal(t, "written at first", d.Counts.SentFirst, int64(4))
		equal(t, "written", d.Counts.Sent, int64(8))
		equal(t, "selected", d.Window.N, int64(4))
		equal(t, "without an answer", d.Integrity.Unfinished, int64(1))
		equal(t, "with one to wait for", d.Integrity.Answerable, int64(4))
		equal(t, "bodies", d.Size.N(), int64(4))
		equal(t, "lag", d.Metrics[reduce.Lag].N(), int64(4))
		equal(t, "unknown attempts", d.Counts.Unknown, int64(3))
		equal(t, "of messages that arrived by another", d.Counts.Resolved, int64(1))
		in, at := d.Series.InFlight, d.Series.InBroker
		equal(t, "in flight at the end: the message that never got an answer, twice", in[len(in)-1], int64(2))
		equal(t, "in the broker at the end", at[len(at)-1], int64(2))
	}
}

// What is counted of re-sent messages is of the whole run, what is measured of the
// selected ones.
func TestResentInWarmup(t *testing.T) {
	t.Parallel()
	at := synth.Start
	var rows []synth.Row
	for i := range int64(20) {
		intended := at + i*ms
		first := synth.Message(i, intended, ms).Unanswered(format.Failed)
		first.RecvOutcome = format.Unknown
		again := synth.Message(i, intended, ms)
		again.Attempt, again.Sent, again.Acked = 1, intended+30*ms, intended+32*ms
		rows = append(rows, first, again.Arrive(intended+31*ms))
	}
	warmup := 10 * time.Millisecond
	d := run(t, &synth.Log{Rows: rows}, reduce.Options{Warmup: &warmup})
	equal(t, "re-sent", d.Counts.Resent, int64(20))
	equal(t, "resolved", d.Counts.Resolved, int64(20))
	equal(t, "responses", d.Metrics[reduce.Response].N(), int64(10))
	equal(t, "without", d.Metrics[reduce.Response].Infinite(), int64(0))
	equal(t, "e2e", d.Metrics[reduce.E2E].Finite(), int64(10))
	in, inBroker := d.Series.InFlight, d.Series.InBroker
	equal(t, "in flight at the end", in[len(in)-1], int64(0))
	equal(t, "in the broker at the end", inBroker[len(inBroker)-1], int64(0))
}

// A first attempt that arrived although its answer was lost: that the second one
// did not come leaves nothing in the broker.
func TestResentArrivedAtFirst(t *testing.T) {
	t.Parallel()
	at := synth.Start
	first := synth.Message(0, at, ms).Unanswered(format.Failed).Arrive(at + ms)
	again := synth.Message(0, at, ms).Unanswered(format.Failed)
	again.Attempt, again.Sent, again.RecvOutcome = 1, at+10*ms, format.Unknown
	other := synth.Message(1, at+ms, ms).Arrive(at + 2*ms)
	d := run(t, &synth.Log{Rows: []synth.Row{first, again, other}}, reduce.Options{})
	equal(t, "unknown", d.Counts.Unknown, int64(1))
	equal(t, "resolved", d.Counts.Resolved, int64(1))
	equal(t, "in the broker at the end", d.Series.InBroker[len(d.Series.InBroker)-1], int64(0))
}

func TestOutcomes(t *testing.T) {
	t.Parallel()
	var rows []synth.Row
	add := func(outcome string) {
		r := synth.Message(int64(len(rows)), synth.Start+int64(len(rows))*ms, ms)
		switch outcome {
		case format.Unsettled, format.Failed, format.Unsent:
			r = r.Unanswered(outcome)
		case format.Presettled:
			r.Acked = synth.Null
		}
		r.Outcome = outcome
		rows = append(rows, r)
	}
	for _, o := range []string{
		format.Accepted, format.Rejected, format.Released, format.Modified, format.Presettled, format.Unsettled, format.Failed, format.Unsent, "odd",
	} {
		add(o)
	}
	arrival := synth.Message(9, synth.Start+9*ms, 0).Arrive(synth.Start + 10*ms)
	arrival.Outcome, arrival.Ready, arrival.Acked = format.Unlogged, synth.Null, synth.Null
	rows = append(rows, arrival)
	l := &synth.Log{Rows: rows}
	d := run(t, l, reduce.Options{})
	c := d.Counts
	equal(t, "intended", c.Intended, int64(9))
	equal(t, "sent", c.Sent, int64(8))
	equal(t, "acked", c.Acked, int64(5))
	for o := range reduce.Outcomes() {
		equal(t, reduce.Outcome(o).String(), c.Outcomes[o], int64(1))
	}
	check := func(d *reduce.Data, m reduce.Metric, n, infinite int64) {
		t.Helper()
		equal(t, m.String(), d.Metrics[m].N(), n)
		equal(t, m.String()+" infinite", d.Metrics[m].Infinite(), infinite)
	}
	check(d, reduce.Service, 3, 2)
	check(d, reduce.Response, 4, 3)
	check(d, reduce.E2E, 2, 1) // the arrival, and the unsent message, since somebody was listening
	check(d, reduce.Transit, 1, 0)
	d = run(t, l, reduce.Options{Negative: true})
	check(d, reduce.Service, 6, 2)
	check(d, reduce.Response, 7, 3)
	// Without any receive log nothing is missing.
	d = run(t, &synth.Log{Rows: rows[:9]}, reduce.Options{})
	check(d, reduce.E2E, 0, 0)
}

func TestSelection(t *testing.T) {
	t.Parallel()
	l := synth.Queue{N: 10_000, Interval: 1e6, Service: ms, Transit: ms}.Run()
	for name, c := range map[string]struct {
		opt        reduce.Options
		n, warm    int64
		first, end int64
	}{
		"whole":     {reduce.Options{Warmup: span(0)}, 10_000, 0, 0, 9999},
		"warm-up":   {reduce.Options{Warmup: span(2 * time.Second)}, 8000, 2000, 2000, 9999},
		"from":      {reduce.Options{Warmup: span(0), From: 3 * time.Second}, 7000, 0, 3000, 9999},
		"from, to":  {reduce.Options{Warmup: span(2 * time.Second), From: time.Second, To: 4 * time.Second}, 2000, 1000, 2000, 3999},
		"all warm":  {reduce.Options{Warmup: span(time.Minute)}, 0, 10_000, 0, 0},
		"to exact":  {reduce.Options{Warmup: span(0), To: time.Millisecond}, 1, 0, 0, 0},
		"past ends": {reduce.Options{Warmup: span(0), From: time.Minute}, 0, 0, 0, 0},
	} {
		d := run(t, l.Shuffle(1), c.opt)
		equal(t, name+": messages", d.Metrics[reduce.Response].N(), c.n)
		equal(t, name+": arrivals", d.Metrics[reduce.E2E].N(), c.n)
		equal(t, name+": selected", d.Window.N, c.n)
		equal(t, name+": warm-up", d.Window.Warm, c.warm)
		equal(t, name+": first", d.Window.First, synth.Start+c.first*ms)
		equal(t, name+": last", d.Window.Last, synth.Start+c.end*ms)
		equal(t, name+": whole run", d.Counts.Intended, int64(10_000))
	}
	// What perf-send marked is the default.
	l.Meta = synth.Config(map[string]any{"warmup": "2.5s"}, nil, "")
	d := run(t, l, reduce.Options{})
	equal(t, "marked", d.Window.Warm, int64(2500))
	equal(t, "marked span", d.Warmed(), 2500*time.Millisecond)
	d = run(t, l, reduce.Options{Warmup: span(0)})
	equal(t, "overruled", d.Window.Warm, int64(0))
}

func TestTwoRuns(t *testing.T) {
	t.Parallel()
	a, b := synth.Message(0, synth.Start, ms), synth.Message(0, synth.Start, ms)
	b.Run = "other"
	if _, err := reduce.Reduce((&synth.Log{Rows: []synth.Row{a, b}}).Reader(10), reduce.Options{}); err == nil {
		t.Error("rows of two runs were added up")
	}
}

func TestEmpty(t *testing.T) {
	t.Parallel()
	d := run(t, &synth.Log{Meta: synth.Config(nil, nil, "nothing")}, reduce.Options{Warmup: span(time.Second)})
	if !d.Empty() || d.Name != "nothing" {
		t.Errorf("%+v", d)
	}
}

// Series: instants are counted in the interval they are in, and the backlog is
// the difference of what went in and out.
func TestSeries(t *testing.T) {
	t.Parallel()
	// 1000/s for 4 s; from 1 s on for 1 s the broker keeps everything.
	l := synth.Queue{N: 4000, Interval: 1e6, Service: ms / 10, StallAt: sec, StallFor: sec, Serial: true, Transit: ms / 10}.Run()
	d := run(t, l, reduce.Options{Interval: time.Second})
	s := d.Series
	equal(t, "intended", s.Intended, []int64{1000, 1000, 1000, 1000})
	equal(t, "acked", s.Acked, []int64{1000, 0, 2000, 1000})
	equal(t, "received", s.Received, []int64{1000, 0, 2000, 1000})
	equal(t, "in flight", s.InFlight, []int64{0, 1000, 0, 0})
	equal(t, "in broker", s.InBroker, []int64{0, 1000, 0, 0})
	equal(t, "max", s.Response[1].Max, sec+ms/10)
	equal(t, "p50", s.Response[0].P50, ms/10)
	near(t, "Little", d.Integrity.LittleLeft, d.Integrity.LittleRight, 1e-9)
}
