package format

import (
	"errors"
	"io"
	"os"
	"testing"
)

func BenchmarkRead(b *testing.B) {
	path := os.Getenv("PERF_BENCH_LOG")
	if path == "" {
		b.Skip("PERF_BENCH_LOG is not set")
	}
	total := 0
	for b.Loop() {
		l, err := Open(path)
		if err != nil {
			b.Fatal(err)
		}
		s := &Send{}
		rows := 0
		for {
			err := l.Read(s)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			rows += s.Len()
		}
		total += rows
		if err := l.Close(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
