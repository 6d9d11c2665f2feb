package perfreport_test

import (
	"path/filepath"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce/synth"
	"amqpperf/internal/cli"
)

// odd makes a run of n messages, a millisecond apart, each changed by f.
func odd(n int, f func(r *synth.Row)) *synth.Log {
	l := &synth.Log{Meta: synth.Config(map[string]any{"rate": "1k", "max-pending": 100}, nil, "odd")}
	for i := range int64(n) {
		at := synth.Start + i*ms
		r := synth.Message(i, at, ms/2).Arrive(at + ms)
		f(&r)
		l.Rows = append(l.Rows, r)
	}
	return l
}

// Every run has a report that says what is wrong with it, in the formats that
// TestPoorRuns leaves out too, and pictures that do not fail.
func TestOddRuns(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		log  *synth.Log
		says []string
	}{
		"empty":       {odd(0, func(*synth.Row) {}), []string{"the log holds no rows"}},
		"one message": {odd(1, func(*synth.Row) {}), []string{"intended 1, sent 1, acked 1", "too few messages for a rate"}},
		"all lost": {odd(500, func(r *synth.Row) { *r = r.Lose() }), []string{
			"lost 500", "e2e", "infinite",
		}},
		"nothing acked": {odd(500, func(r *synth.Row) { *r = r.Unanswered(format.Unsettled); r.RecvOutcome = format.Accepted }), []string{
			"acked 0", "500 unsettled", "infinite",
		}},
		"zero duration": {odd(500, func(r *synth.Row) {
			shift := r.Intended - synth.Start
			r.Intended, r.Ready, r.Sent, r.Acked = synth.Start, r.Ready-shift, r.Sent-shift, r.Acked-shift
			r.Received, r.Started, r.Settled = r.Received-shift, r.Started-shift, r.Settled-shift
		}), []string{"0s of intended time", "all messages were intended at one instant"}},
		"never sent": {odd(500, func(r *synth.Row) {
			*r = r.Lose().Unanswered(format.Unsent)
			r.RecvOutcome, r.Wait = "", format.WaitConnection
		}), []string{"sent 0", "500 unsent", "nothing was sent"}},
		"acked before sent":    {odd(500, func(r *synth.Row) { r.Acked = r.Sent - ms/4 }), []string{"acked before sent: 500 messages"}},
		"received before sent": {odd(500, func(r *synth.Row) { r.Received = r.Sent - ms/4; r.Bound = synth.Null }), []string{"received before sent: 500 messages", "FAIL"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			log := parquet(t, "odd.parquet", c.log)
			r := perfReport(t, "", "-q", log)
			if r.code != cli.ExitOK {
				t.Errorf("%d %s", r.code, r.stderr)
			}
			for _, s := range c.says {
				if !strings.Contains(r.stdout, s) {
					t.Errorf("%q is not said:\n%s", s, r.stdout)
				}
			}
			dir := t.TempDir()
			for _, f := range []string{"summary", "csv", "benchfmt"} {
				out := filepath.Join(dir, "r."+f)
				r := perfReport(t, "", "-q", "-f", f, "-o", out, log)
				if r.code != cli.ExitOK || strings.Contains(read(t, out), "NaN") || strings.Contains(read(t, out), "Inf") {
					t.Errorf("%s: %d %s\n%s", f, r.code, r.stderr, read(t, out))
				}
			}
			r = perfReport(t, "", "-q", "--png", dir, "--dashboard", filepath.Join(dir, "d.png"), "--hlog", filepath.Join(dir, "h.hlog"), "--hgrm", filepath.Join(dir, "h.hgrm"),
				"--plot-size", "400x320", "--plot-dpi", "72", "--warmup", "auto", log)
			if r.code != cli.ExitOK {
				t.Errorf("pictures: %d %s", r.code, r.stderr)
			}
		})
	}
}
