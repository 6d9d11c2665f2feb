package perfreport_test

import (
	"bytes"
	"encoding/json"
	"image/png"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/reduce/synth"
	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfreport"
)

const ms = synth.Millisecond

// result is what a run of the command left.
type result struct {
	code           int
	stdout, stderr string
}

func perfReport(t *testing.T, stdin string, args ...string) result {
	t.Helper()
	var out, errs bytes.Buffer
	env := &cli.Env{Stdin: strings.NewReader(stdin), Stdout: &out, Stderr: &errs, Getenv: func(string) string { return "" }}
	code := cli.Run(env, perfreport.New, args)
	return result{code, out.String(), errs.String()}
}

// stall is a run with a stall, a window of one, and a warm-up that was marked.
func stall() *synth.Log {
	l := synth.Queue{N: 5000, Interval: 1e6, Service: ms / 10, StallAt: 3000 * ms, StallFor: 100 * ms, Serial: true, Window: 1, Transit: ms / 10}.Run()
	l.Meta = synth.Config(map[string]any{"rate": "1k", "max_pending": 1, "warmup_ns": 1_000_000_000}, map[string]any{"build": "trunk"}, "stall")
	return l
}

// parquet writes a log and returns its name.
func parquet(t *testing.T, name string, l *synth.Log) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	w, err := format.CreateParquet(path, format.MergedSchema(), format.ParquetOptions{CreatedBy: "test"})
	if err != nil {
		t.Fatal(err)
	}
	fill(t, w, l)
	return path
}

func fill(t *testing.T, w format.Writer, l *synth.Log) {
	t.Helper()
	rows := l.Reader(1000)
	var b format.Merged
	for rows.Next(&b) == nil {
		if err := w.Write(&b); err != nil {
			t.Fatal(err)
		}
	}
	meta := l.Meta.Clone()
	if meta == nil {
		meta = format.Meta{format.KeySchema: "merged/1", format.KeyRun: "run"}
	}
	meta[format.KeyComplete] = "true"
	w.SetMeta(meta)
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
}

func stream(t *testing.T, l *synth.Log) string {
	t.Helper()
	var b bytes.Buffer
	fill(t, format.NewStreamWriter(&b, format.MergedSchema(), nil), l)
	return b.String()
}

func read(t *testing.T, path string) string {
	t.Helper()
	b, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}

// A file and a pipe give the same report, the warm-up that only the end of the
// pipe tells included; so do a log and its halves in any order.
func TestFileAndPipe(t *testing.T) {
	t.Parallel()
	l := stall()
	want := perfReport(t, "", parquet(t, "run.parquet", l))
	if want.code != cli.ExitOK || !strings.Contains(want.stdout, "warm-up of 1s left out of rates and latencies (1,000 messages)") {
		t.Fatalf("%d\n%s%s", want.code, want.stdout, want.stderr)
	}
	for _, args := range [][]string{nil, {"-"}} {
		if got := perfReport(t, stream(t, l), args...); got != want {
			t.Errorf("%v: the pipe gives\n%s%s", args, got.stdout, got.stderr)
		}
	}
	var halves []string
	for i, rows := range [][]synth.Row{l.Rows[:2000], l.Rows[2000:]} {
		halves = append(halves, parquet(t, string(rune('a'+i))+".parquet", (&synth.Log{Rows: rows, Meta: l.Meta}).Shuffle(uint64(i))))
	}
	a, b := perfReport(t, "", halves[0], halves[1]), perfReport(t, "", halves[1], halves[0])
	if a != b {
		t.Error("the order of the files matters")
	}
	if a.stdout != want.stdout {
		t.Errorf("split in two:\n%s", a.stdout)
	}
}

func TestOutputs(t *testing.T) {
	t.Parallel()
	log, dir := parquet(t, "run.parquet", stall()), t.TempDir()
	at := func(name string) string { return filepath.Join(dir, name) }
	args := []string{"-o", at("report.json"), "--hlog", at("run.hlog"), "--hgrm", at("run.hgrm"), "--png", at("plots"), "--plot-size", "400x320", "--plot-dpi", "72", "--baseline", log, log}
	if r := perfReport(t, "", args...); r.code != cli.ExitOK || r.stdout != "" || r.stderr != "" {
		t.Fatalf("%+v", r)
	}
	var report struct {
		Schema, Name string
		Baseline     *struct{ Schema string }
		Checks       []struct{ ID, Status string }
	}
	first, second, _ := strings.Cut(read(t, at("report.json")), "\n")
	if !strings.HasPrefix(second, `{"schema":"compare/1"`) {
		t.Errorf("no comparison: %.100s", second)
	}
	if err := json.Unmarshal([]byte(first), &report); err != nil || report.Schema != "report/1" || report.Baseline == nil {
		t.Errorf("%+v %v", report, err)
	}
	for _, c := range report.Checks {
		if c.ID == "C20" && c.Status != "ok" {
			t.Errorf("C20 %s", c.Status)
		}
	}
	hlog := read(t, at("run.hlog"))
	for _, part := range []string{"\nTag=warmup-response,", "\nTag=service,", "\nTag=e2e,", "\n1790000001.000,1.000,"} {
		if !strings.Contains(hlog, part) {
			t.Errorf("no %q in the hlog", part)
		}
	}
	if !strings.Contains(read(t, at("run.hgrm")), "#[Max     =      100.") {
		t.Errorf("hgrm:\n%s", read(t, at("run.hgrm")))
	}
	for _, name := range []string{"percentiles.png", "latency.png", "rates.png", "backlog.png"} {
		c, err := png.DecodeConfig(strings.NewReader(read(t, at("plots/"+name))))
		if err != nil || c.Width != 400 || c.Height != 320 {
			t.Errorf("%s: %+v %v", name, c, err)
		}
	}
	// Nothing is overwritten, and nothing half-written stays behind.
	for _, again := range [][]string{
		{"-o", at("report.json"), log}, {"--hlog", at("run.hlog"), log}, {"--hgrm", at("run.hgrm"), log}, {"--png", at("plots"), log},
	} {
		if r := perfReport(t, "", again...); r.code != cli.ExitFailure || !strings.Contains(r.stderr, "--force") || r.stdout != "" {
			t.Errorf("%v: %+v", again, r)
		}
	}
	if r := perfReport(t, "", append(args, "--force")...); r.code != cli.ExitOK {
		t.Errorf("--force: %+v", r)
	}
	if left, _ := filepath.Glob(at("*.partial")); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	log := parquet(t, "run.parquet", stall())
	for _, c := range []struct{ args, begins string }{
		{"", "stall\nrun run"}, {"-f text", "stall\nrun run"}, {"-f markdown", "### stall\n"},
		{"-f json", `{"schema":"report/1","run":"run","name":"stall"`}, {"-f csv", "run,name,metric,statistic,value,unit,low,high,events,status\n"},
		{"--name other", "other\n"}, {"-f csv --percentiles 50,97.5", "run,name"},
	} {
		r := perfReport(t, "", append(strings.Fields(c.args), log)...)
		if r.code != cli.ExitOK || !strings.HasPrefix(r.stdout, c.begins) {
			t.Errorf("%s: %d %.200s %s", c.args, r.code, r.stdout, r.stderr)
		}
	}
	for ext, begins := range map[string]string{"md": "### ", "json": "{", "csv": "run,", "txt": "stall"} {
		out := filepath.Join(t.TempDir(), "r."+ext)
		if r := perfReport(t, "", "-o", out, log); r.code != cli.ExitOK || !strings.HasPrefix(read(t, out), begins) {
			t.Errorf("-o r.%s: %+v", ext, r)
		}
	}
}

// Two runs are two reports, and one can be chosen.
func TestTwoRuns(t *testing.T) {
	t.Parallel()
	a, b := stall(), stall()
	for i := range b.Rows {
		b.Rows[i].Run = "other"
	}
	b.Meta = b.Meta.Clone()
	b.Meta[format.KeyRun] = "other"
	logs := []string{parquet(t, "a.parquet", a), parquet(t, "b.parquet", b)}
	r := perfReport(t, "", append([]string{"-f", "json"}, logs...)...)
	if r.code != cli.ExitOK || strings.Count(r.stdout, "\n") != 2 || !strings.HasPrefix(r.stdout, `{"schema":"report/1","run":"other"`) {
		t.Errorf("%d %.100s", r.code, r.stdout)
	}
	one := perfReport(t, "", append([]string{"-f", "json", "--run", "run"}, logs...)...)
	if strings.Count(one.stdout, "\n") != 1 || !strings.Contains(r.stdout, one.stdout) {
		t.Errorf("--run: %.100s %s", one.stdout, one.stderr)
	}
	if r := perfReport(t, "", append([]string{"--hlog", filepath.Join(t.TempDir(), "x.hlog")}, logs...)...); r.code != cli.ExitUsage {
		t.Errorf("--hlog of two runs: %+v", r)
	}
	if r := perfReport(t, "", append([]string{"--run", "third"}, logs...)...); r.code != cli.ExitFailure {
		t.Errorf("--run third: %+v", r)
	}
}

func TestErrors(t *testing.T) {
	t.Parallel()
	log := parquet(t, "run.parquet", stall())
	dir := t.TempDir()
	junk := filepath.Join(dir, "junk")
	if err := os.WriteFile(junk, []byte("not a log at all"), 0o666); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct {
		args  []string
		stdin string
		code  int
		says  string
	}{
		"no such log":         {[]string{"nothere.parquet"}, "", 1, "nothere.parquet"},
		"no log":              {[]string{junk}, "", 1, "not a perf log"},
		"twice":               {[]string{log, log}, "", 1, "given twice"},
		"empty pipe":          {nil, "", 1, "standard input"},
		"junk pipe":           {nil, "junk", 1, "standard input"},
		"format":              {[]string{"-f", "xml", log}, "", 2, "--format"},
		"percentile":          {[]string{"--percentiles", "50,101", log}, "", 2, `"101"`},
		"from after to":       {[]string{"--from", "5s", "--to", "5", log}, "", 2, "--to"},
		"negative":            {[]string{"--from", "-5s", log}, "", 2, "negative"},
		"no time":             {[]string{"--warmup", "soon", log}, "", 2, "--warmup"},
		"interval":            {[]string{"--interval", "1us", log}, "", 2, "--interval"},
		"one file for two":    {[]string{"--hlog", filepath.Join(dir, "x"), "--hgrm", dir + "/./x", log}, "", 2, "--hgrm"},
		"hlog to stdout":      {[]string{"--hlog", "-", log}, "", 2, "--hlog"},
		"flag unknown":        {[]string{"--nonsense", log}, "", 2, "nonsense"},
		"baseline missing":    {[]string{"--baseline", "nothere.parquet", log}, "", 1, "--baseline"},
		"baseline pattern":    {[]string{"--baseline", dir + "/*.parquet", log}, "", 2, "--baseline"},
		"both standard input": {[]string{"--baseline", "-", "-"}, "", 2, "standard input"},
	} {
		r := perfReport(t, c.stdin, c.args...)
		if r.code != c.code || !strings.Contains(r.stderr, c.says) || r.stdout != "" {
			t.Errorf("%s: %+v", name, r)
		}
	}
	if left, _ := filepath.Glob(dir + "/x*"); left != nil {
		t.Errorf("left behind: %v", left)
	}
}

// Logs without anything to report are reported as such, in every format.
func TestPoorRuns(t *testing.T) {
	t.Parallel()
	one := synth.Message(0, synth.Start, ms)
	for name, rows := range map[string][]synth.Row{
		"empty": nil, "one": {one}, "unsent": {one.Unanswered(format.Unsent)}, "lost": {one.Lose()}, "unanswered": {one.Unanswered(format.Failed)},
	} {
		log := parquet(t, name+".parquet", &synth.Log{Rows: rows})
		for _, f := range []string{"text", "markdown", "json", "csv"} {
			args := []string{"-f", f, log}
			if dir := t.TempDir(); f == "json" { // those of all formats are the same
				args = append(args, "--hlog", filepath.Join(dir, "x.hlog"), "--hgrm", filepath.Join(dir, "x.hgrm"))
			}
			r := perfReport(t, "", args...)
			if r.code != cli.ExitOK || r.stdout == "" || strings.Contains(r.stdout, "NaN") {
				t.Errorf("%s as %s: %d %s %s", name, f, r.code, r.stdout, r.stderr)
			}
		}
	}
}

func TestHelp(t *testing.T) {
	t.Parallel()
	r := perfReport(t, "", "--help")
	if r.code != cli.ExitOK || r.stderr != "" {
		t.Fatalf("%+v", r)
	}
	for _, part := range []string{"Usage:", "Examples:", "Output:", "What is looked at:", "--percentiles", "--baseline"} {
		if !strings.Contains(r.stdout, part) {
			t.Errorf("--help lacks %s", part)
		}
	}
}
