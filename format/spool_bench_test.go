package format

import (
	"errors"
	"io"
	"math/rand/v2"
	"path/filepath"
	"testing"
	"time"
)

// BenchmarkSpool records a log of a million rows of four producers, finished
// in blocks of 256 rows, reads the spool and makes it a Parquet file.
func BenchmarkSpool(b *testing.B) {
	const rows, batch, lanes, block = 1 << 20, 1 << 14, 4, 256
	dir := b.TempDir()
	target := filepath.Join(dir, "x.parquet")
	part := sendRows(0, 0, batch)
	for i := range batch { // what a sound run looks like: one outcome, no errors
		part.Error.Codes[i], part.Outcome.Codes[i] = -1, part.Outcome.Codes[0]
	}
	var write, read, finish time.Duration
	for b.Loop() {
		start := time.Now()
		s, err := CreateSpool(target, SendSchema(), nil, true)
		must(b, err)
		rnd := rand.New(rand.NewPCG(1, 2))
		var seq [lanes]int64
		for range rows / batch {
			for j := range batch {
				l := j / block % lanes
				part.Producer[j], part.Seq[j] = int32(l), seq[l]
				part.Intended[j] = seq[l]*4000 + 1e18
				part.Ready[j] = part.Intended[j] + rnd.Int64N(5000)
				part.Sent[j] = part.Ready[j] + rnd.Int64N(3000)
				part.Acked[j] = part.Sent[j] + rnd.Int64N(300000)
				seq[l]++
			}
			must(b, s.Write(part))
		}
		must(b, s.Flush())
		write += time.Since(start)

		start = time.Now()
		l, err := Open(SpoolName(target))
		must(b, err)
		got := &Send{}
		n := 0
		for err = l.Read(got); err == nil; err = l.Read(got) {
			n += got.Len()
		}
		if !errors.Is(err, io.EOF) || n != rows {
			b.Fatalf("%d rows, %v", n, err)
		}
		must(b, l.Close())
		read += time.Since(start)

		start = time.Now()
		must(b, s.Finish(nil, FinishOptions{}))
		finish += time.Since(start)
	}
	total := float64(rows) * float64(b.N) / 1e6
	b.ReportMetric(total/write.Seconds(), "write-Mrows/s")
	b.ReportMetric(total/read.Seconds(), "read-Mrows/s")
	b.ReportMetric(total/finish.Seconds(), "finish-Mrows/s")
}
