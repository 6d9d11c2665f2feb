package hdr

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"amqpperf/internal/analysis/stats"
)

// TestForeignFiles reads logs of other tools from the directory that
// PERF_CASES_DIR names (folders hlog, hlog_synthetic, hlog_bad, hgrm) and prints
// what is in them.
func TestForeignFiles(t *testing.T) {
	t.Parallel()
	dir := os.Getenv("PERF_CASES_DIR")
	if dir == "" {
		t.Skip("PERF_CASES_DIR is not set: no files of other tools")
	}
	for _, pattern := range []string{"hlog/*", "hlog_synthetic/*", "hlog_bad/*", "hgrm/*"} {
		files, err := filepath.Glob(filepath.Join(dir, pattern))
		if err != nil || len(files) == 0 {
			t.Fatalf("%s: %d files, %v", pattern, len(files), err)
		}
		for _, path := range files {
			f, err := os.Open(path)
			if err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			if strings.HasPrefix(pattern, "hgrm") {
				p, err := ReadHgrm(f, filepath.Base(path))
				p50, _ := p.At(0.5)
				p99, _ := p.At(0.99)
				p999, _ := p.At(0.999)
				t.Logf("%s: %d rows, n %d, mean %g sd %g max %g p50 %g p99 %g p99.9 %g, %v", filepath.Base(path), len(p.Rows), p.N, p.Mean, p.StdDev, p.Max, p50, p99, p999, err)
			} else {
				log, err := ReadLog(f, filepath.Base(path))
				t.Logf("%s: %s, %v", filepath.Base(path), describe(t, log), err)
			}
			if d := time.Since(began); d > 20*time.Second {
				t.Errorf("%s takes %s", path, d)
			}
			if err := f.Close(); err != nil {
				t.Error(err)
			}
		}
	}
}

// describe sums a log up the way the tables of the upstream tests do.
func describe(t *testing.T, log *Log) string {
	t.Helper()
	three, err := sumInto(Shape{Lowest: 1, Highest: 1<<63 - 1, Digits: 3}, log.Intervals)
	if err != nil {
		t.Fatal(err)
	}
	sum, own, err := Sum(log.Intervals)
	if err != nil {
		t.Fatal(err)
	}
	q := func(h *Histogram, p string) int64 {
		v, _ := h.Quantile(stats.MustPercentiles(p)[0])
		return v
	}
	s := fmt.Sprintf("start %d %v, %d intervals, %d values, 3-digit p50 %d p99 %d p99.9 %d max %d, own (%v) p50 %d p99 %d p99.9 %d max %d, tags %q, warnings %q",
		log.Start, log.HasStart, len(log.Intervals), three.N(), q(three, "50"), q(three, "99"), q(three, "99.9"), three.Max(), own, q(sum, "50"), q(sum, "99"), q(sum, "99.9"), sum.Max(), log.Tags(), log.Warnings)
	if len(log.Intervals) > 0 {
		a, z := log.Intervals[0], log.Intervals[len(log.Intervals)-1]
		s += fmt.Sprintf(", %d to %d (first ends %d, %d values, p50 %d max %d)", a.Start, z.End, a.End, a.Histogram.N(), q(a.Histogram, "50"), a.Histogram.Max())
	}
	return s
}
