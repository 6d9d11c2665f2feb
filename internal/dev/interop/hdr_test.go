package interop

import (
	"encoding/csv"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"amqpperf/internal/dev/jsonpath"
)

// distribution is what HistogramLogProcessor found for one tag: values in ns by cumulative share.
type distribution struct {
	values, shares []float64
	count          float64
}

// process runs Java's HistogramLogProcessor for one tag; "" is the untagged series.
func process(t *testing.T, log, tag string) distribution {
	t.Helper()
	java, jar := environment(t, "PERF_TEST_JAVA"), environment(t, "PERF_TEST_HDR_JAR")
	out := filepath.Join(t.TempDir(), "out")
	args := []string{"-cp", jar, "org.HdrHistogram.HistogramLogProcessor", "-csv", "-outputValueUnitRatio", "1", "-i", log, "-o", out}
	if tag != "" {
		args = append(args, "-tag", tag)
	}
	run(t, "", java, args...)
	text, err := os.ReadFile(out + ".hgrm")
	if err != nil {
		t.Fatal(err)
	}
	reader := csv.NewReader(strings.NewReader(string(text)))
	reader.Comment = '#'
	rows, err := reader.ReadAll()
	if err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	var d distribution
	for _, row := range rows[1:] { // "Value","Percentile","TotalCount","1/(1-Percentile)"
		d.values = append(d.values, number(t, row[0]))
		d.shares = append(d.shares, number(t, row[1]))
		d.count = number(t, row[2])
	}
	return d
}

func number(t *testing.T, text string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(text, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// bracket returns values between which the quantile p must lie: those of the lines around it.
func (d distribution) bracket(p float64) (low, high float64) {
	i := slices.IndexFunc(d.shares, func(share float64) bool { return share >= p })
	if i < 0 {
		i = len(d.shares) - 1
	}
	return d.values[max(i-1, 0)], d.values[i]
}

// TestHistogramLogProcessor compares counts and quantiles of every series of the HDR log with those of the report.
func TestHistogramLogProcessor(t *testing.T) {
	t.Parallel()
	java, jar := environment(t, "PERF_TEST_JAVA"), environment(t, "PERF_TEST_HDR_JAR")
	r := pipeline(t)
	listed := run(t, "", java, "-cp", jar, "org.HdrHistogram.HistogramLogProcessor", "-listtags", "-i", r.path("run.hlog"))
	var tags []string
	for line := range strings.Lines(listed) {
		tags = append(tags, strings.TrimSpace(line))
	}
	for _, want := range []string{"e2e", "service", "transit", "warmup-response"} {
		if !slices.Contains(tags, want) {
			t.Errorf("no series %s, only %q", want, tags)
		}
	}
	if !slices.ContainsFunc(tags, func(tag string) bool { return strings.HasPrefix(tag, "warmup-") }) {
		t.Errorf("no series of the warm-up, only %q", tags)
	}
	// The headline is untagged: response, at a rate.
	for metric, tag := range map[string]string{"response": "", "service": "service", "transit": "transit", "e2e": "e2e"} {
		compareSeries(t, r.report, metric, process(t, r.path("run.hlog"), tag))
	}
}

// compareSeries allows for the precision of the histogram, three digits.
func compareSeries(t *testing.T, report []byte, metric string, d distribution) {
	t.Helper()
	n, err := jsonpath.Number(report, "/0/metrics/"+metric+"/n")
	if err != nil || n != d.count {
		t.Errorf("%s: Java counts %v, the report says %v (%v)", metric, d.count, n, err)
	}
	for name, p := range map[string]float64{"50": 0.5, "90": 0.9, "99": 0.99, "99.9": 0.999} {
		v, err := jsonpath.Number(report, "/0/metrics/"+metric+"/quantiles/"+name+"/observed_ns")
		if err != nil {
			t.Errorf("%s p%s: %v", metric, name, err)
			continue
		}
		if low, high := d.bracket(p); v < low*0.999-1 || v > high*1.001+1 {
			t.Errorf("%s p%s: the report says %v, Java's lines around it are %v and %v", metric, name, v, low, high)
		}
	}
}
