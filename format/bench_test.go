package format

import (
	"errors"
	"io"
	"os"
	"testing"
)

// The log to read is named by PERF_BENCH_LOG: a send log of some million rows.
func benchLog(b *testing.B) *Log {
	b.Helper()
	path := os.Getenv("PERF_BENCH_LOG")
	if path == "" {
		b.Skip("PERF_BENCH_LOG is not set")
	}
	l, err := Open(path)
	if err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		if err := l.Close(); err != nil {
			b.Error(err)
		}
	})
	return l
}

func benchmarkRead(b *testing.B, columns ...string) {
	l := benchLog(b)
	if len(columns) > 0 {
		if err := l.Select(columns...); err != nil {
			b.Fatal(err)
		}
	}
	s := &Send{}
	total := 0
	b.ReportAllocs()
	for b.Loop() {
		for {
			err := l.Read(s)
			if errors.Is(err, io.EOF) {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			total += s.Len()
		}
		if err := l.Rewind(); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}

func BenchmarkRead(b *testing.B) { benchmarkRead(b) }

func BenchmarkReadInstants(b *testing.B) {
	benchmarkRead(b, "intended", "ready", "sent", "acked")
}

// BenchmarkWrite writes what was read before, so that only writing is timed.
func BenchmarkWrite(b *testing.B) {
	l := benchLog(b)
	var batches []*Send
	rows := 0
	for {
		s := &Send{}
		err := l.Read(s)
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			b.Fatal(err)
		}
		batches = append(batches, s)
		rows += s.Len()
	}
	total := 0
	b.ReportAllocs()
	for b.Loop() {
		w, err := NewParquetWriter(io.Discard, SendSchema(), ParquetOptions{})
		if err != nil {
			b.Fatal(err)
		}
		for _, s := range batches {
			if err := w.Write(s); err != nil {
				b.Fatal(err)
			}
		}
		if err := w.Close(); err != nil {
			b.Fatal(err)
		}
		total += rows
	}
	b.ReportMetric(float64(total)/b.Elapsed().Seconds()/1e6, "Mrows/s")
}
