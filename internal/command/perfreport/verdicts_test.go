package perfreport_test

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce/synth"
	"amqpperf/internal/cli"
)

// repetition is one run of a build: a scatter of service times around a level,
// two producers, one consumer.
func repetition(build string, i int, level float64, extra map[string]any) *synth.Log {
	r := rand.New(rand.NewPCG(uint64(i), uint64(len(build))))
	l := &synth.Log{}
	run := fmt.Sprintf("%s-%d", build, i)
	between := 1 + .01*r.NormFloat64()
	for k := range int64(3000) {
		at := synth.Start + int64(i)*100*synth.Second + k*4*ms
		service := int64(level * between * float64(ms) * (0.5 + r.ExpFloat64()))
		row := synth.Message(k, at, service).Arrive(at + service + ms)
		row.Run, row.Producer, row.Destination, row.Size = run, int32(k%2), []string{"q1", "q2"}[k%2], int32(500+k%2*1000)
		l.Rows = append(l.Rows, row)
	}
	labels := map[string]any{"build": build}
	for k, v := range extra {
		labels[k] = v
	}
	l.Meta = synth.Config(map[string]any{"rate": "250", "max_pending": 10, "start_ns": i}, labels, build)
	l.Meta[format.KeyRun] = run
	return l
}

// study writes n runs of each build.
func study(t *testing.T, n int, level map[string]float64) (logs []string) {
	t.Helper()
	for i := range n {
		for k, build := range []string{"trunk", "patched"} {
			logs = append(logs, parquet(t, fmt.Sprintf("%s-%d.parquet", build, i), repetition(build, 2*i+k, level[build], nil)))
		}
	}
	return logs
}

func TestWhere(t *testing.T) {
	t.Parallel()
	log := parquet(t, "run.parquet", repetition("trunk", 1, 1, nil))
	counts := func(args ...string) (intended, checks string) {
		r := perfReport(t, "", append(args, "-f", "json", log)...)
		var got struct {
			Counts   struct{ Intended int }
			Checks   []struct{ ID, Status, Text string }
			Warnings []string
		}
		if err := json.Unmarshal([]byte(r.stdout), &got); err != nil || r.code != cli.ExitOK {
			t.Fatalf("%v: %v %+v", args, err, r)
		}
		return fmt.Sprint(got.Counts.Intended), fmt.Sprint(got.Checks, got.Warnings)
	}
	for expr, want := range map[string]string{
		`destination == "q1"`: "1500", `size > 1kB && seq < 100`: "50", `attempt > 0`: "0", `service >= 0 && e2e > 0 && producer == 1`: "1500",
	} {
		n, text := counts("--where", expr)
		if n != want || !strings.Contains(text, "where "+expr) {
			t.Errorf("%s: %s rows, want %s: %s", expr, n, want, text)
		}
	}
	// What counts from the start counts from that of the run.
	if n, _ := counts("--where", "seq >= 1000", "--from", "4s", "--to", "4.4s", "--warmup", "0s"); n != "2000" {
		t.Errorf("counts are of all chosen rows: %s", n)
	}
	r := perfReport(t, "", "--where", `destination = "q1"`, log)
	if r.code != cli.ExitUsage || !strings.Contains(r.stderr, `--where "destination = \"q1\"": column 13: = compares nothing`) {
		t.Errorf("%+v", r)
	}
}

// --by makes a report for each group, and the text a table of them.
func TestBy(t *testing.T) {
	t.Parallel()
	l := repetition("trunk", 1, 1, nil)
	log := parquet(t, "run.parquet", l)
	r := perfReport(t, "", "--by", "destination", "-f", "json", log)
	if lines := strings.Split(strings.TrimSpace(r.stdout), "\n"); r.code != cli.ExitOK || len(lines) != 2 || !strings.Contains(lines[1], `"name":"trunk, destination q2"`) ||
		!strings.Contains(lines[1], `"intended":1500`) {
		t.Errorf("%.500s %s", r.stdout, r.stderr)
	}
	r = perfReport(t, "", "--by", "producer", log)
	if r.code != cli.ExitOK || !strings.HasPrefix(r.stdout, "trunk by producer\n\n  producer  messages") || !strings.Contains(r.stdout, "\n  S2           1,500  125.0/s") {
		t.Errorf("%.700s %s", r.stdout, r.stderr)
	}
	for _, by := range []string{"consumer", "subscription", "size", "outcome", "wait", "attempt", "connection", "second", "name"} {
		if r := perfReport(t, "", "--by", by, "-f", "markdown", log); r.code != cli.ExitOK || r.stdout == "" {
			t.Errorf("%s: %+v", by, r)
		}
	}
	// The same from a pipe.
	if p, f := perfReport(t, stream(t, l), "--by", "size"), perfReport(t, "", "--by", "size", log); p != f {
		t.Error(cmp.Diff(f, p, cmp.AllowUnexported(result{})))
	}
	for args, want := range map[string]string{
		"--by colour": "--by \"colour\": one of name, destination", "--by size --hlog x": "--by size makes several reports", "--by size --compare build": "do not go together",
	} {
		if r := perfReport(t, "", append(strings.Fields(args), log)...); r.code != cli.ExitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v", args, r)
		}
	}
	if r := perfReport(t, "", "--by", "size", "--where", "seq < 0", log); r.code != cli.ExitOK || !strings.Contains(r.stdout, "no row where seq < 0") {
		t.Errorf("%+v", r)
	}
	for i := range l.Rows {
		l.Rows[i].Size = int32(i % 500)
	}
	if r := perfReport(t, "", "--by", "size", parquet(t, "many.parquet", l)); r.code != cli.ExitFailure || !strings.Contains(r.stderr, "--by size makes more than 100 groups") {
		t.Errorf("%+v", r)
	}
}

func TestFailIf(t *testing.T) {
	t.Parallel()
	log, junit := parquet(t, "run.parquet", repetition("trunk", 1, 1, nil)), filepath.Join(t.TempDir(), "perf.xml")
	ok := perfReport(t, "", "--fail-if", "response.p50 > 1s", "--fail-if", "counts.lost > 0", "--fail-if", "rates.acked < 200", log)
	if ok.code != cli.ExitOK || ok.stderr != "" {
		t.Errorf("%+v", ok)
	}
	r := perfReport(t, "", "--fail-if", "response.p50 > 1us", "--fail-if", "service.p99.999 > 1h", "--fail-if", "counts.lost > 0", "--junit", junit, log)
	if r.code != cli.ExitUnmet || r.stdout == "" {
		t.Fatalf("%+v", r)
	}
	for _, want := range []string{
		"perf-report: 2 conditions and checks failed:\n", "\n  trunk: response.p50 > 1us: 1.", "(95 % 1.", "\n  trunk: service.p99.999 > 1h: withheld: too uncertain",
	} {
		if !strings.Contains(r.stderr, want) {
			t.Errorf("no %q in %s", want, r.stderr)
		}
	}
	xml := read(t, junit)
	for _, want := range []string{`<testcase classname="trunk.gates" name="response.p50 &gt; 1us">`, "<failure message=", `failures="2"`, `name="C1 completeness"`} {
		if !strings.Contains(xml, want) {
			t.Errorf("no %q in\n%s", want, xml)
		}
	}
	for gate, want := range map[string]string{
		"response.p99 > 5": "column 16", "response.p50.change > 5%": "needs --baseline or --compare", "response.p99.90 > 5ms": "write the percentile as in --percentiles",
	} {
		if r := perfReport(t, "", "--fail-if", gate, log); r.code != cli.ExitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v", gate, r)
		}
	}
}

func TestStrict(t *testing.T) {
	t.Parallel()
	l := repetition("trunk", 1, 1, nil)
	for i := range l.Rows {
		l.Rows[i].Bound = synth.Null // one-way numbers say nothing: C16 fails
	}
	log := parquet(t, "run.parquet", l)
	if r := perfReport(t, "", log); r.code != cli.ExitOK {
		t.Errorf("%+v", r)
	}
	r := perfReport(t, "", "--strict", log)
	if r.code != cli.ExitUnmet || !strings.Contains(r.stderr, "trunk: C16 offset between hosts: fail") {
		t.Errorf("%d %s", r.code, r.stderr)
	}
	if r := perfReport(t, "", "--fail-if", "checks.C16 == fail", log); r.code != cli.ExitUnmet || !strings.Contains(r.stderr, "trunk: checks.C16 == fail: offset between hosts is fail") {
		t.Errorf("%d %s", r.code, r.stderr)
	}
}

func TestCompare(t *testing.T) {
	t.Parallel()
	logs := study(t, 5, map[string]float64{"trunk": 1, "patched": .8})
	args := func(more ...string) []string { return append(more, logs...) }
	r := perfReport(t, "", args("--compare", "build")...)
	if r.code != cli.ExitOK {
		t.Fatalf("%+v", r)
	}
	for _, want := range []string{
		"comparison: build=patched (5 runs) against build=trunk (5 runs)\n", "response p50", "e2e p99", "better", "differs: label build: patched | trunk",
		"messages/s      S1 ::     S2 ::     R1\n", " 125 ::    125 ::    250\n", "\n* build=patched against build=trunk, 5 runs against 5 runs: better: response p50 -",
	} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s", want, r.stdout)
		}
	}
	if strings.Contains(r.stdout, "start_ns") {
		t.Errorf("the start is a setting:\n%s", r.stdout)
	}
	if r := perfReport(t, "", args("--compare", "build=patched")...); !strings.HasPrefix(r.stdout, "comparison: build=trunk (5 runs) against build=patched") || !strings.Contains(r.stdout, "worse: response p50 +") {
		t.Errorf("%+v", r)
	}
	r = perfReport(t, "", args("--compare", "build", "-f", "json")...)
	if lines := strings.Split(strings.TrimSpace(r.stdout), "\n"); len(lines) != 11 || !strings.HasPrefix(lines[10], `{"schema":"compare/1","base":"build=trunk"`) {
		t.Errorf("%d lines", len(lines))
	}
	r = perfReport(t, "", args("--compare", "build", "--fail-if", "response.p50.change > -50%", "--fail-if", "response.p50.change > 0%")...)
	if r.code != cli.ExitUnmet || !strings.Contains(r.stderr, "response.p50.change > -50%: -") || strings.Contains(r.stderr, "> 0%") || !strings.Contains(r.stderr, "5 and 5 runs)") {
		t.Errorf("%d %s", r.code, r.stderr)
	}
	for args, want := range map[string]string{
		"--compare flavour": `has no label "flavour": its labels are build`, "--compare build=x": "no run has build=x",
	} {
		if r := perfReport(t, "", append(strings.Fields(args), logs...)...); r.code != cli.ExitUsage || !strings.Contains(r.stderr, want) {
			t.Errorf("%s: %+v", args, r)
		}
	}
	// Benchmarks: a line for each run.
	r = perfReport(t, "", args("-f", "benchfmt")...)
	if r.code != cli.ExitOK || strings.Count(r.stdout, "\nBenchmarkPaced ") != 10 || !strings.Contains(r.stdout, "\nbuild: patched\n") || !strings.Contains(r.stdout, " response-p50-ns") {
		t.Errorf("%.800s %s", r.stdout, r.stderr)
	}
	r = perfReport(t, "", args("--by", "name")...)
	if !strings.HasPrefix(r.stdout, "rates by client, best first\n\n  messages/s") || strings.Count(r.stdout, "open loop") != 10 {
		t.Errorf("%.500s", r.stdout)
	}
}

func TestBaselineOfSeveral(t *testing.T) {
	t.Parallel()
	var trunk, patched []string
	for i := range 3 {
		trunk = append(trunk, parquet(t, "t.parquet", repetition("trunk", 2*i, 1, nil)))
		patched = append(patched, parquet(t, "p.parquet", repetition("patched", 2*i+1, 1.3, nil)))
	}
	args := []string{"--baseline", trunk[0], "--baseline", trunk[1], "--baseline", trunk[2]}
	r := perfReport(t, "", append(args, patched...)...)
	if r.code != cli.ExitOK || !strings.Contains(r.stdout, "comparison: patched (3 runs) against trunk (baseline) (3 runs)") ||
		!strings.Contains(r.stdout, "no difference can be significant with so few runs") || !strings.Contains(r.stdout, "cannot be significant") {
		t.Errorf("%+v", r)
	}
	// A side of runs that are no repetitions is refused, and the difference named.
	odd := parquet(t, "odd.parquet", repetition("patched", 9, 1, map[string]any{"rack": "7"}))
	r = perfReport(t, "", append(args, append(patched, odd)...)...)
	if r.code != cli.ExitUsage || !strings.Contains(r.stderr, "they differ in label rack: (none) | 7") {
		t.Errorf("%+v", r)
	}
	if r := perfReport(t, "", append(append(args, "--ignore", "rack"), append(patched, odd)...)...); r.code != cli.ExitOK {
		t.Errorf("%+v", r)
	}
	// One run a side stands beside it, with a shift function that says what it is.
	r = perfReport(t, "", "--baseline", trunk[0], patched[0])
	for _, want := range []string{"baseline: trunk", "within-run only: does not include the difference from run to run", "  p50 ", "one run a side says nothing about the difference between runs"} {
		if !strings.Contains(r.stdout, want) {
			t.Errorf("no %q in\n%s%s", want, r.stdout, r.stderr)
		}
	}
}

// Raw logs of several runs are joined run by run.
func TestRawRuns(t *testing.T) {
	t.Parallel()
	var logs []string
	for _, run := range []string{"a", "b"} {
		for _, schema := range []*format.Schema{format.SendSchema(), format.RecvSchema()} {
			path := filepath.Join(t.TempDir(), run+".parquet")
			w, err := format.CreateParquet(path, schema, format.ParquetOptions{CreatedBy: "test"})
			if err != nil {
				t.Fatal(err)
			}
			w.SetMeta(format.Meta{format.KeySchema: schema.Name, format.KeyRun: run, format.KeyComplete: "true", format.KeyName: run})
			if err := w.Close(); err != nil {
				t.Fatal(err)
			}
			logs = append(logs, path)
		}
	}
	r := perfReport(t, "", append([]string{"-f", "json"}, logs...)...)
	if r.code != cli.ExitOK || strings.Count(r.stdout, "\n") != 2 {
		t.Errorf("%+v", r)
	}
}

// The broker's host stands beside the run, in every format.
func TestResourcesBeside(t *testing.T) {
	t.Parallel()
	l := repetition("trunk", 0, 1, nil)
	log, csv := parquet(t, "run.parquet", l), filepath.Join(t.TempDir(), "broker.csv")
	text := "time,cpu_percent,rss_bytes\n"
	for i := range 5 {
		text += fmt.Sprintf("%d,%d,%d\n", synth.Start/synth.Second+int64(i), 200+i*25, 1<<30)
	}
	if err := os.WriteFile(csv, []byte(text+"1890000000,900,1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for f, want := range map[string]string{
		"text": "\nbroker host during trunk: CPU mean 250 %, max 300 % (100 % = one core), RSS max 1024 MiB, 5 samples", "markdown": "CPU mean 250 %",
		"json": `"cpu_max_percent":300`, "csv": ",broker,cpu_max,300,percent,",
	} {
		if r := perfReport(t, "", "--resources", csv, "-f", f, log); r.code != cli.ExitOK || !strings.Contains(r.stdout, want) {
			t.Errorf("%s: %s %s", f, r.stdout, r.stderr)
		}
	}
	if r := perfReport(t, "", "--resources", log, log); r.code != cli.ExitFailure || !strings.Contains(r.stderr, "--resources: ") || r.stdout != "" {
		t.Errorf("%+v", r)
	}
}
