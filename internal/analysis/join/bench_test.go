package join_test

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"testing"

	"amqpperf/format"
	"amqpperf/internal/analysis/join"
)

// BenchmarkMerge joins the logs in the folder that PERF_BENCH_LOGS names (see
// synth/generate) and writes the merged log to nowhere.
func BenchmarkMerge(b *testing.B) {
	dir := os.Getenv("PERF_BENCH_LOGS")
	if dir == "" {
		b.Skip("PERF_BENCH_LOGS is not set")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil {
		b.Fatal(err)
	}
	rows := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		j, err := join.Open(names, join.Options{})
		if err != nil {
			b.Fatal(err)
		}
		var w *format.ParquetWriter
		if os.Getenv("PERF_BENCH_WRITE") != "" {
			if w, err = format.NewParquetWriter(io.Discard, format.MergedSchema(), format.ParquetOptions{}); err != nil {
				b.Fatal(err)
			}
		}
		var m format.Merged
		for {
			err := j.Next(&m)
			if errors.Is(err, io.EOF) {
				break
			}
			if err == nil && w != nil {
				err = w.Write(&m)
			}
			if err != nil {
				b.Fatal(err)
			}
			rows += int64(m.Len())
		}
		if err := j.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(rows)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
