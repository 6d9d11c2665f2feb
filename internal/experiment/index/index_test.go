package index

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"amqpperf/internal/dev/golden"
	"amqpperf/internal/experiment/plan"
	"amqpperf/internal/experiment/rundir"
	"amqpperf/internal/experiment/scenario"
)

const reportText = `{"schema":"report/1","loop":"open","counts":{"intended":10,"lost":0},
"rates":{"offered_per_s":1000,"acked_per_s":ACKED,"received_per_s":RECEIVED,"clients":[{"name":"S1","per_s":400},{"name":"S2","per_s":null},{"name":"R1","per_s":RECEIVED}]},
"metrics":{"response":{"quantiles":{"50":{"value_ns":1500000,"observed_ns":1500000,"status":"ok"},"99":{"value_ns":null,"observed_ns":9000000,"status":"uncertain"}}},
"e2e":{"quantiles":{"50":{"value_ns":2000000000,"observed_ns":2000000000,"status":"nonstationary"},"99":{"value_ns":null,"observed_ns":null,"status":"infinite"}}}},
"limits":[{"side":"receive","held":"credit","messages":10.04,"bytes":10280}],"config":{"peer_product":"a|b","peer_version":"1"}}`

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
		`{"schema":"report/1","overload":{"side":"send"}}`:                             true,
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
