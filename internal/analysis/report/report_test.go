package report_test

import (
	"bytes"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce"
	"amqpperf/internal/analysis/reduce/synth"
	"amqpperf/internal/analysis/report"
	"amqpperf/internal/dev/golden"
)

const (
	us  = synth.Microsecond
	ms  = synth.Millisecond
	sec = synth.Second
)

// logs are the runs of the golden reports.
func logs() map[string]func() *synth.Log {
	return map[string]func() *synth.Log{
		"stall-window-1":    func() *synth.Log { return stalled(1) },
		"stall-window-1000": func() *synth.Log { return stalled(1000) },
		"empty":             func() *synth.Log { return &synth.Log{Meta: synth.Config(map[string]any{"rate": "1k"}, nil, "nothing")} },
		"one-message": func() *synth.Log {
			return &synth.Log{Rows: []synth.Row{synth.Message(0, synth.Start, ms).Arrive(synth.Start + 2*ms)}}
		},
		"overload": overload,
		"server-dies": func() *synth.Log {
			return synth.Queue{N: 60_000, Interval: 1e6, Network: 100 * us, DieAt: 55 * sec, Transit: 200 * us}.Run()
		},
		"closed":         closed,
		"all-lost":       func() *synth.Log { return constant(func(r synth.Row) synth.Row { return r.Lose() }) },
		"no-receive-log": func() *synth.Log { return constant(func(r synth.Row) synth.Row { return r }) },
		"nothing-acked": func() *synth.Log {
			return constant(func(r synth.Row) synth.Row {
				r = r.Unanswered(format.Unsettled)
				r.RecvOutcome = format.Unknown
				return r
			})
		},
		"one-instant": func() *synth.Log {
			return constant(func(r synth.Row) synth.Row {
				late := r.Intended - synth.Start
				r.Intended, r.Ready, r.Sent, r.Acked = r.Intended-late, r.Ready-late, r.Sent-late, r.Acked-late
				return r.Arrive(synth.Start + 2*ms)
			})
		},
		"no-time": func() *synth.Log {
			return constant(func(r synth.Row) synth.Row {
				r.Ready, r.Sent, r.Acked = r.Intended, r.Intended, r.Intended
				return r.Arrive(r.Intended)
			})
		},
		"never-sent": func() *synth.Log {
			return constant(func(r synth.Row) synth.Row {
				r = r.Unanswered(format.Unsent)
				r.Ready, r.Sent = synth.Null, synth.Null
				return r
			})
		},
		"acked-before-sent": func() *synth.Log {
			return constant(func(r synth.Row) synth.Row {
				r.Acked = r.Sent - 3*ms
				return r.Arrive(r.Intended + 2*ms)
			})
		},
		"received-before-sent": func() *synth.Log { // by less than the clocks are known to
			return constant(func(r synth.Row) synth.Row {
				r = r.Arrive(r.Sent - 20*us)
				r.Bound = 50 * us
				return r
			})
		},
		"re-sent": resent,
		"negative-one-way": func() *synth.Log {
			return constant(func(r synth.Row) synth.Row {
				r = r.Arrive(r.Intended + ms - 5*ms)
				r.Bound = synth.Null
				return r
			})
		},
	}
}

// resent is a run of which every tenth message failed and was sent again 20 ms
// later; the last of these stays without an answer.
func resent() *synth.Log {
	l := &synth.Log{Meta: synth.Config(map[string]any{"rate": "1k"}, nil, "re-sent")}
	for i := range int64(2000) {
		r := synth.Message(i, synth.Start+i*ms, ms)
		if i%10 != 9 {
			l.Rows = append(l.Rows, r.Arrive(r.Intended+2*ms))
			continue
		}
		failed := r.Unanswered(format.Failed)
		failed.RecvOutcome = format.Unknown
		r.Attempt, r.Sent, r.Acked = 1, r.Sent+20*ms, r.Acked+20*ms
		if r = r.Arrive(r.Intended + 22*ms); i == 1999 {
			again := failed
			again.Attempt, again.Sent = 1, r.Sent
			r = again
		}
		l.Rows = append(l.Rows, failed, r)
	}
	return l
}

func stalled(window int) *synth.Log {
	l := synth.Queue{N: 30_000, Interval: 1e6, Service: 100 * us, Network: 50 * us, StallAt: 10 * sec, StallFor: 100 * ms, Serial: true, Window: window, Transit: 80 * us}.Run()
	l.Meta = synth.Config(map[string]any{"rate": "1k", "max-pending": window, "warmup": "2s"}, map[string]any{"build": "trunk", "broker": "synthetic"}, "stall")
	return l
}

func overload() *synth.Log {
	l := synth.Queue{N: 36_000, Interval: 1e9 / 1200.0, Service: ms, Serial: true, Window: 1000, Transit: 100 * us}.Run()
	l.Meta = synth.Config(map[string]any{"rate": "1200", "max-pending": 1000}, nil, "overload")
	return l
}

func closed() *synth.Log {
	l := synth.Queue{N: 20_000, Interval: 1e6, Service: ms, Transit: 100 * us}.Run()
	for i := range l.Rows {
		l.Rows[i].Producer, l.Rows[i].Seq = int32(i%2), int64(i/2)
	}
	l.Meta = synth.Config(map[string]any{"rate": "max", "max-pending": 10}, nil, "closed")
	return l
}

// constant is 2 s of 1000/s at 1 ms, each row changed.
func constant(change func(synth.Row) synth.Row) *synth.Log {
	l := &synth.Log{}
	for i := range int64(2000) {
		l.Rows = append(l.Rows, change(synth.Message(i, synth.Start+i*ms, ms)))
	}
	return l
}

func reportOf(t *testing.T, l *synth.Log) *report.Report {
	t.Helper()
	d, err := reduce.Reduce(l.Reader(4096), reduce.Options{})
	if err != nil {
		t.Fatal(err)
	}
	return report.New(d, report.Options{})
}

func TestGolden(t *testing.T) {
	t.Parallel()
	for name, l := range logs() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			r := reportOf(t, l())
			if name == "stall-window-1" {
				r.Baseline = reportOf(t, overload())
			}
			for ext, write := range map[string]func(*bytes.Buffer) error{
				"txt": func(b *bytes.Buffer) error { return r.Text(b) },
				"md":  func(b *bytes.Buffer) error { return r.Markdown(b) },
				"csv": func(b *bytes.Buffer) error { return r.CSV(b, true) },
			} {
				var b bytes.Buffer
				if err := write(&b); err != nil {
					t.Fatal(err)
				}
				golden.Bytes(t, name+"."+ext, b.Bytes())
			}
			r.Baseline = nil
			r.Series = report.Series{} // tested by numbers; too long to be read
			var b bytes.Buffer
			if err := r.JSON(&b); err != nil {
				t.Fatal(err)
			}
			golden.JSON(t, name+".json", b.Bytes())
		})
	}
}
