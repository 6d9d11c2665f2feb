package report_test

import (
	"bytes"
	"strings"
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
func logs() map[string]*synth.Log {
	stalled := func(window int) *synth.Log {
		l := synth.Queue{N: 30_000, Interval: 1e6, Service: 100 * us, Network: 50 * us, StallAt: 10 * sec, StallFor: 100 * ms, Serial: true, Window: window, Transit: 80 * us}.Run()
		l.Meta = synth.Config(map[string]any{"rate": "1k", "max-pending": window, "warmup": "2s"}, map[string]any{"build": "trunk", "broker": "synthetic"}, "stall")
		return l
	}
	all := map[string]*synth.Log{
		"stall-window-1":    stalled(1),
		"stall-window-1000": stalled(1000),
		"empty":             {Meta: synth.Config(map[string]any{"rate": "1k"}, nil, "nothing")},
		"one-message":       {Rows: []synth.Row{synth.Message(0, synth.Start, ms).Arrive(synth.Start + 2*ms)}},
		"overload":          synth.Queue{N: 36_000, Interval: 1e9 / 1200.0, Service: ms, Serial: true, Window: 1000, Transit: 100 * us}.Run(),
		"server-dies":       synth.Queue{N: 60_000, Interval: 1e6, Network: 100 * us, DieAt: 55 * sec, Transit: 200 * us}.Run(),
	}
	all["overload"].Meta = synth.Config(map[string]any{"rate": "1200", "max-pending": 1000}, nil, "overload")
	closed := synth.Queue{N: 20_000, Interval: 1e6, Service: ms, Transit: 100 * us}.Run()
	for i := range closed.Rows {
		closed.Rows[i].Producer, closed.Rows[i].Seq = int32(i%2), int64(i/2)
	}
	closed.Meta = synth.Config(map[string]any{"rate": "max", "max-pending": 10}, nil, "closed")
	all["closed"] = closed
	lost, unacked, alone, skewed := &synth.Log{}, &synth.Log{}, &synth.Log{}, &synth.Log{}
	for i := range int64(2000) {
		at := synth.Start + i*ms
		lost.Rows = append(lost.Rows, synth.Message(i, at, ms).Lose())
		un := synth.Message(i, at, ms).Unanswered(format.Unsettled)
		un.RecvOutcome = format.Unknown
		unacked.Rows = append(unacked.Rows, un)
		alone.Rows = append(alone.Rows, synth.Message(i, at, ms))
		sk := synth.Message(i, at, ms).Arrive(at + ms - 5*ms)
		sk.Bound = synth.Null
		skewed.Rows = append(skewed.Rows, sk)
	}
	all["all-lost"], all["nothing-acked"], all["no-receive-log"], all["negative-one-way"] = lost, unacked, alone, skewed
	return all
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
			r := reportOf(t, l)
			if strings.HasPrefix(name, "stall") {
				base := reportOf(t, logs()["overload"])
				if name == "stall-window-1" {
					r.Baseline = base
				}
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
