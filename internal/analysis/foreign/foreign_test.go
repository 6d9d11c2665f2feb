package foreign_test

import (
	"encoding/csv"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"amqpperf/internal/analysis/foreign"
	"amqpperf/internal/analysis/stats"
)

// cases are the files of other tools that the readers are tested with.
func cases(name string) string { return filepath.Join("testdata", filepath.Base(name)) }

func read(t *testing.T, name string, opt foreign.Options) *foreign.Report {
	t.Helper()
	if opt.Percentiles == nil {
		opt.Percentiles = stats.MustPercentiles("50,99,99.9")
	}
	kind, err := foreign.Sniff(name)
	if err != nil || kind == foreign.None {
		t.Fatalf("%s: sniffed as %q, %v", name, kind, err)
	}
	r, err := foreign.Read(name, kind, opt)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return r
}

// values are n, p50, p99, p99.9 and the maximum.
func values(s foreign.Series) [5]int64 {
	out := [5]int64{s.N}
	for i, q := range s.Quantiles {
		out[i+1] = int64(*q.Value)
	}
	out[4] = int64(*s.Max)
	return out
}

// The right values of the files, in the log's own buckets.
func TestLogs(t *testing.T) {
	t.Parallel()
	second := time.Second
	for _, c := range []struct {
		file     string
		from, to time.Duration
		lines    int
		want     [5]int64 // p50 0: not known
	}{
		{"jHiccup-2.0.7S.logV2.hlog", 0, 0, 62, [5]int64{48761, 344063, 1434451967, 1753219071, 1803550719}},
		{"jHiccup-2.0.7S.logV2.hlog", 5 * second, 20 * second, 15, [5]int64{11664, 0, 0, 0, 0}},
		{"jHiccup-2.0.7S.logV2.hlog", 40 * second, 60 * second, 20, [5]int64{15830, 0, 0, 0, 0}},
		{"jHiccup-2.0.6.logV1.hlog", 0, 0, 88, [5]int64{65964, 393215, 0, 1837105151, 1895825407}},
		{"jHiccup-2.0.6.logV1.hlog", 50 * second, 80 * second, 29, [5]int64{22630, 0, 0, 0, 0}},
		{"jHiccup-2.0.1.logV0.hlog", 20 * second, 45 * second, 25, [5]int64{18492, 0, 0, 0, 0}},
	} {
		r := read(t, cases(c.file), foreign.Options{From: c.from, To: c.to})
		if len(r.Series) != 1 || r.Series[0].Lines != c.lines {
			t.Errorf("%s: %d series, %d lines", c.file, len(r.Series), r.Series[0].Lines)
			continue
		}
		got := values(r.Series[0])
		for i, want := range c.want {
			if want != 0 && got[i] != want {
				t.Errorf("%s from %v: %v, want %v", c.file, c.from, got, c.want)
				break
			}
		}
		sum := int64(0)
		for _, iv := range r.Series[0].Intervals {
			sum += iv.N
		}
		if sum != r.Series[0].N || len(r.Series[0].Intervals) > 62 {
			t.Errorf("%s: intervals add up to %d of %d", c.file, sum, r.Series[0].N)
		}
	}
}

// The times of a log whose BaseTime lies before its StartTime count from BaseTime:
// nothing is left out for being before the start.
func TestBaseTimeBeforeStart(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(cases("jHiccup-2.0.7S.logV2.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok := strings.Cut(string(text), "#[StartTime: 1441812279.474")
	if !ok {
		t.Fatal("the log has another start")
	}
	path := filepath.Join(t.TempDir(), "base.hlog")
	if err := os.WriteFile(path, []byte(head+"#[BaseTime: 1441812123.123 (seconds since epoch)]\n#[StartTime: 1441812279.474"+rest), 0o600); err != nil {
		t.Fatal(err)
	}
	r := read(t, path, foreign.Options{})
	if got, want := values(r.Series[0]), [5]int64{48761, 344063, 1434451967, 1753219071, 1803550719}; got != want {
		t.Errorf("%v, want %v", got, want)
	}
	if r.Start == nil || r.Start.UnixMilli() != 1441812123250 {
		t.Errorf("from %v", r.Start)
	}
	if r = read(t, path, foreign.Options{From: 40 * time.Second, To: 60 * time.Second}); r.Series[0].Lines != 20 {
		t.Errorf("%d intervals of 20 s", r.Series[0].Lines)
	}
}

// A log of our own is not said to know nothing of intended instants.
func TestOwnLog(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(cases("jHiccup-2.0.7S.logV2.hlog"))
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "own.hlog")
	if err := os.WriteFile(path, append([]byte("#[the untagged series is response, values in ns (ms in the maximum), intervals by intended time]\n"), text...), 0o600); err != nil {
		t.Fatal(err)
	}
	r := read(t, path, foreign.Options{})
	var b strings.Builder
	if err := r.Text(&b); err != nil || !strings.Contains(b.String(), "the untagged series is response, tags") || strings.Contains(b.String(), foreign.ServiceOnly) {
		t.Errorf("%v\n%s", err, b.String())
	}
}

func TestTags(t *testing.T) {
	t.Parallel()
	r := read(t, cases("tagged-Log.logV2.hlog"), foreign.Options{})
	if len(r.Series) != 2 || r.Series[0].Tag != "" || r.Series[1].Tag != "A" || r.Series[0].N != 16145 || r.Series[1].N != 16145 {
		t.Fatalf("%+v", r.Series)
	}
	if s, err := r.Pick("A", true); err != nil || s.Tag != "A" {
		t.Errorf("%v", err)
	}
	if s, err := r.Pick("", false); err != nil || s.Tag != "" {
		t.Errorf("%v", err)
	}
	if _, err := r.Pick("B", true); err == nil || !strings.Contains(err.Error(), `no tag "B": it has "", "A"`) {
		t.Errorf("%v", err)
	}
	var b strings.Builder
	if err := r.Text(&b); err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{foreign.ServiceOnly, "(untagged)  16,145", "\n  A           16,145", "fewer than 30 intervals", "service over time, tag A, intervals of 1s"} {
		if !strings.Contains(b.String(), want) {
			t.Errorf("no %q in\n%s", want, b.String())
		}
	}
}

// Intervals are put together; how the slow values are spread over them gives the
// confidence of the quantiles.
func TestRebinAndConfidence(t *testing.T) {
	t.Parallel()
	r := read(t, cases("jHiccup-2.0.7S.logV2.hlog"), foreign.Options{Interval: 10 * time.Second})
	s := r.Series[0]
	if len(s.Intervals) != 7 || s.Width != 10e9 || s.Intervals[1].Seconds != 10 {
		t.Errorf("%d intervals of %d ns: %+v", len(s.Intervals), s.Width, s.Intervals)
	}
	q := s.Quantiles[0]
	if q.Status == foreign.Unknown || q.Events == nil || q.Low == nil || q.High == nil || *q.Low > *q.Value || *q.High < *q.Value {
		t.Errorf("%+v", q)
	}
	// All values above p99.9 are in one stall: one event, if that.
	if q := s.Quantiles[2]; q.Status != "uncertain" {
		t.Errorf("p99.9 is %s", q.Status)
	}
}

func TestNoData(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"header-only.hlog", "blank"} {
		path := cases(name)
		if name == "blank" {
			path = filepath.Join(t.TempDir(), "blank.hlog")
			if err := os.WriteFile(path, []byte("\n \r\n"), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		r := read(t, path, foreign.Options{})
		var b strings.Builder
		if err := r.Text(&b); err != nil || !strings.Contains(b.String(), "* no data") {
			t.Errorf("%s: %v %s", name, err, b.String())
		}
		if err := r.JSON(&b); err != nil {
			t.Error(err)
		}
	}
	r := read(t, cases("header-only.hlog"), foreign.Options{})
	if _, err := r.Pick("", false); err == nil || !strings.Contains(err.Error(), "no data") {
		t.Errorf("%v", err)
	}
}

func TestPercentileFiles(t *testing.T) {
	t.Parallel()
	r := read(t, cases("12Krps"), foreign.Options{Unit: "ms"})
	if got := values(r.Series[0]); got != [5]int64{3477000, 4919000, 9343000, 17695000, 64736000} {
		t.Errorf("%v", got)
	}
	base, err := r.Baseline(r.Series[0])
	if err != nil || base.Metrics.Get("service").N != 3477000 || base.Metrics.Get("response").N != 0 || !strings.Contains(base.Name, "service only") {
		t.Errorf("%+v %v", base, err)
	}
	r = read(t, cases("example2.txt"), foreign.Options{})
	var b strings.Builder
	if err := r.Text(&b); err != nil || !strings.Contains(b.String(), "unit unknown") || !strings.Contains(b.String(), "1418.24") || strings.Contains(b.String(), "precisions") {
		t.Errorf("%v\n%s", err, b.String())
	}
	if r.Series[0].Mean != nil {
		t.Error("a mean that the file does not have")
	}
	if _, err := r.Baseline(r.Series[0]); err == nil || !strings.Contains(err.Error(), "--unit") {
		t.Errorf("%v", err)
	}
	if _, err := foreign.Read(cases("12Krps"), foreign.Hgrm, foreign.Options{Expected: 1}); err == nil {
		t.Error("a curve is corrected")
	}
	if _, err := foreign.Read(cases("12Krps"), foreign.Hgrm, foreign.Options{From: 1}); err == nil {
		t.Error("a curve has no time")
	}
	if kind, err := foreign.Sniff(cases("SLA_usec.dat")); err != nil || kind != foreign.None {
		t.Errorf("%q %v", kind, err)
	}
}

func TestExpectedInterval(t *testing.T) {
	t.Parallel()
	name := cases("jHiccup-2.0.7S.logV2.hlog")
	plain, corrected := read(t, name, foreign.Options{}), read(t, name, foreign.Options{Expected: time.Millisecond})
	if corrected.Series[0].N <= plain.Series[0].N || !strings.Contains(strings.Join(corrected.Notes, ""), "is a guess otherwise") {
		t.Errorf("%d and %d values, %v", plain.Series[0].N, corrected.Series[0].N, corrected.Notes)
	}
	if _, err := foreign.Read(name, foreign.Hlog, foreign.Options{Expected: 1}); err == nil || !strings.Contains(err.Error(), "too short") {
		t.Errorf("%v", err)
	}
	// A log of ours says that it must not be corrected.
	ours := filepath.Join(t.TempDir(), "ours.hlog")
	if err := os.WriteFile(ours, []byte("#[CO: latencies measured from intended send time; do NOT apply -correctLogWithKnownCoordinatedOmission]\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := foreign.Read(ours, foreign.Hlog, foreign.Options{Expected: time.Millisecond}); err == nil || !strings.Contains(err.Error(), "count from the intended instant already") {
		t.Errorf("%v", err)
	}
}

func TestFormats(t *testing.T) {
	t.Parallel()
	r := read(t, cases("tagged-Log.logV2.hlog"), foreign.Options{})
	r.File, r.Series[1].Tag = "=cmd()\x1b[0m", "a\nb```"
	var text, md, js, table strings.Builder
	for _, err := range []error{r.Text(&text), r.Markdown(&md), r.JSON(&js), r.CSV(&table, true)} {
		if err != nil {
			t.Error(err)
		}
	}
	if strings.Contains(text.String()+md.String()+table.String(), "\x1b") || strings.Count(md.String(), "```") != 2 {
		t.Errorf("%s", md.String())
	}
	if !json.Valid([]byte(js.String())) || strings.Count(js.String(), "\n") != 1 {
		t.Errorf("%s", js.String())
	}
	records, err := csv.NewReader(strings.NewReader(table.String())).ReadAll()
	if err != nil || records[1][1][0] != '\'' {
		t.Errorf("%v %v", records, err)
	}
}

func TestSniff(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	for content, want := range map[string]foreign.Kind{
		"PAR1\x00": foreign.None, "": foreign.None, "a,b\n1,2\n": foreign.None, "Tag=x,0.1,1.0,2.0,HIST": foreign.Hlog, "Ta=x,0.1,1.0,2.0,HIST": foreign.Hlog,
		"#[Histogram log format version 1.3]\n": foreign.Hlog, "       Value   Percentile   TotalCount 1/(1-Percentile)\n": foreign.Hgrm,
	} {
		name := filepath.Join(dir, "file")
		if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
		if kind, err := foreign.Sniff(name); kind != want || err != nil {
			t.Errorf("%q is %q, %v", content, kind, err)
		}
	}
	if kind, err := foreign.Sniff(filepath.Join(dir, "nothere.parquet")); kind != foreign.None || err != nil {
		t.Errorf("%q %v", kind, err)
	}
	if _, err := foreign.Read(filepath.Join(dir, "nothere.hlog"), foreign.Hlog, foreign.Options{}); err == nil {
		t.Error("a file that is not there is read")
	}
}
