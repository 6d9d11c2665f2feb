package index

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"amqpperf/format"
	"amqpperf/internal/dev/golden"
	"amqpperf/internal/experiment/plan"
	"amqpperf/internal/experiment/rundir"
	"amqpperf/internal/experiment/scenario"
)

const reportText = `{"schema":"report/1","loop":"open","counts":{"intended":10,"lost":0},
"rates":{"offered_per_s":1000,"acked_per_s":ACKED,"received_per_s":RECEIVED,"clients":[{"name":"S1","per_s":400},{"name":"S2","per_s":null},{"name":"R1","per_s":RECEIVED}]},
"metrics":{"response":{"quantiles":{"50":{"value_ns":1500000,"observed_ns":1500000,"status":"ok"},"99":{"value_ns":null,"observed_ns":9000000,"status":"uncertain"}}},
"e2e":{"quantiles":{"50":{"value_ns":2000000000,"observed_ns":2000000000,"status":"nonstationary"},"99":{"value_ns":null,"observed_ns":null,"status":"infinite"}}}},
"limits":[{"side":"receive","held":"credit","messages":10.04,"bytes":10280}],"config":{"peer_product":"a|b","peer_version":"1"},"run":"RUN"}`

func report1(acked, received string) string {
	return strings.NewReplacer("ACKED", acked, "RECEIVED", received).Replace(reportText)
}

// page makes a run directory with runs of two variants, a failed run, and an attempt that was interrupted.
func page(t *testing.T) Page {
	t.Helper()
	s := scenario.New()
	s.Title, s.About, s.Addresses = "A <title>", "Several\nlines.", []string{"queue://q"}
	s.Variants = []scenario.Variant{{Label: "trunk"}, {Label: "patched"}}
	s.Repetitions = 2
	if err := s.Check(); err != nil {
		t.Fatal(err)
	}
	start := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	path := filepath.Join(t.TempDir(), "d")
	d, err := rundir.Create(path, rundir.Experiment{Version: "v", ID: "x", Seed: 7, Start: start, Scenario: s}, nil)
	if err != nil {
		t.Fatal(err)
	}
	p, err := plan.New(s, plan.Programs{}, "x", path)
	if err != nil {
		t.Fatal(err)
	}
	for i, r := range []struct {
		variant, report string
		status          rundir.Status
		why             string
	}{
		{"trunk", report1("900", "100"), rundir.OK, ""},
		{"patched", report1("1000", "300"), rundir.OK, ""},
		{"patched", report1("1100", "200"), rundir.Unmet, "a gate | was crossed"},
		{"trunk", "", rundir.Interrupted, "interrupted"},
		{"trunk", "", rundir.Failed, "exit status 1"},
	} {
		o := rundir.Outcome{Run: plan.Run{N: i + 1, Variant: r.variant, Repetition: 1}, Status: r.status, Why: r.why, Folder: filepath.Join("runs", r.variant+string(rune('0'+i)))}
		dir := filepath.Join(path, o.Folder)
		if err := os.MkdirAll(filepath.Join(dir, "png"), 0o777); err != nil {
			t.Fatal(err)
		}
		write(t, filepath.Join(dir, "png", "rates.png"), "x")
		write(t, filepath.Join(dir, "commands.txt"), "perf-send\n")
		if r.report != "" {
			write(t, filepath.Join(dir, "report.json"), r.report)
		}
		if err := d.Add(o); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.MkdirAll(filepath.Join(path, "compared"), 0o777); err != nil {
		t.Fatal(err)
	}
	write(t, filepath.Join(path, "compared", "variants.md"), "# patched against trunk\n\n```\n# no heading\n```")
	write(t, filepath.Join(path, d.Outcomes[1].Folder, "log.txt"), "one\n"+strings.Repeat("x", keptWidth+1)+"\n```three\nfour\n")
	return Page{Dir: d, Plan: p, Compared: []string{"variants"}, Total: 4}
}

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
		t.Fatal(err)
	}
}

func TestWrite(t *testing.T) {
	t.Parallel()
	p := page(t)
	if err := p.Write(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(p.Dir.Path, "index.md"))
	if err != nil {
		t.Fatal(err)
	}
	// The machine is not part of what is tested.
	lines := strings.Split(string(text), "\n")
	for i, l := range lines {
		if before, _, ok := strings.Cut(l, " on "); ok && strings.HasPrefix(l, "4 of 4 runs") {
			lines[i] = before
		}
	}
	golden.String(t, "index", strings.Join(lines, "\n"))
}

// TestBadReport: the page is written, and the trouble told.
func TestBadReport(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"{", `{"schema":"report/2"}`} {
		p := page(t)
		file := filepath.Join(p.Dir.Path, p.Dir.Outcomes[0].Folder, "report.json")
		write(t, file, bad)
		if err := p.Write(); err == nil || !strings.Contains(err.Error(), file) {
			t.Errorf("%s: %v", bad, err)
		}
		if _, err := os.Stat(filepath.Join(p.Dir.Path, "index.md")); err != nil {
			t.Error(err)
		}
	}
}

// TestPivot is the table of a sweep of two parameters.
func TestPivot(t *testing.T) {
	t.Parallel()
	p := page(t)
	p.Dir.Scenario.Parameters = []scenario.Parameter{{Name: "rtt", Values: []string{"0ms", "10ms"}}, {Name: "credit", Values: []string{"1", "10"}}}
	values := []string{"0ms 1", "10ms 10", "0ms 10"}
	for i, v := range values {
		rtt, credit, _ := strings.Cut(v, " ")
		p.Dir.Outcomes[i].Run.Params = []plan.Setting{{Name: "rtt", Value: rtt}, {Name: "credit", Value: credit}}
	}
	if err := p.Write(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(p.Dir.Path, "index.md"))
	if err != nil {
		t.Fatal(err)
	}
	want := "Received per second, by credit:\n\n| | 1 | 10 |\n|---|--:|--:|\n| trunk, rtt 0ms | 100 |  |\n| patched, rtt 0ms |  | 200 |\n| patched, rtt 10ms |  | 300 |\n"
	if !strings.Contains(string(text), want) {
		t.Errorf("want\n%sin\n%s", want, text)
	}
}

func TestOverloaded(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		`{"schema":"report/1","overload":null,"checks":[{"id":"C2","status":"warn"}]}`: false,
		`{"schema":"report/1","checks":[{"id":"C2","status":"fail"}]}`:                 true,
		`{"schema":"report/1","checks":[{"id":"C7","status":"warn","value":0.4}]}`:     false,
		`{"schema":"report/1","checks":[{"id":"C7","status":"warn","value":1}]}`:       true,
		`{"schema":"report/1","checks":[{"id":"C7","status":"skip","value":null}]}`:    false,
		`{"schema":"report/1","overload":{"side":"send"}}`:                             true,
		`{"schema":"report/1","counts":{"accepted":1000,"lost":10}}`:                   false,
		`{"schema":"report/1","counts":{"accepted":1000,"lost":11}}`:                   true,
		`{"schema":"report/1","counts":{"unsent":1}}`:                                  true,
	} {
		file := filepath.Join(t.TempDir(), "report.json")
		write(t, file, text)
		if got, err := Overloaded(file); err != nil || got != want {
			t.Errorf("%s: %v, %v", text, got, err)
		}
	}
	if got, err := Overloaded(filepath.Join(t.TempDir(), "none")); err != nil || !got {
		t.Errorf("a run without a report: %v, %v", got, err)
	}
	for text, want := range map[string]bool{`{"schema":"report/1","counts":{"lost":0}}`: false, `{"schema":"report/1","counts":{"lost":1}}`: true} {
		file := filepath.Join(t.TempDir(), "report.json")
		write(t, file, text)
		if got := Left(file); got != want {
			t.Errorf("%s: %v", text, got)
		}
	}
}

// TestReached: held, overload, how many of both, and nothing of a closed loop.
func TestReached(t *testing.T) {
	t.Parallel()
	held, closed := &report{Loop: "open"}, &report{Loop: "closed"}
	over := &report{Loop: "open"}
	over.Counts.Unsent = 1
	for want, reports := range map[string][]*report{
		"held": {held, held}, "overload": {over}, "held in 1 of 2": {over, held}, "": {closed},
	} {
		c := &cell{}
		for _, r := range reports {
			c.lines = append(c.lines, line{report: r})
		}
		if got := c.reached(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

// TestWatched: CPU over time and the most memory, over all processes of all logs.
func TestWatched(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if u := watched(dir); u != nil {
		t.Errorf("no logs: %+v", u)
	}
	w, err := format.CreateParquet(filepath.Join(dir, "send.parquet"), format.SendSchema(), format.ParquetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	samples := &format.Sample{What: format.Strings{Values: []string{"pid:1.cpu_ns", "pid:1.rss_bytes", "pid:2.cpu_ns", "host.cpu_ns"}}}
	for _, x := range []struct {
		at, value int64
		what      int32
	}{{0, 5, 0}, {0, 2 << 20, 1}, {0, 0, 2}, {0, 0, 3}, {1e9, 5e8 + 5, 0}, {2e9, 1e9 + 5, 0}, {1e9, 4 << 20, 1}, {2e9, 3 << 20, 1}, {1e9, 1e9, 2}, {1e9, 9e9, 3}} {
		samples.Instant = append(samples.Instant, x.at)
		samples.Value = append(samples.Value, x.value)
		samples.What.Codes = append(samples.What.Codes, x.what)
	}
	if err := errors.Join(w.Table(samples), w.Close()); err != nil {
		t.Fatal(err)
	}
	u := watched(dir)
	if u == nil || u.processors != 1.5 || u.resident != 4<<20 {
		t.Errorf("%+v, want 0.5 + 1 processors and 4 MiB", u)
	}
	c := &cell{lines: []line{{watched: u}, {}, {watched: &usage{processors: 0.5, resident: 2 << 20}}}}
	if c.cpu() != "100 % (50 %–150 %)" || c.memory() != "3 MiB (2 MiB–4 MiB)" {
		t.Errorf("%s, %s", c.cpu(), c.memory())
	}
}

// TestJudgedTogether: what was found over several runs replaces what one of them showed.
func TestJudgedTogether(t *testing.T) {
	t.Parallel()
	p := page(t)
	p.Together = []string{"together-x"}
	write(t, filepath.Join(p.Dir.Path, "compared", "together-x.json"), `{"run":"RUN","limits":[{"side":"receive","held":"broker-cap","messages":60}]}`+"\n")
	if err := p.Write(); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(filepath.Join(p.Dir.Path, "index.md"))
	if err != nil || !strings.Contains(string(text), "| broker-cap, 60 messages |") {
		t.Errorf("%v\n%s", err, text)
	}
	write(t, filepath.Join(p.Dir.Path, "compared", "together-x.json"), "{\n")
	if err := p.Write(); err == nil || !strings.Contains(err.Error(), "together-x.json") {
		t.Errorf("half a line: %v", err)
	}
}
