package perfreport_test

import (
	"path/filepath"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce/synth"
	"amqpperf/internal/cli"
)

// capped is a broker that lets 60 messages of 1 KiB be unsettled at a consumer,
// a round trip away.
func capped(run string, roundTrip int64) *synth.Log {
	l := &synth.Log{Meta: synth.Config(map[string]any{"rate": "20k", "max-pending": 100_000}, nil, run)}
	l.Meta[format.KeyRun] = run
	var settled []int64
	for i := range int64(4000) {
		at := synth.Start + i*50*synth.Microsecond
		r := synth.Message(i, at, roundTrip)
		r.Run = run
		leave := at + roundTrip/2
		if i >= 60 {
			leave = max(leave, settled[i-60]+roundTrip/2)
		}
		r = r.Arrive(leave + roundTrip/2)
		settled = append(settled, r.Settled)
		l.Rows = append(l.Rows, r)
	}
	return l
}

// A cap in the broker shows over two round trips only: runs that are reported
// together are judged together.
func TestLimitsOfSeveralRuns(t *testing.T) {
	t.Parallel()
	near, far := parquet(t, "near.parquet", capped("near", 10*ms)), parquet(t, "far.parquet", capped("far", 100*ms))
	r := perfReport(t, "", "-q", near, far)
	if r.code != cli.ExitOK || strings.Count(r.stdout, "receiving side: broker-cap") != 2 || !strings.Contains(r.stdout, "KiB of bodies)") {
		t.Errorf("%d %s\n%s", r.code, r.stderr, r.stdout)
	}
	if r := perfReport(t, "", "-q", near); strings.Contains(r.stdout, "broker-cap") || !strings.Contains(r.stdout, "receiving side: not determined") {
		t.Errorf("%s", r.stdout)
	}
}

// The table of rates has a verdict under it.
func TestVerdictUnderTheRates(t *testing.T) {
	t.Parallel()
	var logs []string
	for i := range 10 {
		name, factor := "trunk", 1.0
		if i%2 == 1 {
			name, factor = "patched", 1.3
		}
		logs = append(logs, parquet(t, "r.parquet", repetition(name, i, factor, nil)))
	}
	r := perfReport(t, "", append([]string{"-q", "--by", "name", "--ignore", "build"}, logs...)...)
	table, _, _ := strings.Cut(r.stdout, "\n\ntrunk\n")
	if r.code != cli.ExitOK || strings.Count(table, " :: ") < 10 || !strings.Contains(table, "patched against trunk, 5 runs against 5 runs: ") {
		t.Errorf("%d %s\n%.2000s", r.code, r.stderr, r.stdout)
	}
}

// --resources takes what perf-recv --watch-only logged on the broker's host: all
// that was watched, added up, and not the watcher itself.
func TestResourcesOfALog(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "watch.parquet")
	w, err := format.CreateParquet(path, format.RecvSchema(), format.ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := format.Sample{What: format.Strings{Values: []string{"pid:1.cpu_ns", "name:b.cpu_ns", "pid:1.rss_bytes", "tool.cpu_ns"}}}
	for k := range int64(6) {
		for code, v := range []int64{k * 500 * ms, k * 1000 * ms, 64 << 20, k * 3000 * ms} {
			s.Instant, s.Value, s.What.Codes = append(s.Instant, synth.Start+k*1000*ms), append(s.Value, v), append(s.What.Codes, int32(code))
		}
	}
	if err := w.Table(&s); err != nil {
		t.Fatal(err)
	}
	w.SetMeta(format.Meta{format.KeyComplete: "true"})
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	log := parquet(t, "run.parquet", stall())
	r := perfReport(t, "", "-q", "--resources", path, log)
	if r.code != cli.ExitOK || !strings.Contains(r.stdout, "CPU mean 150 %, max 150 % (100 % = one core), RSS max 64 MiB") {
		t.Errorf("%d %s\n%s", r.code, r.stderr, r.stdout)
	}
	if r := perfReport(t, "", "-q", "--resources", log, log); r.code != cli.ExitFailure || !strings.Contains(r.stderr, "perf-recv --watch-only") {
		t.Errorf("%d %s", r.code, r.stderr)
	}
}
