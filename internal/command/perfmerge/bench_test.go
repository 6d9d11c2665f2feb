package perfmerge_test

import (
	"os"
	"path/filepath"
	"testing"

	"amqpperf/internal/cli"
	"amqpperf/internal/command/perfmerge"
)

// BenchmarkCommand joins the logs in the folder that PERF_BENCH_LOGS names (see
// internal/analysis/join/synth/generate) as the program does, and writes the
// rows to a temporary file, as PERF_BENCH_FORMAT (parquet).
func BenchmarkCommand(b *testing.B) {
	dir := os.Getenv("PERF_BENCH_LOGS")
	if dir == "" {
		b.Skip("PERF_BENCH_LOGS is not set")
	}
	names, err := filepath.Glob(filepath.Join(dir, "*.parquet"))
	if err != nil {
		b.Fatal(err)
	}
	format := os.Getenv("PERF_BENCH_FORMAT")
	if format == "" {
		format = "parquet"
	}
	out := filepath.Join(b.TempDir(), "merged")
	for b.Loop() {
		env := &cli.Env{Stdout: os.Stderr, Stderr: os.Stderr, Getenv: os.Getenv}
		if code := cli.Run(env, perfmerge.New, append([]string{"-q", "--force", "-f", format, "-o", out}, names...)); code != cli.ExitOK {
			b.Fatalf("exit status %d", code)
		}
	}
}
